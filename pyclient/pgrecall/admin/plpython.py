"""The optional functions in Python: whether they are installed, and whether the server can run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PermissionDenied, PgrecallError

from .reading import scalar

if TYPE_CHECKING:
    import psycopg

__all__ = ["has_plpython", "prepare_plpython", "refuse_plpython", "switch"]

_LEAVE = "or omit them: pgrecall migrate --without-plpython."


def has_plpython(conn: psycopg.Connection[Any]) -> bool:
    """Tell whether the last migration installed the functions in Python."""
    column = scalar(
        conn,
        "SELECT count(*) FROM pg_catalog.pg_attribute "
        "WHERE attrelid = to_regclass('pgrecall.installation') AND attname = 'has_plpython'",
    )
    return bool(column and scalar(conn, "SELECT has_plpython FROM pgrecall.installation"))


def switch(given: str | None) -> bool | None:
    """Parse the option of alembic's command line (`-x plpython=on`).

    Raises:
        InvalidInput: The value is neither on nor off.
    """
    if given not in {None, "on", "off"}:
        raise InvalidInput(f"plpython is on or off, not {given!r}", hint="Pass -x plpython=on.")
    return None if given is None else given == "on"


def refuse_plpython(conn: psycopg.Connection[Any], asked: bool | None) -> None:
    """Refuse an installation or removal that would fail, before anything is changed.

    Raises:
        PgrecallError: The server has no plpython3u.
        PermissionDenied: The role is not a superuser.
    """
    wanted = _is_wanted(conn, asked)
    if not wanted and not has_plpython(conn):
        return
    if wanted and scalar(conn, "SELECT count(*) FROM pg_available_extensions WHERE name = 'plpython3u'") == 0:
        version = conn.info.server_version // 10000
        raise PgrecallError(
            "the server has no plpython3u",
            sqlstate="0A000",
            hint="Install it on the database server (Debian and Ubuntu: package "
            f"postgresql-plpython3-{version}), {_LEAVE}",
        )
    if not scalar(conn, "SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user"):
        raise PermissionDenied(
            "only a superuser can install or remove functions in plpython3u",
            hint=f"Migrate as a superuser, {_LEAVE}" if wanted else "Migrate as a superuser this time.",
        )


def prepare_plpython(conn: psycopg.Connection[Any], asked: bool | None) -> bool:
    """Create the language if it is wanted, and tell whether it is.

    Removing the functions keeps the language, because others may use it.
    """
    wanted = _is_wanted(conn, asked)
    if wanted:
        conn.execute("CREATE EXTENSION IF NOT EXISTS plpython3u")
    return wanted


def _is_wanted(conn: psycopg.Connection[Any], asked: bool | None) -> bool:
    """Tell whether to install them: as requested now, else as in the last migration."""
    return has_plpython(conn) if asked is None else asked
