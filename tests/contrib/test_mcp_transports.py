"""The transports: what is on standard output, who may connect, and what becomes of a server left alone."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import psutil
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall.cli import main
from pgrecall.installing import install_command
from support.mcp import PATIENCE, TOKEN, Relay, agent_here, command, http_agent, http_server, stdio_agent
from support.memories import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from support.mcp import HttpServer

CANARY = "xyzzy-canary-4711"
SECRET = "sesame-4711"
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "raw", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
HEADERS = {
    "Authorization": f"Bearer {TOKEN}",
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
}


def _call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


# -- standard input and output


def test_nothing_but_the_protocol_is_on_standard_output(dsn: str) -> None:
    said: list[Any] = [
        INITIALIZE,
        INITIALIZED,
        f"no JSON, but {CANARY}",
        "[1, 2",
        "\x1b[31m",
        {"jsonrpc": "2.0", "id": 2, "method": CANARY},
        _call(3, "memory_store", content=CANARY),
        _call(4, "memory_recall", query=CANARY),
        _call(5, "memory_store", content=CANARY, importance=7),
        _call(6, "memory_recall", query=CANARY, k=CANARY),
        _call(7, "memory_update", id=12345, title=CANARY),
        _call(8, "memory_store", content=CANARY * 20_000),
        {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"arguments": CANARY}},
    ]
    process = subprocess.Popen(
        command(dsn), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for line in said:
        process.stdin.write(f"{line if isinstance(line, str) else json.dumps(line)}\n")
    process.stdin.flush()
    answered: dict[int, Any] = {}
    while len(answered) < 9:
        message = json.loads(process.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        if message.get("id") is not None:
            answered[message["id"]] = message
    # The end of its input ends it.
    out, log = process.communicate(timeout=PATIENCE)
    assert out == ""
    assert process.returncode == 0
    assert answered.keys() == set(range(1, 10))
    assert "error" in answered[2]
    assert "error" in answered[9]
    assert answered[3]["result"]["structuredContent"]["id"] > 0
    assert [answered[number]["result"]["isError"] for number in range(3, 9)] == [
        False, False, True, True, True, True,
    ]  # fmt: skip
    assert "memory_store: ok" in log
    assert CANARY not in log


def test_what_the_sdk_cannot_read_is_answered(dsn: str) -> None:
    deep = '{"a":' * 300 + "1" + "}" * 300
    call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"memory_store","arguments":%s}}'
    said = [
        json.dumps(INITIALIZE),
        json.dumps(INITIALIZED),
        call % (2, '{"content":"half \\ud83d of an emoji, a whole one: \\ud83d\\ude00"}'),
        call % (3, f'{{"content":"tea","tags":{deep}}}'),
        call % (4, '{"content":"tea","importance":NaN}'),
        call % (5, '{"content":"tea","importance":%s}' % ("9" * 5000)),
        call % ('"\\udc00"', "{}"),
        '{"jsonrpc":"2.0","method":"notifications/\\ud83d"}',
        "[" * 100_000,
        '{"jsonrpc":"2.0","id":9,"method":"ping"}',
    ]
    process = subprocess.Popen(command(dsn), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(f"{line}\n" for line in said))
    process.stdin.flush()
    hurry = threading.Timer(PATIENCE, process.kill)
    hurry.start()
    answered: dict[int, Any] = {}
    while not {1, 2, 3, 4, 5, 9} <= answered.keys():
        message = json.loads(process.stdout.readline())
        answered[message.get("id")] = message
    hurry.cancel()
    process.communicate(timeout=PATIENCE)
    assert answered[2]["result"]["structuredContent"]["id"] > 0
    for number in (3, 4, 5):
        assert "error" in answered[number] or answered[number]["result"]["isError"]
    with psycopg.connect(dsn) as conn:
        assert conn.execute("SELECT content FROM pgrecall.memories").fetchall() == [
            ("half \ufffd of an emoji, a whole one: \U0001f600",)
        ]


def test_the_log_says_where_and_not_what() -> None:
    program = """
import logging, sys
from pgrecall.contrib.mcp.server import log_to_stderr
log_to_stderr()
try:
    try:
        int(sys.argv[1])
    except ValueError as error:
        raise RuntimeError(sys.argv[1]) from error
except RuntimeError:
    logging.getLogger("mcp").exception("a tool failed")
