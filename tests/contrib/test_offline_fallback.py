"""The client of the server that falls back to a copy: what it answers, and that what it raises was not done."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import ExitStack
from inspect import signature
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import (
    Client,
    Conflict,
    ConnectionFailed,
    CopyUnusable,
    NeedsServer,
    NotFound,
    PgrecallError,
    TimedOut,
    UnknownLanguage,
)
from pgrecall.admin.migrate import migrate
from pgrecall.contrib.offline import FallbackClient, OfflineClient, connect, connect_async
from pgrecall.server import EmbeddedServer
from support.memories import call, remember, scalar, stored
from support.offline import alive, contents, in_copy, on_server
from support.servers import FAST

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psycopg import Connection

    from pgrecall.contrib.offline import Pushed


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


# -- whose refusal it is


def refused_here(memory: FallbackClient) -> list[str]:
    return [write.kind for write in memory.offline.refused()]


def test_a_refusal_of_anothers_write_is_not_raised(dsn: str, conn: Connection[Any], path: Path) -> None:
    """Another thread or process has queued it after this call began, and this call sends it."""
    with connect(dsn, offline=path) as memory, OfflineClient(path, dsn) as other:
        memory.pull()
        push = memory.offline.push

        def pushed() -> Pushed:
            other.remember("of another", language="klingon")
            return push()

        memory.offline.push = pushed  # type: ignore[method-assign]
        id = memory.remember("tea at four")
        assert id > 0
        assert alive(conn) == ["tea at four"]
        assert refused_here(memory) == ["remember"]  # for the other to see, and to discard


def test_a_refusal_is_raised_whoever_has_sent_the_write(dsn: str, conn: Connection[Any], path: Path) -> None:
    with connect(dsn, offline=path) as memory, OfflineClient(path, dsn) as other:
        memory.pull()
        push = memory.offline.push

        def pushed() -> Pushed:
            assert len(other.push().refused) == 1
            return push()

        memory.offline.push = pushed  # type: ignore[method-assign]
        with pytest.raises(UnknownLanguage):
            memory.remember("in no language", language="klingon")
        assert (refused_here(memory), in_copy(path)) == ([], [])


async def _some_refused(dsn: str, path: Path) -> list[int | BaseException]:
    async with connect_async(dsn, offline=path) as memory:
        await memory.pull()
        languages = ["english", "klingon"] * 4
        calls = (memory.remember(f"tea {at}", language=language) for at, language in enumerate(languages))
        results = await asyncio.gather(*calls, return_exceptions=True)
        assert await memory.offline.refused() == []
        return results


def test_of_calls_at_once_each_raises_its_own_refusal(dsn: str, conn: Connection[Any], path: Path) -> None:
    results = asyncio.run(_some_refused(dsn, path))
    assert all(isinstance(result, int) and result > 0 for result in results[::2])
    assert all(isinstance(result, UnknownLanguage) for result in results[1::2])
    assert sorted(alive(conn)) == [f"tea {at}" for at in range(0, 8, 2)]


def test_an_error_says_which_memories_of_many_are_stored(dsn: str, conn: Connection[Any], path: Path) -> None:
    with connect(dsn, offline=path) as memory:
        with pytest.raises(UnknownLanguage) as caught:
            memory.remember_many(
                [{"content": "one"}, {"content": "two", "language": "klingon"}, {"content": "three"}]
            )
        assert [stored(conn, id)["content"] for id in caught.value.stored] == ["one", "three"] == alive(conn)
        assert (memory.offline.queued(), refused_here(memory)) == ([], [])


# -- what raises was not done

WRITES: dict[str, Callable[[FallbackClient, int, int], object]] = {
    "remember": lambda memory, _id, _other: memory.remember("new"),
    "remember_many": lambda memory, _id, _other: memory.remember_many(
        [{"content": "one"}, {"content": "two"}]
    ),
    "remember again": lambda memory, _id, _other: memory.remember(
        "tea at five", external_id="e", on_conflict="update"
    ),
    "update": lambda memory, id, _other: memory.update(id, content="tea at six", tags=["tea"]),
    "supersede": lambda memory, id, _other: memory.supersede(id, "tea at seven"),
    "succeed": lambda memory, id, other: memory.supersede(id, successor=other, importance=0.125),
    "forget": lambda memory, id, _other: memory.forget(id),
}


@pytest.mark.parametrize("error", [TimedOut, CopyUnusable])
@pytest.mark.parametrize("how", WRITES)
def test_what_raises_can_be_done_again(
    dsn: str, conn: Connection[Any], path: Path, how: str, error: type[PgrecallError]
) -> None:
    id, other = remember(conn, "tea at four", external_id="e"), remember(conn, "cake")
    with connect(make_conninfo(dsn, options="-c statement_timeout=1500"), offline=path) as memory:
        memory.pull()
        before = on_server(conn)
        with ExitStack() as stack:
            if error is TimedOut:
                stack.enter_context(conn.transaction())
                conn.execute("LOCK TABLE pgrecall.memories IN SHARE MODE")
            else:
                move(path, "elsewhere")
            with pytest.raises(error) as caught:
                WRITES[how](memory, id, other)
        assert caught.value.hint
        assert memory.offline.queued() == memory.offline.refused() == []
        assert in_copy(path) == on_server(conn) == before
        move(path, server_of(conn))
        assert WRITES[how](memory, id, other)
        assert memory.offline.queued() == []
        made = {"remember": 1, "remember_many": 2, "supersede": 1}.get(how, 0)
        assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 2 + made
        memory.pull()
        assert in_copy(path) == on_server(conn) != before


def move(path: Path, server: str) -> None:
    """Make the file one of another database."""
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE name = 'server'", (server,))
    connection.close()


def server_of(conn: Connection[Any]) -> str:
    return str(scalar(conn, "SELECT server FROM pgrecall.sync_source()"))


def test_what_was_sent_is_not_raised(
    dsn: str, conn: Connection[Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server has it; the file asks for it once more at the next push, and nothing is stored twice."""

    def too_late(number: int) -> None:
        raise TimedOut(f"{number}")

    with connect(dsn, offline=path) as memory:
        memory.pull()
        with monkeypatch.context() as patched:
            patched.setattr(memory.offline._store, "finish", too_late)
            id = memory.remember("tea")
        assert alive(conn) == ["tea"]
        assert len(memory.offline.queued()) == 1
        assert memory.push().sent == 1
        assert memory.offline.stored_id(id) > 0
        assert alive(conn) == ["tea"]


