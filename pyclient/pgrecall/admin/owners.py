"""Whose everything is.

The owner of the schema has the tables and the plain functions, two roles have the SECURITY DEFINER functions.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall.errors import PermissionDenied, PgrecallError

from .ours import OWN_SCHEMAS, OWNERS, function_names
from .reading import scalar
from .roles import advice_on_roles
from .schemas import function_schema, qualify

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["own_python", "owners_may_create", "refuse_other_owner", "use_owner"]

_SCHEMA_OWNER = """
    SELECT r.rolname, r.rolsuper, pg_catalog.pg_has_role(r.oid, 'USAGE')
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'pgrecall'
"""


def refuse_other_owner(conn: psycopg.Connection[Any]) -> None:
    """Refuse to work as a superuser on a schema of a role that is none.

    Raises:
        PermissionDenied: Functions and triggers of that role would run as a superuser (42501).
    """
    row = conn.execute(_SCHEMA_OWNER.encode()).fetchone()
    if row is None or row[1] or not scalar(conn, "SELECT current_setting('is_superuser') = 'on'"):
        return
    quoted = sql.Identifier(row[0]).as_string(conn)
    raise PermissionDenied(
        f"schema pgrecall belongs to role {quoted}, whose triggers would run as a superuser",
        hint=f"Work as that role: log in as {quoted}, or set PGOPTIONS='-c role={row[0]}'.",
    )


def use_owner(conn: psycopg.Connection[Any]) -> None:
    """Work as the owner of the schema from now on, so that all new objects have one owner.

    Raises:
        PermissionDenied: The session's role is no member of the owner; or it is a superuser and the owner is
            none: functions and triggers of the owner would run as a superuser (42501).
    """
    refuse_other_owner(conn)
    row = conn.execute(_SCHEMA_OWNER.encode()).fetchone()
    if row is None:
        return
    owner, is_superuser, is_member = row
    user = scalar(conn, "SELECT current_user")
    if owner == user or (is_superuser and is_member):
        return
    quoted = sql.Identifier(owner).as_string(conn)
    if not is_member:
        raise PermissionDenied(
            f"schema pgrecall belongs to role {quoted}",
            hint="Migrate as that role; or a superuser gives everything to yours: pgrecall migrate --owner "
            + sql.Identifier(user).as_string(conn),
        )
    conn.execute(sql.SQL("SET ROLE {}").format(sql.Identifier(owner)))


@contextmanager
def owners_may_create(conn: psycopg.Connection[Any]) -> Iterator[None]:
    """Grant the owning roles CREATE on their schemas for the block, which ALTER … OWNER requires.

    A superuser may transfer a function to any role. Any other installer must be a member of the role.

    Raises:
        PgrecallError: The installer is neither, or may not grant CREATE on the functions' schema (42501).
    """
    if scalar(conn, "SELECT current_setting('is_superuser') = 'on'"):
        yield
        return
    owners = ", ".join(OWNERS)
    schemas = f"pgrecall, _pgrecall, {function_schema(conn)}"
    try:
        with conn.transaction():
            for role in OWNERS:
                if not _is_member(conn, role):
                    options = " WITH INHERIT TRUE, SET TRUE" if conn.info.server_version >= 160000 else ""
                    conn.execute(f"GRANT {role} TO CURRENT_USER{options}".encode())
                if not _is_member(conn, role):
                    raise psycopg.errors.InsufficientPrivilege
            conn.execute(f"GRANT CREATE ON SCHEMA {schemas} TO {owners}".encode())
    except psycopg.errors.InsufficientPrivilege as error:
        name = scalar(conn, "SELECT current_user")
        user = sql.Identifier(name).as_string(conn)
        inherits = scalar(
            conn, "SELECT r.rolinherit FROM pg_catalog.pg_roles r WHERE r.rolname = current_user"
        )
        raise PgrecallError(
            f"role {user} may not transfer functions to {owners}",
            sqlstate="42501",
            hint="Migrate as a superuser, or "
            + ("" if inherits else f"first ALTER ROLE {user} INHERIT, then ")
            + f"{advice_on_roles(conn)}.",
        ) from error
    yield
    conn.execute(f"REVOKE CREATE ON SCHEMA {schemas} FROM {owners}".encode())


def _is_member(conn: psycopg.Connection[Any], role: str) -> bool:
    """Tell whether the installer has the role's rights, and may make it the owner of an object."""
    kinds = ["USAGE", "SET"] if conn.info.server_version >= 160000 else ["USAGE"]
    return all(scalar(conn, "SELECT pg_has_role(%s, %s)", role, kind) for kind in kinds)


def own_python(conn: psycopg.Connection[Any]) -> None:
    """Transfer the functions in Python to the installer, since only a superuser should own untrusted code."""
    rows = conn.execute(
        qualify(
            conn,
            f"""
        SELECT format('ALTER FUNCTION %%s OWNER TO CURRENT_USER', p.oid::regprocedure)
        FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang
        WHERE l.lanname = 'plpython3u'
          AND p.pronamespace IN ({OWN_SCHEMAS}, 'public'::regnamespace)
          AND (p.pronamespace <> 'public'::regnamespace OR p.proname = ANY (%s))
          AND pg_get_userbyid(p.proowner) <> current_user
        """,
        ).encode(),
        (function_names("public"),),
    ).fetchall()
    for (command,) in rows:
        conn.execute(command.encode())
