"""What a retrieval system is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.datasets import Dataset, Query

__all__ = ["CannotRun", "System"]


class CannotRun(Exception):  # noqa: N818 - not an error of the benchmark: the report says why
    """This system cannot run here; the message says why."""


class System(Protocol):
    """A retriever. One object serves one run: `index` once, then `retrieve` for every question.

    If it also has a method `close`, that is called at the end.
    """

    def index(self, dataset: Dataset) -> None:
        """Take in the memories; not timed.

        Raises:
            CannotRun: Something it needs is not here.
        """
        ...

    def retrieve(self, query: Query, k: int) -> Sequence[str]:
        """Return the ids of at most k memories of the query's namespace, best first; timed."""
        ...
