"""Personalised PageRank over memories and the concepts that they mention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["ABOUT", "MENTIONED", "Bipartite", "Start"]

ABOUT = 1.0
MENTIONED = 0.4
"""What an edge is worth where the memory is about the concept, and where it only mentions it; either is
divided by the square root of the number of memories that mention the concept, as the walk has it."""

_TOLERANCE = 1e-9
_MOST_TURNS = 200
"""Enough for dampings up to 0.9: the remaining change shrinks by the damping every turn."""


@dataclass(frozen=True, slots=True)
class Start:
    """Where the walks of a question begin, and begin again.

    Attributes:
        memories: Weights by memory.
        concepts: Concepts that the question names; each weighs 1 / sqrt(memories that mention it).
    """

    memories: Mapping[int, float]
    concepts: Sequence[int]


class Bipartite:
    """The graph of one namespace.

    Args:
        memories: Ids of all memories.
        edges: Memory, concept, and whether the memory is about it; each pair once. Concepts of a single
            memory link nothing and are left out.
    """

    def __init__(self, memories: Iterable[int], edges: Sequence[tuple[int, int, bool]]) -> None:
        from scipy import sparse  # a third of a second, for other commands and the tests too

        self.memories = np.array(sorted(memories), dtype=np.int64)
        self._rows = {number: row for row, number in enumerate(self.memories.tolist())}
        concepts, places, counts = np.unique(
            [concept for _, concept, _ in edges], return_inverse=True, return_counts=True
        )
        self._count = len(self.memories)
        self._columns = {
            concept: (self._count + column, int(count))
            for column, (concept, count) in enumerate(zip(concepts.tolist(), counts.tolist(), strict=True))
        }
        linking = counts[places] > 1
        strength = np.array([ABOUT if about else MENTIONED for _, _, about in edges]) / np.sqrt(
            counts[places]
        )
        rows = np.array([self._rows[memory] for memory, _, _ in edges], dtype=np.int64)[linking]
        incidence = sparse.coo_matrix(
            (strength[linking], (rows, places[linking])), shape=(self._count, len(concepts))
        )
        both = sparse.bmat([[None, incidence], [incidence.T, None]], format="csr")
        leaving = np.asarray(both.sum(axis=0)).ravel()
        self._step: Any = both @ sparse.diags(1 / np.maximum(leaving, _TOLERANCE))

    def scores(
        self, starts: Sequence[Start], damping: float, *, arriving: bool = False
    ) -> NDArray[np.float64]:
        """Walk from several starts at once, by power iteration.

        Args:
            starts: One a question, each with a memory or a concept at least that is in the graph.
            damping: How often a walk goes on instead of beginning again, from 0 to below 1.
            arriving: True counts the walks that come to a memory, not those that begin there: otherwise the
                starts stand out and what is between the others is small.

        Returns:
            A row a question and a column a memory, in the order of `memories`; the largest of a row is 1,
            unless nothing was reached.
        """
        restart = np.stack([self._restart(start) for start in starts], axis=1)
        reached = restart
        for _ in range(_MOST_TURNS):
            before, reached = reached, damping * (self._step @ reached) + (1 - damping) * restart
            if np.abs(reached - before).max() < _TOLERANCE:
                break
        if arriving:
            reached = reached - (1 - damping) * restart
        found: NDArray[np.float64] = np.maximum(reached[: self._count].T, 0)
        largest = found.max(axis=1, keepdims=True)
        # Nothing is reached by the arriving walks of a start that leads nowhere.
        return found / np.where(largest > 0, largest, 1)

    def _restart(self, start: Start) -> NDArray[np.float64]:
        weights = np.zeros(self._step.shape[0])
        for memory, weight in start.memories.items():
            weights[self._rows[memory]] = weight
        for concept in start.concepts:
            if concept in self._columns:
                place, count = self._columns[concept]
                weights[place] = count**-0.5
        total = weights.sum()
        return weights / total if total else weights
