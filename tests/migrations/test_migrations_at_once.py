"""Migrations at once, under load, and interrupted."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin import migrate as migrations
from pgrecall.admin.installer_lock import LOCK_KEY
from pgrecall.admin.migrate import check, migrate
from support.migrating import (
    HEAD,
    LATER_INDEX,
    NEXT,
    SECONDS,
    index_is_valid,
    installer,
    later_revision,
    migrate_with,
    run,
    schema,
    wait_for,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = ["later_revision"]


# --- At once, and interrupted ---


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("pending", ["everything", "the index only"])
def test_twenty_at_once(
    new_database: Callable[..., str],
    migrated_database: Callable[[], str],
    later_revision: Path,
    pending: str,
) -> None:
    alone = migrated_database()
    migrate(alone)
    dsn = new_database() if pending == "everything" else migrated_database()
    if pending == "the index only":
        run(dsn, "SELECT remember('row ' || n) FROM generate_series(1, 200) n")
        run(dsn, "UPDATE pgrecall.memories SET embedding = array_fill(id::real, ARRAY[384])::vector::halfvec")
        migrate(dsn, revision=HEAD)
    processes = multiprocessing.get_context("forkserver")
    processes.set_forkserver_preload(["alembic.command", "migrating"])  # imported once, not twenty times
    with ProcessPoolExecutor(20, processes) as pool:
        with psycopg.connect(dsn, autocommit=True) as gate:
            gate.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
            installs = [pool.submit(migrate_with, dsn, later_revision) for _ in range(20)]
            wait_for(
                dsn,
                "count(*) = 20 FROM pg_stat_activity "
                "WHERE application_name = 'pgrecall-migrate' AND datname = current_database()",
            )
        for install in installs:
            install.result(SECONDS)
    assert index_is_valid(dsn, LATER_INDEX)
    assert check(dsn).current
    assert schema(dsn) == schema(alone)


@pytest.mark.slow
@pytest.mark.pg15
def test_threads_of_one_process(new_database: Callable[..., str], fresh: str) -> None:
    targets = [new_database(), new_database()]
    threads = [threading.Thread(target=migrate, args=(target,)) for target in targets * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert [schema(target) == fresh for target in targets] == [True, True]


@pytest.mark.slow
def test_migrating_under_load_does_not_deadlock(dsn: str) -> None:
    """Clients whose transactions lock settings and memories in either order lose nothing, nor does the installer."""
    settings_first = ["SELECT * FROM recall('load')", "SELECT remember('load', tags => '{load}')"]
    memories_first = ["SELECT count(*) FROM pgrecall.memories", "SELECT * FROM recall('load')"]
    stop = threading.Event()
    errors: list[psycopg.Error] = []

    def work(number: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            while not stop.is_set():
                try:
                    with conn.transaction():
                        for statement in memories_first if number % 2 else settings_first:
                            conn.execute(statement.encode())
                except psycopg.Error as error:
                    errors.append(error)
                    return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(2):
            run(
                dsn, "UPDATE pgrecall.installation SET bundle_hash = 'another'"
            )  # else there is nothing to do
            migrate(dsn)
    finally:
        stop.set()
        for thread in threads:
            thread.join(SECONDS)
    assert errors == []


@pytest.fixture
def half_built(
    new_database: Callable[..., str], later_revision: Path
) -> Iterator[tuple[str, psycopg.Connection[Any]]]:
    """A database whose installer was killed while its server process waits in CREATE INDEX CONCURRENTLY.

    The index is there and invalid; the connection holds what the index build waits for.
    """
    dsn = new_database()
    migrate(dsn, revision=HEAD)
    with psycopg.connect(dsn) as blocker:
        blocker.execute("LOCK TABLE pgrecall.memories IN ROW EXCLUSIVE MODE")
        process = installer(dsn, later_revision)
        wait_for(dsn, "EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)")
        process.kill()
        process.communicate(timeout=SECONDS)
        yield dsn, blocker


def test_a_build_that_died_is_repaired(half_built: tuple[str, psycopg.Connection[Any]]) -> None:
    dsn, blocker = half_built
    run(
        dsn,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE query LIKE '%CREATE INDEX CONCURRENTLY%' AND datname = current_database() AND pid <> pg_backend_pid()",
    )
    blocker.rollback()
    assert check(dsn).revision == HEAD
    assert not index_is_valid(dsn, LATER_INDEX)
    migrate(dsn)
    assert index_is_valid(dsn, LATER_INDEX)
    assert check(dsn).current


@pytest.mark.slow
@pytest.mark.pg15
def test_a_build_that_goes_on_without_its_installer_is_waited_for(
    half_built: tuple[str, psycopg.Connection[Any]], later_revision: Path
) -> None:
    dsn, blocker = half_built
    process = installer(dsn, later_revision)
    wait_for(
        dsn,
        "count(*) = 2 FROM pg_stat_activity "
        "WHERE application_name = 'pgrecall-migrate' AND datname = current_database()",
    )
    assert process.poll() is None
    blocker.rollback()
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors.decode()
    assert index_is_valid(dsn, LATER_INDEX)
    assert check(dsn).current


class Interrupted(Exception):  # noqa: N818 - what happened, no error
    """The run of a migration ended after a statement."""


@pytest.mark.slow
def test_an_upgrade_that_is_interrupted_after_any_statement_goes_on(
    migrated_database: Callable[[], str], fresh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a revision did outside its last transaction is committed, and comes a second time."""
    dsn = migrated_database()
    run(dsn, "SELECT remember('Priya drinks tea')")
    run(dsn, "SELECT pgrecall.flush_pending_postings(1)")
    migrate(dsn, revision="0009")
    met: set[tuple[str, ...]] = set()
    run_sql = migrations.run_sql

    def interrupt(connection: Any, text: str) -> None:
        run_sql(connection, text)
        revision = sys._getframe(1).f_globals["revision"]
        kind = (revision, *(word for word in text.split()[:6] if word.isupper()))
        if kind not in met:
            met.add(kind)
            raise Interrupted(kind)

    monkeypatch.setattr(migrations, "run_sql", interrupt)
    for _ in range(100):
        try:
            migrate(dsn)
        except Interrupted:
            continue
        break
    assert len(met) > 10
    assert check(dsn).current
    assert schema(dsn) == fresh
    assert run(dsn, "SELECT content FROM recall('tea')") == [("Priya drinks tea",)]


