"""The daemon under the defaults of other people's databases: isolation, read-only, and time limits."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from pgrecall import Client
from pgrecall_embedder.jobs import upkeep
from support.embedder import Constant, make_daemon, running
from support.memories import remember, remember_many, scalar
from support.waiting import eventually

if TYPE_CHECKING:
    from psycopg import Connection

DEFAULTS = {
    "default_transaction_isolation": "serializable",
    "default_transaction_read_only": "on",
    "default_transaction_deferrable": "on",
    "statement_timeout": "50ms",
    "lock_timeout": "1ms",
    "idle_session_timeout": "1s",
    "idle_in_transaction_session_timeout": "1ms",
    "transaction_timeout": "50ms",
    "row_security": "off",
}


def set_default(conn: Connection[Any], name: str, value: str) -> None:
    conn.execute(
        sql.SQL("ALTER DATABASE {} SET {} = {}").format(
            sql.Identifier(conn.info.dbname), sql.Identifier(name), sql.Literal(value)
        )
    )


DONE = """
SELECT count(*) = 23 AND bool_and(m.deleted_at IS NOT NULL OR m.embedding IS NOT NULL AND NOT (x.memory_id IS NOT NULL AND %s))
       AND bool_and(m.deleted_at IS NOT NULL OR m.expires_at IS NULL)
FROM pgrecall.memories m LEFT JOIN pgrecall.jobs x ON x.memory_id = m.id AND x.kind = 'text'
"""


def work_through(conn: Connection[Any], dsn: str, *, reads: bool) -> None:
    """Have a daemon embed, read, forget and erase; then wait for more."""
    remember_many(conn, [{"content": f"Jane Quokka likes tea {n}"} for n in range(20)])
    past = "2024-03-01"
    remember_many(conn, [{"content": f"due {n}", "expires_at": past} for n in range(3)])
    gone = [{"content": f"gone {n}", "expires_at": past} for n in range(3)]
    remember_many(conn, gone, namespace="erased", create_namespace=True)
    conn.execute("SELECT pgrecall.set_retention('erased', '1000 years', NULL, 'erase')")

    async def work() -> None:
        only = None if reads else "embedding"
        async with running(make_daemon(dsn, Constant(), only=only, heartbeat_seconds=0.2)):
            await eventually(lambda: bool(scalar(conn, DONE, reads)))
            await asyncio.sleep(1.5)
            remember(conn, "Jane Quokka came later")
            count = (
                "SELECT count(*) FROM pgrecall.memories WHERE embedding IS NOT NULL AND deleted_at IS NULL"
            )
            await eventually(lambda: scalar(conn, count) == 21)
            assert scalar(conn, "SELECT count(*) FROM pgrecall.worker_status() WHERE is_alive") == 1

    asyncio.run(work())


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "_EXPIRE_SECONDS", 0.5)
    monkeypatch.setattr(upkeep, "_IDLE_POLL_SECONDS", 0.5)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_the_daemon_embeds_and_expires_under_any_isolation(
    conn: Connection[Any], dsn: str, level: str
) -> None:
    set_default(conn, "default_transaction_isolation", level)
    work_through(conn, dsn, reads=False)


def test_the_daemon_embeds_and_expires_under_any_default(conn: Connection[Any], dsn: str) -> None:
    for name, value in DEFAULTS.items():
        if name != "transaction_timeout" or conn.info.server_version >= 170000:
            set_default(conn, name, value)
    work_through(conn, dsn, reads=False)


@pytest.mark.slow
def test_the_daemon_reads_under_any_default(conn: Connection[Any], dsn: str) -> None:
    for name, value in DEFAULTS.items():
        if name != "transaction_timeout" or conn.info.server_version >= 170000:
            set_default(conn, name, value)
    work_through(conn, dsn, reads=True)


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_a_client_erases_under_any_isolation(conn: Connection[Any], dsn: str, level: str) -> None:
    remember(conn, "tea")
    remember(conn, "tea", namespace="erased", create_namespace=True)
    set_default(conn, "default_transaction_isolation", level)
    with Client(dsn) as client:
        one = client.remember("milk")
        assert client.erase(one).counts["memories"] == 1
        assert client.erase_namespace("erased").counts["memories"] == 1
        assert client.forget(client.remember("sugar"))
    with psycopg.connect(dsn) as user:
        assert scalar(user, "SHOW transaction_isolation") == level
