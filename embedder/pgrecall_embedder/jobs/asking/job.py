"""What jobs share that may ask a language model: pauses, leases given back, the client closed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall_embedder.worker import Job

if TYPE_CHECKING:
    from pgrecall_embedder.jobs.queue import JobQueue
    from pgrecall_embedder.jobs.setup import Setup
    from pgrecall_embedder.llm import LlmMisconfigured, LlmUnavailable

    from .llm_access import LlmAccess

__all__ = ["AskingJob"]


class AskingJob(Job):
    """A job that may ask a language model about what it claims.

    Args:
        queue: Where claims come from.
        asking: The access to the model.
        poll_seconds: How long to wait before looking again.
    """

    def __init__(self, queue: JobQueue, asking: LlmAccess, poll_seconds: float) -> None:
        super().__init__(poll_seconds)
        self._leases = queue
        self._asking = asking

    def change(self, setup: Setup) -> None:
        """Go on in another way, also where it was paused.

        Args:
            setup: How.
        """
        self._asking.change(setup)
        self.wake()

    @property
    def connections(self) -> int:
        """How many connections the claims have had."""
        return self._leases.connections

    async def release(self) -> None:
        """Give back every lease."""
        await self._leases.release()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left that can be done."""
        try:
            await super().run()
        finally:
            await self._asking.close()

    async def pause(self, problem: LlmMisconfigured | LlmUnavailable) -> None:
        """Give back every lease and leave the model alone for a while."""
        await self._leases.release()
        self._asking.pause(problem)
