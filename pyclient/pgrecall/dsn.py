"""Resolves the connection string and options of a client, and detects poolers.

Both clients use this module. It never opens a connection to a server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .config.conninfo import dsn_parts
from .errors import ConnectionFailed

if TYPE_CHECKING:
    import psycopg

    from .config.session_settings import RequestedSetting

CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # The SQL functions cache their plans themselves, and PgBouncer before 1.21 loses prepared statements.
    "prepare_threshold": None,
    "client_encoding": "UTF8",
    "fallback_application_name": "pgrecall",
}


# Statements that psycopg has prepared are named _pg3_….
_PREPARED = """
    SELECT pg_backend_pid(), array(SELECT p.name FROM pg_prepared_statements p WHERE p.name LIKE '\\_pg3\\_%')
"""
_PREPARE_AFTER = 5  # executions, as in psycopg's default


# Without them a call on a network that was lost waits for the kernel, some 15 minutes. Linux sends no
# keepalives while data is unacknowledged, so a time-out of its own limits that.
_NETWORK_OPTIONS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


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


def connection_options(target: Target) -> dict[str, Any]:
    """Return the connection options of a client."""
    prepare = {"prepare_threshold": _PREPARE_AFTER if target.prepare else None}
    return CONNECTION_OPTIONS | prepare | network_options(target.dsn)


@dataclass(frozen=True, slots=True)
class Target:
    """The resolved connection settings of a client.

    Attributes:
        dsn: The connection string.
        namespace: The default namespace; None leaves it to the database.
        model: The model to embed queries with; None takes the active one of the database.
        prepare: Whether statements are prepared on the server.
        embed_wait: Seconds to wait for an embedder if a call does not say; None takes the built-in default.
        requested: Database settings requested by environment and settings file.
    """

    dsn: str = field(repr=False)
    namespace: str | None
    model: str | None
    prepare: bool = False
    embed_wait: float | None = None
    requested: tuple[RequestedSetting, ...] = field(default=(), repr=False)


def resolve(dsn: str | None, namespace: str | None, model: str | None) -> Target:
    """Complete the arguments from environment and settings file.

    Starts the embedded server if no connection string is configured.

    Raises:
        ConnectionFailed: The connection string cannot be read, or the embedded server cannot be started.
        InvalidInput: The settings file is invalid.
    """
    from .config import file as settings_file
    from .config.session_settings import requested_settings
    from .config.settings import load
    from .server import ServerError, effective_dsn

    settings = load()
    try:
        dsn = effective_dsn() if dsn is None else dsn
    except ServerError as error:
        raise ConnectionFailed(str(error), hint=error.hint) from error
    dsn_parts(dsn)
    return Target(
        dsn,
        settings.namespace if namespace is None else namespace,
        settings.model if model is None else model,
        settings.prepare,
        settings.embed_wait,
        requested_settings(settings_file.read()),
    )


def is_pooled(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], backend_pid: int) -> bool:
    """Tell whether the connection goes through a pooler.

    Args:
        connection: The connection. A pooler reports its own process id instead of the backend's.
        backend_pid: What `pg_backend_pid()` returned on it.
    """
    return connection.info.backend_pid != backend_pid


def pooler_problem(connection: psycopg.Connection[Any], *, prepare: bool | None = None) -> str | None:
    """Return the problem with prepared statements behind a pooler, or None.

    A pooler that supports them renames them on the server. One that does not passes our names through: the
    statement is then prepared on one server connection, and the next call may use another.

    Args:
        connection: The connection, in autocommit.
        prepare: Whether the client prepares statements; None takes `PGRECALL_PREPARE`.
    """
    from psycopg.errors import DuplicatePreparedStatement

    from .config.settings import load

    if not (load().prepare if prepare is None else prepare):
        return None
    lost = (
        "PGRECALL_PREPARE is on, but the pooler does not support prepared statements: turn it off, "
        "unless the pooler pools sessions, or upgrade to PgBouncer 1.21 with max_prepared_statements"
    )
    threshold, connection.prepare_threshold = connection.prepare_threshold, 0
    try:
        with connection.transaction():
            row = connection.execute(_PREPARED).fetchone()
            backend, names = (0, []) if row is None else tuple(row)
            if not is_pooled(connection, backend) or not names:
                return None
            connection.execute("DEALLOCATE ALL")
    except DuplicatePreparedStatement:
        pass
    finally:
        connection.prepare_threshold = threshold
    return lost
