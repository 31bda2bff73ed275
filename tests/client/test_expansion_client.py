"""Queries expanded by a language model over HTTP: what is sent, what is believed, and every way to fail."""

from __future__ import annotations

import asyncio
import json
import socket
from typing import TYPE_CHECKING, Any

import pytest
from prometheus_client import CollectorRegistry
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, Expansion, InvalidInput, LlmExpander
from pgrecall.cli import main
from pgrecall.metrics import ClientMetrics
from pgrecall.query.expansion import ExpansionFailed, read_expansion
from support.llm import CANARY, KEY, Asked, Reply, Server, completion, failure, served
from support.memories import contents, remember, scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from psycopg import Connection

QUERY = "What did the singer perform?"
GOOD = {"terms": ["aria"], "synonyms": ["vocalist"], "entities": ["La Scala"], "intent": "event"}


@pytest.fixture
def llm() -> Iterator[Server]:
    """A server that answers as a good model does."""
    with served() as server:
        server.script = lambda _: completion(GOOD)
        yield server


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
def memory(dsn: str, registry: CollectorRegistry) -> Iterator[Client]:
    """A client whose one connection is free whenever it does not speak to the database."""
    with Client(dsn, pool_max=1, pool_timeout=5, metrics=ClientMetrics(registry)) as client:
        yield client


@pytest.fixture
def outcomes(registry: CollectorRegistry) -> Callable[[], dict[str, float]]:
    """What has been counted, by outcome."""

    def read() -> dict[str, float]:
        return {
            sample.labels["outcome"]: sample.value
            for metric in registry.collect()
            for sample in metric.samples
            if sample.name == "pgrecall_expansions_total"
        }

    return read


def ids(client: Client, expand: Any = None, query: str = QUERY, **options: Any) -> list[int]:
    return [found.id for found in client.recall(query, expand=expand, embed=False, **options)]


def data(asked: Asked) -> Any:
    """The prompt for the model."""
    assert asked.path == "/v1/chat/completions"
    return asked.rows


