"""Limits of time that a role or a database sets for the sessions of its applications."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

__all__ = ["LIMITS", "lift_limits"]

LIMITS = (
    "statement_timeout",
    "transaction_timeout",  # from PostgreSQL 17 on
    "idle_in_transaction_session_timeout",
    "idle_session_timeout",
)


def lift_limits(conn: psycopg.Connection[Any]) -> None:
    """Let the session work for as long as it takes: all but the first of the limits would end the session.

    How long to wait for locks stays the operator's choice.
    """
    names = ", ".join(f"'{name}'" for name in LIMITS)
    # Not of this server alone: `migrate --sql` prints it.
    conn.execute(
        "SELECT set_config(s.name, '0', false) FROM pg_catalog.pg_settings s "
        f"WHERE s.name IN ({names})".encode()
    )
