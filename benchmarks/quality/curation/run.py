"""Has pairs decided by the database, as it does with memories: stored, embedded, read for names."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.types.json import Jsonb

from pgrecall.admin.migrate import migrate
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logger import make_logger

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.curation.pairs import Pair

__all__ = ["SYSTEMS", "Decided", "decide", "decide_pairs", "store"]

SYSTEMS = ("rules", "rules, no embedding")


@dataclass(frozen=True, slots=True)
class Decided:
    """What was decided about one pair.

    Attributes:
        decision: ADD, UPDATE, SUPERSEDE or NOOP.
        evidence: What it was decided on.
    """

    decision: str
    evidence: dict[str, Any]


def decide_pairs(dsn: str, pairs: Sequence[Pair]) -> dict[str, list[Decided]]:
    """Return what is decided about each pair, in a namespace of its own, by each of `SYSTEMS`.

    Args:
        dsn: An empty database.
        pairs: The pairs.
    """
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        new = store(conn, pairs)
        without = decide(conn, new)
        asyncio.run(Daemon(dsn, log=make_logger(level=logging.WARNING), drain=True).run())
        [(left,)] = conn.execute("SELECT count(*) FROM pgrecall.memories WHERE embedding IS NULL").fetchall()
        if left:
            raise RuntimeError(f"{left} memories are not embedded")
        return dict(zip(SYSTEMS, (decide(conn, new), without), strict=True))


def store(conn: psycopg.Connection[Any], pairs: Sequence[Pair]) -> list[int]:
    """Store pairs, each in a namespace of its own; return the ids of the newer memories.

    Args:
        conn: A migrated database.
        pairs: The pairs.
    """
    memories = [
        {"content": content, "namespace": pair.id} for pair in pairs for content in (pair.old, pair.new)
    ]
    rows = conn.execute("SELECT * FROM remember_many(%s, NULL, true)", [Jsonb(memories)]).fetchall()
    return [int(memory) for (memory,) in rows[1::2]]


def decide(conn: psycopg.Connection[Any], memories: Sequence[int]) -> list[Decided]:
    """Return what is decided about memories as they are now.

    Args:
        conn: The database.
        memories: Their ids.
    """
    rows = conn.execute(
        "SELECT d.decision, d.evidence FROM unnest(%s) WITH ORDINALITY m (id, place), "
        "pgrecall.decide_curation(m.id) d ORDER BY m.place",
        [list(memories)],
    ).fetchall()
    return [Decided(decision, evidence) for decision, evidence in rows]
