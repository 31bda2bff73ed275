"""The daemon keeps pages up to date: soon after a change, for every tenant, and after it was killed."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall_embedder.jobs import upkeep
from support.embedder import Constant, make_daemon, running, start
from support.memories import call, remember, rows, scalar
from support.waiting import eventually, until

if TYPE_CHECKING:
    from psycopg import Connection


@pytest.fixture(autouse=True)
def soon(conn: Connection[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_IDLE_POLL_SECONDS", 0.2)
    call(conn, "pgrecall.set_setting", "page_delay", "0.2 seconds")


def texts(conn: Connection[Any], namespace: str = "default") -> list[str]:
    [row] = rows(conn, "pgrecall.page", "about-user", namespace)
    return [line["text"] for line in row[1]]


def is_stale(conn: Connection[Any], namespace: str = "default") -> bool:
    [row] = rows(conn, "pgrecall.page", "about-user", namespace)
    return row[3] is not None


def test_the_daemon_fills_what_is_behind(conn: Connection[Any], dsn: str) -> None:
    call(conn, "pgrecall.set_default_pages")

    async def work() -> None:
        async with running(make_daemon(dsn, Constant())):
            one = remember(conn, "We went to the sea")
            await eventually(lambda: texts(conn) == ["We went to the sea"])
            await eventually(lambda: not is_stale(conn))
            call(conn, "forget", one)
            assert texts(conn) == []
            remember(conn, "The sea was cold")
            await eventually(lambda: texts(conn) == ["The sea was cold"])

    asyncio.run(work())


def test_a_tenant_that_writes_all_the_time_keeps_no_other_waiting(conn: Connection[Any], dsn: str) -> None:
    for name in ("busy", "quiet"):
        call(conn, "pgrecall.create_namespace", name)
        call(conn, "pgrecall.set_default_pages", name)

    async def work() -> None:
        async with running(make_daemon(dsn, Constant())):
            remember(conn, "We went to the sea", namespace="quiet")
            written = 0
            while is_stale(conn, "quiet") and written < 2000:
                written += 1
                await asyncio.to_thread(remember, conn, f"entry {written}", namespace="busy")
            assert texts(conn, "quiet") == ["We went to the sea"]

    asyncio.run(work())


def test_a_killed_daemon_leaves_every_page_for_the_next(conn: Connection[Any], dsn: str) -> None:
    """Killed while it fills one page after the other, again and again; what is withdrawn meanwhile stays away."""
    names = [f"n{number}" for number in range(6)]
    for name in names:
        call(conn, "pgrecall.create_namespace", name)
        call(conn, "pgrecall.set_default_pages", name)
    gone: list[int] = []
    for _ in range(3):
        process = start(dsn, 0.01)
        try:
            for name in names:
                one = remember(conn, f"gone {len(gone)}", namespace=name)
                remember(conn, f"kept {len(gone)}", namespace=name)
                gone.append(one)
            until(lambda: scalar(conn, "SELECT count(*) FROM pgrecall.page_lines") > 0)
            call(conn, "forget", gone[-1])
        finally:
            process.send_signal(signal.SIGKILL)
            process.communicate()
        assert scalar(conn, "SELECT count(*) FROM pgrecall.page_lines WHERE memory_id = %s", gone[-1]) == 0

    async def finish() -> None:
        async with running(make_daemon(dsn, Constant())):
            await eventually(lambda: not any(is_stale(conn, name) for name in names))

    asyncio.run(finish())
    lost = """
        SELECT count(*) FROM pgrecall.memories m
        WHERE (m.deleted_at IS NULL) <> EXISTS (
            SELECT FROM pgrecall.page_lines l WHERE l.memory_id = m.id AND l.page = 'recent'
        )
    """
    assert scalar(conn, lost) == 0
