"""Real servers for every test: one embedded server a session, one migrated template, a clone of it a test.

`PGRECALL_TEST_DSN` (a superuser's connection string) runs the same tests against another server.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, settings
from psycopg.conninfo import make_conninfo
from pytest_postgresql import factories

from pgrecall import Client
from pgrecall.admin.code import DATABASE_DEFAULTS
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.migrating import schema
from support.plpython import python_database, python_dsn, python_server, python_template
from support.reembed import ModelServer
from support.reranking import Endpoint, served
from support.servers import FAST, Address, Clone, RolledBack, migrated

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping
    from contextlib import AbstractContextManager

    from pytest_postgresql.executors import NoopExecutor

__all__ = ["python_database", "python_dsn", "python_server", "python_template"]

# A settings file of the user's own would change what is tested.
os.environ["PGRECALL_CONFIG"] = os.devnull

# Each run draws the same examples, so that a change fails for what it did; `--hypothesis-profile=random` draws others.
# A busy machine takes as long as it takes for one.
settings.register_profile(
    "random",
    deadline=None,
    database=None,
    report_multiple_bugs=False,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.register_profile("same", settings.get_profile("random"), derandomize=True)
settings.load_profile("same")

MEMORY = Path("/dev/shm")
ROOM = 8 * 2**30
"""Bytes that must be free in memory for the servers of several sessions; in a container there may be 64 MB."""

TESTS = Path(__file__).parent
NEAR_THE_SERVER = {"attack", "migrations", "sql"}
"""Folders whose tests may come out differently on another version of PostgreSQL."""
SERVER_FIXTURES = {"conn", "server", "server_dsn", "public_dir"}
EVERY_VERSION = {
    *("test_migration_script", "test_migrations", "test_migrations_down"),
    *("test_attack_functions", "test_attack_grants", "test_attack_tables"),
    *("test_graph_roles", "test_namespaces", "test_postings_roles", "test_roles"),
    *("test_graph_walk", "test_lookups", "test_recall", "test_recall_plans"),
    *("test_concurrency", "test_queue", "test_reembed_generations"),
    *("test_erasure", "test_expiry", "test_forget", "test_manage", "test_remember", "test_supersede"),
    *("test_argument_checks", "test_plpgsql_check", "test_settings"),
}
"""Files whose tests run on each version: of the schema, privileges, recall's plans, the queue, and what changes memories."""
SAME_ON_EVERY_VERSION = {
    *("test_briefing_text", "test_confidence", "test_diversity", "test_explain_confidence", "test_learning"),
    *("test_profiles", "test_question_time", "test_ranking_properties", "test_settings_reference"),
}
"""Files of sql/ about what our functions compute and say: a server that installs and calls them computes the same."""


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without the garbage collector, which would look through a growing million of objects again and again.

    They are there until the end, so it leaves them alone during the tests, too.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None, None, None]:
    """Mark what is slow, and what runs again on other versions of PostgreSQL; of what `-m` leaves, the slow go first."""
    for item in items:
        folder = item.path.relative_to(TESTS).parts[0]
        if folder == "slow":
            item.add_marker(pytest.mark.slow)
        touches_it = bool(SERVER_FIXTURES.intersection(getattr(item, "fixturenames", ())))
        # A slow test runs there if it says so itself, and so does one of what hardly depends on the server.
        hardly_depends = item.path.stem in SAME_ON_EVERY_VERSION
        is_left_out = hardly_depends or item.get_closest_marker("slow") is not None
        is_wanted = not is_left_out or item.get_closest_marker("pg15") is not None
        is_extra = item.get_closest_marker("server_extras") is not None
        if is_extra or (folder in NEAR_THE_SERVER and touches_it and is_wanted):
            item.add_marker(pytest.mark.pg15)
            if item.path.stem in EVERY_VERSION:
                item.add_marker(pytest.mark.every_version)
    yield
    items[:] = _slow_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def _slow_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Put the files with slow tests at the beginning of each worker's share, so that none of them runs alone at the end.

    They stay whole: a worker that ran only the slow tests of one would leave another to make its fixtures again. Those
    with many quick tests come last of them.
    With `--dist worksteal` the shares are equal parts of the list, in its order. Workers that have ended theirs take
    from the end of another's.
    """
    is_slow = {item: item.get_closest_marker("slow") is not None for item in items}
    with_slow = {item.path for item in items if is_slow[item]}
    files: dict[Path, list[pytest.Item]] = {}
    others = []
    for item in items:
        if item.path in with_slow:
            files.setdefault(item.path, []).append(item)
        else:
            others.append(item)
    in_order = sorted(files.values(), key=lambda tests: sum(not is_slow[item] for item in tests))
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for place, tests in enumerate(in_order):
        shares[place % workers].extend(tests)
    left = iter(others)
    for share in shares:
        share.extend(itertools.islice(left, max(0, len(items) // workers - len(share))))
    shares[-1].extend(left)
    return list(itertools.chain.from_iterable(shares))


@pytest.fixture(scope="session")
def public_dir() -> Iterator[Path]:
    """A folder that the server's own user can reach, which pytest's private ones are not when root tests."""
    # A database is some 300 files: a disk's file system takes ten times as long to make them.
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM
    folder = Path(tempfile.mkdtemp(prefix="pgr-", dir=MEMORY if in_memory else "/tmp"))
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
def address(server_dsn: str) -> Address:
    """Where the server under test is."""
    return Address.of(server_dsn)


# Not postgresql_proc: it starts the server as the user who tests, and PostgreSQL refuses root.
postgresql_noproc = factories.postgresql_noproc(
    dbname=f"pgrecall_test_{os.getpid()}", depends_on="address", load=[migrated]
)


@pytest.fixture(scope="session")
def template(postgresql_noproc: NoopExecutor) -> str:
    """Name of a migrated database that nobody connects to: the template of every test's own."""
    return postgresql_noproc.template_dbname


