"""BM25 over pgrecall's own lexemes with nothing cut off: what the lexical leg would find at best."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.bm25 import Bm25

if TYPE_CHECKING:
    import psycopg

    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.resources import Resources

__all__ = ["Bm25Exhaustive"]

_NAMESPACE = "SELECT pgrecall.namespace_id(%s)"
_TERMS = "SELECT _pgrecall.query_terms(_pgrecall.query_languages(pgrecall.namespace_id(%s)), %s)"


class Bm25Exhaustive:
    """BM25 (k1 1.2, b 0.75, the namespace's average length) of every memory of the namespace, by numpy.

    The words are those of `search_vector`, and questions are read as the database reads them: a question's
    time includes asking it for them.

    Args:
        resources: The run's.
    """

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._connection: psycopg.Connection[Any] | None = None
        self._indexes: dict[str, tuple[dict[int, str], Bm25]] = {}

    def index(self, dataset: Dataset) -> None:
        """Read the lexemes of each namespace."""
        self._connection = connection = self._resources.connect()
        for name in dataset.by_namespace():
            (namespace_id,) = connection.execute(_NAMESPACE, (name,)).fetchone() or (0,)
            rows = connection.execute(
                "SELECT id, external_id FROM pgrecall.memories WHERE namespace_id = %s", (namespace_id,)
            ).fetchall()
            self._indexes[name] = (dict(rows), Bm25.read(connection, namespace_id))

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Rank the memories that hold one of the words, ties by id."""
        if self._connection is None:
            raise RuntimeError("index() comes first")
        (terms,) = self._connection.execute(_TERMS, (query.namespace, query.text)).fetchone() or (None,)
        names, index = self._indexes[query.namespace]
        return [names[id] for id, _ in index.top(terms or (), k)]

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
