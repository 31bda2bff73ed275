"""The asynchronous session: a pool of connections to one database, and calls of its public functions."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Self

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from .arguments import call
from .connecting import CONNECTION_OPTIONS, in_thread, not_migrated, resolve, verify
from .errors import ConnectionFailed, SchemaMismatch, error_from

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from types import TracebackType

    from .connecting import Target


class AsyncSession:
    """What the client does with its connections; the arguments are the client's."""

    def __init__(
        self,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        pool_min: int = 1,
        pool_max: int = 4,
        pool_timeout: float = 30.0,
    ) -> None:
        self._asked = (dsn, namespace, model)
        self._pool_size = (pool_min, pool_max)
        self._pool_timeout = pool_timeout
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] | None = None
        self._target: Target | None = None
        self._closed = False
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> Target:
        """Connect and compare versions now instead of at the first call; later calls do nothing.

        Returns:
            The connection string, namespace and model the client works with.
        """
        if self._closed:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")
        if self._pool is not None and self._target is not None:
            return self._target
        async with self._opening:
            if self._pool is None or self._target is None:
                self._target = await in_thread(resolve, *self._asked)
                await self._verify(self._target.dsn)
                least, most = self._pool_size
                self._pool = AsyncConnectionPool(
                    self._target.dsn,
                    kwargs={**CONNECTION_OPTIONS, "row_factory": dict_row},
                    min_size=least,
                    max_size=most,
                    timeout=self._pool_timeout,
                    # A connection that died with a restart of the server is replaced before it is handed out.
                    check=AsyncConnectionPool.check_connection,
                    open=False,
                )
                await self._pool.open()
        return self._target

    async def close(self) -> None:
        """Close every connection. The client cannot be used afterwards."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        rows = await self._rows(function, arguments)
        return next(iter(rows[0].values()))

    async def _rows(
        self, function: str, arguments: Mapping[str, Any], settings: Mapping[str, str] | None = None
    ) -> list[DictRow]:
        statement, parameters = call(function, arguments)
        async with self._connection() as connection:
            if not settings:
                cursor = await connection.execute(statement, parameters)
                return await cursor.fetchall()
            async with connection.transaction():
                local = [("transaction_read_only", "on"), *settings.items()]
                await connection.execute(
                    sql.SQL("SELECT {}").format(
                        sql.SQL(", ").join([sql.SQL("set_config(%s, %s, true)")] * len(local))
                    ),
                    [word for pair in local for word in pair],
                )
                cursor = await connection.execute(statement, parameters)
                return await cursor.fetchall()

    @asynccontextmanager
    async def _connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        await self.open()
        pool = self._pool
        if pool is None:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")
        try:
            async with pool.connection() as connection:
                yield connection
        except psycopg.Error as error:
            raise error_from(error) from error

    async def _verify(self, dsn: str) -> None:
        # On a connection of its own: it fails at once and with the server's reason, where a pool would go on
        # trying until its time-out.
        statement, parameters = call("pgrecall.bundle_hash", {})
        try:
            async with await AsyncConnection.connect(dsn, **CONNECTION_OPTIONS) as connection:
                cursor = await connection.execute(statement, parameters)
                row = await cursor.fetchone()
        except psycopg.Error as error:
            translated = error_from(error)
            raise (not_migrated() if isinstance(translated, SchemaMismatch) else translated) from error
        await in_thread(verify, None if row is None else row[0])
