"""Memories at known angles, judged queries, and what recall_eval() says of them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from support.memories import remember_many, rows

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["DIMENSION", "angle", "embed_as", "judge", "measured", "remember_fan"]

DIMENSION = 384


def angle(degrees: float) -> str:
    """A unit vector that many degrees away from the first axis, as text."""
    place = math.radians(degrees)
    return str([math.cos(place), math.sin(place), *[0.0] * (DIMENSION - 2)])


def embed_as(conn: Connection[Any], memory_id: int, vec: str) -> None:
    conn.execute(
        "UPDATE pgrecall.memories SET embedding = %s WHERE id = %s",
        (vec, memory_id),
    )


def judge(conn: Connection[Any], query_id: str, relevant: list[int | None], **options: Any) -> None:
    given = {"query": "", "query_vec": None, **options}
    rows(conn, "pgrecall.judge", query_id=query_id, relevant=relevant, **given)


def measured(conn: Connection[Any], **options: Any) -> dict[str, tuple[Any, ...]]:
    """What recall_eval() says, by stratum."""
    return {row[0]: row[1:] for row in rows(conn, "pgrecall.recall_eval", **options)}


def remember_fan(conn: Connection[Any]) -> list[int]:
    """Thirty memories without a common word, each a degree farther from the first axis than the one before."""
    ids = remember_many(conn, [{"content": f"word{place}"} for place in range(30)])
    for place, id in enumerate(ids):
        embed_as(conn, id, angle(place))
    return ids