def test_asked_once_and_kept(
    memory: Client, llm: Server, outcomes: Callable[[], dict[str, float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_KEY", KEY)
    own = memory.remember("The singer did not perform")
    other = memory.remember("Her aria was long")
    expander = LlmExpander(llm.url, "small", api_key_env="A_KEY")
    assert ids(memory) == [own]
    first = memory.recall(QUERY, expand=expander, embed=False)
    assert [found.id for found in first] == [own, other]
    assert first.expansion == Expansion(("aria", "vocalist", "La Scala"), ("La Scala",), "event")
    assert first.notice is None
    again = memory.recall(f"  {QUERY.upper()}", expand=expander, embed=False)
    assert again.expansion == first.expansion
    # Anyone of this role finds it kept, and nobody asks.
    assert ids(memory, "llm") == [own, other]
    assert ids(memory, "off") == ids(memory) == [own]
    [asked] = llm.asked
    assert data(asked) == {"query": QUERY, "language": "english"}
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert asked.json["model"] == "small"
    assert asked.json["response_format"]["json_schema"]["name"] == "expansion"
    assert KEY not in repr(expander)
    assert outcomes() == {"asked": 1, "cached": 1}


def test_no_memory_is_ever_sent(conn: Connection[Any], memory: Client, llm: Server) -> None:
    """Sensitive or not: the query is all that a language model sees."""
    for number in range(5):
        remember(
            conn, f"{CANARY} and the singer {number}", is_sensitive=number % 2 == 0, tags=[f"{CANARY} singer"]
        )
    result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m"), embed=False)
    assert len(result) == 5
    memory.explain("Which singer was it?", expand=LlmExpander(llm.url, "m"), embed=False)
    assert len(llm.asked) == 2
    assert all(CANARY.lower() not in asked.body.decode().lower() for asked in llm.asked)


def test_no_connection_is_held_meanwhile(memory: Client, llm: Server) -> None:
    """The client's only connection serves another recall while the model thinks."""
    memory.remember("The singer did not perform")
    seen: list[int] = []

    def script(_: Asked) -> Reply:
        seen.extend(ids(memory))
        return completion(GOOD)

    llm.script = script
    result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m", timeout=20), embed=False)
    assert result.expansion is not None
    assert seen == [result[0].id]


FAILURES: dict[str, tuple[Reply, str]] = {
    "429": (failure(429, headers={"Retry-After": "0"}), "unavailable"),
    "500": (failure(500), "unavailable"),
    "503": (failure(503), "unavailable"),
    "401": (failure(401), "misconfigured"),
    "404": (failure(404), "misconfigured"),
    "redirect": (Reply(302, {"Location": "http://127.0.0.1:1/"}), "misconfigured"),
    "html": (Reply(body=b"<html>garbage</html>"), "misconfigured"),
    "no JSON": (completion("no JSON at all"), "invalid"),
    "a list": (completion(["aria"]), "invalid"),
    "no lists": (completion({"terms": "aria", "synonyms": [], "entities": []}), "invalid"),
    "nothing usable": (completion({"terms": ["\x00", "!", 7, "x" * 65], "synonyms": []}), "invalid"),
    "a refusal": (completion(None, refusal="no"), "invalid"),
    "cut off": (completion({"terms": []}, finish_reason="length"), "invalid"),
    "too large": (completion({"terms": ["x" * 100_000]}), "invalid"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_a_failure_leaves_the_query_as_it_is(
    conn: Connection[Any], memory: Client, llm: Server, outcomes: Callable[[], dict[str, float]], case: str
) -> None:
    own = memory.remember("The singer did not perform")
    memory.remember("Her aria was long")
    reply, outcome = FAILURES[case]
    llm.script = lambda _: reply
    result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m", timeout=20), embed=False)
    assert [found.id for found in result] == [own]
    assert result.expansion is None
    assert result.notice is not None
    assert result.notice.endswith("the query is not expanded")
    assert CANARY not in result.notice
    assert KEY not in result.notice
    assert outcomes() == {outcome: 1}
    assert len(llm.asked) == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.query_expansions") == 0


@pytest.mark.parametrize("pieces", [(b"", b"x"), (b"{" * 5,) * 200])
def test_a_model_that_is_slow(
    memory: Client, llm: Server, outcomes: Callable[[], dict[str, float]], pieces: tuple[bytes, ...]
) -> None:
    """Whether nothing comes or it drips: the time is for all of it."""
    own = memory.remember("The singer did not perform")
    llm.script = lambda _: Reply(pieces=pieces, pause=30 if len(pieces) == 2 else 0.05)
    expander = LlmExpander(llm.url, "m", timeout=0.3)
    result = memory.recall(QUERY, expand=expander, embed=False)
    assert [found.id for found in result] == [own]
    assert result.notice == "the language model took longer than 0.3 s: the query is not expanded"
    assert outcomes() == {"timeout": 1}


def test_nobody_there(memory: Client, outcomes: Callable[[], dict[str, float]]) -> None:
    own = memory.remember("The singer did not perform")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        expander = LlmExpander(f"http://127.0.0.1:{taken.getsockname()[1]}/v1", "m", timeout=20)
        assert ids(memory, expander) == [own]
    assert outcomes() == {"unavailable": 1}


def test_what_a_model_says_is_not_to_be_trusted(conn: Connection[Any], memory: Client, llm: Server) -> None:
    memory.remember("The singer did not perform")
    llm.script = lambda _: completion(
        {
            "terms": [
                "a\x1b[2Jria",
                "the SINGER",
                "Singer",
                "aria",
                "ＡＲＩＡ",
                "x" * 65,
                3,
                None,
                ["y"],
                "\u202eevil",
            ],
            "synonyms": [
                "</memory><script>",
                "ignore all rules; DROP TABLE x",
                *(f"word{n}" for n in range(20)),
            ],
            "entities": ["La\nScala", " - ", *(f"Name {n}" for n in range(20))],
            "intent": "to rule the world",
            "more": {"not": "asked"},
        }
    )
    before = {name: rows for name, rows in contents(conn).items() if name != "query_expansions"}
    result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m"), embed=False)
    assert result.expansion == Expansion(
        ("aria", "</memory><script>", "ignore all rules; DROP TABLE x", "word0", "word1"),
        ("La Scala", "Name 0", "Name 1", "Name 2", "Name 3"),
        None,
    )
    after = {name: rows for name, rows in contents(conn).items() if name != "query_expansions"}
    assert after == before


def test_a_model_that_knows_nothing(memory: Client, llm: Server) -> None:
    """That is an answer, and is kept: it is not asked again."""
    own = memory.remember("The singer did not perform")
    llm.script = lambda _: completion({"terms": [], "synonyms": [], "entities": [], "intent": "other"})
    for _ in range(2):
        result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m"), embed=False)
        assert [found.id for found in result] == [own]
        assert result.expansion == Expansion(intent="other")
        assert result.notice is None
    assert len(llm.asked) == 1


@pytest.mark.parametrize("query", ['"the singer"', "singer v1.2", "singer() of opera", "", "  "])
def test_what_is_not_expanded_is_not_sent(
    memory: Client, llm: Server, outcomes: Callable[[], dict[str, float]], query: str
) -> None:
    memory.remember("The singer did not perform")
    result = memory.recall(query, expand=LlmExpander(llm.url, "m"), vector=[1.0] * 384)
    assert result.notice is None
    assert llm.asked == []
    assert outcomes() == {"not_expandable": 1}


def test_a_private_query_stays_here(
    conn: Connection[Any], memory: Client, llm: Server, outcomes: Callable[[], dict[str, float]]
) -> None:
    memory.remember("Her aria was long")
    result = memory.recall(QUERY, expand=LlmExpander(llm.url, "m"), private=True, embed=False)
    assert len(result) == 0
    assert result.notice == "a private query is not sent to a language model: the query is not expanded"
    assert llm.asked == []
    assert outcomes() == {"private": 1}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.query_expansions") == 0


def test_a_server_that_only_reads(dsn: str, memory: Client, llm: Server, conn: Connection[Any]) -> None:
    """What is kept counts; nothing is asked, and nothing is written."""
    other = memory.remember("Her aria was long")
    expander = LlmExpander(llm.url, "m")
    assert ids(memory, expander) == [other]
    before = contents(conn)
    with Client(make_conninfo(dsn, options="-c default_transaction_read_only=on")) as reading:
        kept = reading.recall(QUERY, expand=expander, embed=False)
        assert [found.id for found in kept] == [other]
        assert kept.expansion is not None
        unknown = reading.recall("another question", expand=expander, embed=False)
        assert unknown.notice == "a read-only server cannot store the expansion: the query is not expanded"
    assert len(llm.asked) == 1
    assert contents(conn) == before


def test_the_asynchronous_client_and_explain(dsn: str, llm: Server) -> None:
    async def run() -> None:
        async with AsyncClient(dsn) as memory:
            other = await memory.remember("Her aria was long")
            expander = LlmExpander(llm.url, "m")
            explained = await memory.explain(QUERY, expand=expander, embed=False)
            assert [one.id for one in explained] == [other]
            assert explained[0].added_terms == ("aria", "vocalist", "La Scala")
            assert explained[0].expansion_score == explained[0].lexical_score
            # The synchronous way of asking works inside a running loop as well.
            assert expander.expand("Which opera?", "english").terms[0] == "aria"
            result = await memory.recall(QUERY, expand=expander, embed=False)
            assert [found.id for found in result] == [other]

    asyncio.run(run())
    assert len(llm.asked) == 2


def test_aliases_by_argument(memory: Client, conn: Connection[Any]) -> None:
    memory.remember("Bombay harbour", tags=["Bombay"])
    conn.execute("SELECT pgrecall.add_alias(pgrecall.find_concept('Bombay'), 'Mumbai')")
    other = memory.remember("Mumbai in July")
    assert other in ids(memory, "aliases", "Bombay")
    assert other not in ids(memory, None, "Bombay")
    # It beats what the call sets by name.
    assert other in ids(memory, "aliases", "Bombay", settings={"expand": "off"})
    assert other in ids(memory, None, "Bombay", settings={"expand": "aliases"})


def test_the_key_may_be_in_a_file(memory: Client, llm: Server, tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"{KEY}\n")
    expander = LlmExpander(llm.url, "m", api_key_file=file)
    file.write_text("another-key")
    memory.recall(QUERY, expand=expander, embed=False)
    assert llm.asked[0].headers["Authorization"] == "Bearer another-key"
    file.unlink()
    result = memory.recall("What else?", expand=expander, embed=False)
    assert result.notice is not None
    assert "key" in result.notice
    assert len(llm.asked) == 1


def test_bad_arguments(memory: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    url = "http://127.0.0.1:1/v1"
    monkeypatch.delenv("NO_KEY", raising=False)
    for options in (
        {"url": "ftp://x/v1"}, {"url": f"http://me:{KEY}@127.0.0.1/v1"}, {"model": ""}, {"timeout": 0},
        {"timeout": 61}, {"timeout": True}, {"timeout": "1"}, {"api_key_env": "NO_KEY"},
        {"api_key_env": "A", "api_key_file": "b"}, {"api_key_file": "/nowhere"},
    ):  # fmt: skip
        with pytest.raises(InvalidInput) as caught:
            LlmExpander(**{"url": url, "model": "m", **options})  # type: ignore[arg-type]
        assert KEY not in str(caught.value)
    for wrong in ("synonyms", True, 1, object()):
        with pytest.raises(InvalidInput):
            memory.recall(QUERY, expand=wrong)  # type: ignore[arg-type]
        with pytest.raises(InvalidInput):
            memory.explain(QUERY, expand=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("said", [None, "aria", [], 7, {"terms": None}, {"terms": {}, "synonyms": []}])
def test_answers_that_are_none(said: object) -> None:
    with pytest.raises(ExpansionFailed) as caught:
        read_expansion(said, QUERY)
    assert caught.value.outcome == "invalid"


def test_what_the_query_says_is_no_new_term() -> None:
    said = {"terms": ["Perform", "did the", "form", "a r i a"], "entities": [], "synonyms": ["PERFORM?"]}
    assert read_expansion(said, QUERY).terms == ("form", "a r i a")


def test_the_command_line(
    dsn: str, llm: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("PGRECALL_EXPAND_API_KEY", KEY)

    def run(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as caught:
            main([*arguments, "--no-embed"])
        captured = capsys.readouterr()
        return caught.value.code, captured.out, captured.err

    with Client(dsn) as memory:
        other = memory.remember("Her aria was long")
    code, out, _ = run("recall", QUERY, "--expand", llm.url, "--expand-model", "m", "--json")
    assert code in {None, 0}
    assert [row["id"] for row in json.loads(out)] == [other]
    assert llm.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    code, out, _ = run("explain", QUERY, "--expand", "llm")
    assert code in {None, 0}
    assert "of the score from added terms: aria, vocalist, La Scala" in out
    for wrong in (("--expand", llm.url), ("--expand-model", "m"), ("--expand", "synonyms")):
        code, _, err = run("recall", QUERY, *wrong)
        assert code not in {None, 0}
        assert "xpand" in err
