"""Strangers before the token: thousands of connections, and not one of them with a whole request."""

from __future__ import annotations

import asyncio
import socket
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest

from pgrecall.contrib.http_serving import HEADER_SECONDS, MOST_WAITING
from support.mcp import PATIENCE, TOKEN, http_agent, http_server
from support.ui import serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from support.mcp import HttpServer

HALF_OPEN = 1100
LONGEST_LOG = 8192
SLACK = 30.0  # this machine may be busy
REFUSED = b"HTTP/1.1 401"
HEADERS = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
WITH_TOKEN = HEADERS + b"Authorization: Bearer " + TOKEN.encode() + b"\r\n"
BODY_COMES = b"Content-Length: 1000000\r\n\r\n{"


@pytest.fixture(scope="module")
def served(
    new_database: Callable[..., str], template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpServer]:
    """A server that may open no more files than most systems allow a process."""
    log = tmp_path_factory.mktemp("mcp") / "log"
    with http_server(new_database(template), log, open_files=1024) as server:
        yield server


@contextmanager
def _connected(
    url: str, number: int, *, says: bytes = b"", source: str = "127.0.0.1"
) -> Iterator[list[socket.socket]]:
    """So many connections that have all sent the same bytes."""
    parts = urlsplit(url)
    with ExitStack() as stack:
        connections = []
        for _ in range(number):
            connection = stack.enter_context(
                socket.create_connection((parts.hostname, parts.port), PATIENCE, (source, 0))
            )
            with suppress(OSError):  # it may have been closed already, which is what is wanted
                connection.sendall(says)
            connections.append(connection)
        yield connections


def _is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        while data := connection.recv(65_536):
            del data
        return False
    except BlockingIOError:
        return True
    except OSError:
        return False


def _answer(connection: socket.socket) -> bytes:
    connection.settimeout(PATIENCE)
    return connection.recv(65_536)


def _open(connections: list[socket.socket]) -> int:
    return sum(map(_is_open, connections))


def _files(server: HttpServer) -> int:
    return psutil.Process(server.process.pid).num_fds()


async def _is_answered(server: HttpServer) -> None:
    async with asyncio.timeout(PATIENCE), http_agent(server) as agent:
        number = await agent.store(f"quokka {time.monotonic()}")
        assert number in await agent.found("quokka", k=100)


