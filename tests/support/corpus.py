"""Synthetic memories for tests of plans and limits: Zipf words, clustered vectors, tags with realistic degrees."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

DIMENSION = 384
CLUSTERS = 100

# Twenty thousand vectors have 8 million numbers: they are computed as floats, which numeric constants would prevent.
_FUNCTIONS = f"""
CREATE OR REPLACE FUNCTION pg_temp.word() RETURNS text LANGUAGE sql VOLATILE
    RETURN 'word' || floor(power(20000, random()))::integer;

CREATE OR REPLACE FUNCTION pg_temp.near(cluster integer, spread float8) RETURNS halfvec LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT array_agg((sin(cluster::float8 * 131 + place * 17) + spread * (random() - 0.5))::real)::halfvec
    FROM generate_series(1, {DIMENSION}) place;
END;
"""

_FILL = """
INSERT INTO pgrecall.memories (namespace_id, external_id, content, tags, importance, occurred_at, language, content_hash,
                               search_vector, embedding, category)
SELECT %(namespace)s, 'm' || i,
       (SELECT string_agg(pg_temp.word(), ' ') FROM generate_series(1, 12 + i %% 20)),
       CASE WHEN %(tagged)s THEN ARRAY['topic ' || (i %% 997), 'person ' || floor(power(2000, random()))::integer] ELSE '{}' END,
       (i %% 11) / 10.0, timestamptz '2025-01-01 UTC' + i * interval '1 minute', 'english', '', '',
       pg_temp.near(i %% %(clusters)s, 1.0), CASE WHEN i %% 1000 = 0 THEN 'rare' ELSE 'common' END
FROM generate_series(1, %(rows)s) i
"""


@contextmanager
def indexed_afterwards(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Change embeddings without the vector index, and build it at the end: row by row it takes ten times as long."""
    (definition,) = conn.execute(
        "SELECT pg_get_indexdef('pgrecall.memories_embedding_idx'::regclass)"
    ).fetchone() or ("",)
    conn.execute("DROP INDEX pgrecall.memories_embedding_idx")
    yield
    conn.execute(str(definition).encode())


def fill(
    conn: psycopg.Connection[Any], sizes: dict[str, int], *, tagged: bool = True, analyzed: bool = True
) -> None:
    """Store embedded memories, `sizes[name]` in each namespace; the vector index is built afterwards.

    Args:
        conn: An autocommit connection to a migrated database that nobody else uses.
        sizes: Number of memories by namespace.
        tagged: Whether they carry tags, and so concepts.
        analyzed: Whether the tables are vacuumed and analyzed. If not, they are as in a database just restored: the
            planner has no statistics, and no page is known to be visible to all.
    """
    if not analyzed:
        _alter_tables(conn, "SET (autovacuum_enabled = off)")
    with indexed_afterwards(conn):
        conn.execute("SELECT setseed(0.42)")
        conn.execute(_FUNCTIONS.encode())
        for name, rows in sizes.items():
            (namespace,) = conn.execute("SELECT pgrecall.create_namespace(%s)", (name,)).fetchone() or (0,)
            values = {"namespace": namespace, "rows": rows, "tagged": tagged, "clusters": CLUSTERS}
            conn.execute(_FILL.encode(), values)
    if not analyzed:
        # The index that was just made has counted the rows.
        conn.execute(
            "UPDATE pg_class SET relpages = 0, reltuples = -1 WHERE relnamespace = 'pgrecall'::regnamespace"
        )
        return
    analyze(conn)


def analyze(conn: psycopg.Connection[Any]) -> None:
    """Have the statistics that the server comes to by itself, also of what fill() left without."""
    _alter_tables(conn, "RESET (autovacuum_enabled)")
    conn.execute(
        "VACUUM ANALYZE pgrecall.memories, pgrecall.mentions, pgrecall.concepts, pgrecall.concept_aliases"
    )


def _alter_tables(conn: psycopg.Connection[Any], change: str) -> None:
    for (table,) in conn.execute(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'pgrecall'::regnamespace"
    ).fetchall():
        conn.execute(f"ALTER TABLE {table} {change}".encode())


def vector(conn: psycopg.Connection[Any], cluster: int, spread: float = 1.0) -> str:
    """Return a query vector near the memories of a cluster, as text."""
    conn.execute(_FUNCTIONS.encode())
    row = conn.execute("SELECT pg_temp.near(%s, %s)::text", (cluster, spread)).fetchone()
    assert row is not None
    return str(row[0])
