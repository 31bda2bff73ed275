"""The asynchronous session: a pool of connections to one database, and calls of its public functions."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import datetime
from math import ceil
from typing import TYPE_CHECKING, Any, Self

import psycopg
from psycopg import AsyncConnection, sql
from psycopg.rows import DictRow, dict_row
from psycopg_pool import AsyncConnectionPool

from .arguments import call, given
from .connecting import CONNECTION_OPTIONS, connection_options, in_thread, not_migrated, resolve, verify
from .deadline import STATEMENT_TIMEOUT, time_left
from .errors import ConnectionFailed, InvalidInput, SchemaMismatch, UnknownNamespace, error_from
from .given_settings import GivenSetting, accepted
from .models import SettingInForce
from .settings_file import near
from .timeframes import found_text, period_text, phrase, read_phrase

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from types import TracebackType

    from .connecting import Target
    from .metrics import ClientMetrics
    from .timeframes import Timeframe


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
        metrics: ClientMetrics | None = None,
    ) -> None:
        self._metrics = metrics
        self._asked = (dsn, namespace, model)
        self._pool_size = (pool_min, pool_max)
        self._pool_timeout = pool_timeout
        self._pool: AsyncConnectionPool[AsyncConnection[DictRow]] | None = None
        self._target: Target | None = None
        self._given: dict[str, GivenSetting] = {}
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

        Raises:
            InvalidInput: The settings file is not as it should be, or names a setting that does not exist.
        """
        if self._closed:
            raise ConnectionFailed("the client is closed", hint="Make a new client.")
        if self._pool is not None and self._target is not None:
            return self._target
        async with self._opening:
            if self._pool is None or self._target is None:
                self._target = await in_thread(resolve, *self._asked)
                await self._verify(self._target)
                least, most = self._pool_size
                self._pool = AsyncConnectionPool(
                    self._target.dsn,
                    kwargs={**connection_options(self._target.prepare), "row_factory": dict_row},
                    min_size=least,
                    max_size=most,
                    timeout=self._pool_timeout,
                    # Given up when a call gives up: the next one tries at once, where ever longer pauses
                    # would have it wait for minutes after a server is back.
                    reconnect_timeout=self._pool_timeout,
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

    async def settings_in_force(self) -> list[SettingInForce]:
        """Return every setting of the database as it holds for this client's calls, with its source."""
        rows = await self._rows("pgrecall.settings_list", {})
        return [
            SettingInForce(
                name=row["name"],
                value=row["value"],
                source=_source(row["source"], self._given.get(row["name"])),
                default_value=row["default_value"],
                unit=row["unit"],
                description=row["description"],
            )
            for row in rows
        ]

    async def set_setting(self, name: str, value: str | float | None) -> None:
        """Store a setting for the whole database, below what sessions, roles and clients give.

        Args:
            name: Its short name, such as 'rrf_k'.
            value: What to store; None goes back to the default.

        Raises:
            InvalidInput: 42704 if there is no such setting, 22023 if the value is not one for it.
        """
        try:
            await self._rows(
                "pgrecall.set_setting", {"name": name, "value": None if value is None else str(value)}
            )
        except UnknownNamespace as error:  # the class of 42704, whatever does not exist
            names = [setting.name for setting in await self.settings_in_force()]
            hint = near(name, names) or error.hint
            raise InvalidInput(error.message, sqlstate=error.sqlstate, hint=hint) from error

    async def _namespace(self, namespace: str | None) -> str | None:
        if namespace is not None:
            return namespace
        target = await self.open()
        return target.namespace

    async def _value(self, function: str, arguments: Mapping[str, Any]) -> Any:
        rows = await self._rows(function, arguments)
        return next(iter(rows[0].values()))

    async def _rows(
        self, function: str, arguments: Mapping[str, Any], settings: Mapping[str, str] | None = None
    ) -> list[DictRow]:
        """Call a function; one with `settings` of its own reads, and runs in a read-only transaction."""
        statement, parameters = call(function, arguments)
        async with self._connection() as connection:
            return await self._fetch(connection, statement, parameters, settings)

    async def _fetch(
        self,
        connection: AsyncConnection[DictRow],
        statement: sql.Composed,
        parameters: Mapping[str, Any],
        settings: Mapping[str, str] | None = None,
    ) -> list[DictRow]:
        seconds = time_left()
        local = {f"pgrecall.{name}": one.value for name, one in self._given.items()}
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
                await connection.execute(STATEMENT_TIMEOUT, [ceil(seconds * 1000)])
            cursor = await connection.execute(statement, parameters)
            return await cursor.fetchall()

    async def _timeframe(self, timeframe: Timeframe | None) -> str | None:
        """Return a timeframe as the database takes it: a phrase is read there, else by dateparser."""
        if timeframe is None:
            return None
        said = phrase(timeframe)
        if said is None:
            return period_text(timeframe)
        found = await self._value("public.parse_timeframe", given(text=said))
        if found is not None:
            return found_text(found)
        async with self._connection() as connection:
            now = datetime.now(connection.info.timezone)
        return await in_thread(read_phrase, said, now)

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

    async def _verify(self, target: Target) -> None:
        # On a connection of its own: it fails at once and with the server's reason, where a pool would go on
        # trying until its time-out.
        statement, parameters = call("pgrecall.bundle_hash", {})
        try:
            async with await AsyncConnection.connect(
                target.dsn, **CONNECTION_OPTIONS, row_factory=dict_row
            ) as connection:
                rows = await self._fetch(connection, statement, parameters)
                await in_thread(verify, next(iter(rows[0].values())))
                if target.given:
                    statement, parameters = call("pgrecall.settings_list", {})
                    self._given = accepted(target.given, await self._fetch(connection, statement, parameters))
        except psycopg.Error as error:
            translated = error_from(error)
            raise (not_migrated() if isinstance(translated, SchemaMismatch) else translated) from error


def _source(source: str, given: GivenSetting | None) -> str:
    if source != "parameter":
        return source
    return "parameter (SET)" if given is None else given.source
