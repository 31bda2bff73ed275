"""Keeps the postings of the lexical leg and the cache of query embeddings in order."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.worker import Job, Step

if TYPE_CHECKING:
    from .embed.queue import WorkQueue

__all__ = ["UpkeepJob"]

_POLL_SECONDS: Final = 5.0
_IDLE_POLL_SECONDS: Final = 15.0
_TRIM_SECONDS: Final = 3600.0


class UpkeepJob(Job):
    """Indexes pending postings, which writers do too, and trims the query cache every hour.

    Args:
        queue: Calls the database's functions.
        trims: Whether to trim the query cache.
    """

    def __init__(self, queue: WorkQueue, *, trims: bool) -> None:
        super().__init__(_IDLE_POLL_SECONDS)
        self._queue = queue
        self._has_folded = False
        self._trims_at = time.monotonic() if trims else float("inf")

    async def step(self) -> Step:
        """Index the pending postings of one namespace."""
        if time.monotonic() >= self._trims_at:
            self._trims_at = time.monotonic() + _TRIM_SECONDS
            await self._queue.purge_query_embeddings()
        folded = await self._queue.flush_postings()
        self.poll_seconds = _POLL_SECONDS if folded or self._has_folded else _IDLE_POLL_SECONDS
        self._has_folded = bool(folded)
        return Step.WORKED if folded else Step.IDLE
