"""A deadline for a call and everything it does: connecting, embedding, each statement on the server.

Both clients share this. Who runs inside `in_time` need not be told: `time_left` says how long it has.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import Future
from contextvars import ContextVar
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import TimedOut

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

_P = ParamSpec("_P")
_T = TypeVar("_T")

STATEMENT_TIMEOUT = """
    SELECT set_config(s.name, least(NULLIF(s.setting::bigint, 0), %s)::text, true)
    FROM pg_settings s WHERE s.name = 'statement_timeout'
"""
"""Gives the transaction's statements so many milliseconds, unless the role or database gives them less."""

_until: ContextVar[float | None] = ContextVar("pgrecall_until", default=None)
# The event loop itself holds a task by a weak reference only.
_cancelled: set[asyncio.Task[Any]] = set()


def time_left() -> float | None:
    """Return the seconds that the call in hand still has; None if nobody set it a deadline.

    Raises:
        TimedOut: It has none left.
    """
    until = _until.get()
    if until is None:
        return None
    seconds = until - monotonic()
    if seconds <= 0:
        raise _timed_out()
    return seconds


async def in_time(
    seconds: float, function: Callable[_P, Coroutine[Any, Any, _T]], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Call a coroutine function, and wait so long for its result.

    It is cancelled when the time is over, and not waited for: to tell a server that does not answer would
    take psycopg some seconds more.

    Raises:
        TimedOut: The time is over.
    """
    until = monotonic() + seconds

    async def call() -> _T:
        _until.set(until)
        return await function(*args, **kwargs)

    task = asyncio.create_task(call())
    try:
        await asyncio.wait([task], timeout=seconds)
        if task.done():
            return task.result()
        raise _timed_out()
    finally:
        if not task.done():
            _cancelled.add(task)
            task.add_done_callback(_ended)
            task.cancel()


def in_time_apart(seconds: float, function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function in a thread of its own, and wait so long: what `in_time` is in the synchronous client.

    A thread cannot be cancelled. When the time is over it goes on until it next asks for the time left, or
    the server ends its statement; nobody hears of its result.

    Raises:
        TimedOut: The time is over.
    """
    until = monotonic() + seconds
    outcome: Future[_T] = Future()

    def call() -> None:
        _until.set(until)
        try:
            outcome.set_result(function(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is waited for
            outcome.set_exception(error)

    Thread(target=call, name="pgrecall", daemon=True).start()
    try:
        return outcome.result(seconds)
    except TimeoutError:
        if outcome.done():
            raise
        raise _timed_out() from None


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run something slow beside the event loop."""
    return await asyncio.to_thread(function, *args, **kwargs)


def in_place(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run it here: what `in_thread` becomes in the synchronous client."""
    return function(*args, **kwargs)


def _timed_out() -> TimedOut:
    return TimedOut("the time for the call is over", hint="Give it more: timeout, in seconds.")


def _ended(task: asyncio.Task[Any]) -> None:
    _cancelled.discard(task)
    if not task.cancelled():
        task.exception()  # asyncio complains of an exception that nobody has looked at
