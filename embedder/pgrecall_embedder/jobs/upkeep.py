"""Keeps postings, pages and the query cache in order, and lets memories go whose time has come."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.worker import Job, Step

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .embed.queue import WorkQueue

__all__ = ["UpkeepJob"]

_POLL_SECONDS: Final = 5.0
_IDLE_POLL_SECONDS: Final = 15.0
_TRIM_SECONDS: Final = 3600.0
_EXPIRE_SECONDS: Final = 60.0
_COMPACT_SECONDS: Final = 60.0
_EXPIRE_BATCH: Final = 1000


class UpkeepJob(Job):
    """Indexes and compacts postings, fills pages, expires memories, trims the cache.

    Args:
        queue: Calls the database's functions.
        trims: Whether to trim the query cache.
        log: Told how many memories were forgotten or erased.
    """

    def __init__(self, queue: WorkQueue, *, trims: bool, log: FilteringBoundLogger) -> None:
        super().__init__(_IDLE_POLL_SECONDS)
        self._queue = queue
        self._log = log
        self._has_folded = False
        self._trims_at = time.monotonic() if trims else float("inf")
        self._expires_at = time.monotonic()
        self._compacts_at = time.monotonic()

    async def step(self) -> Step:
        """Index pending postings of the namespaces with the most of them, and do what is due."""
        has_expired = False
        if time.monotonic() >= self._expires_at:
            has_expired = await self._expire()
        if time.monotonic() >= self._trims_at:
            self._trims_at = time.monotonic() + _TRIM_SECONDS
            await self._queue.purge_query_embeddings()
        folded = await self._queue.flush_postings()
        has_compacted = not folded and time.monotonic() >= self._compacts_at and await self._compact()
        filled = await self._queue.refresh_pages()
        self.poll_seconds = _POLL_SECONDS if folded or self._has_folded else _IDLE_POLL_SECONDS
        self._has_folded = bool(folded)
        return Step.WORKED if folded or filled or has_expired or has_compacted else Step.IDLE

    async def _compact(self) -> bool:
        """Tidy a part of the postings. Returns whether more may be left."""
        if await self._queue.compact_postings():
            return True
        self._compacts_at = time.monotonic() + _COMPACT_SECONDS
        return False

    async def _expire(self) -> bool:
        """Let one batch go. Returns whether more may be due."""
        forgotten, erased = await self._queue.expire(_EXPIRE_BATCH)
        if forgotten or erased:
            self._log.info("memories expired", forgotten=forgotten, erased=erased)
        if forgotten or erased:
            return True
        self._expires_at = time.monotonic() + _EXPIRE_SECONDS
        return False
