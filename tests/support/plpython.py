"""A server with plpython3u for the tests of the functions in Python, databases on it, and a daemon with a socket."""

from __future__ import annotations

import asyncio
import itertools
import os
import socket
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logger import make_logger
from support.answering import Model, embedded
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

DEBIAN = Path("/usr/lib/postgresql/15")
SETTINGS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "autovacuum": "off"}


def unavailable(why: str) -> None:
    """Skip, or fail where the extras of the server are to be there."""
    if os.environ.get("PGRECALL_REQUIRE_SERVER_EXTRAS") == "1":
        pytest.fail(why)
    pytest.skip(why)


def has_plpython(dsn: str) -> bool:
    with psycopg.connect(dsn) as conn:
        found = conn.execute("SELECT FROM pg_available_extensions WHERE name = 'plpython3u'").fetchone()
    return found is not None


@pytest.fixture(scope="session")
def python_server(request: pytest.FixtureRequest, public_dir: Path) -> Iterator[str]:
    """Connection string of a superuser to a server with plpython3u: the one under test, or Debian's."""
    under_test: str = request.getfixturevalue("server_dsn")
    if has_plpython(under_test):
        yield under_test
        return
    if not (DEBIAN / "lib" / "plpython3.so").exists() or not (DEBIAN / "lib" / "vector.so").exists():
        unavailable("no server with plpython3u: install postgresql-plpython3-15 and pgvector")
    running = EmbeddedServer(public_dir / "py", settings=SETTINGS, bindir=DEBIAN / "bin")
    running.up()
    yield running.dsn("postgres")
    running.down()


@pytest.fixture(scope="session")
def python_database(python_server: str) -> Iterator[Callable[..., str]]:
    """A function that makes a database there, empty or a clone of another, for the rest of the session."""
    numbers = itertools.count()
    made: list[sql.Identifier] = []
    with psycopg.connect(python_server, autocommit=True) as conn:

        def make(template: str = "template0") -> str:
            name = f"pgrecall_python_{os.getpid()}_{next(numbers)}"
            command = sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE {}")
            conn.execute(command.format(sql.Identifier(name), sql.Identifier(template)))
            made.append(sql.Identifier(name))
            return make_conninfo(python_server, dbname=name)

        yield make
        for name in made:
            conn.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


@pytest.fixture(scope="session")
def python_template(python_database: Callable[..., str]) -> str:
    """Name of a database with the functions in Python, which nobody connects to."""
    dsn = python_database()
    migrate(dsn, plpython=True)
    return str(psycopg.conninfo.conninfo_to_dict(dsn)["dbname"])


@pytest.fixture
def python_dsn(python_database: Callable[..., str], python_template: str) -> str:
    """Connection string of a database with the functions in Python."""
    return python_database(python_template)


def use_modules(conn: psycopg.Connection[Any], module: str) -> None:
    """Name this Python's own environment to the database; skip where the server cannot use it."""
    conn.execute("SELECT pgrecall.set_setting('python_venv', %s)", [sys.prefix])
    row = conn.execute("SELECT problem FROM pgrecall.python_module(%s)", [module]).fetchone()
    assert row is not None
    if row[0] is not None:
        unavailable(row[0])


def notices(conn: psycopg.Connection[Any]) -> list[str]:
    """Collect what the server says from now on."""
    heard: list[str] = []
    conn.add_notice_handler(lambda notice: heard.append(notice.message_primary or ""))
    return heard


def tagged(conn: psycopg.Connection[Any], content: str, tags: Sequence[str]) -> int:
    """Remember something about concepts; return its id."""
    row = conn.execute("SELECT remember(%s, tags => %s)", [content, list(tags)]).fetchone()
    assert row is not None
    return int(row[0])


def listens(path: Path) -> bool:
    """Whether somebody answers on a socket."""
    with socket.socket(socket.AF_UNIX) as trying:
        return trying.connect_ex(str(path)) == 0


@contextmanager
def answering_at(path: Path, dsn: str, model: Model) -> Iterator[None]:
    """A daemon that embeds with a model and answers on a socket; what it raises is raised at the end."""
    embedded(" ")  # loading takes longer than anybody waits
    raised: list[BaseException] = []
    made: list[tuple[asyncio.AbstractEventLoop, Daemon]] = []

    async def work() -> None:
        daemon = Daemon(
            dsn,
            log=make_logger(as_json=True),
            only="embedding",
            factory=lambda _model, _threads: model,
            socket_path=path,
            socket_mode=0o666,
        )
        made.append((asyncio.get_running_loop(), daemon))
        await daemon.run()

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the test waits
            raised.append(error)

    thread = threading.Thread(target=run, name="daemon")
    thread.start()
    try:
        until(lambda: bool(raised) or listens(path))
        yield
    finally:
        if made:
            model.free.set()
            loop, daemon = made[0]
            if thread.is_alive():
                loop.call_soon_threadsafe(daemon.stop)
        thread.join(PATIENCE)
        assert not thread.is_alive()
    if raised:
        raise raised[0]
