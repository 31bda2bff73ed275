"""Clients and daemons of an older package work on while the database is upgraded within their contract."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall import Client, PgrecallError, SchemaMismatch
from pgrecall.admin.migrate import check, migrate
from support.embedder import Recorder, make_daemon, running
from support.migrating import changed_code, install_changed, run
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEXT_CONTRACT = ("core/status/contract.sql", "1 AS oldest, 1 AS newest", "1 AS oldest, 2 AS newest")
LATER_CONTRACT = ("core/status/contract.sql", "1 AS oldest, 1 AS newest", "2 AS oldest, 3 AS newest")
# What a contract allows: arguments with defaults and columns, at the end; of functions on which others depend, too.
GROWN = (
    ("core/api/forget.sql", "public.forget(id bigint)", "public.forget(id bigint, more text DEFAULT NULL)"),
    ("core/api/recall.sql", "    namespace_weights jsonb DEFAULT NULL\n", "    namespace_weights jsonb DEFAULT NULL,\n    more text DEFAULT NULL\n"),
    # A condition of the filters, which are types of arguments; the way back takes it away again.
    ("core/filter/recall_conditions.sql", "AS min_trust\n", "AS min_trust, NULL::text[] AS titles\n"),
    ("core/jobs/heartbeat.sql", "poll_seconds real DEFAULT 0\n", "poll_seconds real DEFAULT 0, more text DEFAULT NULL\n"),
    ("core/jobs/embedding_backlog.sql", "next_at timestamptz)", "next_at timestamptz, more integer)"),
    ("core/jobs/embedding_backlog.sql", "FILTER (WHERE j.failed_at IS NULL)\n    FROM", "FILTER (WHERE j.failed_at IS NULL), 1\n    FROM"),
    ("core/status/worker_status.sql", "    poll_seconds real\n", "    poll_seconds real, more integer\n"),
    ("core/status/worker_status.sql", "w.poll_seconds\n", "w.poll_seconds, 1\n"),
)  # fmt: skip


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The SQL code of a later package that serves this package's contract, too."""
    return changed_code(tmp_path_factory.mktemp("newer") / "sql", NEXT_CONTRACT, *GROWN)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


class Load:
    """Calls that repeat until the end of a block; what fails is kept."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.calls = 0
        self._stop = threading.Event()
        self._threads: list[threading.Thread] = []

    def repeat(self, dsn: str, call: Callable[[Client], object]) -> None:
        def work() -> None:
            with Client(dsn, namespace="load") as client:
                while not self._stop.is_set():
                    try:
                        call(client)
                        self.calls += 1
                    except Exception as error:  # noqa: BLE001 - every failure counts
                        self.errors.append(error)

        self._threads.append(threading.Thread(target=work))
        self._threads[-1].start()

    def end(self) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join(60)


@pytest.fixture
def load() -> Iterator[Load]:
    one = Load()
    yield one
    one.end()


def _use(client: Client) -> None:
    client.recall("tea", vector=None, embed=False)
    client.admin.status()
    client.admin.workers()
    client.list(k=3)


def _write(client: Client) -> None:
    memory = client.remember("tea with milk")
    client.forget(memory)
    client.remember("coffee")


@pytest.mark.slow
def test_no_call_fails_while_the_database_is_upgraded_and_downgraded(
    dsn: str, newer: Path, load: Load, recorder: Recorder
) -> None:
    with Client(dsn) as client:
        client.admin.create_namespace("load")
    for call in (_use, _use, _write):
        load.repeat(dsn, call)

    async def scenario() -> None:
        daemon = make_daemon(dsn, recorder, heartbeat_seconds=0.05)
        async with running(daemon):
            await asyncio.to_thread(install_changed, dsn, newer)
            await asyncio.to_thread(migrate, dsn)
            before = daemon.sums()["embedded"]
            with Client(dsn, namespace="load") as client:
                client.remember("after the upgrade")
            await eventually(lambda: daemon.sums()["embedded"] != before)

    asyncio.run(scenario())
    load.end()
    assert load.errors == []
    assert load.calls > 20


@pytest.mark.slow
@pytest.mark.pg15
def test_a_changed_signature_is_replaced_without_a_revision(dsn: str, newer: Path) -> None:
    install_changed(dsn, newer)
    found = run(
        dsn,
        "SELECT oid::regprocedure::text FROM pg_proc WHERE proname IN ('forget', 'heartbeat') ORDER BY 1",
    )
    assert [name for (name,) in found if name.startswith("forget")] == ["forget(bigint,text)"]
    assert len(found) == 2
    conditions = (
        "SELECT count(*) FROM pg_attribute WHERE attrelid = 'pgrecall.{}'::regclass AND attname = 'titles'"
    )
    for view in ("recall_conditions", "recall_filter"):
        assert run(dsn, conditions.format(view)) == [(1,)]
    assert run(dsn, """SELECT count_memories(filter => '{"titles": ["x"]}')""") == [(0,)]
    assert not check(dsn).current
    migrate(dsn)
    assert check(dsn).current
    for view in ("recall_conditions", "recall_filter"):
        assert run(dsn, conditions.format(view)) == [(0,)]
    assert run(dsn, "SELECT oid::regprocedure::text FROM pg_proc WHERE proname = 'forget'") == [
        ("forget(bigint)",)
    ]


@pytest.mark.slow
@pytest.mark.pg15
def test_a_view_of_the_user_stands_only_against_what_it_uses(dsn: str, newer: Path) -> None:
    run(dsn, "CREATE VIEW public.mine AS SELECT * FROM recall_timeline('tea')")
    install_changed(dsn, newer)
    run(dsn, "CREATE VIEW public.workers AS SELECT * FROM pgrecall.worker_status()")
    with pytest.raises(PgrecallError, match="worker_status"):
        migrate(dsn)


@pytest.mark.slow
@pytest.mark.pg15
def test_an_upgrade_that_ends_the_contract_is_told_to_clients_and_daemons(
    dsn: str, tmp_path: Path, recorder: Recorder
) -> None:
    later = changed_code(tmp_path / "sql", LATER_CONTRACT)

    async def scenario() -> None:
        await make_daemon(dsn, recorder).run()

    install_changed(dsn, later)
    with Client(dsn) as client, pytest.raises(SchemaMismatch) as caught:
        client.recall("tea")
    assert "Upgrade this package" in str(caught.value.hint)
    with pytest.raises(SchemaMismatch) as refused:
        asyncio.run(scenario())
    assert "Upgrade this package" in str(refused.value.hint)


def test_a_call_waits_for_the_function_that_a_migration_is_about_to_install(dsn: str, client: Client) -> None:
    memory = client.remember("tea")
    with psycopg.connect(dsn, autocommit=True) as installer:
        installer.execute("SELECT pg_advisory_lock(%s)", [0x7067_7265_6361_6C6C])
        text = installer.execute("SELECT pg_get_functiondef('public.forget'::regproc)").fetchall()[0][0]
        text += "; ALTER FUNCTION public.forget OWNER TO pgrecall_gate"
        installer.execute("DROP FUNCTION public.forget")
        threading.Timer(
            0.5, lambda: (installer.execute(text), installer.execute("SELECT pg_advisory_unlock_all()"))
        ).start()
        assert client.forget(memory)
