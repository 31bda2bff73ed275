"""What a call meets while another process migrates the database, and how it goes on.

An installation replaces functions in one transaction. A call that runs at that moment may miss a function,
or hold a plan of the one before. Its transaction is rolled back then, so nothing was done, and it can be made
again.
"""

from __future__ import annotations

from typing import Final

__all__ = ["LOCK_KEY", "MIGRATION_RUNS", "MIGRATION_SECONDS", "POLL_SECONDS", "may_be_upgrade"]

LOCK_KEY: Final = 0x7067_7265_6361_6C6C  # 'pgrecall'
"""The advisory lock that a migration holds from its first change to its last."""

MIGRATION_RUNS: Final = f"""
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_locks l
        JOIN pg_catalog.pg_database d ON d.oid = l.database
        JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
        WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1 AND d.datname = current_database()
          AND l.classid::bigint = {LOCK_KEY >> 32} AND l.objid::bigint = {LOCK_KEY & 0xFFFF_FFFF}
          AND has_database_privilege(a.usesysid, d.oid, 'CREATE')
    ) AS runs
"""
"""Tells whether a migration of the database is under way. Any role can take the lock, but not migrate."""

MIGRATION_SECONDS: Final = 30.0
"""For how long a call without a deadline waits for a migration to end."""

POLL_SECONDS: Final = 0.05
"""The pause between two looks."""

_STATES: Final = frozenset(
    {
        "0A000",  # a cached plan has another result type
        "3F000",  # no such schema
        "40P01",  # a deadlock with the installer
        "42703",  # no such column
        "42704",  # no such object: a policy, a type
        "42725",  # both signatures of a function are there
        "42804",  # a function returns other columns
        "42883",  # no such function
        "42P01",  # no such view
        "XX000",  # cache lookup failed; a row of the catalog was updated concurrently
    }
)


def may_be_upgrade(sqlstate: str | None) -> bool:
    """Tell whether an error may come from a migration that runs beside the call."""
    return sqlstate in _STATES
