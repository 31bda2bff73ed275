"""The schemas that the files of sql/ name by a placeholder: that of pgvector, and that of the functions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    import psycopg

__all__ = [
    "OWNERS",
    "choose_schema",
    "close_vector_schema",
    "drop_schema",
    "function_schema",
    "make_schema",
    "open_schemas",
    "qualify",
    "vector_schema",
]

_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_TAKEN = re.compile(r"_?pgrecall(_.*)?|pg_.*|information_schema")
_COMMENT = "pgrecall: functions for clients"
# The roles that own the SECURITY DEFINER functions.
OWNERS = "pgrecall_gate, pgrecall_engine"
# Those who call the functions, and those whom the functions run as.
_CALLERS = f"pgrecall_reader, pgrecall_embedder, {OWNERS}"


def choose_schema(conn: psycopg.Connection[Any], asked: str | None, *, is_new: bool) -> str:
    """Return the schema of the functions: the installed one, or the one asked for; revisions learn it.

    Raises:
        InvalidInput: It is no plain name, reserved, or another than the installed one.
    """
    schema = function_schema(conn) if asked is None or not is_new else asked
    if asked is not None and asked != schema:
        raise InvalidInput(
            f"the functions are in schema {schema!r}, not in {asked!r}",
            hint="The first migration chooses the schema: leave --schema out.",
        )
    if is_new and asked is None:
        schema = "public"
    if (
        not _PLAIN.fullmatch(schema)
        or _TAKEN.fullmatch(schema)
        or _value(conn, "SELECT quote_ident(%s)", schema) != schema
    ):
        raise InvalidInput(
            f"{schema!r} cannot be the schema of the functions",
            hint="Take a name of small letters, digits and _ that is no keyword of SQL, such as memory_api.",
        )
    conn.execute("SELECT set_config('pgrecall_installer.schema', %s, false)", (schema,))
    return schema


def function_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the schema of the functions for clients; that of the migration before its revision stores it."""
    has_column = _value(
        conn,
        "SELECT count(*) FROM pg_catalog.pg_attribute "
        "WHERE attrelid = to_regclass('pgrecall.installation') AND attname = 'function_schema'",
    )
    if has_column:
        return str(_value(conn, "SELECT function_schema FROM pgrecall.installation"))
    return str(
        _value(
            conn, "SELECT COALESCE(NULLIF(current_setting('pgrecall_installer.schema', true), ''), 'public')"
        )
    )


def make_schema(conn: psycopg.Connection[Any], schema: str) -> None:
    """Create the schema of the functions if it is not there."""
    if _value(conn, "SELECT to_regnamespace(%s) IS NULL", schema):
        conn.execute(f"CREATE SCHEMA {schema}".encode())
        conn.execute(f"COMMENT ON SCHEMA {schema} IS '{_COMMENT}'".encode())


def open_schemas(conn: psycopg.Connection[Any]) -> None:
    """Grant USAGE on pgvector's schema and the functions' to the roles that need it and lack it."""
    vectors = vector_schema(conn)
    for role in OWNERS.split(", "):
        if not _value(conn, "SELECT has_schema_privilege(%s, %s::regnamespace::oid, 'USAGE')", role, vectors):
            conn.execute(f"GRANT USAGE ON SCHEMA {vectors} TO {role}".encode())
    schema = function_schema(conn)
    if schema != "public":
        conn.execute(f"GRANT USAGE ON SCHEMA {schema} TO {_CALLERS}".encode())


def close_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Revoke the USAGE on pgvector's schema that `open_schemas` granted to the owning roles."""
    conn.execute(f"REVOKE USAGE ON SCHEMA {vector_schema(conn)} FROM {OWNERS}".encode())


def drop_schema(conn: psycopg.Connection[Any], schema: str) -> None:
    """Drop the schema of the functions if `make_schema` made it and nothing else is in it."""
    import psycopg

    if _value(conn, "SELECT obj_description(to_regnamespace(%s), 'pg_namespace')", schema) == _COMMENT:
        try:
            with conn.transaction():
                conn.execute(f"DROP SCHEMA {schema}".encode())
        except psycopg.errors.DependentObjectsStillExist:
            pass
    elif schema != "public":
        conn.execute(f"REVOKE USAGE ON SCHEMA {schema} FROM {_CALLERS}".encode())


def qualify(conn: psycopg.Connection[Any], text: str) -> str:
    """Replace the placeholders in SQL: `pgvector.` by the schema of pgvector, `public` by the functions'."""
    text = re.sub(
        r"\bpublic\.(?=\w)|'public'::regnamespace",
        lambda found: _placed(found[0], function_schema(conn)),
        text,
    )
    return re.sub(r"\bpgvector\.(?=[a-z<-])", lambda _: f"{vector_schema(conn)}.", text)


def vector_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the quoted schema of pgvector; public, where pgrecall installs it, if it is not installed."""
    name: str | None = _value(
        conn,
        "SELECT quote_ident(n.nspname) FROM pg_catalog.pg_extension e "
        "JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'",
    )
    return "public" if name is None else name


def _placed(placeholder: str, schema: str) -> str:
    return placeholder.replace("public", schema)


def _value(conn: psycopg.Connection[Any], query: str, *values: object) -> Any:
    row = conn.execute(query.encode(), values or None).fetchone()
    return None if row is None else row[0]
