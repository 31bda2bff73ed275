"""Calls of the SQL functions that write, and what a refusal must look like."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection


def rows(conn: Connection[Any], function: str, *arguments: object, **options: object) -> list[Any]:
    """Call a function of the API; rows of one column come without their tuple."""
    given = [sql.Placeholder()] * len(arguments)
    # POSITION is a keyword of PostgreSQL, so no argument has that name.
    names = ["session_position" if name == "position" else name for name in options]
    named = [sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder()) for name in names]
    query = sql.SQL("SELECT * FROM {}({})").format(
        sql.Identifier(*function.split(".")), sql.SQL(", ").join([*given, *named])
    )
    values = [_sent(value) for value in (*arguments, *options.values())]
    found = conn.execute(query, values).fetchall()
    return [row[0] if len(row) == 1 else row for row in found]


def _sent(value: object) -> object:
    return Jsonb(value) if isinstance(value, dict) else value


def call(conn: Connection[Any], function: str, *arguments: object, **options: object) -> Any:
    """Call a function that returns one value."""
    (value,) = rows(conn, function, *arguments, **options)
    return value


def scalar(conn: Connection[Any], query: str, *values: object) -> Any:
    """Return the one value of a query's one row."""
    row = conn.execute(query.encode(), values or None).fetchone()
    assert row is not None
    assert len(row) == 1
    return row[0]


def remember(conn: Connection[Any], content: str = "a memory", **options: object) -> int:
    return int(call(conn, "remember", content, **options))


def remember_many(conn: Connection[Any], memories: object, **options: object) -> list[int]:
    return rows(conn, "remember_many", Jsonb(memories), **options)


def stored(conn: Connection[Any], memory_id: int) -> dict[str, Any]:
    """One row of pgrecall.memories, with the name of its namespace."""
    query = """
        SELECT n.name AS namespace, m.*, m.search_vector::text AS words, m.embedding::text AS embedding
        FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id WHERE m.id = %s
    """
    row = conn.cursor(row_factory=dict_row).execute(query, (memory_id,)).fetchone()
    assert row is not None
    return row


def concepts(conn: Connection[Any], memory_id: int | None = None) -> list[str]:
    """Keys of the concepts that a memory mentions, or of all there are."""
    query = "SELECT c.key FROM pgrecall.concepts c ORDER BY c.key"
    if memory_id is not None:
        query = """
            SELECT DISTINCT c.key FROM pgrecall.mentions m JOIN pgrecall.concepts c ON c.id = m.concept_id
            WHERE m.memory_id = %s ORDER BY c.key
        """
    return [key for (key,) in conn.execute(query.encode(), None if memory_id is None else (memory_id,))]


def contents(conn: Connection[Any]) -> dict[str, list[str]]:
    """Every row of every table of the schema, as text."""
    tables = conn.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'pgrecall'").fetchall()
    return {
        name: [
            text
            for (text,) in conn.execute(
                sql.SQL("SELECT t::text FROM {} t ORDER BY 1").format(sql.Identifier("pgrecall", name))
            )
        ]
        for (name,) in tables
    }


def embed(conn: Connection[Any], memory_id: int) -> None:
    """Give a memory an embedding, as an embedder that has claimed it would."""
    conn.execute("SELECT FROM pgrecall.claim(gen_random_uuid())")
    conn.execute(
        """
        SELECT pgrecall.complete(j.worker_id, ARRAY[m.id], ARRAY[m.content_hash],
                                 ARRAY[array_fill(0.5::real, ARRAY[384])::halfvec::text])
        FROM pgrecall.memories m JOIN pgrecall.jobs j ON j.memory_id = m.id AND j.kind = 'embedding' WHERE m.id = %s
        """,
        (memory_id,),
    )
    conn.execute("DELETE FROM pgrecall.jobs WHERE kind = 'embedding'")
    assert stored(conn, memory_id)["embedding"] is not None


def share(conn: Connection[Any], namespace: str = "default", access: str = "write") -> None:
    """Let every reader read a namespace, and every writer write it."""
    for role in ("pgrecall_reader", "pgrecall_writer"):
        conn.execute(
            "SELECT pgrecall.grant_namespace(%s, %s, %s)",
            (role, namespace, access if role == "pgrecall_writer" else "read"),
        )


@contextmanager
def refused(conn: Connection[Any], sqlstate: str) -> Iterator[None]:
    """The block fails with this SQLSTATE and a hint, and leaves every table as it was."""
    before = contents(conn)
    with pytest.raises(psycopg.Error) as caught:
        yield
    assert caught.value.sqlstate == sqlstate, caught.value
    assert caught.value.diag.message_hint, caught.value
    assert contents(conn) == before


def waits(conn: Connection[Any], action: Callable[[], Any]) -> Callable[[], Any]:
    """Start what a connection does in a thread, and return once it waits for a lock of another session.

    Returns:
        A function that waits for the end and returns the result, or raises the error.
    """
    pool = ThreadPoolExecutor(1)
    future = pool.submit(action)
    pool.shutdown(wait=False)
    query = "SELECT wait_event_type FROM pg_stat_activity WHERE pid = %s"
    with psycopg.connect(conn.info.dsn, autocommit=True) as watcher:

        def is_locked() -> bool:
            assert not future.done(), "it did not wait"
            return watcher.execute(query, (conn.info.backend_pid,)).fetchone() == ("Lock",)

        until(is_locked)
    return lambda: future.result(timeout=60)
