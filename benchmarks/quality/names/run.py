"""Has a database resolve names as the daemon does, and tells which became one."""

from __future__ import annotations

import time
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg.types.json import Jsonb

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import psycopg
    from numpy.typing import NDArray

    from .pairs import NamePair

__all__ = ["Resolved", "add_names", "nearness", "resolve", "resolved_pairs"]

_BATCH = 100


@dataclass(frozen=True, slots=True)
class Resolved:
    """What became of a pair.

    Attributes:
        method: How the two were merged; None: they stayed apart.
        is_doubtful: A language model would be asked about them.
    """

    method: str | None
    is_doubtful: bool


def add_names(connection: psycopg.Connection[Any], namespace: str, names: Mapping[str, str]) -> None:
    """Store a memory for each name, which mentions it with its type."""
    rows = connection.execute(
        "SELECT remember_many(%s, namespace => %s, create_namespace => true)",
        (Jsonb([{"content": name} for name in names]), namespace),
    ).fetchall()
    ids = [row[0].id if hasattr(row[0], "id") else row[0] for row in rows]
    claims = connection.execute(
        "SELECT memory_id, content, ticket FROM pgrecall.claim_extractions(%s, 'text', %s, '1 hour')",
        (uuid.uuid4(), len(ids)),
    ).fetchall()
    connection.execute(
        "SELECT pgrecall.complete_extractions('text', 'labelled', %s)",
        (
            Jsonb(
                [
                    {"memory_id": memory, "ticket": ticket, "mentions": [_mention(name, names[name])]}
                    for memory, name, ticket in claims
                ]
            ),
        ),
    )


def _mention(name: str, type: str) -> dict[str, Any]:
    return {"name": name, "type": type, "confidence": 0.9, "source": "phrase", "start": 0, "end": 1}


def resolve(connection: psycopg.Connection[Any]) -> float:
    """Compare all names that wait for it; return the seconds that took."""
    began = time.perf_counter()
    while connection.execute("SELECT pgrecall.resolve_concepts(%s)", (_BATCH,)).fetchone() != (0,):
        pass
    return time.perf_counter() - began


def resolved_pairs(
    connection: psycopg.Connection[Any], namespace: str, pairs: Sequence[NamePair]
) -> list[Resolved]:
    """Return what became of each pair."""
    found = []
    for pair in pairs:
        row = connection.execute(
            "SELECT one.concept_id = other.concept_id, one.alias = other.alias, "
            "(SELECT g.method FROM pgrecall.concept_merges g WHERE g.namespace_id = one.namespace_id "
            " AND (one.alias = ANY (g.aliases) OR other.alias = ANY (g.aliases)) ORDER BY g.id LIMIT 1), "
            "EXISTS (SELECT FROM pgrecall.name_doubts d WHERE (d.concept_id, d.other_id) = "
            " (least(one.concept_id, other.concept_id), greatest(one.concept_id, other.concept_id))) "
            "FROM pgrecall.concept_aliases one, pgrecall.concept_aliases other "
            "WHERE one.namespace_id = pgrecall.namespace_id(%(home)s) "
            "AND other.namespace_id = one.namespace_id "
            "AND one.alias = pgrecall.normalize_name(%(one)s) "
            "AND other.alias = pgrecall.normalize_name(%(other)s)",
            {"home": namespace, "one": pair.one, "other": pair.other},
        ).fetchone()
        if row is None:
            raise RuntimeError("a name is missing")
        is_one, is_equal, method, is_doubtful = row
        found.append(Resolved(("normalised" if is_equal else method) if is_one else None, is_doubtful))
    return found


def nearness(
    vectors: Mapping[str, NDArray[np.float32]], pairs: Sequence[NamePair], seed: int
) -> NDArray[np.float64]:
    """Return the cosine of each pair in deviations of the background, as the database measures it."""
    names = sorted(vectors)
    matrix = np.asarray([vectors[name] for name in names], dtype=np.float64)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    sample = np.random.default_rng(seed).permutation(len(names))[:200]
    centred = matrix - matrix[sample].mean(axis=0)
    centred /= np.linalg.norm(centred, axis=1, keepdims=True)
    drawn = centred[sample]
    near = [np.sum(drawn * np.roll(drawn, shift, axis=0), axis=1) for shift in (7, 11, 13)]
    deviation = float(np.sqrt(np.mean(np.square(near))))
    place = {name: number for number, name in enumerate(names)}
    return np.asarray(
        [float(centred[place[pair.one]] @ centred[place[pair.other]]) / deviation for pair in pairs]
    )
