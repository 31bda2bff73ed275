"""Who may write postings, who may read them, and what runs with the owner's rights."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, remember, remember_many, share
from support.postings import fold, noted, postings, problems

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

TABLES = ("postings", "term_stats", "pending_postings")
WRITES = [
    "DELETE FROM pgrecall.{}", "TRUNCATE pgrecall.{}", "UPDATE pgrecall.{} SET namespace_id = namespace_id",
    "INSERT INTO pgrecall.{} (namespace_id) VALUES (1)", "ALTER TABLE pgrecall.{} DISABLE TRIGGER ALL",
]  # fmt: skip
FUNCTIONS = [
    "SELECT _pgrecall.flush_pending(1)", "SELECT _pgrecall.index_postings(1, '{1}', '{tea}')", "SELECT _pgrecall.remove_postings(1, '{1}', '{tea}')",
    "SELECT _pgrecall.index_memories(1, '{1}')", "SELECT _pgrecall.rebuild_postings(1)", "SELECT _pgrecall.try_lock_postings(1)",
    "SELECT _pgrecall.merge_posting_blocks(1, '{tea}')", "CALL pgrecall.rebuild_all_postings()",
]  # fmt: skip


def denied(conn: Connection[Any], query: str) -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(query.encode())


@contextmanager
def writing(conn: Connection[Any]) -> Iterator[None]:
    conn.execute("SET ROLE pgrecall_writer")
    try:
        yield
    finally:
        conn.execute("RESET ROLE")


@pytest.mark.parametrize("role", ["pgrecall_reader", "pgrecall_writer", "pgrecall_embedder"])
def test_nobody_writes_postings_by_hand(conn: Connection[Any], role: str) -> None:
    remember(conn, "tea")
    fold(conn)
    conn.execute(f"SET ROLE {role}".encode())
    for table in TABLES:
        for write in WRITES:
            denied(conn, write.format(table))
    for function in FUNCTIONS:
        denied(conn, function)


def test_writers_write_postings_by_writing_memories(conn: Connection[Any]) -> None:
    share(conn)
    with writing(conn):
        number = remember(conn, "tea")
        remember_many(conn, [{"content": f"tea {place}"} for place in range(300)])
    assert noted(conn) == [number]
    with writing(conn):
        call(conn, "update_memory", number, content="milk")
        for place in range(100):
            remember(conn, f"crane {place}")
    assert 0 < len(noted(conn)) < 100
    with writing(conn):
        assert call(conn, "forget", number)
    assert problems(conn) == {}


def test_the_embedder_folds_what_it_cannot_read(conn: Connection[Any]) -> None:
    remember(conn, "tea")
    remember(conn, "secret", is_sensitive=True)
    conn.execute("SET ROLE pgrecall_embedder")
    for table in TABLES:
        denied(conn, f"SELECT FROM pgrecall.{table}")
    assert call(conn, "pgrecall.flush_pending_postings", 1) == 2
    assert call(conn, "pgrecall.flush_pending_postings", 1) == 0
    assert call(conn, "pgrecall.flush_pending_postings") == 0
    conn.execute("RESET ROLE")
    assert noted(conn) == []
    assert {row[1] for row in postings(conn)} == {"tea", "secret"}


def test_an_administrator_repairs(conn: Connection[Any]) -> None:
    remember(conn, "tea")
    conn.execute("SET ROLE pgrecall_admin")
    conn.execute("CALL pgrecall.rebuild_all_postings()")
    call(conn, "pgrecall.set_setting", "bm25_b", "0.5")
    conn.execute("RESET ROLE")
    assert noted(conn) == []
    assert problems(conn) == {}


def test_a_callers_own_tables_and_functions_deceive_nobody(conn: Connection[Any]) -> None:
    """Temporary objects and a search_path of one's own change nothing of what runs with the owner's rights."""
    conn.execute("CREATE SCHEMA trap")
    conn.execute("GRANT USAGE ON SCHEMA trap TO pgrecall_writer")
    for signature in ("cardinality(anyarray) RETURNS integer", "hashtext(text) RETURNS integer"):
        conn.execute(
            f"CREATE FUNCTION trap.{signature} LANGUAGE plpgsql AS 'BEGIN RAISE ''trapped''; END'".encode()
        )
    share(conn)
    conn.execute("SET ROLE pgrecall_writer")
    conn.execute("CREATE TEMPORARY TABLE memories (id bigint)")
    conn.execute("CREATE TEMPORARY TABLE pending_postings (memory_id bigint)")
    conn.execute("SET search_path = trap, pg_temp, pg_catalog, public")
    ids = conn.execute(
        "SELECT public.remember_many(jsonb_agg(jsonb_build_object('content', 'tea ' || i))) FROM generate_series(1, 300) i"
    ).fetchall()
    conn.execute("SELECT public.remember('milk')")
    conn.execute("RESET ROLE")
    conn.execute("RESET search_path")
    assert len({row[2] for row in postings(conn)}) == len(ids) == 300
    assert problems(conn) == {}
