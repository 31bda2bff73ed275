"""Waiting for what happens beside a test."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PATIENCE = 240.0
"""Seconds after which something will not come any more: far longer than a busy machine takes."""


def until(condition: Callable[[], object]) -> None:
    """Wait until the condition holds; an AssertionError in it ends the wait.

    Raises:
        AssertionError: It does not hold for so long that it never will.
    """
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


async def eventually(condition: Callable[[], object]) -> None:
    """Wait as `until` does, while others of this thread go on."""
    await asyncio.to_thread(until, condition)
