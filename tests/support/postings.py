"""What the tests of postings share: the expected postings, computed from the memories, and the stored ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, LiteralString

if TYPE_CHECKING:
    from psycopg import Connection

# What should be posted: a memory that is noted as its note says, any other as it is.
VECTORS: LiteralString = """
SELECT m.namespace_id, m.id, m.search_vector AS vector,
       _pgrecall.is_past(m, _pgrecall.separated_at(m.namespace_id)) AS is_past
FROM pgrecall.memories m
WHERE m.deleted_at IS NULL
  AND NOT EXISTS (SELECT FROM pgrecall.pending_postings u WHERE u.memory_id = m.id AND u.namespace_id = m.namespace_id)
UNION ALL
SELECT u.namespace_id, u.memory_id, u.indexed_vector, u.indexed_past FROM pgrecall.pending_postings u WHERE u.indexed_vector IS NOT NULL
"""

EXPECTED: LiteralString = f"""
SELECT v.namespace_id, i.term, v.id, i.impact, v.is_past
FROM (SELECT _pgrecall.bm25_parameters() AS made_with OFFSET 0) s
CROSS JOIN ({VECTORS}) v
CROSS JOIN LATERAL _pgrecall.term_impacts(v.vector, s.made_with) i
"""

POSTED: LiteralString = """
SELECT p.namespace_id, p.term, u.id, u.impact, p.is_past
FROM pgrecall.postings p CROSS JOIN LATERAL unnest(p.memory_ids, p.impacts) u (id, impact)
"""

# Each query gives what is wrong.
PROBLEMS: dict[str, LiteralString] = {
    # EXCEPT ALL keeps duplicates: no memory may be in a term twice.
    "missing or left over": f"""
        WITH expected AS MATERIALIZED ({EXPECTED}), posted AS MATERIALIZED ({POSTED})
        (SELECT 'missing', d.* FROM (SELECT * FROM expected EXCEPT ALL SELECT * FROM posted) d)
        UNION ALL (SELECT 'left over', d.* FROM (SELECT * FROM posted EXCEPT ALL SELECT * FROM expected) d)
        """,
    "bad block": """
        SELECT p.* FROM pgrecall.postings p
        WHERE cardinality(p.memory_ids) NOT BETWEEN 1 AND 128
           OR cardinality(p.impacts) IS DISTINCT FROM cardinality(p.memory_ids)
           OR p.top_impact IS DISTINCT FROM p.impacts[1]
           OR p.impacts IS DISTINCT FROM (SELECT array_agg(i ORDER BY i DESC) FROM unnest(p.impacts) i)
           OR p.memory_ids IS DISTINCT FROM (
               SELECT array_agg(u.id ORDER BY u.impact DESC, u.id) FROM unnest(p.memory_ids, p.impacts) u (id, impact)
           )
        """,
    "bad count": f"""
        SELECT * FROM (
            SELECT p.namespace_id, p.term, p.is_past, sum(cardinality(p.memory_ids)) AS documents,
                   count(*) FILTER (WHERE cardinality(p.memory_ids) < 64) AS small_blocks
            FROM pgrecall.postings p GROUP BY p.namespace_id, p.term, p.is_past
            UNION ALL
            SELECT v.namespace_id, '', v.is_past, count(*), 0 FROM ({VECTORS}) v WHERE v.vector <> ''
            GROUP BY v.namespace_id, v.is_past
        ) counted
        FULL JOIN pgrecall.term_stats l USING (namespace_id, term, is_past)
        WHERE (counted.documents, counted.small_blocks) IS DISTINCT FROM (l.documents, l.small_blocks)
        """,
    # Then posting_blocks_needed() blocks are enough to read a list of up to the budget to its end.
    "crowded": "SELECT l.* FROM pgrecall.term_stats l WHERE l.small_blocks > 16",
    "needless note": """
        SELECT u.* FROM pgrecall.pending_postings u
        WHERE u.indexed_vector IS NULL
          AND EXISTS (SELECT FROM pgrecall.postings p
                      WHERE p.namespace_id = u.namespace_id AND u.memory_id = ANY (p.memory_ids))
        """,
}


def problems(conn: Connection[Any]) -> dict[str, list[Any]]:
    """Everything that is wrong with postings, lexicon and notes, seen at one moment; empty if all is well."""
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        found = {name: conn.execute(f"{query} LIMIT 5").fetchall() for name, query in PROBLEMS.items()}
    return {name: rows for name, rows in found.items() if rows}


def postings(conn: Connection[Any]) -> list[Any]:
    """What is posted, block by block no longer: namespace, term, memory, impact and is_past, in order."""
    return conn.execute(f"{POSTED} ORDER BY 1, 2, 3").fetchall()


def frequencies(conn: Connection[Any]) -> list[Any]:
    """Namespace, term and document frequency, in order."""
    return conn.execute(
        "SELECT namespace_id, term, sum(documents) FROM pgrecall.term_stats GROUP BY 1, 2 ORDER BY 1, 2"
    ).fetchall()


def noted(conn: Connection[Any]) -> list[int]:
    """Ids of the memories that are not in the postings as they are now, in order."""
    return [
        number for (number,) in conn.execute("SELECT memory_id FROM pgrecall.pending_postings ORDER BY 1")
    ]


def fold(conn: Connection[Any]) -> None:
    """Fold all that is noted into the postings."""
    while conn.execute("SELECT pgrecall.flush_pending_postings(1)").fetchone() != (0,):
        pass


def assert_same_as_rebuilt(conn: Connection[Any]) -> None:
    """Fold everything, and compare with postings made from scratch."""
    fold(conn)
    assert problems(conn) == {}
    assert noted(conn) == []
    before = postings(conn), frequencies(conn)
    conn.execute("CALL pgrecall.rebuild_all_postings()")
    assert problems(conn) == {}
    assert (postings(conn), frequencies(conn)) == before
