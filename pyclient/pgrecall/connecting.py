"""Opens connections that notice a lost network: the only way in which client, commands and daemon connect."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .arguments import as_int, as_str
from .config.conninfo import dsn_parts
from .errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Awaitable

    import psycopg

    Opened = TypeVar("Opened", bound=psycopg.Connection[Any])

__all__ = ["network_options", "open_connection", "options_for", "pool_size", "target_names", "unread_forms"]

_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # The SQL functions cache their plans themselves, and PgBouncer before 1.21 loses prepared statements.
    "prepare_threshold": None,
    "client_encoding": "UTF8",
    "fallback_application_name": "pgrecall",
}

# Without them a call on a network that was lost waits for the kernel, some 15 minutes. Linux sends no
# keepalives while data is unacknowledged, so a time-out of its own limits that.
_NETWORK_OPTIONS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}

# How values are written that psycopg reads, and literals that we send. A server, a database or a role may be
# set otherwise. The server reports these settings, so that one that agrees is asked nothing.
_FORMS = {"DateStyle": "ISO", "IntervalStyle": "postgres", "standard_conforming_strings": "on"}


@overload
def open_connection(kind: type[Opened], dsn: str, **options: Any) -> Opened: ...
@overload
def open_connection(
    kind: type[psycopg.AsyncConnection[Any]], dsn: str, **options: Any
) -> Awaitable[psycopg.AsyncConnection[Any]]: ...
def open_connection(
    kind: type[psycopg.Connection[Any] | psycopg.AsyncConnection[Any]], dsn: str, **options: Any
) -> Any:
    """Open a connection with the options of `options_for`, on which psycopg can read what the server writes.

    Args:
        kind: The class of the connection; one of AsyncConnection is awaited.
        dsn: The connection string.
        options: Those of psycopg's `connect` that differ.

    Raises:
        ConnectionFailed: The connection string cannot be read.
        psycopg.OperationalError: The server cannot be reached.
    """
    import psycopg

    dsn_parts(dsn)
    opened = kind.connect(dsn, **options_for(dsn) | options)
    if not isinstance(opened, psycopg.Connection):
        return _with_forms(opened)
    if not unread_forms(opened):
        return opened
    opened.execute(_changed(opened))
    if not opened.autocommit:
        opened.commit()
    return opened


async def _with_forms(opening: Awaitable[Any]) -> Any:
    opened = await opening
    if not unread_forms(opened):
        return opened
    await opened.execute(_changed(opened))
    if not opened.autocommit:
        await opened.commit()
    return opened


def _changed(opened: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> bytes:
    # Not as options of the connection, which PgBouncer refuses. It keeps what is set for its client alone;
    # before 1.20 not IntervalStyle, which others would then find in the server's session.
    forms = {name: value for name, value in unread_forms(opened).items() if name != "IntervalStyle"}
    return "; ".join(f"SET {name} = {value}" for name, value in forms.items()).encode()


def unread_forms(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any]) -> dict[str, str]:
    """Return the settings under which psycopg cannot read what the server writes, with values to set."""
    reported = {name: connection.info.parameter_status(name) for name in _FORMS}
    return {
        name: wanted
        for name, wanted in _FORMS.items()
        # `ISO, DMY` is ISO. A pooler may not report all of them.
        if (reported[name] or wanted).split(",")[0] != wanted
    }


def target_names(
    dsn: str | None, namespace: str | None, model: str | None
) -> tuple[str | None, str | None, str | None]:
    """Return what a client is made with.

    Raises:
        InvalidInput: One is no text, such as a user's number as the namespace.
    """
    given = {"dsn": dsn, "namespace": namespace, "model": model}
    dsn, namespace, model = (None if one is None else as_str(name, one) for name, one in given.items())
    return dsn, namespace, model


def pool_size(least: int, most: int) -> tuple[int, int]:
    """Return how many connections a pool keeps open, and how many it opens at most.

    Raises:
        InvalidInput: They are not 0 or more and 1 or more, or the first is above the second.
    """
    least, most = as_int("pool_min", least), as_int("pool_max", most)
    if not 0 <= least <= most or most < 1:
        hint = "Pass pool_min from 0, and pool_max from 1 and not below pool_min, which is 1 by default."
        raise InvalidInput(f"a pool cannot have {least} to {most} connections", hint=hint)
    return least, most


def options_for(dsn: str) -> dict[str, Any]:
    """Return the options with which psycopg shall connect."""
    return _OPTIONS | network_options(dsn)


def network_options(dsn: str, patience: float | None = None) -> dict[str, Any]:
    """Return the options that detect a lost network, without those that the user names.

    Args:
        dsn: The user's connection string. Environment and service file count as well.
        patience: Seconds until the server counts as lost; None takes 10 for a connection that is being made,
            and 60 for one that is open.
    """
    from psycopg.conninfo import make_conninfo
    from psycopg.pq import PGconn

    # libpq reads environment and service file when it connects. This socket cannot exist, so that fails at
    # once, and the password file is not read.
    nowhere = make_conninfo(dsn, host="/dev/null", hostaddr="", port="1", password="none")  # noqa: S106
    known = {option.keyword.decode(): option.val for option in PGconn.connect_start(nowhere.encode()).info}
    options = dict(_NETWORK_OPTIONS)
    if patience is not None:
        # libpq raises a single second to two.
        options |= {
            "connect_timeout": max(2, math.ceil(patience)),
            "tcp_user_timeout": math.ceil(patience * 1000),
        }
    return {name: value for name, value in options.items() if name in known and known[name] is None}
