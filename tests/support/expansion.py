"""What the tests of query expansion share: how recall ranks and explains with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.memories import call, remember, rows

if TYPE_CHECKING:
    from psycopg import Connection

LIMIT = 5


def found(conn: Connection[Any], query: str, expand: str = "aliases", **settings: Any) -> list[int]:
    """The ids that a recall returns, best first."""
    statement = "SELECT id FROM recall(%s, settings => %s)"
    chosen = Jsonb({"expand": expand, **settings})
    return [number for (number,) in conn.execute(statement, (query, chosen))]


def explained(
    conn: Connection[Any],
    query: str,
    expand: str = "aliases",
    *,
    ids: list[int] | None = None,
    **settings: Any,
) -> dict[int, dict[str, Any]]:
    """What recall_explain says, by id."""
    statement = sql.SQL("SELECT * FROM recall_explain(%s, ids => %s, settings => %s)")
    chosen = Jsonb({"expand": expand, **settings})
    cursor = conn.cursor(row_factory=dict_row).execute(statement, (query, ids, chosen))
    return {row["id"]: row for row in cursor}


def added(conn: Connection[Any], query: str, expand: str = "aliases", **settings: Any) -> list[str] | None:
    """The terms that are added to a query; None if it found nothing that would say so."""
    said = [row["added_terms"] for row in explained(conn, query, expand, **settings).values()]
    assert all(terms == said[0] for terms in said)
    return said[0] if said else None


def named(conn: Connection[Any], name: str, *aliases: str, content: str | None = None) -> int:
    """A memory that is tagged with a name, which is given other names; returns the memory."""
    memory = remember(conn, content if content is not None else f"{name} was there", tags=[name])
    concept = call(conn, "pgrecall.find_concept", name)
    for alias in aliases:
        rows(conn, "pgrecall.add_alias", concept, alias)
    return memory
