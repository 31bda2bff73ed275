"""What a role reads of its own statements: PostgreSQL's counters for each table and index."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

COUNTERS = ("numscans", "tuples_returned", "tuples_fetched", "blocks_fetched")
"""blocks_fetched is the Buffers of EXPLAIN, relation by relation."""
RELATIONS = """
SELECT array_agg(c.oid ORDER BY c.oid) FROM pg_catalog.pg_class c
WHERE c.relkind IN ('r', 'i', 't', 'm', 'S') AND c.relnamespace IN ('pgrecall'::regnamespace, 'pg_toast'::regnamespace)
"""
READ = (
    "SELECT c.oid::regclass::text || ' ' || n.name, n.value FROM pg_catalog.unnest(%s::oid[]) c (oid)"
    " CROSS JOIN LATERAL (VALUES {}) n (name, value)"
).format(", ".join(f"('{name}', pg_catalog.pg_stat_get_xact_{name}(c.oid))" for name in COUNTERS))


def relations(owner: Connection[Any]) -> list[int]:
    """The tables, indexes and TOAST tables that statements are counted for."""
    row = owner.execute(RELATIONS).fetchone()
    assert row is not None
    return [int(oid) for oid in row[0]]


def counted(session: Connection[Any], oids: list[int], statement: str, *arguments: Any) -> dict[str, int]:
    """What the counters have gained by a statement, refused or not.

    The session is in a transaction: outside of one they are emptied.
    """
    before = dict(session.execute(READ, (oids,)).fetchall())
    with suppress(psycopg.Error), session.transaction():
        session.execute(statement.encode(), arguments)
    after = session.execute(READ, (oids,)).fetchall()
    return {name: value - before[name] for name, value in after if value != before[name]}


def steady(measure: Callable[[], dict[str, int]]) -> dict[str, int]:
    """What a statement counts when it counts the same twice in a row.

    Now and then another session's work on the catalog makes this one read policies and indexes anew.
    """
    last = measure()
    for _ in range(5):
        if (found := measure()) == last:
            return found
        last = found
    raise AssertionError(f"it counts something else each time, lately {last}")
