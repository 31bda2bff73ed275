"""Connections of the installer whose whole run is one transaction, and the session of an application."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Self

import psycopg
from psycopg.pq import TransactionStatus

from pgrecall.errors import InvalidInput, PgrecallError

from .limits import LIMITS

if TYPE_CHECKING:
    from types import TracebackType

    from psycopg import IsolationLevel

__all__ = ["CONCURRENTLY", "OneTransaction", "lent"]

CONCURRENTLY = re.compile(r"\A(\s*(?:CREATE(?: UNIQUE)?|DROP) INDEX) CONCURRENTLY\b")

# What a run sets in its session.
_SETTINGS = (
    *LIMITS,
    *("search_path", "client_encoding", "role"),
    *("standard_conforming_strings", "backslash_quote", "quote_all_identifiers", "plpgsql.extra_errors"),
)


class _Plain(psycopg.ClientCursor[Any]):
    """Builds indexes within the transaction."""

    def execute(self, query: Any, params: Any = None, **options: Any) -> Self:
        """Run a statement."""
        return super().execute(CONCURRENTLY.sub(r"\1", self.mogrify(query, params)), **options)


class OneTransaction(psycopg.Connection[Any]):
    """A connection that leaves the end of its transaction to somebody else: each block is a savepoint."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.cursor_factory = _Plain

    def set_autocommit(self, value: bool) -> None:
        """Do nothing: everything is one transaction."""

    def set_isolation_level(self, value: IsolationLevel | None) -> None:
        """Do nothing: see `set_autocommit`."""

    def commit(self) -> None:
        """Do nothing: see `set_autocommit`."""

    def rollback(self) -> None:
        """Do nothing: see `set_autocommit`."""

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


class _Lent(psycopg.Connection[Any]):
    """The session of an application's connection, with settings and adapters of its own meanwhile."""

    def lend(self, host: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], handlers: Any) -> None:
        """Take over, after noting what to give back."""
        self._handlers = handlers
        self._host = host
        self.prepare_threshold = None  # the names of prepared statements are the application's
        self.execute("DO 'BEGIN END'")  # loads PL/pgSQL, so that its settings are there to give back
        row = self.execute(
            "SELECT " + ", ".join(f"current_setting('{name}', true)" for name in _SETTINGS)
        ).fetchone()
        self._before = () if row is None else tuple(row)
        self.execute("SET client_encoding = 'UTF8'")

    def close(self) -> None:
        """Give the session back; the application closes it."""
        # If the transaction has failed, its rollback takes the settings back.
        if not self.closed and self.info.transaction_status != TransactionStatus.INERROR:
            for name, value in zip(_SETTINGS, self._before, strict=True):
                if value is None:  # the server does not know it
                    continue
                self.execute("SELECT set_config(%s, %s, false)", (name, value))
        self.pgconn.notice_handler, self.pgconn.notify_handler = self._handlers

    def __del__(self, *_: Any) -> None:
        """Do not warn that it is open."""


class _Within(_Lent, OneTransaction):
    """In the transaction of the application."""


def lent(host: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> psycopg.Connection[Any]:
    """Return a connection for the installer on an application's session.

    In autocommit mode outside a transaction the installer makes its own transactions, else it works in that
    of the application, which commits.

    Raises:
        InvalidInput: It is not a connection of psycopg.
        PgrecallError: Its transaction has failed (25P02).
    """
    if not isinstance(host, psycopg.Connection | psycopg.AsyncConnection):
        raise InvalidInput(
            f"{type(host).__name__} is neither a connection string nor a connection of psycopg 3",
            hint="Pass a connection string, or op.get_bind().connection.driver_connection, or "
            "schema_editor.connection.connection.",
        )
    status = host.info.transaction_status
    if status == TransactionStatus.INERROR:
        raise PgrecallError(
            "a statement of the application's transaction has failed",
            sqlstate="25P02",
            hint="Roll the transaction back first.",
        )
    handlers = host.pgconn.notice_handler, host.pgconn.notify_handler
    is_own = host.autocommit and status == TransactionStatus.IDLE
    connection: _Lent = _Lent(host.pgconn) if is_own else _Within(host.pgconn)
    if is_own:
        connection.autocommit = True
    connection.lend(host, handlers)
    return connection
