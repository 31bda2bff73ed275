"""Database connections that reconnect after a failure."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar

import psycopg
from psycopg import errors, sql

from pgrecall.connecting import open_connection
from pgrecall.dsn import is_pooled
from pgrecall.upgrading import MIGRATION_RUNS, POLL_SECONDS, may_be_upgrade

from .waiting import wait_at_most

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from .retry import RetryPolicy

__all__ = ["BehindPooler", "Connection"]

_T = TypeVar("_T")

# What a daemon needs, whatever defaults the database and its roles have. Its statements decide on current
# rows, and wait for nobody for long: others use the same connection. A pooled connection gets them with each
# transaction, where those of a whole session have no meaning.
_SETTINGS: LiteralString = """
    SELECT set_config(s.name, s.wanted, %s)
    FROM (VALUES ('default_transaction_isolation', 'read committed'),
                 ('default_transaction_read_only', 'off'), ('default_transaction_deferrable', 'off'),
                 ('statement_timeout', '0'), ('lock_timeout', '2s'), ('transaction_timeout', '0'),
                 ('idle_session_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
                 ('row_security', 'on')) s (name, wanted)
    WHERE current_setting(s.name, true) IS NOT NULL
"""


class BehindPooler(Exception):  # noqa: N818 - a condition, not an error
    """A connection pooler sits in between: a session may change between statements."""


class Connection:
    """An autocommit connection to the database that reconnects when it breaks.

    It switches to the role pgrecall_embedder, which cannot see sensitive memories, if the login role is
    allowed to.

    Attributes:
        connections: How often it connected. A change means that a result may have been lost.
        has_pooler: Whether a pooler sits in between. Then nothing may depend on the session.
    """

    def __init__(self, dsn: str, retry_policy: RetryPolicy) -> None:
        self._dsn = dsn
        self._retry_policy = retry_policy
        self._connection: psycopg.AsyncConnection[tuple[Any, ...]] | None = None
        self._busy = asyncio.Lock()
        self.connections = 0
        self.has_pooler = False

    async def connect(self) -> psycopg.AsyncConnection[tuple[Any, ...]]:
        """Return the open connection; connect first if necessary.

        Raises:
            psycopg.OperationalError: The server cannot be reached. This method does not retry.
        """
        if self._connection is None or self._connection.closed:
            opened = await open_connection(
                psycopg.AsyncConnection, self._dsn, fallback_application_name="pgrecall-embedder"
            )
            try:
                # Of transactions that are begun explicitly: behind a pooler.
                await opened.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
                await opened.set_read_only(False)
                await opened.set_deferrable(False)
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
            await opened.execute(_SETTINGS, [False])
            with contextlib.suppress(errors.InsufficientPrivilege, errors.InvalidParameterValue):
                await opened.execute("SET ROLE pgrecall_embedder")

    async def fetch(self, query: LiteralString, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run a statement that is safe to repeat, and return its rows.

        One that fails because the database is being migrated is run once more afterwards.

        Raises:
            psycopg.Error: The server rejected the statement or was unavailable for too long.
        """

        async def attempt() -> list[tuple[Any, ...]]:
            # Free for others between two attempts.
            async with self._busy:
                connection = await self.connect()
                if self.has_pooler:
                    async with connection.transaction():
                        await connection.execute(_SETTINGS, [True])
                        return await (await connection.execute(query, values)).fetchall()
                try:
                    return await (await connection.execute(query, values)).fetchall()
                except psycopg.Error as error:
                    if connection.closed or not may_be_upgrade(error.sqlstate):
                        raise
                await self._outwait_migration(connection)
                return await (await connection.execute(query, values)).fetchall()

        return await self._run(attempt)

    async def _run(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Await an attempt until it succeeds, after a failover on another connection."""

        async def elsewhere() -> _T:
            try:
                return await attempt()
            except errors.ReadOnlySqlTransaction:
                # By now the address may lead to the server that takes writes; the connection does not.
                async with self._busy:
                    await self.close()
                raise

        return await self._retry_policy.run(elsewhere)

    async def _outwait_migration(self, connection: psycopg.AsyncConnection[tuple[Any, ...]]) -> None:
        """Wait until no migration of the database is under way, and drop the plans made before it."""
        await connection.execute("DEALLOCATE ALL")
        while not self._retry_policy.stopping.is_set():
            [(runs,)] = await (await connection.execute(MIGRATION_RUNS)).fetchall()
            if not runs:
                return
            await wait_at_most(POLL_SECONDS, self._retry_policy.stopping)

    async def listen(self, *channels: LiteralString) -> AsyncIterator[str | None]:
        """Yield None once LISTEN is active, then the channel of each notification.

        Args:
            channels: The channels to listen on.

        Raises:
            BehindPooler: A pooler does not forward notifications.
            psycopg.OperationalError: The connection broke.
            psycopg.Error: The server does not support LISTEN or was unavailable for too long.
        """

        async def attempt() -> psycopg.AsyncConnection[tuple[Any, ...]]:
            connection = await self.connect()
            if self.has_pooler:
                raise BehindPooler
            for channel in channels:
                await connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(channel)))
            return connection

        connection = await self._run(attempt)
        yield None
        async for notification in connection.notifies():
            yield notification.channel

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            await self._connection.close()
