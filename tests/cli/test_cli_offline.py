"""`pgrecall offline`: what it prints, and its exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.cli import main
from support.memories import remember, rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from psycopg import Connection


@pytest.fixture
def run(
    dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("PGRECALL_DSN", dsn)
    monkeypatch.setenv("COLUMNS", "200")

    def command(name: str, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(["offline", name, str(tmp_path / "copy.db"), *arguments])
        told = capsys.readouterr()
        return int(caught.value.code or 0), told.out, told.err

    return command


def test_a_day_without_a_server(conn: Connection[Any], run: Callable[..., tuple[int, str, str]]) -> None:
    id = remember(conn, "The bicycle is in the shed", tags=["home"])
    assert run("pull") == (0, "1 fetched, 0 removed: 1 memory of default\n", "")
    code, out, err = run("recall", "bicycle", "--tag", "home")
    assert (code, "in the shed" in out, "offline copy" in err) == (0, True, True)
    assert json.loads(run("recall", "bicycle", "--json")[1])[0]["id"] == id
    assert "nothing found" in run("recall", "xyzzy")[2]
    assert run("remember", "The pump is in the car", "--tag", "home")[1] == "-1\n"
    assert json.loads(run("status", "--json")[1])["queued"] == 1
    assert run("push") == (0, "1 sent\n", "")
    assert "2 memories of default" in run("status")[1]


def test_what_was_refused_and_what_was_settled(
    conn: Connection[Any], tmp_path: Path, run: Callable[..., tuple[int, str, str]]
) -> None:
    from pgrecall.contrib.offline import OfflineClient

    id = remember(conn, "a memory")
    run("pull")
    with OfflineClient(tmp_path / "copy.db") as copy:
        copy.remember("x", language="klingon")
        copy.forget(id)
    rows(conn, "update_memory", id, content="another text")
    conn.execute("UPDATE pgrecall.memories SET updated_at = updated_at + interval '1 hour'")
    code, out, _ = run("pull")
    assert code == 0
    assert f"conflict: memory {id} is now as the server had it" in out
    assert "refused: 1 (remember -1): there is no text-search configuration" in out
    assert "refused: 1" in run("status")[1]
    assert run("retry")[1] == "1 queued\n"
    run("push")
    assert run("discard", "1")[1] == "discarded\n"
    code, out, err = run("discard", "1")
    assert (code, out) == (1, "")
    assert "hint:" in err


def test_no_copy(run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = run("recall", "x")
    assert (code, out) == (1, "")
    assert err.splitlines()[1].startswith("hint: `pgrecall offline pull`")
