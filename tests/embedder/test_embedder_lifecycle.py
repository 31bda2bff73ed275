"""The embedder daemon stops, crashes, comes back, and refuses what it cannot work with."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import structlog

from pgrecall.admin.migrate import migrate
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall.server import EmbeddedServer, StartError
from pgrecall_embedder.cli import run
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logs import describe
from support.embedder import (
    CANARY,
    Recorder,
    drain,
    leases,
    make_daemon,
    remember,
    running,
    sentences,
    start,
    status,
)
from support.migrating import serve
from support.waiting import PATIENCE, eventually, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

# Longer than the daemon waits to write back, and to try again.
STANDBY_SECONDS = 3.0


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_sigterm_finishes_the_batch_in_hand(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(200))
    process = start(dsn, 0.5)
    until(lambda: status(conn)[0] > 0)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    embedded, pending, in_progress, workers = status(conn)
    assert 4 < embedded < 200
    assert (embedded + pending, in_progress, workers) == (200, 0, 0)
    assert leases(conn) == 0
    last = json.loads(log.splitlines()[-1])
    assert (last["event"], last["embedded"]) == ("embedder stopped", embedded)


def test_a_second_signal_aborts(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(10))
    process = start(dsn, PATIENCE)
    assert process.stderr is not None
    until(lambda: leases(conn) > 0)
    process.send_signal(signal.SIGINT)
    assert any("stopping" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=PATIENCE / 2)
    assert process.returncode == 128 + signal.SIGINT
    assert "aborted" in log


def test_the_work_of_a_killed_worker_is_taken_over(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    remember(conn, *sentences(40))
    process = start(dsn, PATIENCE, lease_seconds=3.0)
    until(lambda: leases(conn) > 0)
    process.kill()
    process.communicate()
    # Whoever drains waits until the dead worker's leases end.
    drain(dsn, recorder)
    assert status(conn)[:3] == (40, 0, 0)


def test_a_server_that_does_not_answer_is_reported(public_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = EmbeddedServer(public_dir / "silent")
    server.up()
    postmaster = int((server.pgdata / "postmaster.pid").read_text().split()[0])
    monkeypatch.setattr("pgrecall.server.embedded.CONNECT_SECONDS", 2)
    os.kill(postmaster, signal.SIGSTOP)
    try:
        with pytest.raises(StartError, match="timeout"):
            server.up()
    finally:
        os.kill(postmaster, signal.SIGCONT)
        server.down()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["restart", "crash", "failover"])
def test_it_survives_a_restart_of_the_server(public_dir: Path, recorder: Recorder, how: str) -> None:
    """After a failover, one address leads to a standby, which is promoted some time later."""
    server = EmbeddedServer(public_dir / f"restarted-{how}")
    dsn = server.up()
    migrate(dsn)

    def embedded() -> int:
        with psycopg.connect(dsn, autocommit=True) as conn:
            return status(conn)[0]

    def restart() -> None:
        if how == "restart":
            server.down()
        else:
            os.kill(int((server.pgdata / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        if how == "failover":
            (server.pgdata / "standby.signal").touch()
        server.up()

    def promote() -> None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            conn.execute("SELECT pg_promote()")

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, poll_seconds=PATIENCE * 2)):
            with psycopg.connect(dsn, autocommit=True) as conn:
                recorder.free.clear()
                remember(conn, "before the restart")
            await asyncio.to_thread(recorder.entered.wait, PATIENCE)
            await asyncio.to_thread(restart)
            recorder.free.set()
            if how == "failover":
                await asyncio.sleep(STANDBY_SECONDS)
                await asyncio.to_thread(promote)
            await eventually(lambda: embedded() == 1)
            with psycopg.connect(dsn, autocommit=True) as conn:
                remember(conn, "after the restart")
            await eventually(lambda: embedded() == 2)

    try:
        asyncio.run(scenario())
    finally:
        server.down()
    # Computed once: the vector in hand outlived the connection it was to be written on.
    assert recorder.texts == ["before the restart", "after the restart"]


def refusal(capfd: pytest.CaptureFixture[str], dsn: str, **options: Any) -> dict[str, Any]:
    """Run the daemon as the command does and return its last line."""
    assert run(dsn, drain=True, log_json=True, **options) == 1
    lines = capfd.readouterr().err.splitlines()
    said: dict[str, Any] = json.loads(lines[-1])
    assert said["level"] == "error"
    assert said["hint"]
    return said


def test_an_unmigrated_database_is_refused(
    new_database: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capfd, new_database())
    assert said["sqlstate"] == "55000"
    assert "pgrecall migrate" in said["hint"]


def test_a_database_of_another_contract_is_refused(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    serve(conn, 0)
    said = refusal(capfd, dsn)
    assert said["sqlstate"] == "55000"
    assert "pgrecall migrate" in said["hint"]


def test_a_database_without_a_model_is_refused(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    assert "pgrecall migrate --model" in refusal(capfd, dsn)["hint"]


def test_a_model_of_another_dimension_is_refused(
    new_database: Callable[..., str], capfd: pytest.CaptureFixture[str], recorder: Recorder
) -> None:
    dsn = new_database()
    migrate(dsn, dim=256)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.activate_model(%s, 256)", [DEFAULT_MODEL])
    said = refusal(capfd, dsn, factory=recorder.load)
    assert said["sqlstate"] == "55000"
    assert "384" in said["event"]
    assert "256" in said["event"]


def test_a_server_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    said = refusal(capfd, "postgresql://someone:hunter2@localhost:1/nothing")
    assert said["sqlstate"] == "08006"
    assert "hunter2" not in json.dumps(said)


def test_a_connection_string_that_cannot_be_read_is_not_quoted(capfd: pytest.CaptureFixture[str]) -> None:
    assert "hunter2" not in json.dumps(refusal(capfd, "host=localhost password='hunter2"))


def test_no_threads_are_refused(dsn: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert refusal(capfd, dsn, concurrency=0)["sqlstate"] == "22023"
    with pytest.raises(InvalidInput):
        Daemon(dsn, log=structlog.get_logger(), concurrency=-1)


def test_a_change_of_the_contract_stops_the_daemon(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    async def scenario() -> None:
        task = asyncio.create_task(make_daemon(dsn, recorder, heartbeat_seconds=0.1).run())
        await eventually(lambda: status(conn)[3] == 1)
        serve(conn, 0)
        async with asyncio.timeout(PATIENCE):
            await task

    with pytest.raises(ExceptionGroup) as failure:
        asyncio.run(scenario())
    assert failure.group_contains(SchemaMismatch)
    assert status(conn)[3] == 0


def test_errors_are_described_without_their_text() -> None:
    with pytest.raises(ValueError, match=CANARY) as raised:
        raise ValueError(CANARY)
    assert describe(raised.value).startswith("ValueError at test_embedder_lifecycle.py:")
    assert describe(PgrecallError(CANARY)) == "PgrecallError"
    assert describe(psycopg.errors.DeadlockDetected(CANARY)) == "DeadlockDetected (40P01)"


@pytest.mark.slow
def test_an_idle_daemon_that_embeds_and_reads_holds_five_connections(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    remember(conn, *sentences(3))
    query = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name = 'pgrecall-embedder'"
    )

    async def scenario() -> int:
        async with running(make_daemon(dsn, recorder, only=None, poll_seconds=0.2)):
            await eventually(lambda: nothing_waits(conn))
            await asyncio.sleep(1.0)
            return int(conn.execute(query).fetchall()[0][0])

    assert asyncio.run(scenario()) == 5


def nothing_waits(conn: psycopg.Connection[Any]) -> bool:
    return conn.execute("SELECT pending + pending_extractions FROM recall_status()").fetchone() == (0,)
