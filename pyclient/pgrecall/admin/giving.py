"""Gives what pgrecall installed to the role that is to own it."""

from __future__ import annotations

import psycopg
from psycopg import sql

from pgrecall.errors import InvalidInput, error_from

from .environment import connect
from .ours import OURS_IN_PUBLIC, OWN_SCHEMAS, OWNERS
from .plpython import has_plpython
from .reading import scalar
from .schemas import MADE_HERE, qualify

__all__ = ["give_to"]

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
    SELECT format('ALTER TYPE pgrecall.%I OWNER TO ', t.typname), pg_catalog.pg_get_userbyid(t.typowner)
    FROM pg_catalog.pg_type t
    WHERE t.typnamespace = 'pgrecall'::regnamespace AND t.typtype IN ('d', 'e')
    UNION ALL
    SELECT format('ALTER ROUTINE %s OWNER TO ', p.oid::regprocedure), pg_catalog.pg_get_userbyid(p.proowner)
    FROM pg_catalog.pg_proc p
    JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    WHERE l.lanname <> 'plpython3u' AND (p.pronamespace IN ({OWN_SCHEMAS}) OR {OURS_IN_PUBLIC})
"""


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
        InvalidInput: There is no such role, it is a superuser, or the database has no pgrecall, or has the
            functions in Python.
        PgrecallError: Any other error of the server, such as missing privileges (42501).
    """
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
            if has_plpython(conn):
                raise InvalidInput(
                    "the database has the functions in Python, which only a superuser can keep up to date",
                    hint="First run `pgrecall migrate --without-plpython` as this superuser.",
                )
            found = conn.execute(qualify(conn, _OWNED).encode()).fetchall()
            commands = [command for command, owner in found if owner not in {*OWNERS, role}]
            for command in commands:
                conn.execute(command.encode() + sql.Identifier(role).as_bytes(conn))
            return len(commands)
    except psycopg.Error as error:
        raise error_from(error) from error
