"""Whether recall used the indexes it is built on, by the server's own counters."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchmarks.speed.generator import LARGE

if TYPE_CHECKING:
    from psycopg import Connection

    from benchmarks.speed.questions import Question
    from benchmarks.speed.systems import Target

__all__ = ["expected", "plan", "scans"]

_DENSE = "memories_embedding_idx"
_WORDS = "postings_term_key"
_CONCEPTS = "concept_aliases_pkey"
_SCAN = re.compile(r"\w[\w ]* Scan .*\bon (memories|postings|mentions|concept).*")
_MENTIONS = ("mentions_pkey", "mentions_concept_idx")


def expected(target: Target, large_rows: int) -> list[str]:
    """Return the indexes that a recall has to use: no HNSW where the namespace is searched exactly."""
    names = [_WORDS, _CONCEPTS, *_MENTIONS]
    return names if large_rows <= target.arguments["dense_exact_rows"] else [_DENSE, *names]


def scans(connection: Connection[Any]) -> dict[str, int]:
    """Return how often each index of the schema has been scanned, this session's latest scans included."""
    connection.execute("SELECT pg_stat_force_next_flush()")
    return dict(
        connection.execute(
            "SELECT indexrelname, idx_scan FROM pg_stat_user_indexes "
            "WHERE schemaname = 'pgrecall' AND idx_scan > 0"
        ).fetchall()
    )


def plan(connection: Connection[Any], question: Question) -> list[str]:
    """Return the scans of tables and indexes in the plans of one recall, executed."""
    rows = connection.execute(
        "SELECT plan FROM pgrecall.recall_plan(%s, %s, namespace => %s)",
        (question.text, question.vector, LARGE),
    ).fetchall()
    scans = (_SCAN.search(row[0]) for row in rows)
    return [scan.group() for scan in scans if scan is not None]
