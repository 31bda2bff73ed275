"""Real servers for every test: one embedded server a session, one migrated template, a clone of it a test.

`PGRECALL_TEST_DSN` (a superuser's connection string) runs the same tests against another server.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from pytest_postgresql.janitor import DatabaseJanitor

from migrating import schema
from pgrecall import Client
from pgrecall.install import migrate, set_database_defaults
from pgrecall.server import EmbeddedServer
from reembed_support import ModelServer
from reranking_support import Endpoint, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# A settings file of the user's own would change what is tested.
os.environ["PGRECALL_CONFIG"] = os.devnull

# The tests crash servers by kill -9 only, never the machine, so nothing waits for a disk.
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "200"}


@pytest.fixture(scope="session")
def public_dir() -> Iterator[Path]:
    """A folder that the server's own user can reach, which pytest's private ones are not when root tests."""
    folder = Path(tempfile.mkdtemp(prefix="pgr-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def server(public_dir: Path) -> Iterator[EmbeddedServer]:
    """The session's embedded server; tests that stop or kill a server start their own."""
    running = EmbeddedServer(public_dir / "s", settings=FAST)
    running.up()
    yield running
    running.down()


@pytest.fixture(scope="session")
def server_dsn(request: pytest.FixtureRequest) -> str:
    """Connection string of a superuser to the server under test."""
    external = os.environ.get("PGRECALL_TEST_DSN")
    if external:
        return external
    started: EmbeddedServer = request.getfixturevalue("server")
    return started.dsn("postgres")


@pytest.fixture(scope="session")
def janitor(server_dsn: str) -> Callable[..., DatabaseJanitor]:
    """A function that says how to make and drop one more database, a clone of `template` if that is given."""
    numbers = itertools.count()

    def make(template: str | None = None) -> DatabaseJanitor:
        parts = conninfo_to_dict(server_dsn)
        return DatabaseJanitor(
            user=str(parts.get("user", "postgres")),
            host=str(parts.get("host", "localhost")),
            port=str(parts.get("port", 5432)),
            password=None if parts.get("password") is None else str(parts["password"]),
            dbname=f"pgrecall_test_{os.getpid()}_{next(numbers)}",
            template_dbname=template,
            maintenance_dbname=str(parts.get("dbname", "postgres")),
        )

    return make


@pytest.fixture(scope="session")
def new_database(server_dsn: str, janitor: Callable[..., DatabaseJanitor]) -> Iterator[Callable[..., str]]:
    """A function that makes a database, empty or a clone of `template`, for the rest of the session."""
    with ExitStack() as stack:

        def make(template: str | None = None) -> str:
            made = stack.enter_context(janitor(template))
            return make_conninfo(server_dsn, dbname=made.dbname)

        yield make


@pytest.fixture(scope="session")
def template(new_database: Callable[..., str]) -> str:
    """Name of a migrated database that nobody connects to: the template of every test's own."""
    dsn = new_database()
    migrate(dsn)
    return str(conninfo_to_dict(dsn)["dbname"])


@pytest.fixture(scope="session")
def fresh(new_database: Callable[..., str]) -> str:
    """The schema, as pg_dump gives it, of a database that was migrated in one go."""
    dsn = new_database()
    migrate(dsn)
    return schema(dsn)


@pytest.fixture
def dsn(server_dsn: str, janitor: Callable[..., DatabaseJanitor], template: str) -> Iterator[str]:
    """Connection string of a fresh, migrated database (dimension 384), dropped after the test."""
    with janitor(template) as clone:
        cloned = make_conninfo(server_dsn, dbname=clone.dbname)
        with psycopg.connect(cloned, autocommit=True) as connection:
            set_database_defaults(connection)  # a clone does not inherit them
        yield cloned


@pytest.fixture
def conn(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """An autocommit connection to the test's own database."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


@pytest.fixture
def client(dsn: str) -> Iterator[Client]:
    """A client of the test's own database."""
    with Client(dsn) as opened:
        yield opened


@pytest.fixture(scope="module")
def shared(new_database: Callable[..., str], template: str) -> Iterator[Client]:
    """A client of one database for all tests of what is refused: nothing is stored there."""
    with Client(new_database(template)) as opened:
        yield opened
        assert opened.status().memories == 0


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """A reranker over HTTP that answers, and records what it is sent."""
    with served() as serving:
        yield serving


@pytest.fixture
def models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A server that has every model of the tests of reembed."""
    with ModelServer() as serving:
        monkeypatch.setenv("PGRECALL_EMBEDDER_OPENAI_URL", serving.url)
        yield serving
