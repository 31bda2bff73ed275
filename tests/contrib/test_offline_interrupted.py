"""Calls that are cancelled or interrupted while they write to an offline copy: what raises is not in the queue."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.contrib.offline import OfflineClient, connect, connect_async, writing
from support.memories import remember
from support.offline import in_copy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psycopg import Connection

    from pgrecall.contrib.offline import AsyncFallbackClient

NOWHERE = "host=/nonexistent"
# A method of the client, with the one of the store that it calls in a thread.
WRITES: dict[str, tuple[str, Callable[[Any, int], Any]]] = {
    "remember": ("remember", lambda memory, _: memory.remember("new")),
    "remember_many": (
        "remember",
        lambda memory, _: memory.remember_many([{"content": "1"}, {"content": "2"}]),
    ),
    "update": ("update", lambda memory, id: memory.update(id, content="tea at six")),
    "supersede": ("supersede", lambda memory, id: memory.supersede(id, "tea at seven")),
    "forget": ("forget", lambda memory, id: memory.forget(id)),
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "copy.db"


@pytest.fixture
def id(dsn: str, conn: Connection[Any], path: Path) -> int:
    """The id of a memory that the copy has."""
    stored = remember(conn, "tea at four")
    with connect(dsn, offline=path) as memory:
        memory.pull()
    return stored


def queued(path: Path) -> int:
    with OfflineClient(path, NOWHERE) as copy:
        return len(copy.queued())


def locked(path: Path) -> sqlite3.Connection:
    """Another program's connection, which holds the file's lock until it is closed."""
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    return other


def done_again(path: Path, id: int, how: str) -> None:
    """Whether nothing is left of the call, and the call stores its memories once when it is done again."""
    assert queued(path) == 0
    assert [row["content"] for row in in_copy(path)] == ["tea at four"]
    with connect(NOWHERE, offline=path) as memory:
        assert WRITES[how][1](memory, id)
    assert queued(path) == (2 if how == "remember_many" else 1)


@pytest.mark.parametrize("how", WRITES)
def test_cancelled_while_it_waits_for_the_file(path: Path, id: int, how: str) -> None:
    async def run() -> float:
        async with connect_async(NOWHERE, offline=path) as memory:
            await memory.offline.status()
            with closing(locked(path)):
                began = time.monotonic()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(WRITES[how][1](memory, id), 0.3)
                waited = time.monotonic() - began
            await asyncio.sleep(0.5)
            return waited

    assert asyncio.run(run()) < 15  # less than the thread would wait for the file
    done_again(path, id, how)


@pytest.mark.parametrize("after_commit", [False, True])
@pytest.mark.parametrize("how", WRITES)
def test_cancelled_while_it_writes(
    path: Path, id: int, how: str, after_commit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_writing = threading.Event()

    def slow(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            result = function(*args)
            is_writing.set()
            time.sleep(0.5)
            return result

        return call

    async def run() -> None:
        async with connect_async(NOWHERE, offline=path) as memory:
            await memory.offline.status()
            name = WRITES[how][0]
            place = memory.offline._store if after_commit else writing
            monkeypatch.setattr(place, name, slow(getattr(place, name)))
            call = asyncio.create_task(WRITES[how][1](memory, id))
            await asyncio.to_thread(is_writing.wait)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(run())
    monkeypatch.undo()
    done_again(path, id, how)


@pytest.mark.parametrize("method", ["stored_id", "refused"])
def test_cancelled_after_it_has_found_no_server(path: Path, id: int, method: str) -> None:
    async def run() -> None:
        async with connect_async(NOWHERE, offline=path) as memory:
            asked = asyncio.Event()

            async def slow(*_: object) -> None:
                asked.set()
                await asyncio.sleep(60)

            setattr(memory.offline, method, slow)
            call = asyncio.create_task(memory.remember("new"))
            await asked.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call

    asyncio.run(run())
    done_again(path, id, "remember")


def test_a_task_that_is_left_when_the_loop_ends(path: Path, id: int) -> None:
    left: list[asyncio.Task[int]] = []

    async def run(memory: AsyncFallbackClient) -> None:
        await memory.offline.status()
        other = locked(path)
        threading.Timer(1.0, other.close).start()
        left.append(asyncio.create_task(memory.remember("new")))
        await asyncio.sleep(0.3)

    asyncio.run(run(connect_async(NOWHERE, offline=path)))
    assert left[0].cancelled()
    done_again(path, id, "remember")


def interrupted(name: str, monkeypatch: pytest.MonkeyPatch, place: Any) -> None:
    function = getattr(place, name)

    def call(*args: Any) -> None:
        function(*args)
        raise KeyboardInterrupt

    monkeypatch.setattr(place, name, call)


@pytest.mark.parametrize("after_commit", [False, True])
@pytest.mark.parametrize("how", WRITES)
def test_an_interrupt(
    path: Path, id: int, how: str, after_commit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, call = WRITES[how]
    with connect(NOWHERE, offline=path) as memory:
        interrupted(name, monkeypatch, memory.offline._store if after_commit else writing)
        with pytest.raises(KeyboardInterrupt):
            call(memory, id)
    monkeypatch.undo()
    done_again(path, id, how)


def test_what_was_rolled_back_withdraws_no_write_of_others(
    path: Path, id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next write gets the place in the queue that the one that was rolled back had."""
    with connect(NOWHERE, offline=path) as memory, OfflineClient(path, NOWHERE) as other:
        store = memory.offline._store
        remember_here = store.remember

        def call(*args: Any) -> None:
            with monkeypatch.context() as patched:
                interrupted("remember", patched, writing)
                with pytest.raises(KeyboardInterrupt):
                    remember_here(*args)
            # In a thread, which is no part of this call.
            thread = threading.Thread(target=lambda: other.update(id, title="of another"))
            thread.start()
            thread.join()
            raise KeyboardInterrupt

        monkeypatch.setattr(store, "remember", call)
        with pytest.raises(KeyboardInterrupt):
            memory.remember("new")
        assert [write.kind for write in memory.offline.queued()] == ["update"]
    assert [row["title"] for row in in_copy(path)] == ["of another"]