@pytest.mark.slow
def test_revisions_leave_the_functions_that_running_clients_call(new_database: Callable[..., str]) -> None:
    """The installation drops them, in the transaction that makes their successors."""
    dsn = new_database()
    migrate(dsn, revision="0009")
    for former in (
        "_pgrecall.metadata_path(jsonb)",
        "_pgrecall.resolve_request(text, public.halfvec, text, jsonb)",
        "_pgrecall.query_term_weights(integer, text[], integer)",
        "_pgrecall.index_postings(integer, bigint[], tsvector[])",
        "_pgrecall.withdraw_notes(bigint, bigint[], boolean)",
    ):
        run(dsn, f"CREATE FUNCTION {former} RETURNS integer LANGUAGE sql AS 'SELECT 1'")
    count = (
        "SELECT count(*) FROM pg_proc WHERE pronamespace = '_pgrecall'::regnamespace AND prosrc = 'SELECT 1'"
    )
    migrate(dsn, revision="0015")
    assert run(dsn, count) == [(5,)]
    migrate(dsn)
    assert run(dsn, count) == [(0,)]


CROSSING = f"""
from alembic import op

from pgrecall.admin.migrate import run_sql

revision = "{NEXT}"
down_revision = "{HEAD}"


def upgrade() -> None:
    run_sql(op.get_bind(), "LOCK TABLE pgrecall.namespaces")
    run_sql(op.get_bind(), "LOCK TABLE pgrecall.memories")


def downgrade() -> None:
    pass
"""


def test_a_migration_that_deadlocks_with_a_client_is_run_again(dsn: str, later_revision: Path) -> None:
    (later_revision / "versions" / "0005_later.py").write_text(CROSSING, encoding="utf-8")
    errors: list[BaseException] = []

    def upgrade() -> None:
        try:
            migrate(dsn)
        except BaseException as error:  # noqa: BLE001 - for the test's own thread
            errors.append(error)

    with psycopg.connect(dsn) as client:
        client.execute("SET deadlock_timeout = '1min'")  # the migration notices first
        client.execute("LOCK TABLE pgrecall.memories")
        thread = threading.Thread(target=upgrade)
        thread.start()
        wait_for(
            dsn,
            "EXISTS (SELECT FROM pg_locks WHERE relation = 'pgrecall.memories'::regclass AND NOT granted)",
        )
        client.execute("LOCK TABLE pgrecall.namespaces")
    thread.join(SECONDS)
    assert errors == []
    assert check(dsn).current
