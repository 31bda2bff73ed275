"""Statements on a connection that may be the application's, and set in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor, AsyncServerCursor, sql
from psycopg.rows import DictRow, dict_row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from psycopg.adapt import AdaptersMap

# PostgreSQL restores it at the end of a savepoint, and refuses to have it set back.
_OF_SAVEPOINT = "transaction_read_only"


class AsyncOwnCursor(AsyncCursor[DictRow]):
    """Returns dictionaries and psycopg's own types.

    An application's connection may have a row factory, a class of cursors and adapters of its own, such as
    those of Django, SQLAlchemy and the package pgvector.
    """

    def __init__(self, connection: AsyncConnection[Any]) -> None:
        super().__init__(connection, row_factory=dict_row)

    @property
    def adapters(self) -> AdaptersMap:
        """Those that psycopg has without the connection's."""
        return psycopg.adapters


class AsyncOwnServerCursor(AsyncServerCursor[DictRow]):
    """The same for a result that is fetched in parts."""

    def __init__(self, connection: AsyncConnection[Any], name: str) -> None:
        super().__init__(connection, name, row_factory=dict_row)

    @property
    def adapters(self) -> AdaptersMap:
        """Those that psycopg has without the connection's."""
        return psycopg.adapters


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
    if values:
        await AsyncOwnCursor(connection).execute(
            sql.SQL("SELECT {}").format(
                sql.SQL(", ").join([sql.SQL("set_config(%s, %s, true)")] * len(values))
            ),
            [word for pair in values.items() for word in pair],
        )
