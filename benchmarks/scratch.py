"""A database of the run's own: made from nothing, dropped at the end."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import platformdirs
import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrecall.server import EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["default_cache", "scratch_database"]

_ROOT_CACHE = Path("/var/cache/pgrecall")
"""Root's embedded server runs as another user, who cannot reach root's home."""


def default_cache() -> Path:
    """Return the folder where vectors are kept and scratch servers live."""
    root = os.geteuid() == 0
    folder = _ROOT_CACHE if root else platformdirs.user_cache_path("pgrecall", appauthor=False)
    return folder / "benchmarks"


@contextmanager
def scratch_database(
    dsn: str | None, cache: Path, *, keep: bool, say: Callable[[str], None]
) -> Iterator[str]:
    """Make an empty database, and drop it at the end.

    Args:
        dsn: A server to make it on, by a role that may create databases; None starts an embedded server in
            a folder of its own below `cache`, and removes both at the end.
        cache: Where that folder goes.
        keep: True leaves the database and its server as they are, and says where.
        say: Told what is kept.

    Yields:
        The connection string.
    """
    if dsn is None:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix="run-", dir=cache))
        folder.chmod(0o755)
        server = EmbeddedServer(folder / "server")
        try:
            yield server.up()
        finally:
            if keep:
                say(f"kept: {server.dsn()} (its folder: {folder})")
            else:
                server.down()
                shutil.rmtree(folder, ignore_errors=True)
        return
    name = f"pgrecall_bench_{secrets.token_hex(6)}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name))
        )
    made = make_conninfo(dsn, dbname=name)
    try:
        yield made
    finally:
        if keep:
            say(f"kept: database {name}")
        else:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
