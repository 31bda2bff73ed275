"""Passwords in connection strings, with every sign that a URI knows: no message and no log has a part of one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from pgrecall import Client
from pgrecall.cli import main
from pgrecall.config.conninfo import dsn_parts
from pgrecall.errors import ConnectionFailed, PgrecallError
from support.mcp import PATIENCE, stdio_agent

if TYPE_CHECKING:
    from pathlib import Path

HEAD, TAIL = "71", "Xq9tail"
PASSWORDS = [
    HEAD + sign + TAIL
    for sign in ("@", "/", ":", "?", "#", "%", "%40@", "@a@", "/@", ":@", "?/", " ", "=", "'", "\\")
]
URIS = [f"postgresql://me:{password}@127.0.0.1:1/app" for password in PASSWORDS]
ENCODED = [f"postgres://me:{quote(password, safe='')}@127.0.0.1:1/app" for password in PASSWORDS]
PLAIN = [f"host=127.0.0.1 port=1 user=me password={password} dbname=app" for password in PASSWORDS]
DSNS = [*URIS, *ENCODED, *PLAIN, f"postgresql://127.0.0.1:{HEAD}x{TAIL}/app"]

COMMANDS = [
    ["recall", "quokka"],
    ["remember", "quokka"],
    ["status"],
    ["doctor"],
    ["migrate"],
    ["migrate", "--check"],
    ["config"],
    ["config", "set", "k", "5"],
    ["failures"],
    ["graph", "show", "quokka"],
    ["embedder", "--drain"],
    ["shard", "list"],
    ["reembed", "--model", "first"],
    ["offline", "pull", "copy.db"],
]


def _said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    out, err = capsys.readouterr()
    assert caught.value.code in (0, 1), err
    return out + err


@pytest.mark.parametrize("dsn", DSNS)
def test_no_command_tells_a_part_of_it(
    dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for command in COMMANDS:
        told = _said(capsys, *command, "--dsn", dsn)
        assert told, command
        assert TAIL not in told, command


@pytest.mark.parametrize("dsn", [*URIS, *PLAIN])
def test_no_other_address_of_a_database_does(
    dsn: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    good = "postgresql://me@127.0.0.1:1/app"
    assert TAIL not in _said(capsys, "import", "table", "notes", "--from", dsn, "--dsn", good)
    assert TAIL not in _said(capsys, "shard", "init", "--shards", dsn, "--dsn", good)
    assert TAIL not in _said(capsys, "embedder", "--drain", "--listen-dsn", dsn, "--dsn", good)
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    assert TAIL not in _said(capsys, "config")
    assert TAIL not in _said(capsys, "doctor")
    with pytest.raises(PgrecallError) as caught:
        Client(dsn).recall("quokka")
    assert TAIL not in f"{caught.value} {caught.value.hint} {caught.value!r}"


@pytest.mark.parametrize("dsn", [URIS[0], URIS[1], PLAIN[7]])
def test_neither_the_mcp_server_nor_the_daemon_does(dsn: str, tmp_path: Path) -> None:
    log = tmp_path / "log"

    async def work() -> str:
        async with stdio_agent(dsn, log=log) as agent:
            return await agent.refused("memory_recall", query="quokka")

    told = asyncio.run(work())
    daemon = subprocess.run(
        [sys.executable, "-m", "pgrecall_embedder"],
        env={"PGRECALL_DSN": dsn, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert daemon.returncode == 1
    assert "connection" in daemon.stderr
    assert TAIL not in told + log.read_text() + daemon.stdout + daemon.stderr


@pytest.mark.parametrize("dsn", [URIS[0], URIS[1], URIS[7], URIS[8], DSNS[-1]])
def test_what_would_be_torn_is_refused(dsn: str) -> None:
    with pytest.raises(ConnectionFailed, match="misplaced @") as caught:
        dsn_parts(dsn)
    assert caught.value.hint is not None
    assert "%40" in caught.value.hint


@pytest.mark.parametrize(
    ("dsn", "parts"),
    [
        (
            "postgresql://me:a%40b%2Fc%3Ad@db/app",
            {"user": "me", "password": "a@b/c:d", "host": "db", "dbname": "app"},
        ),
        (
            "postgresql://me:a:b@db:5/app",
            {"user": "me", "password": "a:b", "host": "db", "port": "5", "dbname": "app"},
        ),
        ("postgresql://a:1,b:2/app", {"host": "a,b", "port": "1,2", "dbname": "app"}),
        ("postgresql:///app?user=me@server", {"dbname": "app", "user": "me@server"}),
        ("host=db password=a@b/c:d", {"host": "db", "password": "a@b/c:d"}),
        ("", {}),
    ],
)
def test_what_is_meant_is_taken(dsn: str, parts: dict[str, str]) -> None:
    assert dsn_parts(dsn) == parts
