"""The client of the server that falls back to a copy: what it answers, and that what it raises was not done."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Conflict, ConnectionFailed, NeedsServer, NotFound, UnknownLanguage
from pgrecall.admin.migrate import migrate
from pgrecall.contrib.offline import OfflineClient, connect, connect_async
from pgrecall.server import EmbeddedServer
from support.memories import call, remember, scalar, stored
from support.offline import alive, contents, in_copy
from support.servers import FAST

if TYPE_CHECKING:
    from pathlib import Path

    from psycopg import Connection


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


# -- a server that goes away


def test_a_server_that_is_stopped_and_comes_back(public_dir: Path, tmp_path: Path) -> None:
    server = EmbeddedServer(public_dir / "offline", settings=FAST)
    dsn = server.up()
    try:
        migrate(dsn)
        with connect(dsn, offline=tmp_path / "copy.db", patience=0.5) as memory:
            first = memory.remember("The key is with the neighbours")
            assert first > 0
            found = memory.recall("key", embed=False)
            assert found.notice is None or "cannot be reached" not in found.notice
            server.down()

            second = memory.remember("The alarm code is in the safe")
            assert second < 0
            assert memory.update(first, content="The key is under the mat")
            found = memory.recall("key alarm")
            assert sorted(contents(found)) == ["The alarm code is in the safe", "The key is under the mat"]
            assert "cannot be reached" in str(found.notice)
            assert "offline copy" in str(memory.timeline("key").notice)
            with pytest.raises(NeedsServer):
                memory.recall("key", timeframe="last week")
            with pytest.raises(ConnectionFailed):
                memory.push()
            with pytest.raises(ConnectionFailed):
                memory.pull()

            server.up()
            assert memory.forget(memory.offline.stored_id(second))
            with psycopg.connect(dsn, autocommit=True) as conn:
                assert alive(conn) == ["The key is under the mat"]
                assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 2
                other = remember(conn, "Not in the copy yet")
                assert memory.update(other, title="found")
                secret = memory.remember("A secret", is_sensitive=True)
                assert stored(conn, secret)["is_sensitive"]
                assert memory.update(other, is_sensitive=True)
                assert memory.update(secret, title="a title")
                assert memory.forget(secret)
                assert not memory.forget(secret)
                with pytest.raises(NotFound):
                    memory.update(10**9, title="a title")
                assert {"Not in the copy yet", "A secret"}.isdisjoint(
                    row["content"] for row in in_copy(tmp_path / "copy.db")
                )
                call(conn, "remember", "taken", external_id="e")
            with pytest.raises(Conflict, match="belongs to memory"):
                memory.remember("another", external_id="e")
            with pytest.raises(UnknownLanguage):
                memory.remember("another", language="klingon")
            assert (
                len(memory.remember_many([{"content": "one"}, {"content": "two"}], namespace="default")) == 2
            )
            assert memory.offline.refused() == []
    finally:
        server.down()


async def _fallen_back(dsn: str, path: Path) -> list[str]:
    async with connect_async(dsn, offline=path) as memory:
        await memory.remember("an asynchronous thought")
    async with connect_async("host=/nonexistent", offline=path) as memory:
        await memory.remember("another thought")
        found = await memory.recall("thought")
        assert "cannot be reached" in str(found.notice)
        return sorted(contents(found))


def test_the_asynchronous_one(dsn: str, conn: Connection[Any], path: Path) -> None:
    assert asyncio.run(_fallen_back(dsn, path)) == ["an asynchronous thought", "another thought"]
    assert alive(conn) == ["an asynchronous thought"]


async def _together(dsn: str, path: Path) -> None:
    async with connect_async(dsn, offline=path) as memory:
        await memory.pull()
    async with connect_async("host=/nonexistent", offline=path) as memory:
        ids = await asyncio.gather(*(memory.remember(f"thought {number}") for number in range(4)))
        assert all(id < 0 for id in ids)
        failed = await asyncio.gather(*(memory.push() for _ in range(4)), return_exceptions=True)
        assert [type(one) for one in failed] == [ConnectionFailed] * 4
        found = await asyncio.gather(*(memory.recall("thought") for _ in range(4)))
        assert all("cannot be reached" in str(one.notice) and len(one) == 4 for one in found)


def test_calls_at_once_while_the_server_is_away(dsn: str, conn: Connection[Any], path: Path) -> None:
    asyncio.run(_together(dsn, path))
    with OfflineClient(path, dsn) as copy:
        assert copy.push().sent == 4
    assert len(alive(conn)) == 4


def test_a_client_that_failed_twice_is_replaced_once(dsn: str, conn: Connection[Any], path: Path) -> None:
    remember(conn, "tea")
    with connect(dsn, offline=path) as memory:
        failed = memory.server
        failed.close()
        assert contents(memory.recall("tea", embed=False)) == ["tea"]
        used = memory.server
        assert used is not failed
        # As by another thread, whose call failed on the same client.
        assert not memory._is_away(failed)
        assert memory.server is used
        assert contents(used.recall("tea", embed=False)) == ["tea"]


def test_a_wrong_password_is_no_absence(dsn: str, tmp_path: Path) -> None:
    with OfflineClient(tmp_path / "copy.db", dsn) as copy:
        copy.pull()
    missing = make_conninfo(dsn, user=f"nobody{os.getpid()}")
    with connect(missing, offline=tmp_path / "copy.db") as memory, pytest.raises(ConnectionFailed):
        memory.recall("anything")
