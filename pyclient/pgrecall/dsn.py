"""Where the client connects to, and whether what it finds there fits this package.

Both clients share this; nothing here opens a connection.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .config.conninfo import dsn_parts
from .errors import ConnectionFailed

if TYPE_CHECKING:
    import psycopg

    from .config.session_settings import RequestedSetting

CONNECTION_OPTIONS: dict[str, Any] = {
    "autocommit": True,
    # The functions keep their plans themselves, and poolers before PgBouncer 1.21 lose prepared statements.
    "prepare_threshold": None,
    "client_encoding": "UTF8",
    "fallback_application_name": "pgrecall",
}


# The names of those that psycopg has prepared on the server.
_PREPARED = """
    SELECT pg_backend_pid(), array(SELECT p.name FROM pg_prepared_statements p WHERE p.name LIKE '\\_pg3\\_%')
"""
_PREPARE_AFTER = 5  # executions, psycopg's own default


def connection_options(prepare: bool) -> dict[str, Any]:
    """Return how connections are made, with prepared statements or without."""
    return CONNECTION_OPTIONS | {"prepare_threshold": _PREPARE_AFTER if prepare else None}


@dataclass(frozen=True, slots=True)
class Target:
    """What a client works on.

    Attributes:
        dsn: The connection string.
        namespace: The namespace of calls that name none; None leaves it to the database.
        model: The model to embed queries with; None takes the one the database names.
        prepare: Whether statements are prepared on the server.
        requested: What environment and settings file ask for that may be settings of the database.
    """

    dsn: str = field(repr=False)
    namespace: str | None
    model: str | None
    prepare: bool = False
    requested: tuple[RequestedSetting, ...] = field(default=(), repr=False)


def resolve(dsn: str | None, namespace: str | None, model: str | None) -> Target:
    """Fill what the caller left open from environment and settings file.

    The embedded server is started if it is wanted.

    Raises:
        ConnectionFailed: The connection string cannot be read, or the embedded server cannot be started.
        InvalidInput: The settings file is not as it should be.
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
        requested_settings(settings_file.read()),
    )


def is_pooled(connection: psycopg.Connection[Any] | psycopg.AsyncConnection[Any], backend_pid: int) -> bool:
    """Whether a pooler is between client and server.

    Args:
        connection: The connection. A pooler tells it a number of its own in place of the backend's.
        backend_pid: What `pg_backend_pid()` returned on it.
    """
    return connection.info.backend_pid != backend_pid


def pooler_problem(connection: psycopg.Connection[Any], *, prepare: bool | None = None) -> str | None:
    """Return what is wrong with prepared statements where a pooler is between, or None.

    A pooler that keeps them gives them names of its own on the server. One that knows nothing of them lets
    ours through: they are then on one server connection, and the next statement goes to another.

    Args:
        connection: The connection, in autocommit.
        prepare: Whether the client prepares statements; None takes `PGRECALL_PREPARE`.
    """
    from psycopg.errors import DuplicatePreparedStatement

    from .config.settings import load

    if not (load().prepare if prepare is None else prepare):
        return None
    lost = (
        "statements are prepared (PGRECALL_PREPARE), and the pooler does not keep them: turn that off, "
        "unless it pools sessions, or upgrade to PgBouncer 1.21 with max_prepared_statements"
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