@pytest.fixture(scope="session")
def database(server_dsn: str) -> Iterator[Callable[..., AbstractContextManager[str]]]:
    """A function that makes a database, empty or a clone of `template`, for the length of a `with`."""
    numbers = itertools.count()
    with psycopg.connect(server_dsn, autocommit=True) as admin:

        @contextmanager
        def make(template: str = "template1", settings: Mapping[str, str] | None = None) -> Iterator[str]:
            name = f"pgrecall_test_{os.getpid()}_{next(numbers)}"
            with Clone(admin, name, template, settings or {}):
                yield make_conninfo(server_dsn, dbname=name)

        yield make


@pytest.fixture(scope="session")
def new_database(database: Callable[..., AbstractContextManager[str]]) -> Iterator[Callable[..., str]]:
    """A function that makes a database, empty or a clone of `template`, for the rest of the session."""
    with ExitStack() as stack:

        def make(template: str = "template1") -> str:
            return stack.enter_context(database(template))

        yield make


@pytest.fixture(scope="session")
def migrated_database(
    database: Callable[..., AbstractContextManager[str]], template: str
) -> Iterator[Callable[[], str]]:
    """A function that makes a database as migrate() leaves an empty one, for the rest of the session."""
    with ExitStack() as stack:
        yield lambda: stack.enter_context(database(template, DATABASE_DEFAULTS))


@pytest.fixture(scope="module")
def read_only(new_database: Callable[..., str], template: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in UTC that the tests of a file share: nothing is stored."""
    with psycopg.connect(new_database(template), autocommit=True) as conn:
        conn.execute("SET default_transaction_read_only = on")
        conn.execute("SET TimeZone = 'UTC'")
        yield conn


@pytest.fixture(scope="session")
def fresh(new_database: Callable[..., str]) -> str:
    """The schema, as pg_dump gives it, of a database that was migrated in one go."""
    dsn = new_database()
    migrate(dsn)
    return schema(dsn)


@pytest.fixture
def dsn(database: Callable[..., AbstractContextManager[str]], template: str) -> Iterator[str]:
    """Connection string of a fresh, migrated database (dimension 384), dropped after the test."""
    with database(template, DATABASE_DEFAULTS) as cloned:  # a clone does not inherit them
        yield cloned


@pytest.fixture(scope="module")
def rolled_back(database: Callable[..., AbstractContextManager[str]], template: str) -> Iterator[RolledBack]:
    """A connection to a database of the file's own, in which nothing is ever committed."""
    with database(template, DATABASE_DEFAULTS) as cloned, RolledBack.connect(cloned, autocommit=True) as conn:
        yield conn


@pytest.fixture
def conn(request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[Any]]:
    """An autocommit connection to the test's own database.

    In a file marked `rollback` it is one to the file's database, and rolled back; a test there that commits
    or connects by itself asks for `dsn`, too.
    """
    if request.node.get_closest_marker("rollback") is not None and "dsn" not in request.fixturenames:
        shared: RolledBack = request.getfixturevalue("rolled_back")
        with shared.transaction(force_rollback=True):
            yield shared
            shared.execute("SET CONSTRAINTS ALL IMMEDIATE")
        return
    with psycopg.connect(request.getfixturevalue("dsn"), autocommit=True) as connection:
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
        opened.open()  # before a test writes a settings file that it would read
        yield opened
        assert opened.admin.status().memories == 0


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
