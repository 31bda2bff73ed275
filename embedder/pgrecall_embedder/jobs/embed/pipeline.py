"""Claims, embeds and writes back, all three concurrently.

The model computes in threads. Meanwhile the next batch is claimed and the last one written. No transaction is
open while it computes.
"""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pgrecall.errors import EmbeddingUnavailable
from pgrecall_embedder.retry import Backoff
from pgrecall_embedder.worker import Job, Step

from .background import state_background
from .batching import Embedded, Made, Rejected, embed_memories, plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.metrics import Metrics
    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec
    from pgrecall_embedder.providers.errors import ProviderPaused

    from .queue import Claimed, WorkQueue

__all__ = ["Pipeline", "Polling", "Work"]

# Target time to embed a claim: short enough that new memories do not wait and leases do not expire, long
# enough that claims cost little.
_CLAIM_SECONDS: Final = 2.0
_FIRST_CLAIM: Final = 32
_SMALLEST_CLAIM: Final = 8
_LARGEST_CLAIM: Final = 256
# The generation that is being built yields to the active one within that time.
_CLAIM_SECONDS_BEHIND: Final = 0.5
# The longest time that a batch waits for queries.
_LONGEST_HOLD_SECONDS: Final = 1.0
_HOLD_SECONDS: Final = 0.005
_DRAIN_POLL_SECONDS: Final = 0.5
# A drain reports a provider that stays unavailable.
_DRAIN_PATIENCE_SECONDS: Final = 120.0


@dataclass(slots=True)
class Polling:
    """Poll intervals.

    Attributes:
        seconds: The interval after work.
        longest_seconds: The interval after a long time without work.
    """

    seconds: float
    longest_seconds: float


@dataclass(slots=True)
class Work:
    """What the pipelines of a daemon share.

    Attributes:
        queue: The queue of memories.
        threads: Embedding threads per generation.
        drain: Whether to return when the queue is empty.
        polling: The poll intervals.
        metrics: The metrics.
        log: The log.
        is_held: Tells whether queries wait for the model.
        is_fed: Tells whether another job may still add memories.
        outdated: Called by a worker whose model is not its generation's any more.
        background_texts: What is embedded to measure the background of a model that has none; empty: nothing.
        embedded: Embeddings stored so far.
        stale: Embeddings that were not stored: the memory had changed, or the lease was lost.
        failed: Failures of memories so far.
    """

    queue: WorkQueue
    threads: int
    drain: bool
    polling: Polling
    metrics: Metrics
    log: FilteringBoundLogger
    is_held: Callable[[], bool]
    is_fed: Callable[[], bool]
    outdated: Callable[[], None]
    background_texts: Sequence[str] = ()
    embedded: int = 0
    stale: int = 0
    failed: int = 0


