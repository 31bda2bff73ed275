"""What others do on PostgreSQL, over a plain table of documents; the SQL is in `sql/`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.resources import Resources

__all__ = ["PythonFused", "Supabase", "TsRank", "reciprocal_rank_fusion"]

_DEPTH = 50
_K = 60


class _Documents:
    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._connection: psycopg.Connection[Any] | None = None

    def index(self, dataset: Dataset) -> None:  # noqa: ARG002
        """Fill the table, unless another system has."""
        self._connection = self._resources.documents
        _ = self._resources.query_texts

    def _ids(self, function: str, *values: object) -> list[str]:
        if self._connection is None:
            raise RuntimeError("index() comes first")
        marks = ", ".join(["%s"] * len(values))
        rows = self._connection.execute(f"SELECT id FROM bench.{function}({marks})".encode(), values)
        return [str(id) for (id,) in rows.fetchall()]


class TsRank(_Documents):
    """The older service's Postgres twin: every word, then some words, by 0.7 ts_rank + 0.3 importance."""

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Search by words."""
        return self._ids("ts_rank_search", query.namespace, query.text, k)


class Supabase(_Documents):
    """The hybrid search function of Supabase's documentation, with a namespace."""

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Call the function."""
        vector = self._resources.query_texts[query.id]
        return self._ids("supabase_search", query.namespace, query.text, vector, k)


class PythonFused(_Documents):
    """Three queries (any word by ts_rank, nearest vectors, names), fused in Python.

    By weighted RRF, with the k and the weights of `recall`.
    """

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Ask three times and fuse."""
        words = self._ids("by_words", query.namespace, query.text, _DEPTH)
        meaning = self._ids("by_meaning", query.namespace, self._resources.query_texts[query.id], _DEPTH)
        names = self._ids("by_names", query.namespace, query.text, _DEPTH)
        return reciprocal_rank_fusion([(1, words), (1, meaning), (0.35, names)])[:k]


def reciprocal_rank_fusion(lists: Sequence[tuple[float, Sequence[str]]]) -> list[str]:
    """Fuse rankings with their weights: the sum of weight / (60 + rank), ties by id."""
    scores: dict[str, float] = {}
    for weight, ids in lists:
        for rank, id in enumerate(ids, 1):
            scores[id] = scores.get(id, 0.0) + weight / (_K + rank)
    return sorted(scores, key=lambda id: (-scores[id], id))
