"""Acting as another role, and what it must not do."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection


@contextmanager
def role(conn: Connection[Any], name: str) -> Iterator[None]:
    """Act as a role."""
    conn.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(name)))
    try:
        yield
    finally:
        conn.execute("RESET ROLE")


def denied(conn: Connection[Any], *queries: str) -> None:
    """Check that each of these needs a privilege which the role does not have."""
    for query in queries:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(query.encode())
