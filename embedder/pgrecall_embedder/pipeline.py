"""Claim, embed, write back, all three at the same time.

The model computes in threads; meanwhile the next memories are claimed and the last ones written. No
transaction is open while it computes.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgrecall.errors import EmbeddingUnavailable

from .batching import Embedded, Made, Rejected, embed, plan
from .pauses import Pause
from .waiting import at_most

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from .measuring import Metrics
    from .providers import EmbeddingProvider
    from .providers.errors import ProviderPaused
    from .work_queue import Claimed, WorkQueue

__all__ = ["Pipeline", "Polling", "Work"]

# A claim is to take about that long: short enough that fresh memories are not kept waiting and leases never
# run out, long enough that claiming costs nothing.
_CLAIM_SECONDS: Final = 2.0
_FIRST_CLAIM: Final = 32
_SMALLEST_CLAIM: Final = 8
_LARGEST_CLAIM: Final = 256
# What is built behind the active generation gives way within that time.
_CLAIM_SECONDS_BEHIND: Final = 0.5
# How long a batch lets queries go first, at the most.
_LONGEST_HOLD_SECONDS: Final = 1.0
_HOLD_SECONDS: Final = 0.005
_DRAIN_POLL_SECONDS: Final = 0.5
# Whoever waits for a drain should hear of a provider that stays away.
_DRAIN_PATIENCE_SECONDS: Final = 120.0


@dataclass(slots=True)
class Polling:
    """How often to look for work that nobody announced.

    Attributes:
        seconds: After there was some.
        longest_seconds: After there was none for a while.
    """

    seconds: float
    longest_seconds: float


@dataclass(slots=True)
class Work:
    """What the pipelines of a daemon share.

    Attributes:
        queue: Where memories come from and vectors go.
        threads: How many threads embed for one generation.
        drain: Whether to return when nothing is left, instead of waiting for more.
        polling: How long to wait for a notification before looking anyway.
        metrics: Told of everything.
        log: Hears of memories that failed.
        is_held: Whether queries wait for the model.
        embedded: Embeddings stored so far.
        too_late: Embeddings that came too late: the memory had been edited or taken away.
        failed: Failures of memories so far.
    """

    queue: WorkQueue
    threads: int
    drain: bool
    polling: Polling
    metrics: Metrics
    log: FilteringBoundLogger
    is_held: Callable[[], bool]
    embedded: int = 0
    too_late: int = 0
    failed: int = 0


class Pipeline:
    """The work of one daemon for one generation.

    Args:
        work: What it shares with others.
        generation: The generation's number.
        provider: The model.

    Attributes:
        pause: When the provider may be asked.
        ahead: What goes first: this one claims only while that one has nothing to do.
        behind: What may go on while this one has nothing to do.
    """

    def __init__(self, work: Work, generation: int, provider: EmbeddingProvider) -> None:
        self.generation = generation
        self.provider = provider
        self.pause = Pause()
        self.ahead: Pipeline | None = None
        self.behind: Pipeline | None = None
        self._work = work
        self._queue = work.queue
        self._pool = ThreadPoolExecutor(work.threads, thread_name_prefix="embed")
        self._planned: asyncio.Queue[list[Claimed] | None] = asyncio.Queue()
        self._embedded: asyncio.Queue[tuple[list[Claimed], Embedded] | None] = asyncio.Queue()
        self._look = asyncio.Event()
        self._stopping = asyncio.Event()
        self._dry = False
        self._looks_in_vain = 0
        self._in_hand = 0  # claimed and not yet settled
        self._to_embed = 0  # of those, the ones without a vector
        self._seconds_a_text: float | None = None

    @property
    def is_idle(self) -> bool:
        """Whether there was nothing to do when it looked last, or nothing that can be done."""
        return bool(self.pause.seconds_left) or (self._dry and not self._in_hand)

    def wake(self) -> None:
        """Look for work now: something was committed."""
        self._look.set()

    def stop(self) -> None:
        """Claim nothing more, finish what the model has in hand, and return."""
        self._stopping.set()
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
                embedders = [stages.create_task(self._embed()) for _ in range(self._work.threads + 1)]
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
        connections = self._queue.connections
        while not self._stopping.is_set():
            self._look.clear()
            is_lost = connections != self._queue.connections
            if is_lost or self.pause.seconds_left:
                # The connection broke, and a claim whose answer was lost has nobody to work on it; or the
                # provider is away: settle what is in hand, give back everything else.
                if self._in_hand:
                    await self._look.wait()
                    continue
                connections = self._queue.connections
                await self._queue.release(self.generation)
                self._give_up_draining()
                self._wake_behind()
                await self._sit_out()
                continue
            limit = self._claim_size()
            if self._to_embed > limit // 2:
                self._dry = False
                await self._look.wait()
                continue
            if self.ahead is not None and not self.ahead.is_idle:
                await self._nap()
                continue
            idle = not self._in_hand
            claimed = await self._queue.claim(self.generation, limit)
            self._dry = not claimed
            if claimed:
                self._looks_in_vain = 0
                await self._plan(claimed)
                continue
            if idle:
                self._wake_behind()
                if self._work.drain and await self._is_done():
                    return
            await self._nap()

    def _wake_behind(self) -> None:
        if self.behind is not None:
            self.behind.wake()

    def _give_up_draining(self) -> None:
        """Raise if somebody waits for a drain and the provider will not be back soon."""
        pause = self.pause
        if not self._work.drain or not pause.seconds_left or pause.cause == "rate_limit":
            return
        if pause.cause == "refused" or pause.seconds_failing > _DRAIN_PATIENCE_SECONDS:
            raise EmbeddingUnavailable(
                f"the provider of model {self.provider.name} cannot be asked: {pause.cause}",
                hint="The log above says what it answered.",
            )

    async def _is_done(self) -> bool:
        """Whether nobody holds a memory that may come back; failures that are tried later do not count."""
        waiting = await self._queue.waiting(self.generation)
        if waiting.leased:
            return False
        if waiting.retrying or waiting.parked:
            self._work.log.warning(
                "memories are left without an embedding",
                generation=self.generation,
                retrying=waiting.retrying,
                parked=waiting.parked,
            )
        return True

    async def _plan(self, claimed: list[Claimed]) -> None:
        self._in_hand += len(claimed)
        self._to_embed += len(claimed)
        texts = [memory.text for memory in claimed]
        loop = asyncio.get_running_loop()
        for batch in await loop.run_in_executor(self._pool, plan, self.provider, texts):
            self._planned.put_nowait([claimed[position] for position in batch])

    async def _nap(self) -> None:
        """Wait until there may be work again."""
        polling = self._work.polling
        seconds = min(polling.longest_seconds, polling.seconds * 1.1 ** min(self._looks_in_vain, 100))
        if self._work.drain:
            seconds = min(seconds, _DRAIN_POLL_SECONDS)
        self._looks_in_vain += 1
        await at_most(seconds, self._look)

    async def _sit_out(self) -> None:
        """Wait until the provider may be asked again, whatever is committed meanwhile."""
        await at_most(self.pause.seconds_left, self._stopping)

    async def _embed(self) -> None:
        loop = asyncio.get_running_loop()
        while (batch := await self._planned.get()) is not None:
            if self.pause.seconds_left:
                self._to_embed -= len(batch)
                self._settled(len(batch))
                continue
            await self._let_queries_pass()
            texts = [memory.text for memory in batch]
            result = await loop.run_in_executor(self._pool, embed, self.provider, texts)
            self._to_embed -= len(batch)
            if result.is_alive:
                self.pause.succeed()
            if result.pause is not None:
                self._begin_pause(result.pause)
            else:
                self._measure(result.seconds / len(batch))
                self._work.metrics.batch(result.seconds, len(batch))
            self._embedded.put_nowait((batch, result))
            if not self._dry:
                self._look.set()

    async def _let_queries_pass(self) -> None:
        deadline = time.monotonic() + _LONGEST_HOLD_SECONDS
        while self._work.is_held() and time.monotonic() < deadline:
            await asyncio.sleep(_HOLD_SECONDS)

    def _begin_pause(self, why: ProviderPaused) -> None:
        seconds = self.pause.begin(why.cause, why.retry_after)
        if seconds is not None:
            self._work.metrics.paused(self.provider.name, why.cause, seconds)
            self._work.log.warning(
                "the provider is not asked for a while",
                model=self.provider.name,
                cause=why.cause,
                error=str(why),
                retry_in_s=round(seconds, 1),
            )

    async def _write(self) -> None:
        finished = False
        while not finished:
            # Whatever was embedded during the last write goes into the next: no delay, no tuning.
            ready = [await self._embedded.get()]
            while not self._embedded.empty():
                ready.append(self._embedded.get_nowait())
            finished = ready[-1] is None
            made: list[tuple[Claimed, Made]] = []
            settled = 0
            for item in ready:
                if item is None:
                    continue
                for memory, outcome in zip(item[0], item[1].outcomes, strict=True):
                    if isinstance(outcome, Made):
                        made.append((memory, outcome))
                    elif isinstance(outcome, Rejected):
                        await self._fail(memory, outcome)
                settled += len(item[0])
            if made:
                await self._complete(made)
            self._settled(settled)

    async def _complete(self, made: list[tuple[Claimed, Made]]) -> None:
        landed = await self._queue.complete(
            self.generation,
            [memory for memory, _ in made],
            [one.vector for _, one in made],
            [one.is_truncated for _, one in made],
        )
        self._work.embedded += landed
        self._work.metrics.embedded(landed)
        if landed < len(made):
            self._work.too_late += len(made) - landed
            self._work.metrics.too_late(len(made) - landed)
            self._work.log.info("embeddings came too late", memories=len(made) - landed)
            self._look.set()

    async def _fail(self, memory: Claimed, rejected: Rejected) -> None:
        await self._queue.fail(self.generation, memory, rejected.error, rejected.cause)
        self._work.failed += 1
        self._work.metrics.failed(rejected.cause)
        self._work.log.warning(
            "memory cannot be embedded",
            memory_id=memory.memory_id,
            cause=rejected.cause,
            error=rejected.error,
        )

    def _settled(self, memories: int) -> None:
        self._in_hand -= memories
        if not self._in_hand:
            self._look.set()

    def _measure(self, seconds_a_text: float) -> None:
        before = self._seconds_a_text
        self._seconds_a_text = seconds_a_text if before is None else before + 0.1 * (seconds_a_text - before)

    def _claim_size(self) -> int:
        if self._seconds_a_text is None:
            return _FIRST_CLAIM
        seconds = _CLAIM_SECONDS if self.ahead is None else _CLAIM_SECONDS_BEHIND
        fits = int(seconds * self._work.threads / max(self._seconds_a_text, 1e-6))
        return min(_LARGEST_CLAIM, max(_SMALLEST_CLAIM, fits))
