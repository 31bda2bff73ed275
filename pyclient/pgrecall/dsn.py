"""Resolves the connection string and options of a client, and detects poolers.

Both clients use this module. It never opens a connection to a server.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .config.conninfo import dsn_parts
from .connecting import options_for
from .errors import ConnectionFailed

if TYPE_CHECKING:
    import psycopg

    from .config.session_settings import RequestedSetting

# Statements that psycopg has prepared are named _pg3_….
_PREPARED = """
    SELECT pg_backend_pid(), array(SELECT p.name FROM pg_prepared_statements p WHERE p.name LIKE '\\_pg3\\_%')
"""
_PREPARE_AFTER = 5  # executions, as in psycopg's default


def connection_options(target: Target) -> dict[str, Any]:
    """Return the connection options of a client."""
    prepare = {"prepare_threshold": _PREPARE_AFTER if target.prepare else None}
    return options_for(target.dsn) | prepare


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
