"""Nearest neighbours without an index: what the dense leg would find at best."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.resources import Resources

__all__ = ["DenseExact"]


class DenseExact:
    """Cosine similarity with every embedded memory of the namespace, in full precision, by numpy.

    Args:
        resources: The run's; the vectors are the database's before it rounds them.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._groups: dict[str, tuple[list[str], NDArray[np.float32]]] = {}

    def index(self, dataset: Dataset) -> None:
        """Stack the vectors of each namespace."""
        vectors = self._resources.loaded.vectors
        dimension = self._resources.loaded.embedder.model.dimension
        _ = self._resources.query_vectors
        for name, memories in dataset.by_namespace().items():
            ids = [memory.id for memory in memories if memory.id in vectors]
            rows = [vectors[id] for id in ids]
            self._groups[name] = (ids, np.stack(rows) if rows else np.zeros((0, dimension), dtype=np.float32))

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Rank all memories, ties in the corpus's order."""
        ids, rows = self._groups[query.namespace]
        order = np.argsort(-(rows @ self._resources.query_vectors[query.id]), kind="stable")
        return [ids[place] for place in order[:k]]
