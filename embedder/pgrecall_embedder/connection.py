"""Connections that come back by themselves."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import psycopg
import tenacity
from psycopg import errors, sql

from pgrecall.dsn import CONNECTION_OPTIONS, is_pooled

from .logs import describe
from .waiting import at_most

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from structlog.typing import FilteringBoundLogger

__all__ = ["Connection", "PoolerInBetween", "RetryPolicy"]

_T = TypeVar("_T")

_OPTIONS = CONNECTION_OPTIONS | {
    "fallback_application_name": "pgrecall-embedder",
    "connect_timeout": 10,
    # A server that vanished without a word is noticed within a minute.
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
_FIRST_DELAY = 0.25
_LONGEST_DELAY = 15.0
_LAST_ATTEMPTS = 3
# 08 connection, 53 resources, 57P server going or coming, 40 the transaction met another one, 55P03 it waited
# for another one in vain.
_PASSING = ("08", "53", "57P", "40", "55P03")


class PoolerInBetween(Exception):  # noqa: N818 - the name says what is the case
    """A pooler is between: sessions are not one's own."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How long to wait for a server that went away.

    Attributes:
        stopping: Once set, nothing is tried more than a few times.
        give_up_after: Seconds until the error is raised; None waits for ever.
        log: Hears of every failed attempt.
    """

    stopping: asyncio.Event
    give_up_after: float | None
    log: FilteringBoundLogger

    async def run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Await `attempt()` until it passes, with growing, random delays between the attempts.

        Raises:
            psycopg.Error: What the last attempt raised, if that does not pass by waiting, or took too long.
        """
        give_up: tenacity.stop.stop_base = tenacity.stop_never
        if self.give_up_after is not None:
            give_up = tenacity.stop_after_delay(self.give_up_after)
        retrying = tenacity.AsyncRetrying(
            retry=tenacity.retry_if_exception(_passes),
            wait=tenacity.wait_random_exponential(multiplier=_FIRST_DELAY, max=_LONGEST_DELAY),
            stop=lambda state: self._is_over(state) or give_up(state),
            sleep=self._sleep,
            before_sleep=self._report,
            reraise=True,
        )
        return await retrying(attempt)

    def _is_over(self, state: tenacity.RetryCallState) -> bool:
        # Not at the first failure: a connection that broke while it was idle says so only when it is used.
        return self.stopping.is_set() and state.attempt_number >= _LAST_ATTEMPTS

    async def _sleep(self, seconds: float) -> None:
        if self.stopping.is_set():
            await asyncio.sleep(min(seconds, _FIRST_DELAY))
            return
        await at_most(seconds, self.stopping)

    def _report(self, state: tenacity.RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome is not None else None
        delay = state.next_action.sleep if state.next_action is not None else 0.0
        if error is not None:
            self.log.warning("database is away", error=describe(error), retry_in_s=round(delay, 1))


class Connection:
    """One connection to the database in autocommit, opened again when it breaks.

    It works as the role pgrecall_embedder, which sees no sensitive memory, wherever whoever logs in may.

    Attributes:
        connections: How many there have been; a change means that an answer may have been lost.
        has_pooler: Whether a pooler is between: then nothing may depend on the session.
    """

    def __init__(self, dsn: str, retry_policy: RetryPolicy) -> None:
        self._dsn = dsn
        self._retry_policy = retry_policy
        self._connection: psycopg.AsyncConnection[tuple[Any, ...]] | None = None
        self._busy = asyncio.Lock()
        self.connections = 0
        self.has_pooler = False

    async def connect(self) -> psycopg.AsyncConnection[tuple[Any, ...]]:
        """Return the open connection, making it if there is none.

        Raises:
            psycopg.OperationalError: The server cannot be reached; nothing is tried twice here.
        """
        if self._connection is None or self._connection.closed:
            opened = await psycopg.AsyncConnection.connect(self._dsn, **_OPTIONS)
            try:
                await self._prepare(opened)
            except BaseException:
                await opened.close()
                raise
            self._connection = opened
            self.connections += 1
        return self._connection

    async def _prepare(self, opened: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        [(process,)] = await (await opened.execute("SELECT pg_backend_pid()")).fetchall()
        self.has_pooler = is_pooled(opened, process)
        if not self.has_pooler:
            with contextlib.suppress(errors.InsufficientPrivilege, errors.InvalidParameterValue):
                await opened.execute("SET ROLE pgrecall_embedder")

    async def fetch(self, query: LiteralString, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement that may be repeated, and return its rows.

        Raises:
            psycopg.Error: The server refused it, or stayed away too long.
        """

        async def attempt() -> list[tuple[Any, ...]]:
            connection = await self.connect()
            return await (await connection.execute(query, values)).fetchall()

        async with self._busy:
            return await self._retry_policy.run(attempt)

    async def listen(self, *channels: LiteralString) -> AsyncIterator[str | None]:
        """Yield None when listening has begun, then the channel of every notification.

        Args:
            channels: What to listen to.

        Raises:
            PoolerInBetween: A pooler passes no notifications on.
            psycopg.OperationalError: The connection broke.
            psycopg.Error: The server has no LISTEN, or stayed away too long.
        """

        async def attempt() -> psycopg.AsyncConnection[tuple[Any, ...]]:
            connection = await self.connect()
            if self.has_pooler:
                raise PoolerInBetween
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            return connection

        connection = await self._retry_policy.run(attempt)
        yield None
        async for notification in connection.notifies():
            yield notification.channel

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()


def _passes(error: BaseException) -> bool:
    """Whether it makes sense to try again: the server was away, or too busy."""
    if not isinstance(error, psycopg.OperationalError):
        return False
    return error.sqlstate is None or error.sqlstate.startswith(_PASSING)
