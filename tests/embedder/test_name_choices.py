"""The daemon asks a language model about doubtful names, and keeps to what it may ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from support.extractor import make_reader, without_spacy
from support.llm import KEY, completion, failure, served

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from support.llm import Asked, Reply, Server


@pytest.fixture
def llm(conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A language model that knows that a shalott is a shallot, and nothing in texts."""
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", KEY)
    without_spacy(conn)

    def script(asked: Asked) -> Reply:
        if "given" not in asked.rows:
            return completion({"memories": []})
        numbers = {name: int(number) for number, name in asked.rows["candidates"].items()}
        wanted = {"shallot": "shalott", "shalott": "shallot"}.get(asked.rows["given"])
        return completion({"choice": numbers.get(str(wanted))})

    with served() as server:
        monkeypatch.setenv("PGRECALL_LLM_URL", server.url)
        conn.execute(
            "SELECT pgrecall.set_setting('extract_llm', 'on'), pgrecall.set_setting('llm_model', 'm')"
        )
        server.script = script
        yield server


def drain(dsn: str) -> None:
    asyncio.run(make_reader(dsn, drain=True).run())


def questions(server: Server) -> list[Any]:
    return [asked.rows for asked in server.asked if isinstance(asked.rows, dict) and "given" in asked.rows]


def merged(conn: psycopg.Connection[Any]) -> list[tuple[str, str, str]]:
    return conn.execute("SELECT key, into_key, method FROM pgrecall.concept_merges").fetchall()


def test_doubtful_names_are_asked_about_once(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    conn.execute("SELECT remember('x', tags => %s)", [["shallot", "shalott", "macaron", "macaroon", "cider"]])
    drain(dsn)
    assert merged(conn) == [("shalott", "shallot", "llm")]
    assert sorted(len(rows["candidates"]) for rows in questions(llm)) == [1, 1]
    sent = str([asked.body for asked in llm.asked])
    assert "cider" not in sent
    conn.execute("UPDATE pgrecall.concepts SET resolved_at = NULL")
    drain(dsn)
    assert len(questions(llm)) == 2
    [(requests,)] = conn.execute("SELECT sum(requests)::integer FROM pgrecall.llm_usage").fetchall()
    assert requests == len(llm.asked)


def test_an_outage_keeps_the_question(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    script, llm.script = llm.script, lambda _: failure(401)
    conn.execute("SELECT remember('x', tags => %s)", [["shallot", "shalott"]])
    drain(dsn)
    assert merged(conn) == []
    llm.script = script
    drain(dsn)
    assert merged(conn) == [("shalott", "shallot", "llm")]


def test_without_the_setting_no_name_is_sent(dsn: str, conn: psycopg.Connection[Any], llm: Server) -> None:
    conn.execute("SELECT pgrecall.set_setting('extract_llm', 'off')")
    conn.execute("SELECT remember('x', tags => %s)", [["shallot", "shalott"]])
    drain(dsn)
    assert llm.asked == []
    assert merged(conn) == []
