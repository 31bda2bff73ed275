"""One deadline for a whole call: connecting, embedding, and each statement on the server.

Both clients use this module. Code that runs inside `in_time` calls `time_left` to learn the time it has left.
"""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from .errors import TimedOut

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

_P = ParamSpec("_P")
_T = TypeVar("_T")

STATEMENT_TIMEOUT = """
    SELECT set_config(s.name, least(NULLIF(s.setting::bigint, 0), 2147483647, %s)::text, true)
    FROM pg_settings s WHERE s.name = 'statement_timeout'
"""
"""Limits statement_timeout of the transaction to so many milliseconds; a lower configured value stays.

The largest value that it takes, 25 days, stands for a longer limit."""

POOL_NAME = "pgrecall"
"""The name of every pool of a client."""


def _is_foreign(record: logging.LogRecord) -> bool:
    # A call raises what its pool met; the pool would print each attempt besides.
    return not (isinstance(record.args, tuple) and record.args and record.args[0] == POOL_NAME)


logging.getLogger("psycopg.pool").addFilter(_is_foreign)

_until: ContextVar[float | None] = ContextVar("pgrecall_until", default=None)
# The event loop keeps only weak references to tasks.
_cancelled: set[asyncio.Task[Any]] = set()
_inherited: list[object] = []


def time_left() -> float | None:
    """Return the seconds left for the current call; None without a deadline.

    Raises:
        TimedOut: No time is left.
    """
    until = _until.get()
    if until is None:
        return None
    seconds = until - monotonic()
    if seconds <= 0:
        raise _timed_out()
    return seconds


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Limit the statements of a block to so many seconds from now."""
    token = _until.set(monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


async def in_time(
    seconds: float, function: Callable[_P, Coroutine[Any, Any, _T]], *args: _P.args, **kwargs: _P.kwargs
) -> _T:
    """Call a coroutine function, and wait for its result until the timeout.

    On a timeout the task is cancelled but not awaited: psycopg would spend further seconds sending a cancel
    request to a server that does not answer.

    Raises:
        TimedOut: The timeout has expired.
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
    """Call a function in a new thread, and wait until the timeout: `in_time` of the synchronous client.

    A thread cannot be cancelled. After a timeout it continues until it next calls `time_left` or the server
    cancels its statement; its result is discarded.

    Raises:
        TimedOut: The timeout has expired.
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
        # It may have ended just now, or raised a TimeoutError of its own.
        if outcome.done():
            return outcome.result()
        raise _timed_out() from None


def leave_behind(inherited: object) -> None:
    """Keep what a forked process inherited from being finalised, which would reach the parent's files."""
    _inherited.append(inherited)


async def in_thread(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Run a blocking function in a thread, so that it does not block the event loop."""
    return await asyncio.to_thread(function, *args, **kwargs)


def in_place(function: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
    """Call a function directly: `in_thread` of the synchronous client."""
    return function(*args, **kwargs)


def _timed_out() -> TimedOut:
    return TimedOut("the call timed out", hint="Pass a longer timeout, in seconds.")


def _ended(task: asyncio.Task[Any]) -> None:
    _cancelled.discard(task)
    if not task.cancelled():
        task.exception()  # asyncio logs an exception that is never retrieved
