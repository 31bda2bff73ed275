"""Sequences that are behind the ids of their tables: logical replication copies rows and no sequences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, LiteralString

from psycopg import sql

if TYPE_CHECKING:
    import psycopg

__all__ = ["advance_sequences"]

# A shard numbers from a range of its own: what came from other shards has ids beyond it.
_SEQUENCES: LiteralString = """
    SELECT s.relname, t.relname, a.attname, q.seqmin, q.seqmax,
           EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = t.oid AND i.indkey[0] = a.attnum)
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
    JOIN pg_catalog.pg_sequence q ON q.seqrelid = s.oid
    JOIN pg_catalog.pg_class t ON t.oid = d.refobjid AND t.relpersistence = 'p'
    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.refclassid = 'pg_catalog.pg_class'::regclass
      AND d.deptype IN ('a', 'i') AND t.relnamespace = 'pgrecall'::regnamespace
    ORDER BY s.relname
"""
# An erased memory's id is its receipt's, and no other memory's.
_ERASED = sql.SQL(
    "(SELECT max(e.memory_id) FROM pgrecall.erasures e WHERE e.memory_id BETWEEN {least} AND {most})"
)
# The statement looks at rows as of its begin and at the sequence later: one that others use is not behind.
_ADVANCE = sql.SQL("""
    SELECT setval({name}, h.highest)
    FROM (
        SELECT greatest((SELECT max(t.{column}) FROM pgrecall.{table} t
                         WHERE t.{column} BETWEEN {least} AND {most}), {erased}) AS highest
        OFFSET 0
    ) h
    WHERE h.highest > (SELECT s.last_value - (NOT s.is_called)::integer FROM pgrecall.{sequence} s)
""")


def advance_sequences(conn: psycopg.Connection[Any]) -> list[str]:
    """Advance each sequence that would give out an id that is taken. Returns which those were."""
    found = conn.execute(_SEQUENCES).fetchall()
    behind = [row[0] for row in found if row[5] and _advance(conn, *row[:5])]
    if behind:
        # Without an index on the ids, looking takes reading the table.
        behind += [row[0] for row in found if not row[5] and _advance(conn, *row[:5])]
    return sorted(behind)


def _advance(
    conn: psycopg.Connection[Any], sequence: str, table: str, column: str, least: int, most: int
) -> bool:
    bounds = {"least": sql.Literal(least), "most": sql.Literal(most)}
    advance = _ADVANCE.format(
        name=sql.Literal(f"pgrecall.{sequence}"),
        sequence=sql.Identifier(sequence),
        table=sql.Identifier(table),
        column=sql.Identifier(column),
        erased=_ERASED.format(**bounds) if table == "memories" else sql.NULL,
        **bounds,
    )
    return bool(conn.execute(advance).fetchall())
