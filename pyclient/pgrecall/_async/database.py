"""Access to one database for the asynchronous client: connection pool, function calls, error mapping."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from pgrecall.adapters import READABLE
from pgrecall.admin.bundle import not_migrated, verify
from pgrecall.arguments import call
from pgrecall.concurrency import POOL_NAME, STATEMENT_TIMEOUT, in_thread, time_left
from pgrecall.config.file import closest_match_hint
from pgrecall.config.session_settings import RequestedSetting, accept_settings
from pgrecall.dsn import CONNECTION_OPTIONS, connection_options, resolve
from pgrecall.errors import ConnectionFailed, PgrecallError, SchemaMismatch, UnknownNamespace, error_from
from pgrecall.upgrading import MIGRATION_RUNS, MIGRATION_SECONDS, POLL_SECONDS, may_be_upgrade

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from pgrecall.dsn import Target

# A call that waits longer for a connection finds out whether the server can be reached at all.
_PATIENCE = 1.0
_RECONNECT_SECONDS = 2.0

# The server reports these parameters at session start and when they change.
_READ_ONLY = ("in_hot_standby", "default_transaction_read_only")


class AsyncDatabase:
    """One database, whose functions the client and its collaborators call.

    The first call connects and checks that the database serves the contract of the package. Server and
    connection errors are mapped to the classes of `pgrecall.errors`.

    Args:
        dsn: A libpq connection string or URI; None takes the configured one, else the embedded server.
        namespace: The default namespace; None takes the configured one.
        model: The model to embed queries with; None takes the configured one.
        pool_min: Connections kept open.
        pool_max: Connections opened at most.
        pool_timeout: Seconds a call waits for a free connection, if the server can be reached.
        strict: True raises UnknownNamespace where a result is empty because there is no such namespace.
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        pool_min: int = 1,
        pool_max: int = 4,
        pool_timeout: float = 30.0,
        strict: bool = False,
    ) -> None:
        self._arguments = (dsn, namespace, model)
        self._pool_size = (pool_min, pool_max)
        self._pool_timeout = pool_timeout
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] | None = None
        self._target: Target | None = None
        self._settings: dict[str, RequestedSetting] = {}
        self._strict = strict
        self._closed = False
        self._opening = asyncio.Lock()
        self._probing = asyncio.Lock()
        self._probed: tuple[float, PgrecallError | None] = (-math.inf, None)

    @property
    def settings(self) -> Mapping[str, RequestedSetting]:
        """The database settings from environment and settings file, by short name."""
        return self._settings

    async def open(self) -> Target:
        """Connect and check versions now instead of at the first call. Later calls do nothing.

        Returns:
            The connection string, namespace and model that the client uses.

        Raises:
            InvalidInput: The settings file is invalid, or names a setting that does not exist.
        """
        if self._closed:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")
        if self._pool is not None and self._target is not None:
            return self._target
        async with self._opening:
            if self._pool is None or self._target is None:
                self._target = await in_thread(resolve, *self._arguments)
                await self._verify(self._target)
                least, most = self._pool_size
                self._pool = AsyncConnectionPool(
                    self._target.dsn,
                    kwargs={
                        **connection_options(self._target.prepare),
                        "row_factory": dict_row,
                        "context": READABLE,
                    },
                    min_size=least,
                    max_size=most,
                    name=POOL_NAME,
                    timeout=self._pool_timeout,
                    # Short, so that the next call connects at once. A growing backoff would delay it after
                    # the server is back.
                    reconnect_timeout=_RECONNECT_SECONDS,
                    # A connection that broke in a server restart is replaced before it is used.
                    check=AsyncConnectionPool.check_connection,
                    open=False,
                )
                await self._pool.open()
        return self._target

    async def close(self) -> None:
        """Close every connection. Later calls fail."""
        self._closed = True
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def namespace(self, namespace: str | None) -> str | None:
        """Return the namespace, or the client's for None. A result of None leaves it to the database."""
        if namespace is not None:
            return namespace
        target = await self.open()
        return target.namespace

    async def explain_empty(self, namespace: str | None) -> str | None:
        """Return a notice if a result is empty because there is no such namespace.

        Raises:
            UnknownNamespace: So it is, and the client is strict.
        """
        if (
            namespace is None
            or await self.value("pgrecall.namespace_id", {"namespace": namespace}) is not None
        ):
            return None
        names: list[str] = []
        with suppress(SchemaMismatch):  # the router of several databases has no list
            names = [row["name"] for row in await self.rows("pgrecall.list_namespaces", {})]
        error = UnknownNamespace(
            f"there is no namespace {namespace!r}",
            hint=closest_match_hint(namespace, names) or None,
        )
        if self._strict:
            raise error
        return f"{error.message}. {error.hint}"

    async def check_empty(self, namespace: str | None) -> None:
        """Raise UnknownNamespace if a strict client's result is empty because there is no such namespace."""
        if self._strict:
            await self.explain_empty(namespace)

    async def value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Call a function that returns one value."""
        rows = await self.rows(function, arguments)
        return next(iter(rows[0].values()))

    async def rows(
        self, function: str, arguments: Mapping[str, Any], settings: Mapping[str, str] | None = None
    ) -> list[DictRow]:
        """Call a function.

        Args:
            function: Its schema-qualified name.
            arguments: Its checked arguments by name; omitted ones take the defaults of the function.
            settings: Settings for this call by full name; the call then runs in a read-only transaction.

        Returns:
            The rows, as dictionaries by column.
        """
        async with self.connection() as connection:
            return await self.rows_on(connection, function, arguments, settings)

    async def rows_now(self, function: str, arguments: Mapping[str, Any]) -> list[DictRow]:
        """Call a function under READ COMMITTED, whatever database and role have as a default.

        Args:
            function: Its schema-qualified name.
            arguments: Its checked arguments by name.
        """
        async with self.connection() as connection:
            await connection.set_isolation_level(psycopg.IsolationLevel.READ_COMMITTED)
            try:
                async with connection.transaction():
                    return await self.rows_on(connection, function, arguments)
            finally:
                if not connection.closed:
                    await connection.set_isolation_level(None)

    async def rows_on(
        self,
        connection: AsyncConnection[DictRow],
        function: str,
        arguments: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
    ) -> list[DictRow]:
        """Call a function on a given connection, like `rows`."""
        statement, parameters = call(function, arguments)
        return await self.fetch(connection, statement, parameters, settings)

    async def fetch(
        self,
        connection: AsyncConnection[DictRow],
        statement: sql.Composed,
        parameters: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
    ) -> list[DictRow]:
        """Execute a statement with the settings of client and call and the remaining time as timeout.

        A statement that fails because the database is being migrated is executed once more afterwards, unless
        it is part of a transaction.
        """
        is_alone = connection.info.transaction_status == TransactionStatus.IDLE
        try:
            return await self._execute(connection, statement, parameters, settings)
        except psycopg.Error as error:
            if not is_alone or connection.closed or not may_be_upgrade(error.sqlstate):
                raise
        await self._outwait_migration(connection)
        return await self._execute(connection, statement, parameters, settings)

    async def _execute(
        self,
        connection: AsyncConnection[DictRow],
        statement: sql.Composed,
        parameters: Mapping[str, Any],
        settings: Mapping[str, str] | None,
    ) -> list[DictRow]:
        seconds = time_left()
        local = {f"pgrecall.{name}": one.value for name, one in self._settings.items()}
        if settings:
            local = {"transaction_read_only": "on", **local, **settings}
        if not local and seconds is None:
            cursor = await connection.execute(statement, parameters)
            return await cursor.fetchall()
        async with connection.transaction():
            if local:
                await connection.execute(
                    sql.SQL("SELECT {}").format(
                        sql.SQL(", ").join([sql.SQL("set_config(%s, %s, true)")] * len(local))
                    ),
                    [word for pair in local.items() for word in pair],
                )
            if seconds is not None:
                await connection.execute(STATEMENT_TIMEOUT, [math.ceil(seconds * 1000)])
            cursor = await connection.execute(statement, parameters)
            return await cursor.fetchall()

    @staticmethod
    async def _outwait_migration(connection: AsyncConnection[DictRow]) -> None:
        """Wait until no migration of the database is under way, and drop the plans made before it."""
        seconds = time_left()
        until = time.monotonic() + (MIGRATION_SECONDS if seconds is None else seconds)
        await connection.execute("DEALLOCATE ALL")
        while time.monotonic() < until:
            cursor = await connection.execute(MIGRATION_RUNS)
            [found] = await cursor.fetchall()
            if not found["runs"]:
                return
            await in_thread(time.sleep, POLL_SECONDS)

    @staticmethod
    def is_read_only(connection: AsyncConnection[DictRow]) -> bool:
        """Tell whether the server is read-only: a standby, or configured so."""
        return any(connection.info.parameter_status(name) == "on" for name in _READ_ONLY)

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[DictRow]]:
        """Borrow a connection from the pool, in autocommit mode, and map psycopg's errors."""
        await self.open()
        pool = self._pool
        if pool is None:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")
        try:
            connection = await self._borrow(pool)
            try:
                async with connection:
                    yield connection
            finally:
                await pool.putconn(connection)
        except psycopg.Error as error:
            raise error_from(error) from error

    async def _borrow(self, pool: AsyncConnectionPool[AsyncConnection[DictRow]]) -> AsyncConnection[DictRow]:
        try:
            return await pool.getconn(min(_PATIENCE, self._pool_timeout))
        except PoolTimeout:
            # The pool is busy, or the server is gone. It tells why; the pool would only say that time is up.
            await self._probe()
            return await pool.getconn(self._pool_timeout)

    async def _probe(self) -> None:
        """Raise the server's reason if it cannot be reached. All waiting calls share one connection."""
        async with self._probing:
            asked_at, error = self._probed
            if time.monotonic() - asked_at > _PATIENCE and self._target is not None:
                error = None
                try:
                    await self._verify(self._target)
                except PgrecallError as failure:
                    error = failure
                self._probed = (time.monotonic(), error)
            if error is not None:
                raise error

    async def _verify(self, target: Target) -> None:
        # A separate connection fails at once with the server's reason; the pool would retry until its
        # timeout.
        try:
            async with await AsyncConnection.connect(
                target.dsn, **CONNECTION_OPTIONS, row_factory=dict_row, context=READABLE
            ) as connection:
                [served] = await self.rows_on(connection, "pgrecall.contract", {})
                await in_thread(verify, **served)
                if target.requested:
                    known = await self.rows_on(connection, "pgrecall.settings_list", {})
                    self._settings = accept_settings(target.requested, known)
        except psycopg.Error as error:
            translated = error_from(error)
            if isinstance(translated, SchemaMismatch):
                translated = not_migrated(target.dsn, is_older=error.sqlstate == "42883")
            raise translated from error
