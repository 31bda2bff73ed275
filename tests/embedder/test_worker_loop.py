"""The worker loop of the daemon, with jobs of its own."""

from __future__ import annotations

import asyncio

from pgrecall_embedder.worker import Job, Step
from support.waiting import PATIENCE


class Scripted(Job):
    """Does the steps that it is given, then ends."""

    def __init__(self, *steps: Step, poll_seconds: float = 60.0) -> None:
        super().__init__(poll_seconds)
        self.steps = list(steps)
        self.released = 0
        self.held = 0
        self.lost = 0
        self.away = 0.0

    @property
    def in_hand(self) -> int:
        return self.held

    @property
    def connections(self) -> int:
        return self.lost

    @property
    def backoff_seconds(self) -> float:
        return self.away

    async def step(self) -> Step:
        return self.steps.pop(0) if self.steps else Step.DONE

    async def release(self) -> None:
        self.released += 1
        self.away = 0.0


def run(job: Job, meanwhile: object = None) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(job.run())
            await asyncio.sleep(0.05)
            if callable(meanwhile):
                meanwhile()
            await running

    asyncio.run(bounded())


def test_it_goes_on_while_there_is_work() -> None:
    job = Scripted(Step.WORKED, Step.WORKED)
    run(job)
    assert job.steps == []


def test_an_idle_loop_looks_again_when_it_is_woken_or_the_poll_interval_is_over() -> None:
    woken = Scripted(Step.IDLE)
    run(woken, woken.wake)
    polled = Scripted(Step.IDLE, Step.IDLE, poll_seconds=0.01)
    run(polled)
    assert woken.steps == polled.steps == []


def test_a_full_job_is_not_polled() -> None:
    job = Scripted(Step.FULL, Step.WORKED, poll_seconds=0.0)

    def settle() -> None:
        assert job.steps == [Step.WORKED]
        job.wake()

    run(job, settle)
    assert job.steps == []


def test_a_stopped_loop_claims_nothing_more() -> None:
    job = Scripted(Step.IDLE, Step.WORKED)
    run(job, job.stop)
    assert job.steps == [Step.WORKED]


def test_a_lost_claim_is_released_once_nothing_is_in_hand() -> None:
    job = Scripted(Step.IDLE, Step.WORKED)

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE):
            running = asyncio.create_task(job.run())
            await asyncio.sleep(0.05)
            job.held, job.lost = 3, 1
            job.wake()
            await asyncio.sleep(0.05)
            assert (job.released, job.steps) == (0, [Step.WORKED])
            job.held = 0
            job.wake()
            await running

    asyncio.run(scenario())
    assert (job.released, job.steps) == (1, [])


def test_a_backoff_releases_the_leases_and_claims_nothing() -> None:
    job = Scripted(Step.WORKED)
    job.away = 0.2

    async def scenario() -> None:
        async with asyncio.timeout(PATIENCE):
            await job.run()

    asyncio.run(scenario())
    assert (job.released, job.steps) == (1, [])
