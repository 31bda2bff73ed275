"""A canary through the whole system: what a sensitive memory says is in no request, no log and no other table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from embedder_support import PATIENCE, until
from enricher_support import pending, store, texts, without_spacy
from llm_support import KEY, completion, entries, served
from pgrecall.install import migrate
from pgrecall.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EARLY = "Quibblesnark"
LATE = "Zanzibarquux"
# What holds the text itself, or words of it for recall by those who may see it.
OWN_TABLES = {"memories", "postings", "lexicon", "unposted"}


@pytest.fixture
def traced(public_dir: Path) -> Iterator[tuple[str, Path]]:
    """A server of its own, that logs every statement, and its log."""
    running = EmbeddedServer(public_dir / "traced", settings={"log_min_error_statement": "panic"})
    dsn = running.up()
    try:
        migrate(dsn)
        yield dsn, public_dir / "traced"
    finally:
        running.down()


def holding(conn: psycopg.Connection[Any], word: str) -> set[str]:
    """The tables of schema pgrecall with a row that holds a word, in any case and any column."""
    tables = conn.execute(
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'pgrecall' AND table_type = 'BASE TABLE'"
    ).fetchall()
    assert len(tables) > 20
    found = set()
    for (table,) in tables:
        query = f'SELECT count(*) FROM pgrecall."{table}" t WHERE t::text ILIKE %s'
        [(count,)] = conn.execute(query, [f"%{word}%"]).fetchall()
        if count:
            found.add(table)
    return found


def memory(word: str, number: int, **fields: Any) -> dict[str, Any]:
    return {
        "title": f"{word} title {number}",
        "content": f"{word} works at {word}Corp since 2019. See src/{word}_{number}.py, @{word} on 3 May 2024.",
        "tags": [f"{word}-tag", "plain"],
        "expanded_keywords": [f"{word}-keyword"],
        "speaker": f"{word} Speaker",
        **fields,
    }


def remember(conn: psycopg.Connection[Any], memories: list[dict[str, Any]]) -> list[int]:
    return [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [json.dumps(memories)])]


def test_a_canary_leaves_no_trace(traced: tuple[str, Path]) -> None:
    dsn, folder = traced
    with psycopg.connect(dsn, autocommit=True) as conn, served() as llm:
        llm.script = lambda asked: completion(entries(asked.rows))
        without_spacy(conn)
        for name, value in (("extract_llm", "on"), ("llm_base_url", llm.url), ("llm_model", "m")):
            conn.execute("SELECT pgrecall.set_setting(%s, %s)", [name, value])
        process = subprocess.Popen(
            [sys.executable, "-m", "pgrecall_embedder", "--log-json"],
            env=os.environ | {"PGRECALL_DSN": dsn, "PGRECALL_LLM_API_KEY": KEY},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            store(conn, texts(20))
            early = remember(conn, [memory(EARLY, number, is_sensitive=True) for number in range(20)])
            late = remember(conn, [memory(LATE, number) for number in range(40)])
            # Some before they are read, some while, some after.
            flag(conn, late[::2])
            until(lambda: not (waiting(conn)))
            flag(conn, late[1::2])
            assert any(LATE in asked.body.decode() for asked in llm.asked), "it was to be read before"
            asked_before = len(llm.asked)
            # A sensitive memory that changes stays what it is.
            conn.execute("SELECT revise(%s, content => %s)", [early[0], f"{EARLY} works at {EARLY}Firm"])
            conn.execute("SELECT revise(%s, content => %s)", [late[0], f"{LATE} works at {LATE}Firm"])
            store(conn, ["Person1 works at Firm1."])
            until(lambda: not waiting(conn) and len(llm.asked) > asked_before)
        finally:
            process.terminate()
            log, _ = process.communicate(timeout=PATIENCE)
        assert process.returncode == 0, log
        for word in (EARLY, LATE):
            assert holding(conn, word) <= OWN_TABLES
            assert word.casefold() not in log.casefold()
        assert holding(conn, EARLY) == holding(conn, EARLY) & OWN_TABLES != set()
        sent = [asked.body.decode().casefold() for asked in llm.asked]
        assert not any(EARLY.casefold() in body for body in sent)
        assert not any(LATE.casefold() in body for body in sent[asked_before:])
        [(count,)] = conn.execute("SELECT count(*) FROM pgrecall.mentions").fetchall()
        assert count > 50
        assert '"read_by_llm"' in log
    written = "".join(path.read_text(errors="replace") for path in folder.rglob("*.log"))
    assert "database system is ready" in written
    assert EARLY.casefold() not in written.casefold()
    assert LATE.casefold() not in written.casefold()


def flag(conn: psycopg.Connection[Any], ids: list[int]) -> None:
    for one in ids:
        conn.execute("SELECT revise(%s, is_sensitive => true)", [one])


def waiting(conn: psycopg.Connection[Any]) -> int:
    [(unembedded,)] = conn.execute("SELECT pending FROM recall_status()").fetchall()
    return pending(conn) + pending(conn, "llm") + int(unembedded)
