"""The schemas that the files of sql/ name by a placeholder: that of pgvector, and that of the functions.

Their names go into the bodies of functions. Within a quoted body no quoting is safe: only a name that needs
none is written there.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import psycopg

from pgrecall.errors import InvalidInput, PgrecallError

from .ours import OWNERS
from .reading import scalar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "MADE_HERE",
    "choose_schema",
    "close_vector_schema",
    "drop_schema",
    "function_schema",
    "hold_schemas",
    "make_schema",
    "open_schemas",
    "qualifier",
    "qualify",
    "roles_shut_out",
    "vector_schema",
]

MADE_HERE = "pgrecall: functions for clients"
"""The comment of a schema that `make_schema` made."""

_VECTORS = re.compile(r"\bpgvector\.(?=[a-z<-])")
_FUNCTIONS = re.compile(r"\bpublic\.(?=\w)|'public'::regnamespace|to_regnamespace\('public'\)")

_PLAIN = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_TAKEN = re.compile(r"_?pgrecall(_.*)?|pg_.*|information_schema")
# Those who call the functions, and those whom the functions run as.
_CALLERS = ("pgrecall_reader", "pgrecall_embedder", *OWNERS)

_EXTENSION = """
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace
    WHERE e.extname = 'vector'
"""
_HAS_COLUMN = """
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_attribute
        WHERE attrelid = to_regclass('pgrecall.installation') AND attname = 'function_schema'
    )
"""
_CHOSEN = "SELECT COALESCE(NULLIF(current_setting('pgrecall_installer.schema', true), ''), 'public')"


def choose_schema(conn: psycopg.Connection[Any], asked: str | None, *, is_new: bool) -> str:
    """Return the schema of the functions: the installed one, or the one asked for; revisions learn it.

    Raises:
        InvalidInput: It is no plain name, reserved, or another than the installed one.
        PgrecallError: As `function_schema`.
    """
    if is_new:
        schema = "public" if asked is None else asked
        if not _may_have_functions(conn, schema):
            raise InvalidInput(
                f"{schema!r} cannot be the schema of the functions",
                hint="Take a name of small letters, digits and _ that is no keyword of SQL, "
                "such as memory_api.",
            )
    else:
        schema = function_schema(conn)
        if asked is not None and asked != schema:
            raise InvalidInput(
                f"the functions are in schema {schema!r}, not in {asked!r}",
                hint="The first migration chooses the schema: leave --schema out.",
            )
    conn.execute("SELECT set_config('pgrecall_installer.schema', %s, false)", (schema,))
    return schema


def function_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the schema of the functions for clients; that of the migration before its revision stores it.

    Raises:
        PgrecallError: The stored name is no plain identifier, or reserved (42602).
    """
    is_stored = scalar(conn, _HAS_COLUMN)
    name = scalar(conn, "SELECT function_schema FROM pgrecall.installation" if is_stored else _CHOSEN)
    if not _may_have_functions(conn, name):
        raise PgrecallError(
            f"pgrecall.installation says that the functions are in schema {name!r}, which no migration chose",
            sqlstate="42602",
            hint="Correct its column function_schema: it is public unless `migrate --schema` chose another.",
        )
    return str(name)


def vector_schema(conn: psycopg.Connection[Any]) -> str:
    """Return the schema of pgvector; public, where pgrecall installs it, if it is not installed.

    Raises:
        PgrecallError: Its name is not a plain identifier (42602).
    """
    name = scalar(conn, f"SELECT n.nspname {_EXTENSION}")
    if name is None:
        return "public"
    if not _is_plain(conn, name):
        raise PgrecallError(
            f"pgvector is in schema {name!r}, whose name is not a plain identifier",
            sqlstate="42602",
            hint="Rename the schema to lower-case letters, digits and underscores, not a key word; "
            "or move pgvector: ALTER EXTENSION vector SET SCHEMA public.",
        )
    return str(name)


def hold_schemas(conn: psycopg.Connection[Any]) -> None:
    """Keep pgvector, its schema and that of the functions as they are for the transaction.

    Otherwise the owner of the database could put another schema under the name that was just read. Only a
    superuser can lock the catalog's rows, and only a superuser has more to lose than that owner.
    """
    if scalar(conn, "SELECT current_setting('is_superuser') = 'on'"):
        conn.execute(f"SELECT 1 {_EXTENSION} FOR SHARE".encode())
        conn.execute(
            "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s FOR SHARE", (function_schema(conn),)
        )


