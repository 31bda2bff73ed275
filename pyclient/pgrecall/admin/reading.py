"""Reads one value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

__all__ = ["scalar"]


def scalar(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    """Return the first column of the first row, None without rows."""
    row = conn.execute(query.encode(), values if values else None).fetchone()
    return None if row is None else row[0]
