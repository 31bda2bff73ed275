"""The advisory lock that admits one installer at a time."""

from __future__ import annotations

import logging
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pgrecall.errors import PgrecallError
from pgrecall.upgrading import LOCK_KEY

from .lock_retry import LOCK_POLL_SECONDS, REPORT_AFTER_SECONDS
from .one_transaction import OneTransaction
from .reading import scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

__all__ = ["LOCK_KEY", "installer_lock"]

_IMPOSTOR = """
    SELECT a.pid, a.usename FROM pg_locks l
    JOIN pg_stat_activity a ON a.pid = l.pid
    JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND l.objsubid = 1
      AND (l.classid::bigint << 32 | l.objid::bigint) = %(key)s
      AND NOT has_database_privilege(a.usesysid, d.oid, 'CREATE')
"""

_log = logging.getLogger(__name__)


@contextmanager
def installer_lock(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Hold the lock for the block, or for the only transaction. Waits for another installer only.

    Raises:
        PgrecallError: A session that lacks the privileges to migrate holds it (55P03).
    """
    started = time.monotonic()
    is_reported = False
    is_of_transaction = isinstance(conn, OneTransaction)
    take = "pg_try_advisory_xact_lock" if is_of_transaction else "pg_try_advisory_lock"
    while not scalar(conn, f"SELECT {take}(%s)", LOCK_KEY):
        if not is_reported and time.monotonic() - started > REPORT_AFTER_SECONDS:
            _refuse_impostor(conn)
            _log.warning("waiting for another migration of this database to end")
            is_reported = True
        time.sleep(LOCK_POLL_SECONDS)
    try:
        yield
    finally:
        if not is_of_transaction and not conn.closed:
            conn.execute("SELECT pg_advisory_unlock(%s)", (LOCK_KEY,))


def _refuse_impostor(conn: psycopg.Connection[Any]) -> None:
    """Refuse to wait for a session without the privileges to migrate: any session can take the lock.

    Raises:
        PgrecallError: Such a session holds the lock (55P03).
    """
    row = conn.execute(_IMPOSTOR, {"key": LOCK_KEY}).fetchone()
    if row is not None:
        raise PgrecallError(
            f'a session of role "{row[1]}" holds the migration lock but cannot migrate',
            sqlstate="55P03",
            hint=f"End it, then migrate again: SELECT pg_terminate_backend({row[0]});",
        )