def make_schema(conn: psycopg.Connection[Any], schema: str) -> None:
    """Create the schema of the functions if it is not there."""
    if scalar(conn, "SELECT to_regnamespace(%s) IS NULL", schema):
        conn.execute(f"CREATE SCHEMA {schema}".encode())
        conn.execute(f"COMMENT ON SCHEMA {schema} IS '{MADE_HERE}'".encode())


def open_schemas(conn: psycopg.Connection[Any]) -> None:
    """Grant USAGE on pgvector's schema and the functions' to the roles that need it and lack it."""
    vectors = vector_schema(conn)
    for role in OWNERS:
        if not scalar(conn, "SELECT has_schema_privilege(%s, %s::regnamespace::oid, 'USAGE')", role, vectors):
            conn.execute(f"GRANT USAGE ON SCHEMA {vectors} TO {role}".encode())
    if shut_out := roles_shut_out(conn):
        conn.execute(f"GRANT USAGE ON SCHEMA {function_schema(conn)} TO {', '.join(shut_out)}".encode())


def roles_shut_out(conn: psycopg.Connection[Any]) -> list[str]:
    """Return the roles that lack USAGE on the functions' schema, if this role may grant it.

    In `public` they have it from PUBLIC, until an operator revokes it or makes the schema anew.
    """
    rows = conn.execute(
        """
        SELECT r.name FROM pg_catalog.unnest(%s::text[]) WITH ORDINALITY r (name, place)
        WHERE pg_catalog.has_schema_privilege(%s::regnamespace::oid, 'USAGE WITH GRANT OPTION')
          AND NOT pg_catalog.has_schema_privilege(r.name, %s::regnamespace::oid, 'USAGE')
        ORDER BY r.place
        """,
        (list(_CALLERS), *(function_schema(conn),) * 2),
    )
    return [name for (name,) in rows]


def close_vector_schema(conn: psycopg.Connection[Any]) -> None:
    """Revoke the USAGE on pgvector's schema that `open_schemas` granted to the owning roles."""
    conn.execute(f"REVOKE USAGE ON SCHEMA {vector_schema(conn)} FROM {', '.join(OWNERS)}".encode())


def drop_schema(conn: psycopg.Connection[Any], schema: str) -> None:
    """Drop the schema of the functions if `make_schema` made it and nothing else is in it."""
    if schema == "public" or scalar(conn, "SELECT to_regnamespace(%s) IS NULL", schema):
        return
    if scalar(conn, "SELECT obj_description(to_regnamespace(%s), 'pg_namespace')", schema) == MADE_HERE:
        try:
            with conn.transaction():
                conn.execute(f"DROP SCHEMA {schema}".encode())
        except psycopg.errors.DependentObjectsStillExist:
            pass
    else:
        conn.execute(f"REVOKE USAGE ON SCHEMA {schema} FROM {', '.join(_CALLERS)}".encode())


def qualify(conn: psycopg.Connection[Any], text: str) -> str:
    """Replace the placeholders in SQL: `pgvector.` by the schema of pgvector, `public` by the functions'.

    Raises:
        PgrecallError: As `vector_schema` and `function_schema`.
    """
    return qualifier(conn)(text)


def qualifier(conn: psycopg.Connection[Any]) -> Callable[[str], str]:
    """Return a function that qualifies many texts of one transaction and reads each schema's name once.

    `hold_schemas` keeps the names as they are until the transaction ends.
    """
    functions = functools.cache(lambda: function_schema(conn))
    vectors = functools.cache(lambda: vector_schema(conn))

    def qualified(text: str) -> str:
        text = _FUNCTIONS.sub(lambda found: found[0].replace("public", functions()), text)
        return _VECTORS.sub(lambda _: f"{vectors()}.", text)

    return qualified


def _is_plain(conn: psycopg.Connection[Any], name: str) -> bool:
    return _PLAIN.fullmatch(name) is not None and scalar(conn, "SELECT quote_ident(%s)", name) == name


def _may_have_functions(conn: psycopg.Connection[Any], name: str) -> bool:
    return _TAKEN.fullmatch(name) is None and _is_plain(conn, name)
