"""What jobs share that have a language model read claimed memories; nothing waits for them."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.reading import Counts
from pgrecall_embedder.waiting import run_unless
from pgrecall_embedder.worker import Step

from .job import AskingJob
from .llm_access import LlmAccess

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.jobs.reading import Claimed, ReadingQueue
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmClient

__all__ = ["LlmJob"]

# Few: what was claimed is sent at once, and a memory that becomes sensitive meanwhile may be on its way.
_BATCH: Final = 16


class LlmJob(AskingJob):
    """Claims memories and has a language model read them, where a setting asks for it.

    Args:
        queue: Where memories come from.
        setup: How to read.
        setting: The setting that switches the job on.
        drain: Return when nothing is left, or the server cannot be asked, instead of waiting.
        is_last: Tells whether no more memories follow.
        poll_seconds: How long to wait before looking again.
        log: Called with messages about memories that failed, and of pauses.
    """

    def __init__(
        self,
        queue: ReadingQueue,
        setup: Setup,
        setting: str,
        *,
        drain: bool,
        is_last: Callable[[], bool],
        poll_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        super().__init__(queue, LlmAccess(setup, lambda setup: setup.is_on(setting), log), poll_seconds)
        self.counts = Counts()
        self._claims = queue
        self._drain = drain
        self._is_last = is_last
        self._log = log

    async def step(self) -> Step:
        """Claim and read a few memories, where the settings ask for it."""
        was_last = self._is_last()
        client = await self._asking.client()
        if client is not None and not self._asking.is_paused and await self._batch(client):
            return Step.WORKED
        return Step.DONE if self._drain and (was_last or client is None) else Step.IDLE

    @abstractmethod
    async def read(self, client: LlmClient, claimed: list[Claimed]) -> bool:
        """Read claimed memories, store what was read and count it; return whether to look for more at once.

        What is counted neither as read nor as failed is claimed again some seconds later.
        """

    async def _batch(self, client: LlmClient) -> bool:
        """Claim and read a few memories; return whether to look for more at once."""
        claimed = await self._claims.claim(_BATCH)
        if not claimed:
            return False
        before = self.counts.done
        try:
            goes_on = await run_unless(self.loop.stopping, self.read(client, claimed))
        finally:
            await self._asking.record(client, self._claims)
        # Whoever stops gives its leases back in release().
        if goes_on is not None:
            is_complete = self.counts.done - before == len(claimed)
            await self._claims.settle((one.ticket for one in claimed), is_complete=is_complete)
        return bool(goes_on)

    async def fail(self, claimed: Claimed, error: str) -> None:
        """Count a memory that cannot be read. `error` must not quote its text."""
        await self._claims.fail(claimed, error)
        self.counts.failed += 1
        self._log.warning(
            "memory cannot be read by the language model", memory_id=claimed.document.memory_id, error=error
        )
