"""The worker loop that every job plugs into: claim, work, back off, drain, stop."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from enum import Enum, auto

from .waiting import wait_at_most

__all__ = ["Job", "Step", "WorkerLoop"]


class Step(Enum):
    """The result of one step of a job."""

    WORKED = auto()
    """There was work: look for more immediately."""
    FULL = auto()
    """The job has reached its limit of claimed items: wait until it wakes the loop."""
    IDLE = auto()
    """There is no work now: wait for a notification or the poll interval."""
    DONE = auto()
    """No work is left and none will follow: end the loop."""


class Job(ABC):
    """A job that the worker loop runs.

    A job with its own stages claims items in `step` and counts them in `in_hand`. It wakes the loop when a
    stage settles an item.

    Args:
        poll_seconds: Seconds to wait for a notification before the job polls.
    """

    def __init__(self, poll_seconds: float) -> None:
        self.poll_seconds = poll_seconds
        self.loop = WorkerLoop(self)

    @property
    def in_hand(self) -> int:
        """The number of claimed items that are not settled yet, outside of `step`."""
        return 0

    @property
    def connections(self) -> int:
        """How often the connection for claims has been opened.

        A change means that the result of a claim may be lost: no worker knows of the items it leased.
        """
        return 0

    @property
    def has_returned(self) -> bool:
        """Whether items are still leased that the job gave up: a release makes them available again."""
        return False

    @property
    def backoff_seconds(self) -> float:
        """Seconds until the provider may be called again; 0 if it may be called now."""
        return 0.0

    @abstractmethod
    async def step(self) -> Step:
        """Claim a batch and work on it, or hand it to the job's stages."""

    async def release(self) -> None:  # noqa: B027 - a job may lease nothing
        """Release every lease. The loop calls this only while `in_hand` is 0."""

    def wake(self) -> None:
        """Look for work now: a transaction committed."""
        self.loop.wake()

    def stop(self) -> None:
        """Stop claiming, finish the claimed items, and return."""
        self.loop.stop()

    async def run(self) -> None:
        """Work until stopped or, when draining, until no work is left."""
        await self.loop.run()


class WorkerLoop:
    """Runs the steps of one job until it is stopped or done.

    Args:
        job: The job.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._look = asyncio.Event()
        self.stopping = asyncio.Event()

    def wake(self) -> None:
        """Look for work now: a transaction committed or an item was settled."""
        self._look.set()

    def stop(self) -> None:
        """Stop claiming, and end after the current step."""
        self.stopping.set()
        self._look.set()

    async def run(self) -> None:
        """Run until stopped or done. The job's stages settle the items that are still in hand.

        Raises:
            Exception: Any error from a step.
        """
        job = self._job
        connections = job.connections
        while not self.stopping.is_set():
            self._look.clear()
            if connections != job.connections or job.has_returned or job.backoff_seconds:
                # No worker knows of the items of a lost claim, and an unavailable provider takes no work:
                # settle the items in hand, then release the rest. A pause may be over by then.
                if job.in_hand:
                    await self._look.wait()
                    continue
                connections = job.connections
                await job.release()
                await wait_at_most(job.backoff_seconds, self.stopping)
                continue
            step = await job.step()
            if step is Step.DONE:
                return
            if step is Step.FULL:
                await self._look.wait()
            elif step is Step.IDLE:
                await wait_at_most(job.poll_seconds, self._look)