class Pipeline(Job):
    """The worker of one generation.

    Args:
        work: What it shares with others.
        generation: The generation's number.
        provider: The model.
        model: As the database describes it.

    Attributes:
        pause: When the provider may be asked.
        ahead: The pipeline with priority: this one claims only while it is idle.
        behind: The pipeline that may claim while this one is idle.
    """

    def __init__(self, work: Work, generation: int, provider: EmbeddingProvider, model: ModelSpec) -> None:
        super().__init__(work.polling.seconds)
        self.generation = generation
        self.provider = provider
        self.pause = Backoff()
        self.ahead: Pipeline | None = None
        self.behind: Pipeline | None = None
        self._work = work
        self._queue = work.queue
        self._pool = ThreadPoolExecutor(work.threads, thread_name_prefix="embed")
        self._planned: asyncio.Queue[list[Claimed] | None] = asyncio.Queue()
        self._embedded: asyncio.Queue[tuple[list[Claimed], Embedded] | None] = asyncio.Queue()
        self._dry = False
        self._looks_in_vain = 0
        self._in_hand = 0  # claimed and not yet settled
        self._to_embed = 0  # of those, the ones without a vector
        self._has_returned = False
        self._seconds_a_text: float | None = None
        self._model = model
        self._background: int | None = model.id if work.background_texts else None  # still to be measured

    @property
    def is_idle(self) -> bool:
        """Whether the last claim was empty, or the provider is paused."""
        return bool(self.pause.seconds_left) or (self._dry and not self._in_hand)

    @property
    def in_hand(self) -> int:
        """Memories that are claimed and not settled."""
        return self._in_hand

    @property
    def connections(self) -> int:
        """How many connections the claims have had."""
        return self._queue.connections

    @property
    def has_returned(self) -> bool:
        """Whether memories that the provider did not take are still leased."""
        return self._has_returned

    @property
    def backoff_seconds(self) -> float:
        """Seconds until the provider may be called again."""
        return self.pause.seconds_left

    async def release(self) -> None:
        """Release every lease of the generation, and wake the pipeline behind."""
        self._has_returned = False
        await self._queue.release(self.generation)
        self._give_up_draining()
        self._wake_behind()

    async def run(self) -> None:
        """Work until stopped or, when draining, until the queue is empty.

        Memories that were claimed and not begun keep their leases: release them.

        Raises:
            ExceptionGroup: One of the stages failed.
        """
        try:
            async with asyncio.TaskGroup() as stages:
                # One more than threads, so that no thread waits for the event loop to hand it its next batch.
                embedders = [stages.create_task(self._embed()) for _ in range(self._work.threads + 1)]
                stages.create_task(self._write())
                await super().run()
                while not self._planned.empty():
                    self._planned.get_nowait()
                for _ in embedders:
                    self._planned.put_nowait(None)
                await asyncio.gather(*embedders)
                self._embedded.put_nowait(None)
        finally:
            self._pool.shutdown(wait=False, cancel_futures=True)

    async def step(self) -> Step:
        """Claim memories, unless enough already wait for the model."""
        limit = self._claim_size()
        if self._to_embed > limit // 2:
            self._dry = False
            return Step.FULL
        if self.ahead is not None and not self.ahead.is_idle:
            return self._idle()
        idle = not self._in_hand
        claimed = await self._queue.claim(self.generation, limit)
        self._dry = not claimed
        if claimed and not await self._is_chosen():
            self._has_returned = True
            self._work.outdated()
            return self._idle()
        if claimed:
            self._looks_in_vain = 0
            await self._plan(claimed)
            return Step.WORKED
        if idle:
            self._wake_behind()
            await self._measure_background()
            if self._work.drain and not self._work.is_fed() and await self._is_done():
                return Step.DONE
        return self._idle()

    async def _is_chosen(self) -> bool:
        """Whether the database still wants this model. Choosing another voids the claims made before that."""
        return any(
            one.id == self.generation and one.model == self._model for one in await self._queue.generations()
        )

    async def _measure_background(self) -> None:
        """State the background of a model that has none, once the memories that waited are embedded."""
        if self._background is not None and not self.pause.seconds_left:
            model_id, self._background = self._background, None
            await state_background(
                self._queue, model_id, self.provider, self._pool, self._work.background_texts, self._work.log
            )

    def _wake_behind(self) -> None:
        if self.behind is not None:
            self.behind.wake()

    def _give_up_draining(self) -> None:
        """Raise if a drain would have to wait too long for the provider."""
        pause = self.pause
        if not self._work.drain or not pause.seconds_left:
            return
        patience = _DRAIN_PATIENCE_SECONDS * (10 if pause.cause == "rate_limit" else 1)
        if pause.cause == "refused" or pause.seconds_failing > patience:
            raise EmbeddingUnavailable(
                f"the provider of model {self.provider.name} cannot be asked: {pause.cause}",
                hint="The log above says what it answered.",
            )

    async def _is_done(self) -> bool:
        """Whether no worker holds a lease that may return to the queue. Pending retries do not count."""
        waiting = await self._queue.waiting(self.generation)
        if waiting.in_progress:
            return False
        if waiting.retrying or waiting.failed:
            self._work.log.warning(
                "memories are left without an embedding",
                generation=self.generation,
                retrying=waiting.retrying,
                failed=waiting.failed,
            )
        return True

    async def _plan(self, claimed: list[Claimed]) -> None:
        self._in_hand += len(claimed)
        self._to_embed += len(claimed)
        texts = [memory.text for memory in claimed]
        loop = asyncio.get_running_loop()
        for batch in await loop.run_in_executor(self._pool, plan, self.provider, texts):
            self._planned.put_nowait([claimed[position] for position in batch])

    def _idle(self) -> Step:
        """Wait for a notification or the poll interval, which grows while the queue is empty."""
        polling = self._work.polling
        seconds = min(polling.longest_seconds, polling.seconds * 1.1 ** min(self._looks_in_vain, 100))
        self.poll_seconds = min(seconds, _DRAIN_POLL_SECONDS) if self._work.drain else seconds
        self._looks_in_vain += 1
        return Step.IDLE

    async def _embed(self) -> None:
        loop = asyncio.get_running_loop()
        while (batch := await self._planned.get()) is not None:
            if self.pause.seconds_left:
                self._has_returned = True
                self._to_embed -= len(batch)
                self._settled(len(batch))
                continue
            await self._let_queries_pass()
            texts = [memory.text for memory in batch]
            passages = [memory.passages for memory in batch]
            result = await loop.run_in_executor(self._pool, embed_memories, self.provider, texts, passages)
            self._to_embed -= len(batch)
            if result.is_alive:
                self.pause.succeed()
            if result.pause is not None:
                self._has_returned = True
                self._begin_pause(result.pause)
            else:
                self._measure(result.seconds / len(batch))
                self._work.metrics.batch(result.seconds, len(batch))
            self._embedded.put_nowait((batch, result))
            if not self._dry:
                self.wake()

    async def _let_queries_pass(self) -> None:
        deadline = time.monotonic() + _LONGEST_HOLD_SECONDS
        while self._work.is_held() and time.monotonic() < deadline:
            await asyncio.sleep(_HOLD_SECONDS)

    def _begin_pause(self, why: ProviderPaused) -> None:
        seconds = self.pause.begin(why.cause, why.retry_after)
        if seconds is not None:
            self._work.metrics.paused(self.provider.name, why.cause, seconds)
            self._work.log.warning(
                "provider paused",
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
            settled: list[int] = []
            for item in ready:
                if item is None:
                    continue
                for memory, outcome in zip(item[0], item[1].outcomes, strict=True):
                    if isinstance(outcome, Made):
                        made.append((memory, outcome))
                    elif isinstance(outcome, Rejected):
                        await self._fail(memory, outcome)
                settled += [memory.ticket for memory in item[0]]
            if made:
                await self._complete(made)
            await self._queue.settle(settled)
            self._settled(len(settled))

    async def _complete(self, made: list[tuple[Claimed, Made]]) -> None:
        landed = await self._queue.complete(
            self.generation,
            [memory for memory, _ in made],
            [one for _, one in made],
        )
        self._work.embedded += landed
        self._work.metrics.embedded(landed)
        if landed < len(made):
            self._work.stale += len(made) - landed
            self._work.metrics.stale(len(made) - landed)
            self._work.log.info("stale embeddings dropped", memories=len(made) - landed)
            self.wake()

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
            self.wake()

    def _measure(self, seconds_a_text: float) -> None:
        before = self._seconds_a_text
        self._seconds_a_text = seconds_a_text if before is None else before + 0.1 * (seconds_a_text - before)

    def _claim_size(self) -> int:
        if self._seconds_a_text is None:
            return _FIRST_CLAIM
        seconds = _CLAIM_SECONDS if self.ahead is None else _CLAIM_SECONDS_BEHIND
        fits = int(seconds * self._work.threads / max(self._seconds_a_text, 1e-6))
        return min(_LARGEST_CLAIM, max(_SMALLEST_CLAIM, fits))
