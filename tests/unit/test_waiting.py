"""Waiting of the daemon's parts: a part that is asked to stop stops, whatever else happens at that moment."""

from __future__ import annotations

import asyncio

import pytest

from pgrecall_embedder.waiting import run_unless, wait_at_most

LONG = 60.0


@pytest.mark.parametrize("cancel_first", [True, False])
def test_a_cancellation_in_one_turn_with_the_event_is_not_lost(cancel_first: bool) -> None:
    async def scenario() -> None:
        event = asyncio.Event()
        waiting = asyncio.create_task(wait_at_most(LONG, event))
        await asyncio.sleep(0)
        if cancel_first:
            waiting.cancel()
        event.set()
        waiting.cancel()
        await asyncio.wait((waiting,))
        assert waiting.cancelled()

    asyncio.run(scenario())


def test_it_waits_for_the_event_or_until_time_is_over() -> None:
    async def scenario() -> None:
        event = asyncio.Event()
        await wait_at_most(0.01, event)
        waiting = asyncio.create_task(wait_at_most(LONG, event))
        await asyncio.sleep(0)
        event.set()
        await waiting

    asyncio.run(scenario())


def test_work_is_given_up_for_the_event() -> None:
    given_up = False

    async def work() -> str:
        nonlocal given_up
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            given_up = True
            raise
        return "done"

    async def scenario() -> None:
        stopping = asyncio.Event()
        doing = asyncio.create_task(run_unless(stopping, work()))
        await asyncio.sleep(0.01)
        stopping.set()
        assert await doing is None

    asyncio.run(scenario())
    assert given_up


def test_work_that_is_nearly_done_may_end() -> None:
    async def work() -> str:
        await asyncio.sleep(0.01)
        return "done"

    async def scenario() -> None:
        stopping = asyncio.Event()
        stopping.set()
        assert await run_unless(stopping, work(), grace=LONG) == "done"
        assert await run_unless(asyncio.Event(), work()) == "done"

    asyncio.run(scenario())


def test_what_the_work_raises_is_raised() -> None:
    async def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        asyncio.run(run_unless(asyncio.Event(), work()))
