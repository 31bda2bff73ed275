"""Whose everything is.

The owner of the schema has the tables and the plain functions, two roles have the SECURITY DEFINER functions.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import sql

from pgrecall.errors import InvalidInput, PermissionDenied, PgrecallError, error_from

from .ours import OURS_IN_PUBLIC, OWN_SCHEMAS, OWNERS, function_names
from .reading import scalar
from .roles import advice_on_roles
from .schemas import MADE_HERE, function_schema, qualify

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["give_to", "own_python", "owners_may_create", "refuse_other_owner", "use_owner"]

_SCHEMA_OWNER = """
    SELECT r.rolname, r.rolsuper, pg_catalog.pg_has_role(r.oid, 'USAGE')
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'pgrecall'
"""
_HAS_INSTALLATION = """
    SELECT EXISTS (
        SELECT FROM pg_catalog.pg_class c
        WHERE c.oid = to_regclass('pgrecall.installation') AND c.relkind = 'r'
    )
"""
# A sequence of a column follows its table. plpython3u is a superuser's.
_OWNED = f"""
    SELECT format('ALTER SCHEMA %I OWNER TO ', n.nspname), pg_catalog.pg_get_userbyid(n.nspowner)
    FROM pg_catalog.pg_namespace n
    WHERE n.nspname IN ('pgrecall', '_pgrecall')
       OR (n.oid = to_regnamespace('public') AND obj_description(n.oid, 'pg_namespace') = '{MADE_HERE}')
    UNION ALL
    SELECT format('ALTER %s pgrecall.%I OWNER TO ',
                  CASE c.relkind WHEN 'v' THEN 'VIEW' WHEN 'c' THEN 'TYPE' WHEN 'S' THEN 'SEQUENCE'
                                 ELSE 'TABLE' END, c.relname), pg_catalog.pg_get_userbyid(c.relowner)
    FROM pg_catalog.pg_class c
    WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'v', 'c', 'S')
      AND NOT (c.relkind = 'S' AND EXISTS (
            SELECT FROM pg_catalog.pg_depend d
            WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')
              AND d.refclassid = 'pg_catalog.pg_class'::regclass
      ))
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO ', p.oid::regprocedure), pg_catalog.pg_get_userbyid(p.proowner)
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE l.lanname <> 'plpython3u' AND (p.pronamespace IN ({OWN_SCHEMAS}) OR {OURS_IN_PUBLIC})
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


def give_to(dsn: str, role: str) -> int:
    """Make a role the owner of everything that pgrecall installed, and change nothing else.

    A restore without owners leaves everything to the role that restored. Only names of the catalog are read,
    no function of the database is called.

    Args:
        dsn: Connection string of a superuser.
        role: Name of the new owner, who then migrates. No superuser: it would run what others wrote.

    Returns:
        The number of objects that had another owner.

    Raises:
        InvalidInput: There is no such role, it is a superuser, or the database has no pgrecall.
        PgrecallError: Any other error of the server, such as missing privileges (42501).
    """
    from .environment import connect

    try:
        with connect(dsn) as conn, conn.transaction():
            is_superuser = scalar(
                conn, "SELECT r.rolsuper FROM pg_catalog.pg_roles r WHERE r.rolname = %s", role
            )
            if is_superuser is None or is_superuser:
                raise InvalidInput(
                    f"role {role!r} is a superuser" if is_superuser else f"there is no role {role!r}",
                    hint="Name the role that is to own the schema, and to migrate.",
                )
            if scalar(conn, "SELECT to_regclass('pgrecall.installation') IS NOT NULL"):
                conn.execute("LOCK TABLE pgrecall.installation IN ACCESS EXCLUSIVE MODE")
            # A view in its place would run code of its owner.
            if not scalar(conn, _HAS_INSTALLATION):
                raise InvalidInput(
                    "the database has no pgrecall schema", hint="Run `pgrecall migrate` as the owner."
                )
            found = conn.execute(qualify(conn, _OWNED).encode()).fetchall()
            commands = [command for command, owner in found if owner not in {*OWNERS, role}]
            for command in commands:
                conn.execute(command.encode() + sql.Identifier(role).as_bytes(conn))
            return len(commands)
    except psycopg.Error as error:
        raise error_from(error) from error
