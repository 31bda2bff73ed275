"""The worker loop that every job plugs into: claim, work, back off, drain, stop."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from enum import Enum, auto

from .waiting import at_most

__all__ = ["Job", "Step", "WorkerLoop"]


class Step(Enum):
    """What one step of a job came to."""

    WORKED = auto()
    """There was work: look for more at once."""
    FULL = auto()
    """The job has enough in hand: wait until it wakes the loop."""
    IDLE = auto()
    """There is nothing to do now: wait for a notification or the poll interval."""
    DONE = auto()
    """Nothing is left, and nothing more will come: end the loop."""


class Job(ABC):
    """What the loop runs.

    A job that works in stages of its own claims in `step` and counts what it has claimed in `in_hand`. It
    wakes the loop when its stages have settled some of it.

    Args:
        poll_seconds: How long to wait for a notification before looking anyway.
    """

    def __init__(self, poll_seconds: float) -> None:
        self.poll_seconds = poll_seconds
        self.loop = WorkerLoop(self)

    @property
    def in_hand(self) -> int:
        """How many claimed items are not settled yet, outside of `step`."""
        return 0

    @property
    def connections(self) -> int:
        """How many connections the claims have had.

        After a change, the answer to a claim may have been lost, and nobody works on the memories it claimed.
        """
        return 0

    @property
    def backoff_seconds(self) -> float:
        """For how long the provider is left alone; 0 if it may be asked."""
        return 0.0

    @abstractmethod
    async def step(self) -> Step:
        """Claim a batch and work on it, or hand it to the job's stages."""

    async def release(self) -> None:  # noqa: B027 - a job may lease nothing
        """Give back every lease; the loop calls this only while nothing is in hand."""

    def wake(self) -> None:
        """Look for work now: something was committed."""
        self.loop.wake()

    def stop(self) -> None:
        """Claim nothing more, finish what is in hand, and return."""
        self.loop.stop()

    async def run(self) -> None:
        """Work until stopped or, when draining, until nothing is left."""
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
        """Look for work now: something was committed, or something in hand was settled."""
        self._look.set()

    def stop(self) -> None:
        """Claim nothing more, and end after the step under way."""
        self.stopping.set()
        self._look.set()

    async def run(self) -> None:
        """Run until stopped or done. What is still in hand is for the job's stages to settle.

        Raises:
            Exception: What a step raised.
        """
        job = self._job
        connections = job.connections
        while not self.stopping.is_set():
            self._look.clear()
            if connections != job.connections or job.backoff_seconds:
                # A claim whose answer was lost has nobody to work on it, and a provider that is away takes
                # nothing: settle what is in hand, then give back everything else.
                if job.in_hand:
                    await self._look.wait()
                    continue
                connections = job.connections
                await job.release()
                await at_most(job.backoff_seconds, self.stopping)
                continue
            step = await job.step()
            if step is Step.DONE:
                return
            if step is Step.FULL:
                await self._look.wait()
            elif step is Step.IDLE:
                await at_most(job.poll_seconds, self._look)
