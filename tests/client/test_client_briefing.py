"""briefing() of the clients and of the command line: its options, its deadline, and that it never fails."""

from __future__ import annotations

import asyncio
import logging
import socket
import threading
import time
from concurrent.futures import Future
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client, InvalidInput, InvalidVector, NewMemory
from pgrecall._async import queries as querying_async
from pgrecall._sync import queries as querying_sync
from pgrecall.cli import main
from pgrecall.concurrency import in_time, in_time_apart, time_left
from pgrecall.errors import TimedOut
from support.briefings import items

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

NOON = datetime(2026, 5, 17, 12, tzinfo=UTC)
SECRET = "the password of the harbour"
LONG = 60.0
"""Seconds in which everything is done: nothing here takes as long unless it hangs."""


def _texts(briefing: str) -> list[str]:
    return [item.text for item in items(briefing)]


def _both(dsn: str, query: str, **options: Any) -> list[str]:
    """What each client says."""

    async def ask() -> str:
        async with AsyncClient(dsn) as memory:
            return await memory.briefing(query, **options)

    with Client(dsn) as memory:
        return [memory.briefing(query, **options), asyncio.run(ask())]


@contextmanager
def _locked(dsn: str, table: str) -> Iterator[None]:
    """Nobody else reads this table meanwhile."""
    with psycopg.connect(dsn) as holder:
        holder.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE".encode())
        yield
        holder.rollback()


def _running(conn: psycopg.Connection[Any]) -> list[str]:
    """Statements of others in this database that have not ended, once they had time to hear of it."""
    query = """
        SELECT query FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active'
          AND backend_type = 'client backend'
    """
    until = time.monotonic() + LONG
    while (found := [text for (text,) in conn.execute(query)]) and time.monotonic() < until:
        time.sleep(0.02)
    return found


# -- what it gives


def test_both_clients_give_what_the_function_gives(dsn: str, conn: psycopg.Connection[Any]) -> None:
    with Client(dsn) as memory:
        memory.remember_many(
            [
                NewMemory(content="tea one <b>", category="a", tags=["x"], occurred_at=NOON, speaker="Priya"),
                NewMemory(content="tea two", category="b", tags=["y"], occurred_at=NOON + timedelta(days=1)),
                NewMemory(content="tea three, a secret", is_sensitive=True, occurred_at=NOON),
            ]
        )
    row = conn.execute("SELECT recall_briefing('tea')").fetchone()
    assert row is not None
    assert len(items(row[0])) == 2
    assert _both(dsn, "tea", embed=False, timeout=LONG) == [row[0]] * 2
    for options, expected in (
        ({"k": 1}, 1),
        ({"categories": ["a"]}, 1),
        ({"tags_any": ["x", "y"]}, 2),
        ({"since": NOON + timedelta(hours=1)}, 1),
        ({"until": NOON + timedelta(hours=1)}, 1),
        ({"max_chars": 200}, 1),
        ({"include_sensitive": True}, 3),
        ({"namespace": "nowhere"}, 0),
        ({"vector": [1.0] * 384}, 2),
    ):  # fmt: skip
        one, other = _both(dsn, "tea", embed=False, timeout=LONG, **options)
        assert one == other
        assert len(items(one)) == expected, options
    with Client(dsn, namespace="nowhere") as memory:
        assert memory.briefing("tea", embed=False, timeout=LONG) == ""


def test_the_query_is_embedded_as_for_recall(dsn: str, conn: psycopg.Connection[Any]) -> None:
    with Client(dsn) as memory:
        number = memory.remember("she keeps a dog")
        conn.execute(
            "UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec WHERE id = %s",
            (number,),
        )
        assert _texts(memory.briefing("the pet of a friend", embed=False, timeout=LONG)) == []
    assert [_texts(text) for text in _both(dsn, "the pet of a friend", timeout=LONG)] == [
        ["she keeps a dog"]
    ] * 2


def test_without_a_question_it_asks_for_recent_things(dsn: str) -> None:
    with Client(dsn) as memory:
        memory.remember("a key fact")
        assert _texts(memory.briefing(timeout=LONG)) == ["a key fact"]


# -- that it never fails


def test_a_server_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    assert _both("host=/nonexistent", SECRET) == ["", ""]
    assert [(record.name, record.levelno) for record in caplog.records] == [("pgrecall", logging.WARNING)] * 2
    assert "ConnectionFailed" in caplog.text
    assert "08006" in caplog.text
    assert SECRET not in caplog.text


