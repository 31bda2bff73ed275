"""A daemon that is killed while it reads leaves each memory read or not read, and the next one ends up with the same."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

import psycopg

from support.extractor import graph_of, pending, read_all, start_reading, store, texts, without_spacy
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Callable

_MEMORIES = 600
_ROUNDS = 5


def test_killed_at_random_it_loses_and_halves_nothing(
    dsn: str, conn: psycopg.Connection[Any], new_database: Callable[..., str], template: str
) -> None:
    draw = random.Random(42)
    without_spacy(conn)
    # Slower writing: so a kill meets every stage of a transaction.
    conn.execute(
        "CREATE FUNCTION pgrecall.slow() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_sleep(0.0003); RETURN NEW; END $$"
    )
    conn.execute(
        "CREATE TRIGGER slow BEFORE INSERT ON pgrecall.mentions FOR EACH ROW EXECUTE FUNCTION pgrecall.slow()"
    )
    ids = store(conn, texts(_MEMORIES))
    between = 0
    before = _MEMORIES
    for _ in range(_ROUNDS):
        process = start_reading(dsn)
        until(lambda: pending(conn) < before or pending(conn) == 0)  # noqa: B023 - called at once
        time.sleep(draw.uniform(0, 0.25))
        process.kill()
        process.communicate(timeout=PATIENCE)
        _gone(conn)
        _check(conn, ids)
        before = pending(conn)
        between += 0 < before < _MEMORIES
        conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE lease_expires_at IS NOT NULL")
    assert between, "no kill came while it was reading"
    read_all(dsn)
    assert pending(conn) == 0
    _check(conn, ids)
    graph = graph_of(conn)
    clean_dsn = new_database(template)
    with psycopg.connect(clean_dsn, autocommit=True) as clean:
        without_spacy(clean)
        assert store(clean, texts(_MEMORIES)) == ids
        assert read_all(clean_dsn)["read"] == _MEMORIES
        expected = graph_of(clean)
    assert expected["mentions"]
    assert graph == expected


def _gone(conn: psycopg.Connection[Any]) -> None:
    """Wait until the server has noticed, and rolled back what was under way."""
    query = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'pgrecall-embedder'"
    )
    until(lambda: conn.execute(query).fetchall() == [(0,)])


def _check(conn: psycopg.Connection[Any], ids: list[int]) -> None:
    """Every memory has all of its own names and is read, or has none and waits."""
    rows = conn.execute(
        "SELECT x.id, EXISTS (SELECT FROM pgrecall.jobs j WHERE j.memory_id = x.id AND j.kind = 'text'), "
        "array(SELECT a.alias FROM pgrecall.mentions m JOIN pgrecall.concept_aliases a ON a.id = m.alias_id "
        "WHERE m.memory_id = x.id), "
        "(SELECT count(*) FROM pgrecall.temporal_refs t WHERE t.memory_id = x.id AND t.source = 'pattern') "
        "FROM pgrecall.memories x"
    ).fetchall()
    assert {row[0] for row in rows} == set(ids)
    for memory, waits, names, times in rows:
        number = ids.index(memory)
        if waits:
            assert (names, times) == ([], 0)
        else:
            assert {f"docs plan {number}.md", f"proj {number + 1}"} <= set(names)
            assert times == 1
