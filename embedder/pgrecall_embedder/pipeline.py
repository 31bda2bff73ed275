"""Claim, embed, write back, all three at the same time.

The model computes in threads; meanwhile the next memories are claimed and the last ones written. No
transaction is open while it computes.
"""

from __future__ import annotations

import asyncio
import contextlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .batching import Embedded, Rejected, embed, plan

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .providers import EmbeddingProvider
    from .work_queue import Claimed, WorkQueue

__all__ = ["Pipeline", "Totals"]

# A claim is to take about that long: short enough that fresh memories are not kept waiting and leases (2
# minutes) never run out, long enough that claiming costs nothing.
_CLAIM_SECONDS = 2.0
_FIRST_CLAIM = 32
_SMALLEST_CLAIM = 8
_LARGEST_CLAIM = 256


@dataclass(slots=True)
class Totals:
    """What a worker did since it started.

    Attributes:
        embedded: Embeddings stored.
        stale: Embeddings that came too late: the memory had been edited or taken away.
        failed: Memories that could not be embedded.
    """

    embedded: int = 0
    stale: int = 0
    failed: int = 0


class Pipeline:
    """The work of one daemon on one database.

    Args:
        queue: Where memories come from and vectors go.
        provider: The model.
        threads: How many threads embed.
        drain: Return when nothing is left, instead of waiting for more.
        poll_seconds: How long to wait for a notification before looking anyway.
        log: Hears of memories that failed.
    """

    def __init__(
        self,
        queue: WorkQueue,
        provider: EmbeddingProvider,
        *,
        threads: int,
        drain: bool,
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        self.totals = Totals()
        self._queue = queue
        self._provider = provider
        self._threads = threads
        self._drain = drain
        self._poll_seconds = poll_seconds
        self._log = log
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="embed")
        self._planned: asyncio.Queue[list[Claimed] | None] = asyncio.Queue()
        self._embedded: asyncio.Queue[tuple[list[Claimed], Embedded] | None] = asyncio.Queue()
        self._look = asyncio.Event()
        self._stopping = False
        self._dry = False
        self._in_hand = 0  # claimed and not yet settled
        self._to_embed = 0  # of those, the ones without a vector
        self._seconds_a_text: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing to do when it looked last."""
        return self._dry and not self._in_hand

    def wake(self) -> None:
        """Look for work now: something was committed."""
        self._look.set()

    def stop(self) -> None:
        """Claim nothing more, finish what the model has in hand, and return."""
        self._stopping = True
        self._look.set()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left.

        What was claimed and not begun is then still leased: release it.

        Raises:
            ExceptionGroup: One of the stages failed.
        """
        try:
            async with asyncio.TaskGroup() as stages:
                # One more than threads, so that no thread waits for the event loop to hand it its next batch.
                embedders = [stages.create_task(self._embed()) for _ in range(self._threads + 1)]
                stages.create_task(self._write())
                await self._claim()
                while not self._planned.empty():
                    self._planned.get_nowait()
                for _ in embedders:
                    self._planned.put_nowait(None)
                await asyncio.gather(*embedders)
                self._embedded.put_nowait(None)
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def _claim(self) -> None:
        generation = self._queue.generation
        while not self._stopping:
            self._look.clear()
            if generation != self._queue.generation:
                # The connection broke, and a claim whose answer was lost has nobody to work on it: settle
                # what is in hand, give back everything else.
                if self._in_hand:
                    await self._look.wait()
                    continue
                generation = self._queue.generation
                await self._queue.release()
            limit = self._claim_size()
            if self._to_embed > limit // 2:
                self._dry = False
                await self._look.wait()
                continue
            idle = not self._in_hand
            claimed = await self._queue.claim(limit)
            self._dry = not claimed
            if claimed:
                await self._plan(claimed)
            elif idle and self._drain:
                return
            else:
                await self._nap()

    async def _plan(self, claimed: list[Claimed]) -> None:
        self._in_hand += len(claimed)
        self._to_embed += len(claimed)
        texts = [memory.text for memory in claimed]
        loop = asyncio.get_running_loop()
        for batch in await loop.run_in_executor(self._pool, plan, self._provider, texts):
            self._planned.put_nowait([claimed[position] for position in batch])

    async def _nap(self) -> None:
        """Wait until there may be work again."""
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._look.wait(), self._poll_seconds)

    async def _embed(self) -> None:
        loop = asyncio.get_running_loop()
        while (batch := await self._planned.get()) is not None:
            texts = [memory.text for memory in batch]
            result = await loop.run_in_executor(self._pool, embed, self._provider, texts)
            self._measure(result.seconds / len(batch))
            self._to_embed -= len(batch)
            self._embedded.put_nowait((batch, result))
            if not self._dry:
                self._look.set()

    async def _write(self) -> None:
        finished = False
        while not finished:
            # Whatever was embedded during the last write goes into the next: no delay, no tuning.
            ready = [await self._embedded.get()]
            while not self._embedded.empty():
                ready.append(self._embedded.get_nowait())
            finished = ready[-1] is None
            memories: list[Claimed] = []
            vectors: list[str] = []
            rejected: list[tuple[Claimed, Rejected]] = []
            for item in ready:
                if item is None:
                    continue
                for memory, vector in zip(item[0], item[1].vectors, strict=True):
                    if isinstance(vector, Rejected):
                        rejected.append((memory, vector))
                    else:
                        memories.append(memory)
                        vectors.append(vector)
            await self._settle(memories, vectors, rejected)

    async def _settle(
        self, memories: list[Claimed], vectors: list[str], rejected: list[tuple[Claimed, Rejected]]
    ) -> None:
        stale = 0
        if memories:
            landed = await self._queue.complete(memories, vectors)
            stale = len(memories) - landed
            self.totals.embedded += landed
            self.totals.stale += stale
        for memory, rejection in rejected:
            await self._queue.fail(memory, rejection.error)
            self.totals.failed += 1
            self._log.warning("memory cannot be embedded", memory_id=memory.memory_id, error=rejection.error)
        self._in_hand -= len(memories) + len(rejected)
        if stale:
            self._log.info("embeddings came too late", memories=stale)
        if stale or not self._in_hand:
            self._look.set()

    def _measure(self, seconds_a_text: float) -> None:
        before = self._seconds_a_text
        self._seconds_a_text = seconds_a_text if before is None else before + 0.1 * (seconds_a_text - before)

    def _claim_size(self) -> int:
        if self._seconds_a_text is None:
            return _FIRST_CLAIM
        fits = int(_CLAIM_SECONDS * self._threads / max(self._seconds_a_text, 1e-6))
        return min(_LARGEST_CLAIM, max(_SMALLEST_CLAIM, fits))
