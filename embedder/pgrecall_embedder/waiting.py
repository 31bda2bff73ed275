"""Cancellation-safe waits."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["run_unless", "wait_at_most"]

_T = TypeVar("_T")


async def wait_at_most(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, up to a time limit.

    Args:
        seconds: The time limit.
        event: The event.
    """
    # Not asyncio.wait_for(): in Python 3.11 it loses a cancellation that arrives together with the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def run_unless(
    stopping: asyncio.Event, work: Coroutine[Any, Any, _T], *, grace: float = 0.0
) -> _T | None:
    """Run a coroutine and cancel it if an event comes first.

    Args:
        stopping: The event.
        work: The coroutine.
        grace: Seconds that the coroutine may still run after the event.

    Returns:
        The result of the coroutine, or None if it was cancelled.
    """
    working = asyncio.create_task(work)
    ending = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait((working, ending), return_when=asyncio.FIRST_COMPLETED)
        done, _ = await asyncio.wait((working,), timeout=grace)
        return await working if done else None
    finally:
        for task in (working, ending):
            task.cancel()
        await asyncio.gather(working, ending, return_exceptions=True)