@pytest.mark.parametrize("says", [b"", b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "])
def test_half_open_connections_hold_nothing(served: HttpServer, says: bytes) -> None:
    with _connected(served.url, HALF_OPEN, says=says) as connections:
        began = time.monotonic()
        asyncio.run(_is_answered(served))
        assert _open(connections) <= MOST_WAITING
        assert _files(served) < 2 * MOST_WAITING + 64
        while _open(connections):
            assert time.monotonic() < began + HEADER_SECONDS + SLACK
            time.sleep(0.2)
    assert served.log.stat().st_size < LONGEST_LOG


def test_drops_do_not_move_the_deadline(served: HttpServer) -> None:
    with _connected(served.url, 100, says=b"GET /mcp HTTP/1.1\r\nX-Slow: ") as connections:
        end = time.monotonic() + HEADER_SECONDS + SLACK
        while left := [one for one in connections if _is_open(one)]:
            assert time.monotonic() < end
            for connection in left:
                with suppress(OSError):  # closed meanwhile
                    connection.send(b"x")
            time.sleep(0.5)
        asyncio.run(_is_answered(served))


def test_without_a_token_no_body_is_waited_for(served: HttpServer) -> None:
    with _connected(served.url, 100, says=HEADERS + BODY_COMES) as connections:
        assert all(_answer(one).startswith(REFUSED) for one in connections)
        end = time.monotonic() + HEADER_SECONDS + SLACK
        while left := [one for one in connections if _is_open(one)]:
            assert time.monotonic() < end
            for connection in left:
                with suppress(OSError):  # closed meanwhile
                    connection.send(b" ")
            time.sleep(0.2)


def test_who_asks_and_never_reads_is_let_go(served: HttpServer) -> None:
    """Answers that nobody takes fill the buffers; then there is a deadline."""
    asked = HEADERS + b"Content-Length: 0\r\n\r\n"
    parts = urlsplit(served.url)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.connect((parts.hostname, parts.port))
        connection.settimeout(PATIENCE)
        sent = 0
        with suppress(TimeoutError):
            while sent < 20_000 * len(asked):
                sent += connection.send(asked * 100)
        asyncio.run(_is_answered(served))
        process = psutil.Process(served.process.pid)
        end = time.monotonic() + 30 + 30 + SLACK
        here = connection.getsockname()[1]
        while any(getattr(one.raddr, "port", None) == here for one in process.net_connections("tcp")):
            assert time.monotonic() < end
            time.sleep(0.5)


def test_others_are_not_driven_out(served: HttpServer) -> None:
    """One address has all the connections it can get; those of another wait in peace."""
    with (
        _connected(served.url, MOST_WAITING) as early,
        _connected(served.url, 8, source="127.0.0.2") as calm,
        _connected(served.url, MOST_WAITING) as flood,
    ):
        end = time.monotonic() + HEADER_SECONDS / 2
        while _open(early) > 8:
            assert time.monotonic() < end
            time.sleep(0.1)
        assert _open(calm) == 8
        assert _open(flood) <= MOST_WAITING
        for connection in calm:
            connection.setblocking(True)
            connection.sendall(HEADERS + b"Content-Length: 0\r\n\r\n")
            assert _answer(connection).startswith(REFUSED)


def test_an_agent_at_work_stays(served: HttpServer) -> None:
    async def work() -> None:
        async with http_agent(served) as agent:
            number = await agent.store("wombat")
            for _ in range(3):
                with _connected(served.url, 300):
                    assert await agent.found("wombat") == [number]

    asyncio.run(work())


def test_a_body_with_a_token_has_a_deadline_too(served: HttpServer) -> None:
    with _connected(served.url, 4, says=WITH_TOKEN + BODY_COMES) as connections:
        began = time.monotonic()
        while _open(connections):
            assert time.monotonic() < began + 30 + SLACK
            time.sleep(0.5)


def test_few_files_are_enough(new_database: Callable[..., str], template: str, tmp_path: Path) -> None:
    """A process that may open 256 files neither runs out of them nor writes a traceback for each try."""
    with (
        http_server(new_database(template), tmp_path / "log", open_files=256) as server,
        _connected(server.url, HALF_OPEN),
    ):
        asyncio.run(_is_answered(server))
        assert _files(server) < 200
    log = server.log.read_text()
    assert "Too many open files" not in log
    assert len(log) < LONGEST_LOG


def test_one_line_a_cause(new_database: Callable[..., str], template: str, tmp_path: Path) -> None:
    with http_server(new_database(template), tmp_path / "log") as server:
        for _ in range(300):
            with _connected(server.url, 1, says=b"\x00 no HTTP\r\n\r\n") as [connection]:
                assert _answer(connection).startswith(b"HTTP/1.1 400")
        evil = f"evil-{'x' * 20_000}.example"
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": evil, "Accept": "application/json"}
        with httpx2.Client() as client:
            for _ in range(50):
                assert client.post(server.url, json={}, headers=headers).status_code in (406, 421)
    log = server.log.read_text()
    assert log.count("Invalid HTTP request received") == 2
    assert "299 more times: Invalid HTTP request received" in log
    assert len(log) < LONGEST_LOG


def test_a_connection_that_was_never_used_is_no_line(
    new_database: Callable[..., str], template: str, tmp_path: Path
) -> None:
    begun = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    with http_server(new_database(template), tmp_path / "log") as server:
        with _connected(server.url, 1) as [connection]:
            assert _answer(connection) == b""  # closed by the server, at its deadline
        assert "took too long" not in server.log.read_text()
        with _connected(server.url, 1, says=b"POST") as few, _connected(server.url, 1, says=begun) as more:
            assert [_answer(connection) for connection in (*few, *more)] == [b"", b""]
        assert server.log.read_text().count("took too long") == 1
    # The other one is counted.
    assert "1 more times: closed a connection: the client took too long" in server.log.read_text()


def test_the_inspector_is_served_in_the_same_way(dsn: str) -> None:
    with serving(dsn, lines=5) as address, _connected(address, HALF_OPEN) as connections:
        began = time.monotonic()
        assert httpx2.get(address, timeout=PATIENCE).status_code == 200
        assert _open(connections) <= MOST_WAITING
        while _open(connections):
            assert time.monotonic() < began + HEADER_SECONDS + SLACK
            time.sleep(0.2)
