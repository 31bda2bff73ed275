"""Queries embedded by an embedder, through the database: for clients that have no model."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, InvalidInput
from pgrecall.cli import main
from pgrecall.query import embedding
from pgrecall.query.legs import LEGS
from pgrecall_embedder.providers.errors import ProviderPaused
from support.answering import Model, answering, beat, embed_all, embedded
from support.legs import WITHOUT_VECTOR
from support.memories import scalar
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

LONG = 30.0
SECRET = "xyzzy-canary-4711"
WORDS_ONLY = "recalled by words and concepts only"
NOBODY = f"no embedder is alive: {WORDS_ONLY}"


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def memory(dsn: str, conn: psycopg.Connection[Any], model: Model) -> Iterator[Client]:
    """A client of a database with a few memories, all embedded."""
    with Client(dsn) as client:
        client.remember_many({"content": text} for text in ("The cat sleeps.", "Ana drinks green tea."))
        embed_all(conn, model)
        yield client


@pytest.fixture
def foreign(conn: psycopg.Connection[Any], memory: Client) -> Client:
    """The client of a database whose model this machine cannot have."""
    conn.execute("UPDATE pgrecall.embedding_models SET provider = 'elsewhere'")
    return memory


def _stored(conn: psycopg.Connection[Any]) -> list[tuple[str | None, bool, str | None]]:
    rows = conn.execute(
        "SELECT query, embedding IS NOT NULL, error FROM pgrecall.query_embeddings ORDER BY id"
    )
    return rows.fetchall()


# -- asking


@pytest.mark.slow
def test_an_embedder_embeds_the_query(
    dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model
) -> None:
    query = "which pet is that?"
    with answering(dsn, model):
        result = memory.recall(query, embed="daemon", embed_timeout=LONG)
    assert (result.notice, result.legs) == (None, LEGS)
    own = memory.recall(query, vector=embedded(query))
    assert [found.id for found in result] == [found.id for found in own]
    for found, expected in zip(result, own, strict=True):
        assert found.similarity == pytest.approx(expected.similarity, abs=1e-3)
    assert model.queries == [query]
    assert _stored(conn) == [(None, True, None)]  # the text is gone


def test_what_was_embedded_is_known(dsn: str, memory: Client, model: Model) -> None:
    with answering(dsn, model):
        first = memory.recall("a pet", embed="daemon", embed_timeout=LONG)
        second = memory.recall("a pet", embed="daemon", embed_timeout=LONG)
    third = memory.recall("a pet", embed="daemon")  # nobody is alive any more
    assert [found.similarity for found in first] == [found.similarity for found in second]
    assert third.legs == LEGS
    assert model.queries == ["a pet"]


def test_every_way_to_ask(dsn: str, memory: Client, model: Model) -> None:
    with answering(dsn, model):
        for number, ask in enumerate((memory.timeline, memory.recall_facts, memory.explain, memory.recall)):
            result = ask(f"pet number {number}", embed="daemon", embed_timeout=LONG)  # type: ignore[operator]
            assert result.notice is None
        text = memory.briefing("the last pet", embed="daemon", embed_timeout=LONG, timeout=LONG)
    assert "The cat sleeps." in text
    assert model.queries == [*(f"pet number {number}" for number in range(4)), "the last pet"]


async def _ask_many(dsn: str, count: int, **options: Any) -> list[Any]:
    async with AsyncClient(dsn, pool_max=count) as memory:
        return await asyncio.gather(
            *(memory.recall(f"pet {number}", embed="daemon", **options) for number in range(count))
        )


def test_many_ask_at_once(dsn: str, memory: Client, model: Model) -> None:
    assert memory.admin.status().memories == 2
    with answering(dsn, model):
        results = asyncio.run(_ask_many(dsn, 8, embed_timeout=LONG))
    assert [result.notice for result in results] == [None] * 8
    assert sorted(model.queries) == [f"pet {number}" for number in range(8)]


def test_a_server_elsewhere_answers_several_at_once(dsn: str, memory: Client, model: Model) -> None:
    assert memory.admin.status().memories == 2
    model.is_hosted = True
    model.free.clear()
    with answering(dsn, model) as answerer:
        late = asyncio.run(_ask_many(dsn, 2, embed_timeout=0.05))
        until(lambda: len(model.queries) == 2)
        assert answerer.is_answering
        model.free.set()
        until(lambda: not answerer.is_answering)
        again = asyncio.run(_ask_many(dsn, 2))
    assert [result.notice for result in late] == [
        f"the embedder did not answer within 0.05 s: {WORDS_ONLY}"
    ] * 2
    assert [result.notice for result in again] == [None] * 2


def test_without_notifications_it_looks_now_and_then(dsn: str, memory: Client, model: Model) -> None:
    with answering(dsn, model, listen=False):
        assert memory.recall("a pet", embed="daemon", embed_timeout=LONG).notice is None


# -- without an answer


def test_nobody_is_there(conn: psycopg.Connection[Any], memory: Client) -> None:
    result = memory.recall("tea", embed="daemon")
    assert (result.notice, result.legs, len(result)) == (NOBODY, WITHOUT_VECTOR, 1)
    assert _stored(conn) == []


def test_an_embedder_of_another_generation_is_nobody(conn: psycopg.Connection[Any], memory: Client) -> None:
    beat(conn, "00000000-0000-0000-0000-000000000001", "other", [2])
    assert memory.recall("tea", embed="daemon").notice == NOBODY


def test_who_is_late_answers_the_next_time(dsn: str, memory: Client, model: Model) -> None:
    model.free.clear()
    with answering(dsn, model) as answerer:
        late = memory.recall("tea for a pet", embed="daemon", embed_timeout=0.1)
        assert late.notice == f"the embedder did not answer within 0.1 s: {WORDS_ONLY}"
        assert len(late) == 1
        model.free.set()
        until(lambda: bool(model.queries) and not answerer.is_answering)
        assert memory.recall("tea for a pet", embed="daemon").notice is None
    assert model.queries == ["tea for a pet"]


def test_a_server_that_does_not_listen_is_not_waited_for(
    conn: psycopg.Connection[Any], memory: Client
) -> None:
    beat(conn, "00000000-0000-0000-0000-000000000001", "dead", [1])  # and nobody behind it
    assert memory.recall("tea", embed="daemon", embed_timeout=0.05).notice is not None
    assert memory.briefing("tea", embed="daemon", timeout=LONG) != ""


def test_a_provider_that_pauses(
    dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model
) -> None:
    model.failure = ProviderPaused("rate_limit", "the server wants to be left alone", 30)
    with answering(dsn, model):
        result = memory.recall("tea", embed="daemon", embed_timeout=LONG)
    assert (result.notice, len(result)) == (f"the server wants to be left alone: {WORDS_ONLY}", 1)
    assert _stored(conn) == [(None, False, "the server wants to be left alone")]


def test_what_fails_quotes_nothing(
    dsn: str,
    conn: psycopg.Connection[Any],
    memory: Client,
    model: Model,
    capfd: pytest.CaptureFixture[str],
) -> None:
    model.failure = ValueError(f"cannot embed {SECRET}")
    with answering(dsn, model):
        result = memory.recall(f"tea {SECRET}", embed="daemon", embed_timeout=LONG)
    assert result.notice is not None
    assert result.notice.startswith("ValueError at ")
    [(query, has_vector, error)] = _stored(conn)
    assert (query, has_vector) == (None, False)
    logged = capfd.readouterr().err
    assert "query cannot be embedded" in logged
    assert SECRET not in f"{error} {result.notice} {logged}"


@pytest.mark.parametrize("dimension", [8, 383])
def test_a_vector_of_another_length(dsn: str, memory: Client, model: Model, dimension: int) -> None:
    other = Model(dimension=dimension)
    other.dimension = 384  # it says so
    other.embed_query = lambda text: model.embed_query(text)[:dimension]  # type: ignore[method-assign]
    with answering(dsn, other):
        result = memory.recall("tea", embed="daemon", embed_timeout=LONG)
    assert result.notice is not None
    assert result.notice.startswith("ValueError at answering.py")


def test_a_read_only_server_is_not_asked(
    dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model
) -> None:
    assert memory.admin.status().memories == 2
    read_only = make_conninfo(dsn, options="-c default_transaction_read_only=on")
    with answering(dsn, model), Client(read_only) as reader:
        result = reader.recall("tea", embed="daemon")
    assert result.notice == f"a read-only server cannot queue queries for an embedder: {WORDS_ONLY}"
    assert len(result) == 1
    assert (_stored(conn), model.queries) == ([], [])


# -- privacy


@pytest.mark.parametrize("embed", ["daemon", None])
def test_a_private_query_is_not_asked(
    dsn: str, conn: psycopg.Connection[Any], foreign: Client, model: Model, embed: Any
) -> None:
    with answering(dsn, model):
        result = foreign.recall("tea", embed=embed, private=True)
        assert foreign.briefing("tea", embed=embed, private=True, timeout=LONG)
    assert result.notice is not None
    assert result.legs == WITHOUT_VECTOR
    assert (_stored(conn), model.queries) == ([], [])


def test_a_private_query_may_be_embedded_here(conn: psycopg.Connection[Any], memory: Client) -> None:
    result = memory.recall("a pet", private=True)
    assert (result.notice, result.legs) == (None, LEGS)
    assert _stored(conn) == []


# -- by default


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    """What this process has loaded: nothing yet."""
    loaded: dict[str, object] = {}
    monkeypatch.setattr(embedding, "_loaded", loaded)
    return loaded


def test_an_embedder_goes_before_loading_the_model(
    dsn: str, memory: Client, model: Model, unloaded: dict[str, object]
) -> None:
    with answering(dsn, model):
        assert memory.recall("a pet", embed_timeout=LONG).notice is None
        assert memory.briefing("a pet with fur", embed_timeout=LONG)
    assert model.queries == ["a pet", "a pet with fur"]
    assert unloaded == {}


def test_a_model_that_is_loaded_goes_before_an_embedder(dsn: str, memory: Client, model: Model) -> None:
    assert memory.recall("a pet", embed=True).notice is None
    with answering(dsn, model):
        assert memory.recall("a pet").notice is None
    assert model.queries == []


@pytest.mark.parametrize("is_alive", [False, True])
def test_without_an_answer_the_model_is_loaded(
    conn: psycopg.Connection[Any], memory: Client, unloaded: dict[str, object], is_alive: bool
) -> None:
    if is_alive:
        beat(conn, "00000000-0000-0000-0000-000000000001", "busy", [1])
    result = memory.recall("a pet", embed_timeout=0.05)
    assert (result.notice, result.legs) == (None, LEGS)
    assert len(unloaded) == 1


def test_the_setting_tells_how_long_to_wait(
    dsn: str, conn: psycopg.Connection[Any], foreign: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    beat(conn, "00000000-0000-0000-0000-000000000001", "busy", [1])
    monkeypatch.setenv("PGRECALL_EMBED_WAIT", "0.07")
    with Client(dsn) as client:
        assert "within 0.07 s" in str(client.recall("tea").notice)
        assert "within 0.02 s" in str(client.recall("tea", embed_timeout=0.02).notice)
    for wrong in ("0", "-1", "61", "soon", "nan"):
        monkeypatch.setenv("PGRECALL_EMBED_WAIT", wrong)
        with Client(dsn) as client, pytest.raises(InvalidInput, match="embed_wait"):
            client.recall("tea")


def test_without_the_model_an_embedder_is_asked(dsn: str, foreign: Client, model: Model) -> None:
    with answering(dsn, model):
        result = foreign.recall("a pet", embed_timeout=LONG)
    assert (result.notice, result.legs) == (None, LEGS)
    assert model.queries == ["a pet"]


def test_without_both_it_says_what_is_missing(conn: psycopg.Connection[Any], foreign: Client) -> None:
    missing = "the database's model comes from elsewhere"
    assert foreign.recall("tea").notice == f"{missing}: {WORDS_ONLY}"
    beat(conn, "00000000-0000-0000-0000-000000000001", "dead", [1])
    late = foreign.recall("tea", embed_timeout=0.05)
    assert late.notice == f"{missing}, and the embedder did not answer within 0.05 s: {WORDS_ONLY}"


def test_a_database_without_a_model(conn: psycopg.Connection[Any], memory: Client) -> None:
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    for embed in ("daemon", None):
        notice = memory.recall("tea", embed=embed).notice
        assert notice == f"the database has no embedding model: {WORDS_ONLY}"


LIGHT_CLIENT = """
import sys
for name in ("numpy", "sentence_transformers", "torch"):
    sys.modules[name] = None