logging.getLogger("mcp").info(sys.argv[1])
"""
    done = subprocess.run(
        [sys.executable, "-c", program, CANARY], capture_output=True, text=True, check=True, timeout=PATIENCE
    )
    assert done.stdout == ""
    [line] = done.stderr.splitlines()
    assert line.endswith(" ERROR mcp: a tool failed (ValueError at <string>:7)")
    assert CANARY not in line


@pytest.mark.slow
def test_a_server_ends_with_its_client(dsn: str) -> None:
    agent = """
import asyncio, sys
from support.mcp import stdio_agent
async def work():
    async with stdio_agent(sys.argv[1]) as agent:
        await agent.store("quokka")
        print("ready", flush=True)
        await asyncio.sleep(600)
asyncio.run(work())
"""
    tests = str(Path(__file__).resolve().parents[1])
    path = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    client = subprocess.Popen(
        [sys.executable, "-c", agent, dsn],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert client.stdout is not None
    assert client.stdout.readline() == "ready\n"
    [server] = psutil.Process(client.pid).children(recursive=True)
    assert "mcp" in server.cmdline()
    client.kill()
    client.communicate()
    gone, alive = psutil.wait_procs([server], timeout=PATIENCE)
    assert gone == [server]
    assert alive == []


# -- the database comes and goes


@pytest.mark.slow
def test_the_database_goes_and_comes_back(dsn: str, tmp_path: Path) -> None:
    from mcp.shared.exceptions import MCPError

    log = tmp_path / "log"

    async def work() -> None:
        relay = Relay(dsn)
        await relay.up()
        target = make_conninfo(relay.dsn, password=SECRET)
        async with stdio_agent(target, log=log) as agent:
            number = await agent.store("quokka")
            await relay.down()

            async def read(uri: str) -> str:
                with pytest.raises(MCPError) as caught:
                    await agent.client.read_resource(uri)
                return str(caught.value)

            # At the same time, since each waits a while for the database.
            for told in await asyncio.gather(
                agent.refused("memory_recall", query="quokka"),
                agent.refused("memory_store", content="wombat"),
                agent.refused("memory_forget", id=number),
                read("pgrecall://briefing"),
                read("pgrecall://briefing/quokka"),
            ):
                assert "the memory database cannot be reached" in told
                assert "PGRECALL_DSN" in told
                assert SECRET not in told
                assert "127.0.0.1" not in told
            await relay.up()
            async with asyncio.timeout(PATIENCE):
                while (await agent.called("memory_recall", query="quokka")).is_error:
                    await asyncio.sleep(0.05)
            assert await agent.found("quokka") == [number]
        await relay.down()
        async with stdio_agent(target, log=log) as late:
            assert "cannot be reached" in await late.refused("memory_recall", query="quokka")
            await relay.up()
            assert await late.found("quokka") == [number]
        await relay.down()

    asyncio.run(work())
    with psycopg.connect(dsn) as conn:
        assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE deleted_at IS NULL") == 1
    assert SECRET not in log.read_text()


def test_a_database_without_pgrecall(database: Callable[..., AbstractContextManager[str]]) -> None:
    from mcp.shared.exceptions import MCPError

    async def work(dsn: str) -> None:
        async with agent_here(dsn) as agent:
            told = await agent.refused("memory_recall", query="quokka")
            assert "pgrecall migrate" in told
            assert str(conninfo_to_dict(dsn)["dbname"]) in told
            with pytest.raises(MCPError, match="pgrecall migrate"):
                await agent.client.get_prompt("memory_briefing", {"topic": "quokka"})

    with database() as empty:
        asyncio.run(work(empty))


# -- HTTP


@pytest.fixture(scope="module")
def served(
    new_database: Callable[..., str], template: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HttpServer]:
    """One server for all tests that only ask of one; each says things of its own."""
    log = tmp_path_factory.mktemp("mcp") / "log"
    with http_server(new_database(template), log, "--allowed-host", "memory.example.org") as server:
        yield server


def _status(url: str, **headers: str) -> int:
    given = {**HEADERS, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return httpx2.post(url, json=INITIALIZE, headers=given, timeout=PATIENCE).status_code


def test_who_may_connect(served: HttpServer) -> None:
    url = served.url
    assert _status(url) == 200
    for wrong in (
        "",
        "Bearer",
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Basic {TOKEN}",
        TOKEN,
    ):
        assert _status(url, Authorization=wrong) == 401, wrong
    odd = [(name.encode(), value.encode()) for name, value in HEADERS.items() if name != "Authorization"]
    refused = httpx2.post(url, json=INITIALIZE, headers=[*odd, (b"Authorization", b"Bearer w\xf6rd")])
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"].startswith("Bearer ")
    for method in ("GET", "DELETE"):
        assert httpx2.request(method, url, timeout=PATIENCE).status_code == 401
    assert httpx2.get(url.replace("/mcp", "/other"), headers=HEADERS).status_code == 404

    port = url.split(":")[2].removesuffix("/mcp")
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", "memory.example.org", "memory.example.org:8443"):
        assert _status(url, Host=host) == 200, host
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "localhost.evil.example",
        "memory.example.org.evil.example:1",
    ):
        assert _status(url, Host=host) == 421, host
    assert _status(url, Origin="https://memory.example.org") == 200
    assert _status(url, Origin=f"http://localhost:{port}") == 200
    for origin in ("https://evil.example", "null", "http://localhost.evil.example", "file://"):
        assert _status(url, Origin=origin) == 403, origin
    assert TOKEN not in served.log.read_text()


def test_a_body_may_be_large_but_not_without_end(served: HttpServer) -> None:
    async def work() -> None:
        async with http_agent(served) as agent:
            number = await agent.store("bilby " + CANARY * 14_000)  # 240 kB
            assert await agent.found("bilby") == [number]
            assert await agent.refused("memory_store", content=CANARY * 20_000)

    asyncio.run(work())
    too_large = _call(1, "memory_store", content="q" * 8 * 2**20)
    assert httpx2.post(served.url, json=too_large, headers=HEADERS, timeout=PATIENCE).status_code == 413
    assert CANARY not in served.log.read_text()


def test_two_agents_at_once(served: HttpServer) -> None:
    async def stores(name: str) -> list[int]:
        async with http_agent(served) as agent:
            ids = [await agent.store(f"{name} number {number}", tags=[name]) for number in range(8)]
            assert sorted(await agent.found(name, tags=[name])) == ids
            return ids

    async def both() -> tuple[list[int], list[int]]:
        first, second = await asyncio.gather(stores("quokka"), stores("wombat"))
        return first, second

    first, second = asyncio.run(both())
    assert not set(first) & set(second)
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'pgrecall'"
    with psycopg.connect(served.dsn) as conn:
        assert 1 <= scalar(conn, query) <= 4  # one pool for all sessions


# -- what is refused at the start


@pytest.mark.parametrize(
    ("environment", "arguments", "told"),
    [
        ({}, [], "needs a token"),
        ({}, ["--host", "0.0.0.0"], "needs a token"),  # noqa: S104 - that is the test
        ({"": "short"}, [], "less than 16 characters"),
        ({"": "two words in one token"}, [], "holds no key"),
        ({"": TOKEN, "_FILE": "/nonexistent"}, [], "exclude each other"),
        ({"_FILE": "/nonexistent"}, [], "cannot be read"),
        ({"": TOKEN}, ["--host", "0.0.0.0"], "every address of this machine"),  # noqa: S104
        ({"": TOKEN}, ["--host", "::"], "every address of this machine"),
        ({"": TOKEN}, ["--host", "192.0.2.1"], "cannot listen on 192.0.2.1"),
    ],
)
def test_what_it_does_not_start_with(
    environment: dict[str, str],
    arguments: list[str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for suffix, value in environment.items():
        monkeypatch.setenv(f"PGRECALL_MCP_TOKEN{suffix}", value)
    with pytest.raises(SystemExit) as caught:
        main(["mcp", "--http", "--port", "0", "--dsn", "host=/nonexistent", *arguments])
    out, errors = capsys.readouterr()
    assert (caught.value.code, out) == (1, "")
    assert told in errors
    assert "hint: " in errors or "cannot be read" in errors
    assert "short" not in errors.splitlines()[0] or told.startswith("less")
    assert TOKEN not in errors


def test_a_server_that_is_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    with pytest.raises(SystemExit):
        main(["mcp"])
    assert install_command("mcp") in capsys.readouterr().err


def test_the_token_may_be_in_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pgrecall.contrib.mcp.http import token

    file = tmp_path / "token"
    file.write_text(f"{TOKEN}\n")
    monkeypatch.setenv("PGRECALL_MCP_TOKEN_FILE", str(file))
    assert token().get_secret_value() == TOKEN
    assert TOKEN not in repr(token())
