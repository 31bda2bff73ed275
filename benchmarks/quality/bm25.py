"""Exhaustive BM25, by numpy, over the lexemes that the database made of the memories."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psycopg import Connection

__all__ = ["K1", "B", "Bm25", "Postings"]

K1 = 1.2
B = 0.75

_LENGTHS = """
SELECT m.id, COALESCE((SELECT sum(cardinality(l.positions)) FROM unnest(m.search_vector) l), 0)::bigint
FROM pgrecall.memories m
WHERE m.namespace_id = %s AND m.deleted_at IS NULL
ORDER BY m.id
"""
_POSTINGS = """
SELECT l.lexeme, array_agg(m.id ORDER BY m.id), array_agg(COALESCE(cardinality(l.positions), 1) ORDER BY m.id)
FROM pgrecall.memories m, unnest(m.search_vector) l
WHERE m.namespace_id = %s AND m.deleted_at IS NULL AND (%s::text[] IS NULL OR l.lexeme = ANY (%s::text[]))
GROUP BY l.lexeme
"""


@dataclass(frozen=True, slots=True)
class Postings:
    """The memories that hold a term: their places among all, and how often each holds it."""

    places: NDArray[np.int64]
    frequencies: NDArray[np.int64]


class Bm25:
    """BM25 of every memory that holds a term of the query: nothing is cut off.

    The idf is ln(1 + (N - df + 0.5) / (df + 0.5)), as Lucene has it; all occurrences count alike.

    Args:
        ids: The memories, in rising order.
        lengths: How many words each has, in the order of `ids`.
        postings: Of each term.
        pivot: The length that counts as ordinary; None takes the average of `lengths`.
    """

    def __init__(
        self,
        ids: Sequence[int],
        lengths: Sequence[int],
        postings: dict[str, Postings],
        *,
        pivot: float | None = None,
    ) -> None:
        self._ids = np.asarray(ids, dtype=np.int64)
        self._postings = postings
        words = np.asarray(lengths, dtype=np.float64)
        ordinary = (float(words.mean()) if words.any() else 1.0) if pivot is None else pivot
        self._saturation = K1 * (1 - B + B * words / ordinary)

    @classmethod
    def read(
        cls,
        connection: Connection[Any],
        namespace_id: int,
        terms: Iterable[str] | None = None,
        *,
        pivot: float | None = None,
    ) -> Bm25:
        """Read a namespace's live memories.

        Args:
            connection: Of the database.
            namespace_id: The namespace.
            terms: The terms that will be asked for; None reads all there are.
            pivot: See `Bm25`.
        """
        found = connection.execute(_LENGTHS, (namespace_id,), binary=True).fetchall()
        ids = np.array([id for id, _ in found], dtype=np.int64)
        wanted = None if terms is None else list(terms)
        rows = connection.execute(_POSTINGS, (namespace_id, wanted, wanted), binary=True).fetchall()
        postings = {
            term: Postings(np.searchsorted(ids, holders), np.array(frequencies, dtype=np.int64))
            for term, holders, frequencies in rows
        }
        return cls(ids.tolist(), [length for _, length in found], postings, pivot=pivot)

    def scores(self, terms: Iterable[str]) -> NDArray[np.float64]:
        """Return the score of every memory; a term that is given twice counts once."""
        total = len(self._ids)
        scores = np.zeros(total)
        for term in dict.fromkeys(terms):
            held = self._postings.get(term)
            if held is None:
                continue
            count = len(held.places)
            idf = np.log(1 + (total - count + 0.5) / (count + 0.5))
            tf = held.frequencies
            scores[held.places] += idf * tf * (K1 + 1) / (tf + self._saturation[held.places])
        return scores

    def score_of(self, terms: Iterable[str], ids: Sequence[int]) -> list[float]:
        """Return the scores of some memories; that of a memory which is not there is 0."""
        scores = self.scores(terms)
        places = np.minimum(np.searchsorted(self._ids, ids), len(scores) - 1)
        found: list[float] = np.where(self._ids[places] == ids, scores[places], 0.0).tolist()
        return found

    def top(self, terms: Iterable[str], k: int) -> list[tuple[int, float]]:
        """Return ids and scores of the best k memories that hold one of the terms, ties by id."""
        scores = self.scores(terms)
        (places,) = np.nonzero(scores)
        best = places[np.lexsort((places, -scores[places]))[:k]]
        return list(zip(self._ids[best].tolist(), scores[best].tolist(), strict=True))
