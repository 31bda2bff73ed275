"""How near to the exact nearest neighbours an answer comes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

    from benchmarks.speed.questions import Question

__all__ = ["DEPTH", "exact", "nearest", "plan", "shared"]

DEPTH = 50
"""How deep a leg goes by default, and the depth at which it is compared."""
_SQL = Path(__file__).parent / "sql"
_EXACT = (_SQL / "exact.sql").read_bytes()
_NEAREST = (_SQL / "nearest.sql").read_bytes()
_TAGGED = (_SQL / "nearest_tagged.sql").read_bytes()


def exact(
    connection: Connection[Any], namespace: str, questions: Sequence[Question], tags: Sequence[str] = ()
) -> dict[str, list[int]]:
    """Return the ids of the memories nearest to each question, by its text, of all that have the tags."""
    found = {}
    for question in questions:
        arguments = {"namespace": namespace, "vector": question.vector, "tags": list(tags), "depth": DEPTH}
        found[question.text] = [id for (id,) in connection.execute(_EXACT, arguments).fetchall()]
    return found


def nearest(
    connection: Connection[Any], namespace_id: int, question: Question, tags: Sequence[str] = ()
) -> list[int]:
    """Return the ids that the index gives, in its order; planned with its arguments, as the leg does."""
    statement, arguments = _nearest(namespace_id, question, tags)
    return [id for (id,) in connection.execute(statement, arguments, prepare=False).fetchall()]


def plan(connection: Connection[Any], namespace_id: int, question: Question, tags: Sequence[str] = ()) -> str:
    """Return the plan of `nearest`."""
    statement, arguments = _nearest(namespace_id, question, tags)
    lines = connection.execute(b"EXPLAIN " + statement, arguments, prepare=False).fetchall()
    return "\n".join(line for (line,) in lines)


def _nearest(namespace_id: int, question: Question, tags: Sequence[str]) -> tuple[bytes, dict[str, Any]]:
    arguments = {"namespace_id": namespace_id, "vector": question.vector, "tags": list(tags), "depth": DEPTH}
    return _TAGGED if tags else _NEAREST, arguments


def shared(answers: Mapping[str, Sequence[int]], best: Mapping[str, Sequence[int]], k: int) -> float:
    """Return the mean share of the best k that the first k of an answer hold."""
    shares = [
        len(set(answer[:k]) & set(best[text][:k])) / min(k, len(best[text]))
        for text, answer in answers.items()
        if best[text]
    ]
    return round(float(np.mean(shares)), 4)
