"""What the tests of the MCP server share: real server processes, the SDK's own client, and a session's script.

Every worker imports this, and few run what needs the SDK, which takes a second: it is imported where it is used.
"""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import time
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import psycopg
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from mcp import Client, StdioServerParameters
    from mcp.types import CallToolResult

TOKEN = "3b1f0c52e7d94a86b0c1-test-token"
PATIENCE = 120.0

FACTS = {
    "coffee": "Priya drinks her coffee black, without sugar.",
    "dentist": "Priya's dentist is Dr. Okafor on Elm Street.",
    "flight": "The flight to Lisbon leaves on 3 June at 07:40.",
    "database": "The staging database runs on host db7.",
    "deploy": "Releases of the billing service go out on Fridays.",
    "oncall": "Tomas is on call for the payment gateway this quarter.",
    "dog": "The family dog is a beagle called Momo.",
    "allergy": "Priya's son Ravi is allergic to peanuts.",
    "car": "The car was serviced in March at the garage in Holt.",
    "book": "Priya is reading a biography of Ada Lovelace.",
    "school": "Ravi goes to Greenfield primary school.",
    "budget": "The travel budget for this year is 4,000 euros.",
    "editor": "Priya edits code in Neovim with the gruvbox theme.",
    "meeting": "The design review takes place on Tuesdays at ten.",
    "license": "The parser library is licensed under Apache 2.0.",
    "backup": "Nightly backups are written to the Frankfurt bucket.",
    "guitar": "Tomas plays bass guitar in a band called Low Tide.",
    "plant": "The monstera needs water every nine days.",
    "wifi": "The router in the attic has a weak wireless signal.",
    "address": "Priya lives in an apartment on Harbour Road.",
}
"""What a session stores."""
CHANGES = {
    "database": ("memory_supersede", "The staging database runs on host db12."),
    "deploy": ("memory_supersede", "Releases of the billing service go out on Mondays."),
    "address": ("memory_update", "Priya lives in a house on Mill Lane."),
}
"""What turns out to be otherwise later."""
QUESTIONS = {
    "Which machine does staging use for its database?": "database",
    "What weekday are billing releases shipped?": "deploy",
    "Where is Priya living?": "address",
    "Is there any food Ravi must avoid because he is allergic?": "allergy",
    "Who do we phone when the payment gateway is down?": "oncall",
    "At what time does our plane to Lisbon depart?": "flight",
    "What kind of pet does the family have, a dog or a cat?": "dog",
    "How much money may we spend on travel?": "budget",
    "Where do the nightly backup files end up?": "backup",
    "How does Priya take her coffee?": "coffee",
}
"""What is asked then, in other words, and which fact answers it."""
PARAPHRASES = {
    "What must the boy not eat?": "allergy",
    "Who gets woken when payments break?": "oncall",
    "What time do we take off for Portugal?": "flight",
    "On which server is the pre-production data kept?": "database",
}
"""What nearly no word of the fact answers: only its meaning does."""


