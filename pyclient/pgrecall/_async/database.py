"""Access to one database for the asynchronous client: connection pool, function calls, error mapping."""

from __future__ import annotations

import asyncio
import math
import os
import time
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.pq import TransactionStatus
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from pgrecall.admin.bundle import not_migrated, verify
from pgrecall.arguments import as_seconds, call
from pgrecall.concurrency import POOL_NAME, deadline, in_thread, in_time, leave_behind, time_left
from pgrecall.config.file import closest_match_hint
from pgrecall.config.session_settings import RequestedSetting, accept_settings
from pgrecall.connecting import open_connection, pool_size, target_names, unread_forms
from pgrecall.dsn import connection_options, resolve
from pgrecall.errors import (
    ConnectionFailed,
    InvalidInput,
    PgrecallError,
    SchemaMismatch,
    UnknownNamespace,
    error_from,
    is_refusal,
)
from pgrecall.upgrading import may_be_upgrade

from .cursor import AsyncOwnCursor, apart, limit_time, outwait_migration, set_local, step, values_before

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping
    from typing import Self

    from pgrecall.dsn import Target

# A call that waits longer for a connection finds out whether the server can be reached at all.
_PATIENCE = 1.0
_RECONNECT_SECONDS = 2.0


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
        self._given: AsyncConnection[Any] | None = None
        self._arguments = target_names(dsn, namespace, model)
        self._pool_size = pool_size(pool_min, pool_max)
        self._pool_timeout = as_seconds("pool_timeout", pool_timeout)
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] | None = None
        self._target: Target | None = None
        self._settings: dict[str, RequestedSetting] = {}
        self._strict = strict
        self._schema = "public"  # of the functions for clients, as a call names them
        self._closed = False
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._opening = asyncio.Lock()
        self._probing = asyncio.Lock()
        self._probed: tuple[float, PgrecallError | None] = (-math.inf, None)

    @classmethod
    def on(
        cls, connection: AsyncConnection[Any], *, namespace: str | None, model: str | None, strict: bool
    ) -> Self:
        """Return a database whose functions are called on an application's connection.

        Raises:
            InvalidInput: It is not a connection of psycopg.
        """
        if not isinstance(connection, AsyncConnection):
            raise InvalidInput(
                f"{type(connection).__name__} is not a psycopg.AsyncConnection",
                hint="Pass the driver's connection: SQLAlchemy's connection.connection.driver_connection, "
                "Django's connection.connection after connection.ensure_connection().",
            )
        database = cls(None, namespace=namespace, model=model, strict=strict)
        database._given = connection
        return database

    def _leave_other_process(self) -> None:
        """After a fork, leave the connections to the parent: closing them here would end its sessions.

        Raises:
            ConnectionFailed: The connection is the application's.
        """
        if self._process == os.getpid():
            return
        if self._given is not None:
            raise ConnectionFailed(
                "this process was forked from the one that made the client",
                hint="Open a connection in each process, and make a client on it there.",
            )
        leave_behind(self._pool)
        self._pool = self._target = None
        self._begin_process()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")

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
        self._refuse_closed()
        self._leave_other_process()
        if self._target is not None:
            return self._target
        if self._given is not None:
            if self._given.closed:
                raise ConnectionFailed("the application's connection is closed", hint="Open another.")
            _, namespace, model = self._arguments
            target = await in_thread(resolve, self._given.info.dsn, namespace, model)
            await self._verify_on(self._given, target)
            self._target = target
            return target
        async with self._opening:
            if self._target is None:
                target = await in_thread(resolve, *self._arguments)
                await self._verify(target)
                least, most = self._pool_size
                pool: AsyncConnectionPool[AsyncConnection[DictRow]] = AsyncConnectionPool(
                    target.dsn,
                    kwargs={**connection_options(target), "row_factory": dict_row},
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
                await pool.open()
                self._pool, self._target = pool, target
                if self._closed:  # meanwhile, when there was no pool to close
                    await self.close()
                    self._refuse_closed()
        return self._target

    async def close(self) -> None:
        """Close every connection but an application's. Later calls fail."""
        self._closed = True
        pool, self._pool = self._pool, None
        if self._process != os.getpid():
            leave_behind(pool)
        elif pool is not None:
            await pool.close()

    async def in_time(self, seconds: float, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Call a method, and wait for its result until the timeout.

        On an application's connection the call has ended when this returns: only its statements are limited.

        Raises:
            TimedOut: The timeout has expired.
        """
        if self._given is None:
            return await in_time(seconds, function, *args, **kwargs)
        with deadline(seconds):
            return await function(*args, **kwargs)

    async def namespace(self, namespace: str | None) -> str | None:
        """Return the namespace, or the client's for None. A result of None leaves it to the database."""
        return (await self.open()).namespace if namespace is None else namespace

    async def explain_empty(self, *asked: str | None) -> str | None:
        """Return a notice if a result is empty and one of the namespaces (None: the default) is not there.

        Raises:
            UnknownNamespace: So it is, and the client is strict.
        """
        for name in asked:
            if name is None or await self.value("pgrecall.namespace_id", {"namespace": name}) is not None:
                continue
            names: list[str] = []
            with suppress(SchemaMismatch):  # the router of several databases has no list
                names = [row["name"] for row in await self.rows("pgrecall.list_namespaces", {})]
            hint = closest_match_hint(name, names) or None
            error = UnknownNamespace(f"there is no namespace {name!r}", hint=hint)
            if self._strict:
                raise error
            return f"{error.message}. {error.hint}"
        return None

    async def check_empty(self, arguments: Mapping[str, Any]) -> None:
        """Raise UnknownNamespace if a strict client has no result and a namespace of the call is missing."""
        if self._strict:
            await self.explain_empty(*arguments.get("namespaces") or [arguments.get("namespace")])

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
        """Call a function like `rows`, under READ COMMITTED if not in a transaction of the application."""
        async with self.connection() as connection, step(connection, level="READ COMMITTED"):
            return await self.rows_on(connection, function, arguments)

    async def rows_on(
        self,
        connection: AsyncConnection[Any],
        function: str,
        arguments: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
    ) -> list[DictRow]:
        """Call a function on a given connection, like `rows`."""
        statement, parameters = call(function.replace("public.", f"{self._schema}."), arguments)
        return await self.fetch(connection, statement, parameters, settings)

    async def fetch(
        self,
        connection: AsyncConnection[Any],
        statement: sql.Composed,
        parameters: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
    ) -> list[DictRow]:
        """Execute a statement with the settings of client and call and the remaining time as timeout.

        A statement that fails because the database is being migrated is executed once more afterwards, unless
        it is part of a transaction.
        """
        is_idle = connection.info.transaction_status == TransactionStatus.IDLE
        is_alone = is_idle and not self.is_within(connection)
        try:
            async with apart(connection):
                return await self._execute(connection, statement, parameters, settings)
        except psycopg.Error as error:
            if not is_alone or connection.closed or not may_be_upgrade(error.sqlstate):
                raise
        await outwait_migration(connection, is_ours=self._given is None)
        return await self._execute(connection, statement, parameters, settings)

    async def _execute(
        self,
        connection: AsyncConnection[DictRow],
        statement: sql.Composed,
        parameters: Mapping[str, Any],
        settings: Mapping[str, str] | None,
    ) -> list[DictRow]:
        seconds = time_left()
        # For the call alone: the session is the application's, or the pooler gives another the next time.
        local = unread_forms(connection)
        local |= {f"pgrecall.{name}": one.value for name, one in self._settings.items()}
        if settings:
            local = {"transaction_read_only": "on", **local, **settings}
        cursor = AsyncOwnCursor(connection)
        is_within = self.is_within(connection)
        if not local and seconds is None and not is_within:
            await cursor.execute(statement, parameters)
            return await cursor.fetchall()
        async with step(connection):
            before = await values_before(connection, local, timed=seconds is not None) if is_within else {}
            await set_local(connection, local)
            await limit_time(connection, seconds)
            await cursor.execute(statement, parameters)
            rows = await cursor.fetchall()
            await set_local(connection, before)
            return rows

    def is_within(self, connection: AsyncConnection[Any]) -> bool:
        """Tell whether calls on a connection belong to a transaction of the application."""
        return self._given is not None and not (
            connection.autocommit and connection.info.transaction_status == TransactionStatus.IDLE
        )

    @asynccontextmanager
    async def connection(self) -> AsyncIterator[AsyncConnection[Any]]:
        """Borrow a connection, and map psycopg's errors: the application's, or one in autocommit mode."""
        await self.open()
        try:
            if self._given is not None:
                async with apart(self._given):
                    yield self._given
                return
            pool = self._pool
            if pool is None:
                raise ConnectionFailed("the client is closed", hint="Make a new client.")
            connection = await self._borrow(pool)
            try:
                async with connection:
                    yield connection
            except psycopg.errors.ReadOnlySqlTransaction:
                await connection.close()  # after a failover, a new one reaches the server that takes writes
                raise
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
        """Raise the server's reason, unless it only refuses more connections. All waiting calls share one."""
        async with self._probing:
            asked_at, error = self._probed
            if time.monotonic() - asked_at > _PATIENCE and self._target is not None:
                error = None
                try:
                    await self._verify(self._target)
                except PgrecallError as failure:
                    others = 0 if self._pool is None else self._pool.get_stats()["pool_size"]
                    error = None if others and is_refusal(failure) else failure
                self._probed = (time.monotonic(), error)
            if error is not None:
                raise error

    async def _verify(self, target: Target) -> None:
        # A separate connection fails at once with the server's reason; the pool would retry for long.
        try:
            async with await open_connection(AsyncConnection, target.dsn) as connection:
                await self._verify_on(connection, target)
        except psycopg.Error as error:
            raise error_from(error) from error

    async def _verify_on(self, connection: AsyncConnection[Any], target: Target) -> None:
        try:
            [served] = await self.rows_on(connection, "pgrecall.contract", {})
            await in_thread(verify, **served)
            [placed] = await self.rows_on(connection, "pgrecall.function_schema", {})
            self._schema = str(placed["function_schema"])
            if target.requested:
                known = await self.rows_on(connection, "pgrecall.settings_list", {})
                self._settings = accept_settings(target.requested, known)
        except psycopg.Error as error:
            translated = error_from(error)
            if isinstance(translated, SchemaMismatch):
                translated = not_migrated(target.dsn, is_older=error.sqlstate == "42883")
            raise translated from error
