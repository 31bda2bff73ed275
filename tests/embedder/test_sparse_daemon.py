"""Sparse terms from end to end: the daemon with the real model, the database, and a recall."""

from __future__ import annotations

import signal
import time
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall_embedder.jobs.sparse.model import BUNDLED_MODEL
from support.extractor import pending, read_all, start_reading, store, texts, without_spacy
from support.memories import call, rows, scalar
from support.sparse import needs_model
from support.waiting import until

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = needs_model

TEXTS = (
    "We drove to the coast on Friday and swam before breakfast",
    "Our physician said the cough is nothing to worry about",
    "The tenant paid the deposit late again",
    "จำไว้ว่าฉันชอบชาเขียวมากกว่ากาแฟ",
)


@pytest.fixture
def on(conn: Connection[Any]) -> Connection[Any]:
    without_spacy(conn)
    call(conn, "pgrecall.set_setting", "extract_sparse", BUNDLED_MODEL)
    return conn


def with_terms(conn: Connection[Any]) -> set[int]:
    return {row[0] for row in conn.execute("SELECT memory_id FROM pgrecall.sparse_terms")}


def test_what_is_read_is_found_by_words_that_it_does_not_hold(dsn: str, on: Connection[Any]) -> None:
    ids = store(on, TEXTS)
    sums = read_all(dsn)
    assert (sums["read_sparse"], sums["sparse_failed"]) == (4, 0)
    assert with_terms(on) == set(ids[:3])  # the model does not read Thai
    assert (pending(on), pending(on, "sparse")) == (0, 0)
    parts = {
        row[0]: row[1]
        for row in on.execute(
            "SELECT id, sparse_part FROM recall_explain('doctor at the coast', ids => %s)", [ids]
        )
    }
    assert parts[ids[1]] > 0
    assert parts[ids[2]] == 0
    assert read_all(dsn).get("read_sparse") is None


def test_older_memories_are_read_when_asked_to(dsn: str, conn: Connection[Any]) -> None:
    without_spacy(conn)
    ids = store(conn, TEXTS[:2])
    read_all(dsn)
    call(conn, "pgrecall.set_setting", "extract_sparse", BUNDLED_MODEL)
    read_all(dsn)
    assert with_terms(conn) == set()
    assert call(conn, "pgrecall.reextract", None, BUNDLED_MODEL, "sparse") == 2
    read_all(dsn)
    assert with_terms(conn) == set(ids)
    assert call(conn, "pgrecall.reextract", None, BUNDLED_MODEL, "sparse") == 0


def test_a_secret_is_not_read(dsn: str, on: Connection[Any]) -> None:
    secret, plain = store(on, TEXTS[:2])
    call(on, "update_memory", secret, is_sensitive=True)
    read_all(dsn)
    assert with_terms(on) == {plain}


def test_a_model_that_is_not_there_keeps_nobody_from_working(dsn: str, conn: Connection[Any]) -> None:
    without_spacy(conn)
    call(conn, "pgrecall.set_setting", "extract_sparse", "/no/such/model")
    [number] = store(conn, TEXTS[:1])
    read_all(dsn)
    assert (pending(conn), pending(conn, "sparse")) == (0, 1)
    call(conn, "pgrecall.set_setting", "extract_sparse", BUNDLED_MODEL)
    read_all(dsn)
    assert with_terms(conn) == {number}


@pytest.mark.slow
def test_a_killed_daemon_loses_nothing(dsn: str, on: Connection[Any]) -> None:
    ids = store(on, texts(400))
    process = start_reading(dsn)
    until(lambda: with_terms(on))
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(with_terms(on)) > 0
    on.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE lease_expires_at IS NOT NULL")
    deadline = time.monotonic() + 60
    while (pending(on) or pending(on, "sparse")) and time.monotonic() < deadline:
        read_all(dsn)
    assert with_terms(on) == set(ids)
    assert scalar(on, "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'sparse'") == 0
    assert rows(on, "pgrecall.failures") == []
