"""The roles that pgrecall needs in a cluster, for those who may not create them."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

from psycopg import sql

from pgrecall.errors import PermissionDenied

from .bundle import folder
from .ours import OWNERS
from .reading import scalar
from .schemas import function_schema

if TYPE_CHECKING:
    import psycopg

__all__ = ["advice_on_roles", "refuse_missing_roles", "roles_script"]


def roles_script(owner: str, schema: str | None = None) -> str:
    """Return the statements that an administrator runs once, so that `owner` can migrate without CREATEROLE.

    Args:
        owner: The role that is to migrate.
        schema: The schema of the functions for clients, which the owner makes; None is public.
    """
    name = sql.Identifier(owner).as_string(None)
    create = f"\nGRANT CREATE ON SCHEMA public TO {name} WITH GRANT OPTION;" if schema is None else ""
    return (
        "-- Run it in the database that is to have pgrecall, as a superuser or as a role with CREATEROLE.\n"
        f"{_revision_of_roles().strip()}\n"
        f"GRANT {', '.join(OWNERS)} TO {name};{create}"
    )


def advice_on_roles(conn: psycopg.Connection[Any]) -> str:
    """Return what an installer has to ask an administrator for: the end of a hint, without its full stop."""
    schema = function_schema(conn)
    option = "" if schema == "public" else f"--schema {schema} "
    name = shlex.quote(scalar(conn, "SELECT current_user"))
    command = f"pgrecall migrate {option}--roles-sql {name}"
    return f"have an administrator run what `{command}` prints, in this database"


def refuse_missing_roles(conn: psycopg.Connection[Any]) -> None:
    """Refuse an installer that would have to create roles and may not, before anything is changed.

    Raises:
        PermissionDenied: So it is.
    """
    names = sorted(set(re.findall(r"'(pgrecall_\w+)'", _revision_of_roles())))
    missing = scalar(
        conn,
        "SELECT string_agg(name, ', ') FROM unnest(%s::text[]) name WHERE to_regrole(name) IS NULL",
        names,
    )
    if missing is None or scalar(
        conn, "SELECT rolsuper OR rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = current_user"
    ):
        return
    advice = advice_on_roles(conn)
    user = scalar(conn, "SELECT current_user")
    raise PermissionDenied(
        f"the server has no roles {missing}, and role {user} may not create them",
        hint=f"{advice[0].upper()}{advice[1:]}; then migrate again.",
    )


def _revision_of_roles() -> str:
    """Return the statement of the revision that makes them."""
    text = (folder("migrations") / "versions" / "0001_baseline.py").read_text(encoding="utf-8")
    found = re.search(r"^DO \$roles\$.*?^\$roles\$;", text, re.MULTILINE | re.DOTALL)
    assert found is not None, "revision 0001 makes the roles"  # noqa: S101
    return found[0]
