"""The daemon's language model: facts with their evidence, answers kept and gone, usage, labels, pauses."""

from __future__ import annotations

import asyncio
import functools
import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall_embedder.jobs.asking import llm_access
from pgrecall_embedder.llm import LlmClient
from support.embedder import Recorder, make_daemon, running
from support.extractor import (
    WITHOUT_SPACY,
    make_reader,
    mentions_of,
    pending,
    read_all,
    store,
    without_spacy,
)
from support.llm import CANARY, KEY, Reply, completion, entries, failure, row, served
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.llm import Asked, Server


@pytest.fixture
def llm(conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A language model that the database is set up for."""
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", KEY)
    without_spacy(conn)
    with served() as server:
        monkeypatch.setenv("PGRECALL_LLM_URL", server.url)
        for name, value in (
            ("extract_llm", "on"),
            ("extract", WITHOUT_SPACY.removesuffix(", facts")),
            ("llm_model", "m"),
            ("llm_prompt_price", "2"),
            ("llm_completion_price", "10"),
        ):
            conn.execute("SELECT pgrecall.set_setting(%s, %s)", [name, value])
        yield server


def workers(count: int) -> list[str]:
    return [f"Person{number} works at Firm{number}." for number in range(count)]


def facts(conn: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return conn.execute(
        "SELECT e.memory_id, s.alias, r.label, t.alias, e.source FROM pgrecall.relationships r "
        "JOIN pgrecall.concept_aliases s ON s.id = r.source_alias_id "
        "JOIN pgrecall.concept_aliases t ON t.id = r.target_alias_id "
        "JOIN pgrecall.relationship_evidence e ON e.relationship_id = r.id ORDER BY 1, 2"
    ).fetchall()


def answers(conn: psycopg.Connection[Any]) -> int:
    [(count,)] = conn.execute("SELECT count(*) FROM pgrecall.llm_answers").fetchall()
    return int(count)


def test_facts_come_with_their_evidence(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    ids = store(conn, workers(40))
    sums = read_all(dsn)
    assert (sums["read"], sums["read_by_llm"], sums["llm_failed"]) == (40, 40, 0)
    assert facts(conn) == [
        (memory, f"person{number}", "works at", f"firm{number}", "llm") for number, memory in enumerate(ids)
    ]
    assert answers(conn) == 40
    usage = conn.execute(
        "SELECT model, requests, prompt_tokens, completion_tokens, cost FROM pgrecall.llm_usage"
    )
    [(model, requests, prompt, written, cost)] = usage.fetchall()
    assert (model, requests) == ("m", len(llm.asked))
    assert (prompt, written) == (100 * requests, 10 * requests)
    assert float(cost) == pytest.approx(requests * (100 * 2 + 10 * 10) / 1e6)
    assert all(asked.headers["Authorization"] == f"Bearer {KEY}" for asked in llm.asked)


def test_what_was_answered_is_not_asked_again(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    store(conn, workers(10))
    read_all(dsn)
    asked = len(llm.asked)
    conn.execute("SELECT pgrecall.reextract(enricher => 'llm')")
    assert read_all(dsn)["read_by_llm"] == 10
    assert len(llm.asked) == asked
    assert len(facts(conn)) == 10


def test_an_answer_goes_with_its_memory(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    ids = store(conn, workers(3))
    read_all(dsn)
    conn.execute("SELECT update_memory(%s, content => 'Person9 works at Firm9.')", [ids[0]])
    conn.execute("SELECT update_memory(%s, is_sensitive => true)", [ids[1]])
    assert answers(conn) == 1
    assert [fact[0] for fact in facts(conn)] == [ids[2]]
    read_all(dsn)
    assert [fact[:2] for fact in facts(conn)] == [(ids[0], "person9"), (ids[2], "person2")]


def test_answers_are_kept_for_claimed_memories_only(conn: psycopg.Connection[Any], llm: Server) -> None:
    first, second = store(conn, workers(2))
    conn.execute("SELECT pgrecall.reextract(enricher => 'llm')")
    claim = "SELECT memory_id, ticket FROM pgrecall.claim_extractions(gen_random_uuid(), 'llm')"
    tickets = dict(conn.execute(claim).fetchall())

    def keep(memory: int, ticket: int) -> int:
        item = {"key": "0a" * 32, "memory_id": memory, "ticket": ticket, "answer": {"facts": []}}
        [(kept,)] = conn.execute("SELECT pgrecall.cache_llm_answers(%s)", [json.dumps([item])]).fetchall()
        return int(kept)

    assert keep(first, tickets[first] + 1000) == 0
    assert keep(first, tickets[second]) == 0
    assert keep(first, tickets[first]) == 1
    assert keep(first, tickets[first]) == 1
    conn.execute("SELECT update_memory(%s, content => 'something else')", [second])
    assert keep(second, tickets[second]) == 0
    assert answers(conn) == 1
    known = conn.execute(
        "SELECT * FROM pgrecall.cached_llm_answers(%s::bytea[])", [[b"\x0a" * 32, b"\x0b" * 32]]
    )
    assert known.fetchall() == [(b"\x0a" * 32, {"facts": []})]
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        conn.execute("SELECT pgrecall.cache_llm_answers('{}')")


def test_a_flag_while_the_model_is_asked_leaves_nothing(
    dsn: str, conn: psycopg.Connection[Any], llm: Server
) -> None:
    [memory] = store(conn, workers(1))

    def flag(asked: Asked) -> Reply:
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute("SELECT update_memory(%s, is_sensitive => true)", [memory])
        return completion(entries(asked.rows))

    llm.script = flag
    sums = read_all(dsn)
    assert "read_by_llm" not in sums
    assert (facts(conn), answers(conn), mentions_of(conn, memory)) == ([], 0, set())


@pytest.mark.parametrize("status", [429, 503, 401], ids=["busy", "outage", "key"])
def test_trouble_pauses_this_enricher_alone(
    dsn: str, conn: psycopg.Connection[Any], llm: Server, status: int, capfd: pytest.CaptureFixture[str]
) -> None:
    llm.script = lambda _: failure(status, headers={"Retry-After": "300"})

    async def scenario() -> None:
        async with running(make_reader(dsn, poll_seconds=0.1, heartbeat_seconds=0.2)):
            await asyncio.to_thread(store, conn, workers(3))
            await eventually(lambda: "language model paused" in _seen(capfd, seen))
            asked = len(llm.asked)
            # Meanwhile names are read, and nothing more is asked.
            await asyncio.to_thread(store, conn, workers(3))
            await eventually(lambda: pending(conn) == 0)
            assert len(llm.asked) == asked
            query = "SELECT sum(attempts), count(ticket) FROM pgrecall.jobs WHERE kind = 'llm'"
            assert conn.execute(query).fetchall() == [(0, 0)]
            llm.script = lambda asked: completion(entries(asked.rows))
            # A change of the settings ends the pause.
            conn.execute("SELECT pgrecall.set_setting('llm_prompt_price', '3')")
            await eventually(lambda: pending(conn, "llm") == 0)

    seen: list[str] = []
    asyncio.run(scenario())
    log = _seen(capfd, seen)
    assert CANARY not in log
    assert KEY not in log
    assert len(facts(conn)) == 6


@pytest.mark.parametrize(
    "trouble",
    [
        completion("no JSON"),
        failure(500),
        failure(503),
        Reply(headers={"Transfer-Encoding": "chunked"}, body=b"no chunk"),
        Reply(pieces=[b" "] * 100, pause=0.1),
    ],
    ids=["no-json", "500", "503", "broken-off", "endless"],
)
def test_a_memory_that_the_model_fails_on_is_parked_alone(
    dsn: str, conn: psycopg.Connection[Any], llm: Server, monkeypatch: pytest.MonkeyPatch, trouble: Reply
) -> None:
    """Whatever the server does on it, as long as it answers other texts."""
    made = functools.partial(LlmClient, timeout=1.0, backoff=0.01)
    monkeypatch.setattr(llm_access, "LlmClient", made)
    ids = store(conn, [*workers(3), f"{CANARY} says nothing", *workers(3)])

    def answer(asked: Asked) -> Reply:
        if any(CANARY in one["text"] for one in asked.rows):
            return trouble
        return completion(entries(asked.rows))

    llm.script = answer
    sums = read_all(dsn)
    assert (sums["read_by_llm"], sums["llm_failed"]) == (6, 1)
    query = "SELECT memory_id, last_error FROM pgrecall.jobs WHERE kind = 'llm'"
    [(memory, error)] = conn.execute(query).fetchall()
    assert memory == ids[3]
    assert CANARY not in error


@pytest.mark.parametrize(
    ("said", "kept"),
    [({"more": f"{CANARY} " * 150_000}, 0), ({"confidence": 1e-50}, 1)],
    ids=["size", "underflow"],
)
def test_what_the_database_cannot_hold_of_an_answer_costs_no_memory(
    dsn: str,
    conn: psycopg.Connection[Any],
    llm: Server,
    said: dict[str, object],
    kept: int,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """An answer too large for the cache, and a number too near to 0."""
    store(conn, workers(1))
    llm.script = lambda asked: completion(
        {"memories": [{"id": one["id"], "facts": [row("Person0", "Firm0", **said)]} for one in asked.rows]}
    )
    sums = read_all(dsn)
    assert (sums["read_by_llm"], sums["llm_failed"], len(llm.asked)) == (1, 0, 1)
    assert [fact[1:4] for fact in facts(conn)] == [("person0", "works at", "firm0")]
    assert answers(conn) == kept
    assert CANARY not in capfd.readouterr().err


def test_a_namespace_that_is_erased_meanwhile_ends_nothing(
    dsn: str, conn: psycopg.Connection[Any], llm: Server
) -> None:
    """Its labels were about to be decided on."""
    with psycopg.connect(dsn, autocommit=True) as other:
        other.execute("SELECT pgrecall.create_namespace('gone')")
        other.execute("SELECT remember('Person7 works at Firm7.', namespace => 'gone')")
    ids = store(conn, workers(1))

    def erase(asked: Asked) -> Reply:
        if any("Firm7" in one["text"] for one in asked.rows):
            with psycopg.connect(dsn, autocommit=True) as other:
                other.execute("SELECT erase_namespace('gone')")
        return completion(entries(asked.rows))

    llm.script = erase

    async def scenario() -> None:
        async with running(make_daemon(dsn, Recorder(), only=None, poll_seconds=0.1)):
            await eventually(lambda: [fact[0] for fact in facts(conn)] == ids and pending(conn, "llm") == 0)

    asyncio.run(scenario())


def test_labels_that_mean_the_same_become_one(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    store(conn, ["Ada mentors Bob.", "Cleo is mentoring Dan.", "Eve repairs Fred."])
    said = {"Ada": ("Bob", "mentors"), "Cleo": ("Dan", "is mentor to"), "Eve": ("Fred", "repairs")}

    def answer(asked: Asked) -> Reply:
        if "choice" in asked.json["response_format"]["json_schema"]["name"]:
            return completion({"choice": None})
        listed = [
            {
                "id": one["id"],
                "facts": [
                    row(name, target, label=label, object_type="PERSON")
                    for name, (target, label) in said.items()
                    if one["text"].startswith(name)
                ],
            }
            for one in asked.rows
        ]
        return completion({"memories": listed})

    llm.script = answer
    daemon = make_daemon(dsn, Recorder(), only=None, drain=True)
    asyncio.run(daemon.run())
    assert daemon.sums()["read_by_llm"] == 3
    decided = {row[0] for row in conn.execute("SELECT alias FROM pgrecall.relation_labels")}
    assert len(decided) == 3
    assert {fact[2] for fact in facts(conn)} <= decided


@pytest.mark.parametrize("address", ["", "nowhere", "http://user:sesame-4711@127.0.0.1:1/v1?key=sesame-4711"])
def test_without_a_model_or_an_address_nothing_is_asked(
    dsn: str,
    conn: psycopg.Connection[Any],
    llm: Server,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    address: str,
) -> None:
    monkeypatch.setenv("PGRECALL_LLM_URL", address)
    store(conn, workers(2))
    assert read_all(dsn)["read"] == 2
    assert (pending(conn), pending(conn, "llm"), llm.asked) == (0, 2, [])
    told = capfd.readouterr().err
    assert "no language model available" in told
    assert "sesame-4711" not in told


def test_no_setting_says_where_the_key_goes(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    """The attack of an administrator of the database: a server of his own, to be shown the key."""
    with served() as thief, psycopg.connect(dsn, autocommit=True) as admin:
        admin.execute("SET ROLE pgrecall_admin")
        assert admin.execute("SELECT pgrecall.set_setting('llm_model', 'm')").rowcount == 1
        with suppress(psycopg.Error):
            admin.execute("SELECT pgrecall.set_setting('llm_base_url', %s)", [thief.url])
        with suppress(psycopg.Error):
            admin.execute(
                "INSERT INTO pgrecall.settings (name, value) VALUES ('llm_base_url', %s)", [thief.url]
            )
        store(conn, workers(2))
        assert read_all(dsn)["read_by_llm"] == 2
    assert thief.asked == []
    assert {asked.headers["Authorization"] for asked in llm.asked} == {f"Bearer {KEY}"}


def test_no_setting_holds_an_address(conn: psycopg.Connection[Any]) -> None:
    """What would be in one, such as a password, every reader could read."""
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        conn.execute("SELECT pgrecall.set_setting('llm_base_url', 'https://user:sesame-4711@host/v1')")
    assert "sesame-4711" not in str(caught.value)
    units = "SELECT name FROM pgrecall.setting_definitions WHERE unit ILIKE '%url%' OR unit ILIKE '%address%'"
    assert conn.execute(units).fetchall() == []


def test_the_key_may_stand_in_a_file(
    dsn: str, conn: psycopg.Connection[Any], llm: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    (tmp_path / "key").write_text("sk-of-a-file\n")
    monkeypatch.delenv("PGRECALL_LLM_API_KEY")
    monkeypatch.setenv("PGRECALL_LLM_API_KEY_FILE", str(tmp_path / "key"))
    store(conn, workers(1))
    read_all(dsn)
    assert [asked.headers["Authorization"] for asked in llm.asked] == ["Bearer sk-of-a-file"]


@pytest.mark.parametrize("before", ["sk-of-last-month\n", None])
def test_a_key_file_is_read_again_while_the_daemon_runs(
    dsn: str,
    conn: psycopg.Connection[Any],
    llm: Server,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    before: str | None,
) -> None:
    """The server refuses the old key, or there is no file yet."""
    file = tmp_path / "key"
    if before is not None:
        file.write_text(before)
    monkeypatch.delenv("PGRECALL_LLM_API_KEY")
    monkeypatch.setenv("PGRECALL_LLM_API_KEY_FILE", str(file))
    monkeypatch.setattr(llm_access, "_LONGEST_PAUSE", 0.5)

    def answer(asked: Asked) -> Reply:
        is_known = asked.headers.get("Authorization") == "Bearer sk-of-today"
        return completion(entries(asked.rows)) if is_known else failure(401)

    llm.script = answer
    told = "no language model available" if before is None else "language model paused"
    seen: list[str] = []

    async def scenario() -> None:
        async with running(make_reader(dsn, poll_seconds=0.1, heartbeat_seconds=0.2)):
            await asyncio.to_thread(store, conn, workers(2))
            await eventually(lambda: told in _seen(capfd, seen))
            file.write_text("sk-of-today\n")
            await eventually(lambda: len(facts(conn)) == 2)

    asyncio.run(scenario())
    assert "sk-of" not in _seen(capfd, seen)


def _seen(capfd: pytest.CaptureFixture[str], seen: list[str]) -> str:
    seen.append(capfd.readouterr().err)
    return "".join(seen)
