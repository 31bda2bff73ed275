"""BM25 by bm25s, as an outside check of ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.systems.base import CannotRun
from pgrecall.installing import install_command

if TYPE_CHECKING:
    from benchmarks.quality.datasets import Dataset, Query

__all__ = ["Bm25s"]


class Bm25s:
    """bm25s with its own defaults (Lucene's BM25, k1 1.5, b 0.75), English stop words and Snowball stems."""

    def __init__(self) -> None:
        self._indexes: dict[str, tuple[list[str], Any]] = {}

    def index(self, dataset: Dataset) -> None:
        """Build an index for each namespace."""
        try:
            import bm25s
            import Stemmer
        except ImportError as error:
            raise CannotRun(f"{error.name} is not installed: {install_command('bench')}") from error
        stemmer = Stemmer.Stemmer("english")

        def tokens(texts: list[str]) -> Any:
            return bm25s.tokenize(
                texts, stopwords="en", stemmer=stemmer, show_progress=False, return_ids=False
            )

        self._tokens = tokens
        for name, memories in dataset.by_namespace().items():
            index = bm25s.BM25()
            index.index(tokens([memory.text for memory in memories]), show_progress=False)
            self._indexes[name] = ([memory.id for memory in memories], index)

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Rank the memories that hold one of the words."""
        ids, index = self._indexes[query.namespace]
        words = self._tokens([query.text])
        if not words[0]:
            return []
        places, scores = index.retrieve(words, k=min(k, len(ids)), show_progress=False)
        return [ids[place] for place, score in zip(places[0], scores[0], strict=True) if score > 0]