from pgrecall import Client
with Client(sys.argv[1]) as memory:
    found = memory.recall("which pet is that?", embed_timeout=30)
    print(found.notice, found.legs, found[0].content)
"""


@pytest.mark.slow
def test_a_client_without_any_library_and_a_daemon(dsn: str, conn: psycopg.Connection[Any]) -> None:
    with Client(dsn) as memory:
        memory.remember_many({"content": text} for text in ("Ana drinks green tea.", "The cat sleeps."))
    daemon = subprocess.Popen(
        [sys.executable, "-m", "pgrecall_embedder", "--only", "embedding", "--log-json"],
        env=os.environ | {"PGRECALL_DSN": dsn},
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: scalar(conn, "SELECT embedded FROM recall_status()") == 2)
        done = subprocess.run(
            [sys.executable, "-c", LIGHT_CLIENT, dsn], capture_output=True, text=True, check=True
        )
    finally:
        daemon.send_signal(signal.SIGTERM)
        _, logged = daemon.communicate(timeout=PATIENCE)
    assert done.stdout == f"None {LEGS} The cat sleeps.\n"
    assert daemon.returncode == 0, logged
    assert "which pet" not in logged


def test_the_command_line(
    dsn: str, foreign: Client, model: Model, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(*arguments: str) -> tuple[int | str | None, str]:
        with pytest.raises(SystemExit) as caught:
            main([*arguments, "--dsn", dsn])
        return caught.value.code, capsys.readouterr().err

    assert foreign.admin.status().memories == 2
    with answering(dsn, model):
        foreign.recall("a pet", embed="daemon", embed_timeout=LONG)  # and it is known from now on
        for command in ("recall", "facts", "explain", "briefing"):
            code, told = run(command, "a pet", "--embed-by-daemon")
            assert (code or 0, WORDS_ONLY in told) == (0, False)
            code, told = run(command, "tea", "--private")
            assert (code or 0, WORDS_ONLY in told) == (0, command != "briefing")
        code, told = run("recall", "tea", "--embed-by-daemon", "--no-embed")
        assert (code, "cannot be combined" in told) == (2, True)
    assert model.queries == ["a pet"]


# -- what is refused


@pytest.mark.parametrize(
    "options",
    [
        {"embed": "deamon"},
        {"embed": 1},
        {"private": "yes"},
        {"embed_timeout": 0},
        {"embed_timeout": 61},
        {"embed_timeout": "1"},
    ],
)
def test_arguments_that_are_none(shared: Client, options: dict[str, Any]) -> None:
    for ask in (shared.recall, shared.timeline, shared.recall_facts, shared.explain, shared.briefing):
        with pytest.raises(InvalidInput):
            ask("tea", **options)


def test_a_query_that_is_too_long_is_not_stored(
    dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model
) -> None:
    with answering(dsn, model):
        assert memory.briefing("tea " * 5000, embed="daemon", timeout=LONG) == ""
    assert (_stored(conn), model.queries) == ([], [])


@pytest.mark.parametrize("seconds", [-1, 61, "NaN", None])
def test_no_such_wait(conn: psycopg.Connection[Any], seconds: Any) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        conn.execute("SELECT * FROM pgrecall.wait_query_embedding(1, %s::float8)", [seconds])
    assert caught.value.diag.message_hint


def test_readers_may_ask(dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model) -> None:
    conn.execute("SET ROLE pgrecall_reader")
    with answering(dsn, model):
        asked = conn.execute("SELECT * FROM pgrecall.request_query_embedding('a pet')").fetchone()
        assert asked is not None
        found = conn.execute(
            "SELECT embedding::text <> '' FROM pgrecall.wait_query_embedding(%s, 30)", [asked[0]]
        )
        assert found.fetchone() == (True,)


def test_the_answerer_stops_with_what_it_has_in_hand(
    dsn: str, conn: psycopg.Connection[Any], memory: Client, model: Model
) -> None:
    model.free.clear()
    with answering(dsn, model) as answerer:
        memory.recall("first", embed="daemon", embed_timeout=0.01)
        assert model.entered.wait(PATIENCE)
        memory.recall("second", embed="daemon", embed_timeout=0.01)
        answerer.stop()
        model.free.set()
    assert model.queries == ["first"]
    assert _stored(conn) == [(None, True, None), ("second", False, None)]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.workers") == 0