def test_a_server_that_says_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert _both(f"host=127.0.0.1 port={port} connect_timeout=2", SECRET, timeout=0.2) == ["", ""]
    assert caplog.text.count("TimedOut") == 2


def test_what_the_server_refuses(dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    with Client(dsn) as memory:
        memory.remember(SECRET)
    for options in ({"k": 0}, {"max_chars": 5}, {"per_item": 5}, {"vector": [1.0]}):
        assert _both(dsn, SECRET, embed=False, timeout=LONG, **options) == ["", ""]
    assert len(caplog.records) == 8
    assert caplog.text.count("InvalidInput, SQLSTATE 22023") == 8
    assert SECRET not in caplog.text


def test_a_closed_client(dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    client = Client(dsn)
    client.close()
    assert client.briefing("tea") == ""
    assert "ConnectionFailed" in caplog.text


def test_a_model_that_breaks(
    dsn: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(query: str, *_: object, **__: object) -> list[float]:
        raise RuntimeError(f"cannot embed {query}")

    monkeypatch.setattr(querying_sync, "embed_query", broken)
    monkeypatch.setattr(querying_async, "embed_query", broken)
    assert _both(dsn, SECRET, timeout=LONG) == ["", ""]
    assert caplog.text.count("no briefing: RuntimeError, SQLSTATE None") == 2
    assert SECRET not in caplog.text


def test_wrong_arguments_are_the_callers_mistake(dsn: str, client: Client) -> None:
    wrong: list[dict[str, Any]] = [
        {"k": "ten"}, {"max_chars": 2.5}, {"timeout": 0}, {"timeout": "3"}, {"timeout": float("inf")},
        {"timeout": True}, {"timeout": 10**400}, {"include_sensitive": "yes"}, {"since": "yesterday"}, {"categories": "work"},
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(InvalidInput):
            client.briefing("tea", **options)
    with pytest.raises(InvalidVector):
        client.briefing("tea", vector=[])


# -- its deadline


@pytest.mark.parametrize("seconds", [3e6, 1e9, 1e300])
def test_a_very_long_time_is_no_limit(client: Client, dsn: str, seconds: float) -> None:
    """A statement of the server may take 25 days at most, and a lock of Python waits for 292 years."""
    client.remember("Priya drinks tea")
    assert "Priya" in client.briefing("tea", embed=False, timeout=seconds)

    async def asynchronously() -> str:
        async with AsyncClient(dsn) as other:
            return await other.briefing("tea", embed=False, timeout=seconds)

    assert "Priya" in asyncio.run(asynchronously())


@pytest.mark.parametrize(
    ("table", "embed"),
    [("pgrecall.memories", False), ("pgrecall.installation", False), ("pgrecall.embedding_models", True)],
)
def test_a_slow_server_leaves_nothing_running(
    dsn: str, conn: psycopg.Connection[Any], caplog: pytest.LogCaptureFixture, table: str, embed: bool
) -> None:
    with Client(dsn) as memory:
        memory.remember("tea")
    with _locked(dsn, table):
        assert _both(dsn, "tea", embed=embed, timeout=0.3) == ["", ""]
        assert _running(conn) == []
    assert caplog.text.count("TimedOut") == 2
    assert [_texts(text) for text in _both(dsn, "tea", embed=False, timeout=LONG)] == [["tea"]] * 2


def test_a_client_goes_on_after_a_briefing_that_came_too_late(dsn: str) -> None:
    async def ask() -> list[str]:
        async with AsyncClient(dsn, pool_max=1) as memory:
            with _locked(dsn, "pgrecall.memories"):
                late = await memory.briefing("tea", embed=False, timeout=0.3)
            return [late, await memory.briefing("tea", embed=False, timeout=LONG)]

    with Client(dsn, pool_max=1) as memory:
        memory.remember("tea")
        with _locked(dsn, "pgrecall.memories"):
            assert memory.briefing("tea", embed=False, timeout=0.3) == ""
        assert _texts(memory.briefing("tea", embed=False, timeout=LONG)) == ["tea"]
    assert [_texts(text) for text in asyncio.run(ask())] == [[], ["tea"]]


def test_a_model_that_takes_long(dsn: str, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on = threading.Event()

    def slow(*_: object, **__: object) -> list[float]:
        assert goes_on.wait(LONG)
        return [1.0] * 384

    async def ask() -> str:
        async with AsyncClient(dsn) as memory:
            await memory.active_model()
            text = await memory.briefing("tea", timeout=0.3)
            goes_on.set()
            return text

    monkeypatch.setattr(querying_sync, "embed_query", slow)
    monkeypatch.setattr(querying_async, "embed_query", slow)
    with Client(dsn) as memory:
        memory.remember("tea")
        memory.active_model()
        assert memory.briefing("tea", timeout=0.3) == ""
        goes_on.set()
    goes_on.clear()
    assert asyncio.run(ask()) == ""


def test_a_lower_statement_timeout_stays(dsn: str, caplog: pytest.LogCaptureFixture) -> None:
    with Client(dsn) as memory:
        memory.remember("tea")
    strict = make_conninfo(dsn, options="-c statement_timeout=50ms")
    # Were the client's 60 seconds in force, this would take as long.
    with _locked(dsn, "pgrecall.memories"):
        assert _both(strict, "tea", embed=False, timeout=LONG) == ["", ""]
    assert caplog.text.count("TimedOut, SQLSTATE 57014") == 2


def test_a_cancelled_caller_cancels_its_briefing(dsn: str, conn: psycopg.Connection[Any]) -> None:
    async def ask() -> None:
        async with AsyncClient(dsn) as memory:
            await memory.open()
            asking = asyncio.create_task(memory.briefing("tea", embed=False, timeout=LONG))
            await asyncio.sleep(0.2)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert await asyncio.to_thread(_running, conn) == []

    with _locked(dsn, "pgrecall.memories"):
        asyncio.run(ask())


def test_a_deadline() -> None:
    def work(answer: int) -> int:
        left = time_left()
        assert left is not None
        assert 0 < left <= LONG
        if answer < 0:
            raise ValueError(answer)
        return answer

    async def asleep(seconds: float) -> float:
        await asyncio.sleep(seconds)
        return seconds

    async def work_async(answer: int) -> int:
        return work(answer)

    assert time_left() is None
    assert in_time_apart(LONG, work, 7) == 7
    assert asyncio.run(in_time(LONG, work_async, 7)) == 7
    with pytest.raises(ValueError, match="-7"):
        in_time_apart(LONG, work, -7)
    with pytest.raises(ValueError, match="-7"):
        asyncio.run(in_time(LONG, work_async, -7))
    with pytest.raises(TimedOut):
        asyncio.run(in_time(0.01, asleep, LONG))
    with pytest.raises(TimedOut):
        in_time_apart(0.01, time.sleep, 0.5)
    assert time_left() is None


def test_an_answer_of_the_last_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    class Late(Future[int]):
        """One that ends just after its time."""

        def result(self, timeout: float | None = None) -> int:
            found = super().result(LONG)
            if timeout is not None:
                raise TimeoutError
            return found

    monkeypatch.setattr("pgrecall.concurrency.Future", Late)
    assert in_time_apart(0.01, int, "7") == 7


def test_time_that_is_over() -> None:
    def late() -> float | None:
        time.sleep(0.05)
        try:
            return time_left()
        except TimedOut:
            over.set()
            raise

    over = threading.Event()
    with pytest.raises(TimedOut):
        in_time_apart(0.01, late)
    assert over.wait(LONG)


# -- the command line


def test_the_command(
    dsn: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", dsn)

    def run(*arguments: str) -> tuple[object, str]:
        with pytest.raises(SystemExit) as caught:
            main(["briefing", *arguments])
        return caught.value.code, capsys.readouterr().out

    with Client(dsn) as memory:
        memory.remember("tea with <milk>", tags=["x"], category="a", occurred_at=NOON)
        memory.remember("a recent conversation", occurred_at=NOON)
        memory.remember("a sensitive tea", is_sensitive=True)
        expected = memory.briefing("tea", embed=False, timeout=LONG)
    assert run("tea", "--no-embed") == (0, expected + "\n")
    assert _texts(run("--no-embed")[1].rstrip("\n")) == ["a recent conversation"]
    assert run("coffee", "--no-embed") == (0, "")
    for options, number in (
        (["--category", "a", "--tag", "x", "--since", "2026-01-01", "--until", "2026-12-01"], 1),
        (["--include-sensitive", "-k", "5", "--max-chars", "500", "--per-item", "50"], 2),
        (["--namespace", "nowhere"], 0),
    ):
        code, out = run("tea", "--no-embed", *options)
        assert (code, len(items(out.rstrip("\n")))) == (0, number)
    assert run("tea", "--dsn", "host=/nonexistent", "--timeout", "5") == (0, "")
    assert run("tea", "--since", "someday")[0] == 2
