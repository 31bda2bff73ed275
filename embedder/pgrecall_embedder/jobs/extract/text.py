"""Claim, read, write back: the pipeline of names, times and facts, next to that of embeddings."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.reading import Counts
from pgrecall_embedder.jobs.storing import write_back
from pgrecall_embedder.waiting import run_unless, wait_at_most
from pgrecall_embedder.worker import Job, Step

from .reader import ReaderBroken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.reading import Claimed

    from .frames import Read
    from .queue import ExtractionQueue
    from .reader import Reader

__all__ = ["TextExtractionJob"]

_BATCH: Final = 64
# What a worker that is killed holds, nobody else reads before its lease ends.
_MOST_IN_HAND: Final = 4 * _BATCH
_BROKEN_PAUSE: Final = 30.0
_STOP_SECONDS: Final = 10.0


class TextExtractionJob(Job):
    """Reads memories without a language model.

    Args:
        queue: Where memories come from, and what was read goes to.
        reader: What reads.
        drain: Return when nothing is left, instead of waiting for more.
        poll_seconds: How long to wait for a notification before looking anyway.
        log: Called with messages about memories that failed.
    """

    def __init__(
        self,
        queue: ExtractionQueue,
        reader: Reader,
        *,
        drain: bool,
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        super().__init__(poll_seconds)
        self.counts = Counts()
        self._queue = queue
        self._reader = reader
        self._drain = drain
        self._log = log
        self._claimed: asyncio.Queue[list[Claimed] | None] = asyncio.Queue()
        self._results: asyncio.Queue[tuple[str, list[Claimed], list[Read]] | None] = asyncio.Queue()
        self._dry = False
        self._in_hand = 0  # claimed and not yet settled
        self._to_read = 0  # of those, the ones not read

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing to do when it looked last."""
        return self._dry and not self._in_hand

    @property
    def in_hand(self) -> int:
        """How many memories are claimed and not settled."""
        return self._in_hand

    @property
    def connections(self) -> int:
        """How many connections the claims have had."""
        return self._queue.connections

    async def release(self) -> None:
        """Give back every lease."""
        await self._queue.release()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left.

        Memories that were claimed and not begun keep their leases: release them.

        Raises:
            ExceptionGroup: One of the stages failed.
        """
        async with asyncio.TaskGroup() as stages:
            reading = stages.create_task(self._read())
            stages.create_task(self._write())
            await super().run()
            while not self._claimed.empty():
                self._claimed.get_nowait()
            self._claimed.put_nowait(None)
            await reading
            self._results.put_nowait(None)

    async def step(self) -> Step:
        """Claim some memories, unless enough of them wait to be read or written."""
        if self._to_read > _BATCH // 2 or self._in_hand >= _MOST_IN_HAND:
            self._dry = False
            return Step.FULL
        idle = not self._in_hand
        claimed = await self._queue.claim(_BATCH)
        self._dry = not claimed
        if claimed:
            self._in_hand += len(claimed)
            self._to_read += len(claimed)
            self._claimed.put_nowait(claimed)
            return Step.WORKED
        return Step.DONE if idle and self._drain else Step.IDLE

    async def _read(self) -> None:
        while (batch := await self._claimed.get()) is not None:
            read = await run_unless(self.loop.stopping, self._insist(batch), grace=_STOP_SECONDS)
            if read is None:
                return
            version, found = read
            self._to_read -= len(batch)
            self._results.put_nowait((version, batch, found))
            if not self._dry:
                self.wake()

    async def _insist(self, batch: Sequence[Claimed]) -> tuple[str, list[Read]]:
        """Read a batch, waiting for a reading process that does not start."""
        while True:
            try:
                return await self._reader.read([claimed.document for claimed in batch])
            except ReaderBroken as error:
                if self._drain or self.loop.stopping.is_set():
                    raise
                self._log.error("extraction failed, retrying", error=str(error), retry_in_s=_BROKEN_PAUSE)
                await wait_at_most(_BROKEN_PAUSE, self.loop.stopping)

    async def _write(self) -> None:
        # No batch waits for another one, of which something is left out for a while.
        async with asyncio.TaskGroup() as settling:
            while (result := await self._results.get()) is not None:
                settling.create_task(self._settle(*result))

    async def _settle(self, version: str, batch: list[Claimed], found: list[Read]) -> None:
        read = [(one, of.body) for one, of in zip(batch, found, strict=True) if of.body is not None]
        for one, of in zip(batch, found, strict=True):
            if of.error is not None:
                await self._fail(one, of.error)
        landed, refused = await write_back(self._queue.complete, version, read)
        for one, error in refused:
            await self._fail(one, error)
        self.counts.read += landed
        stale = len(read) - landed - len(refused)
        self.counts.stale += stale
        await self._queue.settle((one.ticket for one in batch), is_complete=not stale)
        self._in_hand -= len(batch)
        if stale or not self._in_hand or not self._dry:
            self.wake()

    async def _fail(self, claimed: Claimed, error: str) -> None:
        await self._queue.fail(claimed, error)
        self.counts.failed += 1
        self._log.warning("memory cannot be read", memory_id=claimed.document.memory_id, error=error)
