"""pgvector's schema, whose name goes into the bodies of functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pgrecall.errors import PgrecallError

from .reading import scalar

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

__all__ = ["close_vector_schema", "hold_vector_schema", "open_vector_schema", "qualify", "vector_schema"]

_PLACEHOLDER = re.compile(r"\bpgvector\.(?=[a-z<-])")
# Within a quoted body no quoting is safe: only a name that needs none is written there.
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")

_NAME = """
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'
"""


def qualify(conn: psycopg.Connection[Any], text: str) -> str:
    """Replace the placeholder `pgvector.` in SQL by the schema of pgvector.

    Raises:
        PgrecallError: As `vector_schema`.
    """
    if _PLACEHOLDER.search(text) is None:
        return text
    schema = vector_schema(conn)
    return _PLACEHOLDER.sub(f"{schema}.", text)


def vector_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the schema of pgvector; public, where pgrecall installs it, if it is not installed.

    Raises:
        PgrecallError: Its name is not a plain identifier (42602).
    """
    row = conn.execute(f"SELECT n.nspname, pg_catalog.quote_ident(n.nspname) {_NAME}".encode()).fetchone()
    if row is None:
        return "public"
    name, quoted = row
    if _PLAIN.fullmatch(name) is None or quoted != name:
        raise PgrecallError(
            f"pgvector is in schema {name!r}, whose name is not a plain identifier",
            sqlstate="42602",
            hint="Rename the schema to lower-case letters, digits and underscores, not a key word; "
            "or move pgvector: ALTER EXTENSION vector SET SCHEMA public.",
        )
    return str(name)


def hold_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Keep pgvector and its schema as they are for the transaction.

    Otherwise the owner of the database could put another schema under the name that was just read. Only a
    superuser can lock the catalog's rows, and only a superuser has more to lose than that owner.
    """
    if scalar(conn, "SELECT current_setting('is_superuser') = 'on'"):
        conn.execute(f"SELECT 1 {_NAME} FOR SHARE".encode())


def open_vector_schema(conn: psycopg.Connection[Any], roles: Iterable[str]) -> None:
    """Grant roles USAGE on pgvector's schema if they lack it."""
    schema = vector_schema(conn)
    for role in roles:
        if not scalar(conn, "SELECT has_schema_privilege(%s, %s::regnamespace::oid, 'USAGE')", role, schema):
            conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {role}".encode())


def close_vector_schema(conn: psycopg.Connection[Any], roles: Iterable[str]) -> None:
    """Revoke what `open_vector_schema` granted."""
    conn.execute(f"REVOKE USAGE ON SCHEMA {vector_schema(conn)} FROM {', '.join(roles)}".encode())
