"""Whom the daemon works as, and what stands between it and the database."""

from __future__ import annotations

import asyncio
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from psycopg.conninfo import make_conninfo

from pgrecall.errors import PermissionDenied
from pgrecall_embedder.connection import BehindPooler, Connection
from pgrecall_embedder.retry import RetryPolicy
from support.embedder import CANARY, Recorder, drain, make_daemon, remember, running, sentences, status
from support.pgbouncer import PROGRAM, pooled
from support.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import psycopg

needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason="PgBouncer is not installed")


class Hosted(Recorder):
    """The model, as if it were on a server elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.is_hosted = True


def asked_as(dsn: str) -> tuple[str, bool]:
    """The role of a connection, and whether it sees a pooler."""

    async def ask() -> tuple[str, bool]:
        connection = Connection(dsn, RetryPolicy(asyncio.Event(), 5.0, structlog.get_logger()))
        try:
            [(role,)] = await connection.fetch("SELECT current_user::text")
            return role, connection.has_pooler
        finally:
            await connection.close()

    return asyncio.run(ask())


@contextmanager
def login(conn: psycopg.Connection[Any], dsn: str, *roles: str) -> Iterator[str]:
    """A connection string of somebody new who is in these roles."""
    name = f"somebody_{os.getpid()}"
    conn.execute(f"CREATE ROLE {name} LOGIN PASSWORD '{name}' IN ROLE {', '.join(roles)}")
    try:
        yield make_conninfo(dsn, user=name, password=name)
    finally:
        conn.execute(f"DROP ROLE {name}")


def test_it_works_as_the_embedder_where_it_may(dsn: str, conn: psycopg.Connection[Any]) -> None:
    assert asked_as(dsn) == ("pgrecall_embedder", False)
    with login(conn, dsn, "pgrecall_writer", "pgrecall_embedder") as member:
        assert asked_as(member) == ("pgrecall_embedder", False)


def test_it_goes_on_as_whoever_it_is(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, "plain")
    with login(conn, dsn, "pgrecall_admin") as admin:
        assert asked_as(admin)[0] == f"somebody_{os.getpid()}"
        drain(admin, Recorder())
    assert status(conn)[:2] == (1, 0)


def test_a_database_without_roles_can_be_connected_to(new_database: Callable[..., str]) -> None:
    assert asked_as(new_database())[1] is False


def test_nothing_goes_elsewhere_unless_the_database_guards_it(
    dsn: str, conn: psycopg.Connection[Any]
) -> None:
    hosted = Hosted()
    remember(conn, "plain")
    with login(conn, dsn, "pgrecall_admin") as admin, pytest.raises(PermissionDenied) as denied:
        drain(admin, hosted)
    assert "pgrecall_embedder" in str(denied.value.hint)
    assert (hosted.texts, hosted.closed) == ([], True)
    assert status(conn)[:2] == (0, 1)
    with login(conn, dsn, "pgrecall_embedder") as member:
        drain(member, hosted)
    assert hosted.texts == ["plain"]


def test_the_guard_is_looked_at_again(dsn: str, conn: psycopg.Connection[Any]) -> None:
    async def scenario(member: str) -> None:
        task = asyncio.create_task(make_daemon(member, Hosted(), heartbeat_seconds=0.1).run())
        await eventually(lambda: status(conn)[3] == 1)
        conn.execute("GRANT pgrecall_writer TO pgrecall_embedder")
        async with asyncio.timeout(PATIENCE):
            await task

    try:
        with login(conn, dsn, "pgrecall_embedder") as member, pytest.raises(ExceptionGroup) as failure:
            asyncio.run(scenario(member))
    finally:
        conn.execute("REVOKE pgrecall_writer FROM pgrecall_embedder")
    assert failure.group_contains(PermissionDenied)


@needs_pgbouncer
def test_behind_a_pooler_it_polls(
    dsn: str, conn: psycopg.Connection[Any], public_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder()
    with pooled(dsn, public_dir) as behind:
        assert asked_as(behind) == ("postgres", True)

        async def scenario() -> None:
            async with running(make_daemon(behind, recorder, poll_seconds=PATIENCE * 2)):
                for number in range(3):
                    remember(conn, f"text {number}")
                    await eventually(lambda: status(conn)[1] == 0)

        asyncio.run(scenario())
    assert recorder.texts == ["text 0", "text 1", "text 2"]
    said = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    [told] = [line for line in said if "polling" in line["event"]]
    assert "PGRECALL_EMBEDDER_LISTEN_DSN" in told["hint"]


@needs_pgbouncer
def test_a_direct_connection_brings_notifications(
    dsn: str, conn: psycopg.Connection[Any], public_dir: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    recorder = Recorder()
    with pooled(dsn, public_dir) as behind:

        async def scenario() -> None:
            async with running(make_daemon(behind, recorder, listen_dsn=dsn, poll_seconds=PATIENCE * 2)):
                await eventually(lambda: status(conn)[3] == 1)
                for number in range(2):
                    remember(conn, f"text {number}")
                    await eventually(lambda: status(conn)[1] == 0)

        asyncio.run(scenario())
    assert recorder.texts == ["text 0", "text 1"]
    assert "polling" not in capfd.readouterr().err


@needs_pgbouncer
def test_a_drain_through_a_pooler(dsn: str, conn: psycopg.Connection[Any], public_dir: Path) -> None:
    remember(conn, *sentences(50))
    conn.execute("SELECT remember(%s, is_sensitive => true)", [CANARY])
    recorder = Recorder()
    with pooled(dsn, public_dir) as behind:
        drain(behind, recorder)
    assert status(conn)[:2] == (50, 0)
    assert sorted(recorder.texts) == sorted(sentences(50))


@needs_pgbouncer
def test_no_notifications_are_expected_of_a_pooler(dsn: str, public_dir: Path) -> None:
    async def listen(behind: str) -> None:
        connection = Connection(behind, RetryPolicy(asyncio.Event(), 5.0, structlog.get_logger()))
        try:
            async for _ in connection.listen("pgrecall_embed"):
                raise AssertionError("it listens")
        finally:
            await connection.close()

    with pooled(dsn, public_dir) as behind, pytest.raises(BehindPooler):
        asyncio.run(listen(behind))
