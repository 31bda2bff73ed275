"""Runs DDL beside running clients, with short lock timeouts and retries."""

from __future__ import annotations

import itertools
import logging
import random
import time
from typing import TYPE_CHECKING, Any

import psycopg

from .one_transaction import OneTransaction

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LOCK_POLL_SECONDS", "REPORT_AFTER_SECONDS", "with_lock_retry"]

LOCK_POLL_SECONDS = 0.2
REPORT_AFTER_SECONDS = 5.0
# Well below the default of deadlock_timeout, 1 s, so that no other transaction is cancelled. Short timeouts
# block nobody and can be many, long ones outlast slow transactions; two of each, for both lock orders.
LOCK_TIMEOUTS = ("100ms", "100ms", "400ms", "400ms")

_log = logging.getLogger(__name__)


def with_lock_retry(conn: psycopg.Connection[Any], work: Callable[[psycopg.Connection[Any]], None]) -> None:
    """Run `work` in a transaction that first takes all its locks, and retry instead of waiting long for one.

    A client that holds one of the locks and waits for another can deadlock with this transaction, but only
    while this one waits too. So this one waits only at its start, and for less than deadlock_timeout. Some
    clients lock the settings before the memories, others the memories first; the attempts alternate between
    both orders.
    """
    started = time.monotonic()
    is_reported = False
    for attempt, timeout in enumerate(itertools.cycle(LOCK_TIMEOUTS)):
        try:
            with conn.transaction():
                conn.execute(f"SET LOCAL lock_timeout = '{timeout}'".encode())
                views = conn.execute(
                    "SELECT format('%I.%I', schemaname, viewname) FROM pg_catalog.pg_views "
                    "WHERE schemaname = 'pgrecall' ORDER BY 1"
                ).fetchall()
                relations = [*(row[0] for row in views), "pgrecall.memories"]
                if attempt % 2:
                    relations.reverse()
                conn.execute(f"LOCK TABLE {', '.join(relations)} IN ACCESS EXCLUSIVE MODE".encode())
                work(conn)
        except (psycopg.errors.LockNotAvailable, psycopg.errors.DeadlockDetected):
            if isinstance(conn, OneTransaction):
                raise  # the transaction is the caller's, who alone can try again without the locks it has
            if not is_reported and time.monotonic() - started > REPORT_AFTER_SECONDS:
                _log.warning("waiting for transactions that use pgrecall to end")
                is_reported = True
            time.sleep(LOCK_POLL_SECONDS * random.random())  # noqa: S311
        else:
            return
