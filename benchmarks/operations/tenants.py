"""The synthetic memories of the speed benchmark, spread over very many namespaces of very different sizes."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.speed.generator import LARGE, MEDIUM, TINY, Chunk, Corpus

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SHARES", "Tenants"]

SHARES = {LARGE: 0.3, MEDIUM: 0.08, TINY: 0.0002}
"""What the three namespaces that are asked have of all memories; the others share the rest by Zipf's law."""
_EXPONENT = 0.6


class Tenants(Corpus):
    """Memories of many tenants.

    Args:
        rows: Number of memories.
        dimension: Of the embeddings.
        tenants: Number of namespaces.
        seed: Another seed makes other memories.
    """

    def __init__(self, rows: int, dimension: int, tenants: int, seed: int = 42) -> None:
        super().__init__(rows, dimension, seed)
        self._names = [LARGE, MEDIUM, TINY, *(f"tenant {number}" for number in range(tenants - 3))]

    @cached_property
    def namespaces(self) -> list[str]:
        """The names of all namespaces."""
        return self._names

    @cached_property
    def _homes(self) -> NDArray[np.int64]:
        """The place in `namespaces` of every memory's."""
        rest = np.arange(1, len(self._names) - 2, dtype=np.float64) ** -_EXPONENT
        rest *= (1 - sum(SHARES.values())) / rest.sum()
        shares = np.cumsum([*SHARES.values(), *rest])
        drawn = np.searchsorted(shares, self.random(4).random(self.rows), side="right")
        homes: NDArray[np.int64] = np.minimum(drawn, len(self._names) - 1)
        return homes

    def chunk(self, index: int) -> Chunk:
        """Make the memories of one chunk."""
        made = super().chunk(index)
        homes = self._homes[[memory.number for memory in made.memories]].tolist()
        memories = [
            replace(memory, namespace=self._names[home])
            for memory, home in zip(made.memories, homes, strict=True)
        ]
        return Chunk(memories, made.vectors)
