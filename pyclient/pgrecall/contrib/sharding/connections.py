"""Connections to a router and its shards, as their administrator."""

from __future__ import annotations

from contextlib import contextmanager
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.conninfo import make_conninfo

from pgrecall.admin.reading import scalar
from pgrecall.admin.schemas import qualify
from pgrecall.config.conninfo import dsn_parts
from pgrecall.connecting import open_connection
from pgrecall.errors import ConnectionFailed, PgrecallError, SchemaMismatch, error_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

__all__ = ["connect", "run_file", "shard_connection", "shard_dsns", "translated"]


@contextmanager
def translated() -> Iterator[None]:
    """Turn psycopg's errors into pgrecall's."""
    try:
        yield
    except psycopg.Error as error:
        raise error_from(error) from error


def connect(dsn: str) -> Connection[Any]:
    """Open an autocommit connection, with texts of values as every server writes them.

    Names are looked up in `pg_catalog` alone: nothing that others made is taken for what is meant.

    Raises:
        ConnectionFailed: The server cannot be reached.
    """
    with translated():
        connection = open_connection(psycopg.Connection, dsn, fallback_application_name="pgrecall-shard")
        connection.execute("SET search_path = pg_catalog, pg_temp")
        return connection


def shard_dsns(router: Connection[Any]) -> dict[int, str]:
    """Return the connection strings of the shards, with user and password as the router itself has them.

    Raises:
        SchemaMismatch: The database is no router.
    """
    if not scalar(router, "SELECT to_regclass('pgrecall_router.shards') IS NOT NULL"):
        raise SchemaMismatch(
            "the database is no router", hint="Set one up with `pgrecall shard init --shards DSN,DSN,…`."
        )
    options = scalar(
        router,
        "SELECT umoptions FROM pg_user_mappings WHERE srvname = 'pgrecall' AND usename = current_user",
    )
    account = {"user": scalar(router, "SELECT current_user")}
    account.update(option.split("=", 1) for option in options or [])
    known = router.execute("SELECT shard, conninfo FROM pgrecall_router.shards ORDER BY shard").fetchall()
    return {shard: make_conninfo(conninfo, **account) for shard, conninfo in known}


@contextmanager
def shard_connection(shard: int, dsn: str) -> Iterator[Connection[Any]]:
    """Yield a connection to a shard.

    Raises:
        ConnectionFailed: It cannot be reached; the message names it.
    """
    try:
        connection = connect(dsn)
    except PgrecallError as error:
        raise ConnectionFailed(
            f"shard {shard} cannot be reached: {error.message}", sqlstate="08006", hint="Start its server."
        ) from error
    with connection:
        yield connection


def without_account(dsn: str) -> tuple[str, dict[str, str]]:
    """Take user and password out of a connection string; the router keeps them in user mappings."""
    parts = dsn_parts(dsn)
    account = {name: str(parts.pop(name)) for name in ("user", "password") if parts.get(name) is not None}
    return make_conninfo("", **parts), account


def run_file(connection: Connection[Any], name: str) -> None:
    """Run one of this package's SQL files."""
    text = (files(__package__) / name).read_text(encoding="utf-8")
    connection.execute(qualify(connection, text).encode())
