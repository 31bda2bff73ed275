"""A reader who listens and keeps a transaction open fills the server's queue of notifications: everybody else goes on."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.embedder import Constant, make_daemon, running
from support.memories import call, remember, remember_many, rows, scalar
from support.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection

pytestmark = pytest.mark.slow

FILLING = "SELECT pg_notify('x', repeat('x', %s) || n) FROM generate_series(1, 3) n"


@pytest.fixture(scope="module")
def address(public_dir: Path) -> Iterator[str]:
    """A server of its own, with a small queue."""
    server = EmbeddedServer(
        public_dir / "notifications",
        settings={"fsync": "off", "full_page_writes": "off", "max_notify_queue_pages": "64"},
    )
    server.up()
    try:
        with psycopg.connect(server.dsn()) as conn:
            if conn.info.server_version < 170000:
                pytest.skip("max_notify_queue_pages is of PostgreSQL 17")
        migrate(server.dsn(), model="sentence-transformers/all-MiniLM-L6-v2")
        yield server.dsn()
    finally:
        server.down()


@pytest.fixture
def conn(address: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(address, autocommit=True) as connection:
        yield connection


@pytest.fixture
def full(address: str, conn: Connection[Any]) -> Iterator[Connection[Any]]:
    """The session of the attacker, who has filled the queue; rolled back, it empties."""
    with psycopg.connect(address, autocommit=True) as reader:
        reader.execute("LISTEN x")
        reader.execute("BEGIN")
        reader.execute("SELECT 1")
        # Asking lets go of what nobody needs any more.
        assert scalar(conn, "SELECT pg_notification_queue_usage() < 0.5")
        for size in (7000, 100, 1):
            with psycopg.connect(address, autocommit=True) as accomplice, suppress(psycopg.OperationalError):
                for _ in range(10000):
                    accomplice.execute(FILLING, (size,))
        assert scalar(conn, "SELECT pg_notification_queue_usage() > 0.9")
        yield reader
        reader.execute("ROLLBACK")


def test_all_writes_commit_while_the_queue_is_full(conn: Connection[Any], full: Connection[Any]) -> None:
    assert full.info.transaction_status
    number = remember(conn, "tea")
    remember_many(conn, [{"content": f"tea {n}"} for n in range(300)])
    call(conn, "update_memory", number, content="green tea")
    after = call(conn, "supersede", number, "black tea")
    call(conn, "forget", after)
    call(conn, "restore", after)
    rows(conn, "erase", after)
    call(
        conn, "pgrecall.heartbeat", "00000000-0000-0000-0000-000000000001", "host", 1, "hash", "model", 0, [1]
    )
    ((question, *_),) = rows(conn, "pgrecall.request_query_embedding", "tea")
    assert [row[0] for row in rows(conn, "pgrecall.claim_query_embeddings", 1)] == [question]
    call(conn, "pgrecall.complete_query_embeddings", [question], [None], ["no"])
    conn.execute("INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, attempts, cause, last_error, namespace_id, failed_at) "
                 "SELECT max(id), 'embedding', 1, 5, 'x', 'x', min(namespace_id), now() FROM pgrecall.memories")  # fmt: skip
    assert call(conn, "pgrecall.retry_failures") == 1
    (found,) = [row for row in rows(conn, "pgrecall.health") if row[0] == "notification queue"]
    assert (found[1], "% full" in found[2]) == ("warn", True)
    call(conn, "pgrecall.retire", "00000000-0000-0000-0000-000000000001")


def test_a_transaction_during_which_the_queue_fills_succeeds_when_it_is_tried_again(
    address: str, conn: Connection[Any], request: pytest.FixtureRequest
) -> None:
    """It has asked for its notification before: PostgreSQL sends that at the commit, which fails."""
    with psycopg.connect(address) as writer:
        remember(writer, "written before")
        request.getfixturevalue("full")
        with suppress(psycopg.OperationalError):
            writer.commit()
        writer.rollback()
        number = remember(writer, "written again")
        writer.commit()
    assert scalar(conn, "SELECT content FROM pgrecall.memories WHERE id = %s", number) == "written again"


def test_a_daemon_finds_its_work_while_the_queue_is_full(
    address: str, conn: Connection[Any], full: Connection[Any]
) -> None:
    assert full.info.transaction_status

    async def work() -> None:
        daemon = make_daemon(address, Constant(), heartbeat_seconds=0.3, poll_seconds=300.0)
        pending = "SELECT count(*) FROM pgrecall.memories WHERE embedding IS NULL AND deleted_at IS NULL"
        async with running(daemon):
            await eventually(lambda: scalar(conn, pending) == 0)
            await asyncio.sleep(1)
            remember(conn, "tea that nobody announces")
            await eventually(lambda: scalar(conn, pending) == 0)

    asyncio.run(work())


def test_one_transaction_sends_one_notification(address: str, conn: Connection[Any]) -> None:
    with psycopg.connect(address, autocommit=True) as listener:
        listener.execute("LISTEN pgrecall_embed")
        with conn.transaction():
            for n in range(5):
                remember(conn, f"cup {n}")
            with conn.transaction():
                number = remember(conn, "cup")
            call(conn, "forget", number)
        assert len(list(listener.notifies(timeout=PATIENCE, stop_after=1))) == 1
        assert list(listener.notifies(timeout=1)) == []
