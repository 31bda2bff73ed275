"""Waiting for something or for a while, without losing that one is told to end."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine

__all__ = ["at_most", "unless"]

_T = TypeVar("_T")


async def at_most(seconds: float, event: asyncio.Event) -> None:
    """Wait for an event, or until time is over.

    Args:
        seconds: How long.
        event: What is waited for.
    """
    # Not asyncio.wait_for(): that of Python 3.11 drops a cancellation that comes in one turn with the event.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()


async def unless(stopping: asyncio.Event, work: Coroutine[Any, Any, _T], *, grace: float = 0.0) -> _T | None:
    """Do some work, and give it up when an event comes first.

    Args:
        stopping: The event.
        work: What to do.
        grace: How many seconds the work may still take after the event.

    Returns:
        What the work returned; None if it was given up.
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
