"""docs/mcp.md: the reference is that of the real schemas, the configurations start a server."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from support.mcp import stdio_agent
from tools.mcp_reference import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")


def _blocks(language: str) -> list[str]:
    return re.findall(rf"(?ms)^```{language}\n(.*?)^```$", PAGE)


def _servers() -> list[dict[str, Any]]:
    """The servers of all configurations on the page."""
    found = [json.loads(block) for block in _blocks("json")] + [
        tomllib.loads(block) for block in _blocks("toml")
    ]
    return [
        server
        for one in found
        for key in ("mcpServers", "servers", "mcp_servers")
        for server in one.get(key, {}).values()
    ]


def test_the_reference_is_in_date() -> None:
    assert page(PAGE) == PAGE, "run tools/mcp_reference.py"


def test_the_configurations_start_a_server(dsn: str) -> None:
    local = [server["args"] for server in _servers() if "command" in server]
    assert len(local) == 4
    assert {args[0] for args in local} == {"mcp"}
    assert len({tuple(args) for args in local}) == 2

    async def work() -> None:
        async with stdio_agent(dsn, *local[0][1:]) as agent:
            number = await agent.store("quokka")
            assert await agent.found("quokka") == [number]

    asyncio.run(work())


def test_the_options_are_those_of_the_command() -> None:
    environment = {**os.environ, "COLUMNS": "200", "TERM": "dumb"}
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall", "mcp", "--help"],
        capture_output=True, text=True, check=True, env=environment,
    )  # fmt: skip
    there = set(re.findall(r"--[a-z][a-z-]+", done.stdout))
    table = PAGE.partition("## Options")[2].partition("\n## ")[0]
    named = set(re.findall(r"--[a-z][a-z-]+", table))
    assert named - there == set()
    assert there - named == {"--help"}
