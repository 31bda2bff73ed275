"""Recall asked with the graph and without it: which leg found each memory, and what its score is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.quality.graph.fusion import Parts
from benchmarks.quality.metrics import DEPTH
from benchmarks.systems.pgrecall_systems import Recall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.resources import Resources

__all__ = ["WITHOUT", "Explained", "Found", "Trace", "Traced", "trace"]

WITHOUT = {"graph_weight": "0"}
SEEN = 50
"""How far the lists go; with the usual leg_depth no leg looks further because of it."""

_FOUND = """
SELECT r.id, r.external_id, r.score, r.lexical_rank, r.dense_rank, r.graph_rank
FROM recall(%(text)s, %(vector)s, %(k)s, %(namespace)s, reference_time => %(asked_at)s) r
"""
_EXPLAIN = """
SELECT e.id, e.lexical_part + e.dense_part, e.session_part, e.phrase_part, e.top,
       e.importance_factor * e.decay_factor * e.entity_factor, e.similarity, e.is_candidate, e.graph_part,
       e.graph_rank
FROM recall_explain(%(text)s, %(vector)s, %(ids)s, %(k)s, %(namespace)s, reference_time => %(asked_at)s) e
WHERE e.relevance IS NOT NULL
"""


@dataclass(frozen=True, slots=True)
class Found:
    """A memory that recall returned.

    Attributes:
        number: Its id in the database.
        id: Its id in the data set.
        score: Its score.
        by_graph_only: The graph leg has it in its list, the words and the vector have not.
    """

    number: int
    id: str
    score: float
    by_graph_only: bool


@dataclass(frozen=True, slots=True)
class Explained:
    """Memories as recall would score them.

    Attributes:
        parts: What their scores are made of beside the graph.
        lifts: How far the graph raises them.
        listed: Those in its list.
    """

    parts: tuple[Parts, ...]
    lifts: dict[int, float]
    listed: frozenset[int]


class Traced(Recall):
    """Recall that says how it found what it returns, in the order of the fusion: none goes first as newer."""

    def __init__(self, resources: Resources, settings: Mapping[str, str] | None = None) -> None:
        super().__init__(resources, {"newer_first": "off", **(settings or {})})

    def found(self, query: Query, k: int) -> list[Found]:
        """Call `recall`; what the question excludes is there."""
        return [
            Found(number, str(id), score, graph is not None and lexical is None and dense is None)
            for number, id, score, lexical, dense, graph in self.rows(query, k, _FOUND)
        ]

    def in_force(self, setting: str) -> str:
        """Return the value of a setting in the run's database."""
        return str(self._resources.loaded.description["settings"][setting])

    def explained(self, query: Query, ids: Iterable[int]) -> Explained:
        """Call `recall_explain` for some memories."""
        rows = self.rows(query, DEPTH, _EXPLAIN, ids=list(ids))
        return Explained(
            tuple(Parts.of(*row[:-2]) for row in rows),
            {row[0]: row[-2] for row in rows},
            frozenset(row[0] for row in rows if row[-1] is not None),
        )


@dataclass(frozen=True, slots=True)
class Trace:
    """One question: what recall returned with the graph and without it, best first.

    Attributes:
        full: With the graph.
        plain: Without it.
    """

    full: tuple[Found, ...]
    plain: tuple[Found, ...]

    def best(self, full: bool, excluded: frozenset[str], k: int) -> list[Found]:
        """Return the first k of either, without what the question excludes."""
        found = self.full if full else self.plain
        return [one for one in found if one.id not in excluded][:k]


def trace(resources: Resources, queries: Sequence[Query]) -> dict[str, Trace]:
    """Ask every question with the settings in force and without the graph; return the answers by its id."""
    full, plain = Traced(resources), Traced(resources, WITHOUT)
    for system in (full, plain):
        system.index(resources.dataset)
    try:
        return {
            query.id: Trace(tuple(full.found(query, SEEN)), tuple(plain.found(query, SEEN)))
            for query in queries
        }
    finally:
        full.close()
        plain.close()
