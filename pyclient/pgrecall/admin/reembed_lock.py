"""The lock that only one `pgrecall reembed` at a time holds on a database."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall.errors import PgrecallError, error_from

from .code import verify_installed
from .environment import connect
from .limits import lift_limits
from .owners import refuse_other_owner
from .reading import scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["locked"]

_LOCK_KEY = 0x7067_7265_656D_6264  # 'pgreembd'
# The server checks every second whether its client is alive, and holds the lock until then.
_LOCK_SECONDS = 5.0
_LOCK_POLL_SECONDS = 0.2


@contextmanager
def locked(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """Connect, and lock out other changes of generations.

    Args:
        dsn: Connection string of a direct connection as the owner of the schema.

    Raises:
        PgrecallError: Another call holds the lock, or the server reported an error.
    """
    try:
        with connect(dsn) as conn:
            refuse_other_owner(conn)
            verify_installed(conn)
            lift_limits(conn)
            # Otherwise, if this process is killed, the server finishes its index build and keeps the lock.
            conn.execute("SET client_connection_check_interval = '1s'")
            _lock(conn)
            yield conn
    except psycopg.Error as error:
        raise error_from(error) from error


def _lock(conn: psycopg.Connection[Any]) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while not scalar(conn, "SELECT pg_try_advisory_lock(%s)", _LOCK_KEY):
        if time.monotonic() > deadline:
            raise PgrecallError(
                "another `pgrecall reembed` is running on this database",
                hint="`pgrecall reembed --status` shows its progress.",
            )
        time.sleep(_LOCK_POLL_SECONDS)