@dataclass(frozen=True)
class Agent:
    """A session of the SDK's client, as a test speaks to it."""

    client: Client

    async def called(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(tool, arguments)

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that goes well."""
        result = await self.called(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert isinstance(result.structured_content, dict)
        return result.structured_content

    async def refused(self, tool: str, **arguments: Any) -> str:
        """The text of a call that does not: one line, for the eyes of an agent."""
        result = await self.called(tool, **arguments)
        assert result.is_error
        text = text_of(result)
        assert text.endswith("."), text
        assert "\n" not in text
        for word in ("Traceback", "psycopg", "Error executing", "pydantic", "postgres", "host="):
            assert word not in text, text
        return text

    async def store(self, content: str, **fields: Any) -> int:
        return int((await self.call("memory_store", content=content, **fields))["id"])

    async def found(self, query: str, **options: Any) -> list[int]:
        recalled = await self.call("memory_recall", query=query, **options)
        return [memory["id"] for memory in recalled["memories"]]

    async def contents(self, query: str, **options: Any) -> list[str]:
        recalled = await self.call("memory_recall", query=query, **options)
        return [memory["content"] for memory in recalled["memories"]]


def text_of(result: CallToolResult) -> str:
    from mcp.types import TextContent

    [block] = result.content
    assert isinstance(block, TextContent)
    return block.text


def command(dsn: str, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "pgrecall", "mcp", "--dsn", dsn, *arguments]


def stdio_server(dsn: str, *arguments: str) -> StdioServerParameters:
    from mcp import StdioServerParameters

    python, *rest = command(dsn, *arguments)
    inherited = {name: os.environ[name] for name in ("PYTHONPATH", "PGRECALL_CONFIG") if name in os.environ}
    return StdioServerParameters(command=python, args=rest, env=inherited)


@asynccontextmanager
async def stdio_agent(dsn: str, *arguments: str, log: Path | None = None) -> AsyncIterator[Agent]:
    """An agent and the server process that it has started itself."""
    from mcp import Client
    from mcp.client.stdio import stdio_client

    with nullcontext(sys.stderr) if log is None else log.open("a") as errors:
        async with Client(stdio_client(stdio_server(dsn, *arguments), errlog=errors)) as client:
            yield Agent(client)


@dataclass(frozen=True)
class HttpServer:
    """A server process that listens."""

    url: str
    dsn: str
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def http_server(dsn: str, log: Path, *arguments: str, open_files: int | None = None) -> Iterator[HttpServer]:
    """A server over HTTP, in a process of its own, which may have so many files open."""

    def limited() -> None:
        if open_files is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (open_files, open_files))

    with log.open("wb") as written:
        process = subprocess.Popen(
            command(dsn, "--http", "--port", "0", *arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=written,
            env={**os.environ, "PGRECALL_MCP_TOKEN": TOKEN},
            preexec_fn=limited,
        )
    try:
        yield HttpServer(asyncio.run(_url(process, log)), dsn, process, log)
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=PATIENCE)
        assert out == b""


async def _url(process: subprocess.Popen[bytes], log: Path) -> str:
    async with asyncio.timeout(PATIENCE):
        while True:
            for line in log.read_text().splitlines():
                if line.startswith("listening on "):
                    return line.removeprefix("listening on ")
            assert process.poll() is None, log.read_text()
            await asyncio.sleep(0.02)


@asynccontextmanager
async def http_agent(server: HttpServer) -> AsyncIterator[Agent]:
    """An agent of a server that listens."""
    from mcp import Client
    from mcp.client.streamable_http import streamable_http_client

    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as http,
        Client(streamable_http_client(server.url, http_client=http)) as client,
    ):
        yield Agent(client)


@asynccontextmanager
async def agent_here(dsn: str, **serving: Any) -> AsyncIterator[Agent]:
    """An agent of a server in this process: what is started with other options."""
    from mcp import Client

    from pgrecall.contrib.mcp.server import MemoryServer
    from pgrecall.contrib.mcp.serving import Serving

    async with (
        AsyncClient(dsn, pool_timeout=5) as memory,
        Client(MemoryServer(memory, Serving(**serving))) as client,
    ):
        yield Agent(client)


_PORT_SECONDS = 30


class Relay:
    """A port through which a server can be reached, or not."""

    def __init__(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            self._target = connection.info.host, connection.info.port
        self._server: asyncio.Server | None = None
        self._port = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._dsn = dsn

    @property
    def dsn(self) -> str:
        return make_conninfo(
            self._dsn, host="127.0.0.1", port=self._port, sslmode="disable", gssencmode="disable"
        )

    async def up(self) -> None:
        # While the relay was down, another process may have got its port for an outgoing connection.
        deadline = time.monotonic() + _PORT_SECONDS
        while self._server is None or not self._server.is_serving():
            try:
                self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
            except OSError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)
        self._port = self._server.sockets[0].getsockname()[1]

    async def down(self) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        host, port = self._target
        there = (
            await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
            if host.startswith("/")
            else await asyncio.open_connection(host, port)
        )
        try:
            await asyncio.wait(
                [asyncio.create_task(_copy(reader, there[1])), asyncio.create_task(_copy(there[0], writer))],
                return_when=asyncio.FIRST_COMPLETED,
            )
        except asyncio.CancelledError:
            pass  # asyncio's own callback would print it
        finally:
            for end in (writer, there[1]):
                end.transport.abort()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass  # it ends with the connection, however that ends
