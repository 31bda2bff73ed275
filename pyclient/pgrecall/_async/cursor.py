"""Statements on a connection that may be the application's, and set in its own way."""

from __future__ import annotations

import math
import time
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal

from psycopg import AsyncConnection, AsyncCursor, AsyncServerCursor, Error, sql
from psycopg.pq import PipelineStatus, TransactionStatus
from psycopg.rows import DictRow, dict_row

from pgrecall.adapters import READABLE
from pgrecall.concurrency import STATEMENT_TIMEOUT, in_thread, time_left
from pgrecall.errors import PgrecallError
from pgrecall.upgrading import MIGRATION_RUNS, MIGRATION_SECONDS, POLL_SECONDS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping

    from psycopg.adapt import AdaptersMap

# The server reports these parameters at session start and when they change.
_READ_ONLY = ("in_hot_standby", "default_transaction_read_only")

# PostgreSQL restores it at the end of a savepoint, and refuses to have it set back.
_OF_SAVEPOINT = "transaction_read_only"


class AsyncOwnCursor(AsyncCursor[DictRow]):
    """Returns dictionaries of psycopg's own types, and reads what Python has no room for.

    An application's connection may have a row factory, a class of cursors and adapters of its own, such as
    those of Django, SQLAlchemy and the package pgvector.
    """

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        super().__init__(connection, row_factory=dict_row)

    @property
    def adapters(self) -> AdaptersMap:
        """Psycopg's own and the clients', without the connection's."""
        return READABLE


class AsyncOwnServerCursor(AsyncServerCursor[DictRow]):
    """The same for a result that is fetched in parts."""

    def __init__(self, connection: AsyncConnection[Any], name: str) -> None:
        super().__init__(connection, name, row_factory=dict_row)

    @property
    def adapters(self) -> AdaptersMap:
        """Psycopg's own and the clients', without the connection's."""
        return READABLE


async def values_before(
    connection: AsyncConnection[Any], names: Iterable[str], *, timed: bool
) -> dict[str, str | None]:
    """Return what settings are before a call changes them, statement_timeout too if it is `timed`."""
    changed = [*(name for name in names if name != _OF_SAVEPOINT), *(["statement_timeout"] if timed else [])]
    if not changed:
        return {}
    cursor = AsyncOwnCursor(connection)
    await cursor.execute(
        "SELECT name, current_setting(name, true) AS value FROM unnest(%s::text[]) name", [changed]
    )
    return {row["name"]: row["value"] for row in await cursor.fetchall()}


async def set_local(connection: AsyncConnection[Any], values: Mapping[str, str | None]) -> None:
    """Set settings until the end of the transaction; None is the session's value."""
    # PostgreSQL takes "off" before the first query only; a write says what else stands against it.
    values = {name: value for name, value in values.items() if (name, value) != (_OF_SAVEPOINT, "off")}
    if values:
        await AsyncOwnCursor(connection).execute(
            sql.SQL("SELECT {}").format(
                sql.SQL(", ").join([sql.SQL("set_config(%s, %s, true)")] * len(values))
            ),
            [word for pair in values.items() for word in pair],
        )


async def limit_time(connection: AsyncConnection[Any], seconds: float | None) -> None:
    """Limit the statements of the transaction to so many seconds; None sets no limit."""
    if seconds is not None:
        await AsyncOwnCursor(connection).execute(STATEMENT_TIMEOUT, [math.ceil(seconds * 1000)])


def is_pipelined(connection: AsyncConnection[Any]) -> bool:
    """Tell whether a connection is within `connection.pipeline()` of the application."""
    return connection.info.pipeline_status != PipelineStatus.OFF


@asynccontextmanager
async def apart(connection: AsyncConnection[Any]) -> AsyncIterator[None]:
    """Keep the statements of a block apart from those of a pipeline of the application.

    What it has sent is done before the block: else its errors would be ours, and the state of its transaction
    unknown. An error of the block is over with the block: else all that is sent next would fail.
    """
    async with AsyncExitStack() as stack:
        if is_pipelined(connection):
            try:
                await stack.enter_async_context(connection.pipeline())
            except Error as error:
                raise PgrecallError(
                    "a statement that the application sent in its pipeline has failed",
                    sqlstate=error.sqlstate,
                    hint="Its error is the cause of this one. Nothing of this call has been sent.",
                ) from error
        yield


@asynccontextmanager
async def step(
    connection: AsyncConnection[Any],
    *,
    is_undone: bool = False,
    level: Literal["READ COMMITTED", "REPEATABLE READ"] | None = None,
) -> AsyncIterator[None]:
    """Run a block in a transaction, or in a savepoint of the application's.

    Args:
        connection: Ours, or the application's.
        is_undone: Whether to roll the block back at its end.
        level: The isolation level of a transaction of its own; None is the default of database and role.
    """
    status = connection.info.transaction_status
    if status == TransactionStatus.INERROR:
        raise PgrecallError(
            "a statement of the application's transaction has failed",
            sqlstate="25P02",
            hint="Roll the transaction back first.",
        )
    if not connection.autocommit and status == TransactionStatus.IDLE:
        # Begins the application's transaction, as its own first statement would: it alone commits.
        await AsyncOwnCursor(connection).execute("SELECT")
    async with connection.transaction(force_rollback=is_undone):
        if level is not None and connection.autocommit and status == TransactionStatus.IDLE:
            await AsyncOwnCursor(connection).execute(
                sql.SQL("SET TRANSACTION ISOLATION LEVEL {}").format(sql.SQL(level))
            )
        yield


async def is_read_only(connection: AsyncConnection[Any]) -> bool:
    """Tell whether the server is read-only: a standby, or configured so."""
    if all(connection.info.parameter_status(name) != "on" for name in _READ_ONLY):
        return False
    # A pooler goes on to report what the server was before a failover.
    asked = await AsyncOwnCursor(connection).execute("SHOW transaction_read_only")
    return [row["transaction_read_only"] for row in await asked.fetchall()] == ["on"]


async def outwait_migration(connection: AsyncConnection[Any], *, is_ours: bool) -> None:
    """Wait until no migration of the database is under way, and drop the plans made before it.

    An application's connection (not `is_ours`) keeps its plans: its prepared statements may be among them.
    """
    seconds = time_left()
    until = time.monotonic() + (MIGRATION_SECONDS if seconds is None else seconds)
    cursor = AsyncOwnCursor(connection)
    if is_ours:
        await cursor.execute("DEALLOCATE ALL")
    while time.monotonic() < until:
        await cursor.execute(MIGRATION_RUNS)
        [found] = await cursor.fetchall()
        if not found["runs"]:
            return
        await in_thread(time.sleep, POLL_SECONDS)