def test_what_others_have_written_about_it_since_is_kept(
    dsn: str, conn: Connection[Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = remember(conn, "tea")
    with connect(dsn, offline=path) as memory, OfflineClient(path, dsn) as other:
        memory.pull()

        def too_late() -> None:
            other.update(id, title="of another")
            raise TimedOut("no time")

        with monkeypatch.context() as patched:
            patched.setattr(memory.offline, "push", too_late)
            with pytest.raises(TimedOut):
                memory.update(id, tags=["mine"])
        assert [row["title"] for row in in_copy(path)] == ["of another"]
        memory.pull()
        assert in_copy(path) == on_server(conn)
        assert [(row["title"], row["tags"]) for row in in_copy(path)] == [("of another", [])]


async def _cancelled(dsn: str, conn: Connection[Any], path: Path) -> None:
    async with connect_async(dsn, offline=path) as memory:
        await memory.pull()
        with conn.transaction():
            conn.execute("LOCK TABLE pgrecall.memories IN SHARE MODE")
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(memory.remember("tea"), 0.5)
        assert await memory.offline.queued() == []


def test_a_call_that_is_cancelled_can_be_done_again(dsn: str, conn: Connection[Any], path: Path) -> None:
    asyncio.run(_cancelled(dsn, conn, path))
    assert alive(conn) == []


def test_what_is_on_the_server_is_not_raised_when_the_copy_cannot_follow(
    dsn: str, conn: Connection[Any], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_late() -> None:
        raise TimedOut("no time")

    with connect(dsn, offline=path) as memory:
        memory.pull()
        id = remember(conn, "tea")
        monkeypatch.setattr(memory.offline, "pull", too_late)
        assert memory.supersede(id, "coffee") > id
        assert memory.forget(id)


# -- the arguments


def test_what_is_read_once_is_passed_twice(dsn: str, conn: Connection[Any], path: Path) -> None:
    with connect(dsn, offline=path) as memory:
        memory.pull()
        id = remember(conn, "tea", tags=["old"])
        assert memory.update(id, tags=iter(["hot", "green"]))  # the copy lacks it: the server gets them again
        assert stored(conn, id)["tags"] == ["hot", "green"]
    with connect("host=/nonexistent", offline=path) as memory:
        for recall in (memory.recall, memory.timeline):
            assert contents(recall("tea", tags_any=iter(["hot"]))) == ["tea"]
            assert contents(recall("tea", tags_any=iter(["old"]))) == []


def test_an_id_of_the_copy_works_for_what_has_left_it(dsn: str, conn: Connection[Any], path: Path) -> None:
    with connect(dsn, offline=path) as memory:
        memory.pull()
    with connect("host=/nonexistent", offline=path) as memory:
        secret, plain = memory.remember("The password is tiger" + "2041"), memory.remember("no secret")
    with connect(dsn, offline=path) as memory:
        memory.push()
        assert [row["content"] for row in in_copy(path)] == ["no secret"]
        assert memory.update(secret, title="a title")
        assert memory.supersede(secret, successor=plain, origin="web") == memory.offline.stored_id(plain)
        assert memory.forget(secret)


def test_its_methods_take_what_those_of_the_client_take() -> None:
    """But for recall and timeline, which pass on whatever they are given."""
    shared = [name for name in vars(FallbackClient) if not name.startswith("_") and hasattr(Client, name)]
    assert {"remember", "remember_many", "update", "supersede", "forget", "recall", "timeline"} <= {*shared}
    for name in shared:
        theirs = signature(getattr(Client, name)).parameters
        mine = signature(getattr(FallbackClient, name)).parameters
        copys = signature(getattr(OfflineClient, name)).parameters
        if mine.get("options") is None:
            assert dict(mine) == dict(theirs), name
            assert copys.keys() == theirs.keys(), name
