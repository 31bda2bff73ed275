"""The fusion of `_pgrecall.rank_memories` in Python, so that another graph can raise memories in the
leg's place.

By convex combination, with what adjacency, phrase and the factors add. What importance and recency add as
shares of the score is left out: both are off by default. How often recall's own order comes out is measured
on every run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Parts", "fuse"]


@dataclass(frozen=True, slots=True)
class Parts:
    """What a memory's score is made of where the graph takes no part.

    Attributes:
        number: Its id in the database.
        base: What words and vector give, of the highest score that both can give together.
        lent: The share of what it lacks that neighbours in its session lend.
        phrase: The share of what it lacks then that it gets for holding the query word for word.
        factor: What importance, age and named concepts make of the score.
        similarity: Cosine to the question; it decides ties.
        is_candidate: Words, vector or neighbours brought it.
    """

    number: int
    base: float
    lent: float
    phrase: float
    factor: float
    similarity: float
    is_candidate: bool

    @classmethod
    def of(
        cls,
        number: int,
        base: float,
        adjacency: float,
        phrase: float,
        top: float,
        factor: float,
        similarity: float | None,
        is_candidate: bool,
    ) -> Self:
        """Take apart what `recall_explain` says without the graph: its parts are what was gained in turn."""
        near = base + adjacency
        return cls(
            number,
            base,
            adjacency / (top - base) if top > base else 0.0,
            phrase / (top - near) if top > near else 0.0,
            factor,
            -1.0 if similarity is None else similarity,
            is_candidate,
        )

    def fused(self, lift: float) -> float:
        """Return the score of a memory that the graph raises by `lift`."""
        score = self.base + lift
        for share in (self.lent, self.phrase):
            score += share * max(1 - score, 0)
        return score * self.factor


def fuse(memories: Iterable[Parts], lifts: Mapping[int, float], listed: frozenset[int]) -> list[int]:
    """Rank memories.

    Args:
        memories: All that may come first.
        lifts: How far the graph raises them, by the memory's id.
        listed: Memories that the graph finds, whether or not other legs find them.

    Returns:
        Ids, best first.
    """
    scored = [
        (-one.fused(lifts.get(one.number, 0.0)), -one.similarity, one.number)
        for one in memories
        if one.is_candidate or one.number in listed
    ]
    return [number for _, _, number in sorted(scored)]
