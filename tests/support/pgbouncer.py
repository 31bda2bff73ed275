"""PgBouncer in front of a test's database, in transaction mode."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

if TYPE_CHECKING:
    from collections.abc import Iterator

PROGRAM = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
if PROGRAM is None and os.environ.get("PGRECALL_REQUIRE_PGBOUNCER"):
    raise RuntimeError("PGRECALL_REQUIRE_PGBOUNCER is set and there is no pgbouncer here")
_PATIENCE = 60.0

_SETTINGS = """
[databases]
* = {target}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {servers}
max_client_conn = {clients}
query_wait_timeout = 5
server_login_retry = 1
logfile = {folder}/log
"""


@contextmanager
def pooled(dsn: str, folder: Path, servers: int = 2, clients: int = 100) -> Iterator[str]:
    """Yield the connection string of a pooler before the database, with so many connections to it.

    Args:
        dsn: The database.
        folder: Where it has a folder of its own; others than the owner must be able to get there.
        servers: Connections to the server at most.
        clients: Connections of clients at most.
    """
    assert PROGRAM is not None
    parts = conninfo_to_dict(dsn)
    own = folder / f"pgbouncer-{parts['dbname']}"
    own.mkdir()
    port = _free_port()
    target = make_conninfo(
        host=parts["host"], port=parts.get("port", 5432), user=parts.get("user", "postgres")
    )
    settings = own / "pgbouncer.ini"
    settings.write_text(
        _SETTINGS.format(target=target, port=port, servers=servers, clients=clients, folder=own)
    )
    account = _account(str(parts["host"]))
    if account is not None:
        os.chown(own, account, -1)
    process = subprocess.Popen(
        [PROGRAM, "-q", str(settings)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=account
    )
    front = make_conninfo(host="127.0.0.1", port=port, user="any", dbname=parts["dbname"])
    try:
        _wait(front, process, own / "log")
        yield front
    finally:
        process.terminate()
        process.wait(_PATIENCE)
        shutil.rmtree(own)


def _account(host: str) -> int | None:
    """Return whom it runs as if this is root, which it refuses: who may use the server's socket."""
    if os.geteuid() != 0:
        return None
    owner = Path(host).stat().st_uid if host.startswith("/") else 0
    return owner if owner != 0 else pwd.getpwnam("nobody").pw_uid


def _wait(dsn: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + _PATIENCE
    while True:
        try:
            psycopg.connect(dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            ended = process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(log.read_text() if log.exists() else "no log") from None
            time.sleep(0.02)
        else:
            return


def _free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])
