"""`pgrecall import KIND`: a run that is killed, tenants, and what the command says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import Client, PermissionDenied
from pgrecall.contrib.importers import import_from
from pgrecall.contrib.importers.sqlite import sqlite_source
from support.import_from import note, older_file, outcome, run, stored_memories
from support.memories import remember, scalar, share
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg


@pytest.mark.slow
def test_killed_half_way_and_run_again(dsn: str, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    number = 4000
    file = older_file(tmp_path / "m.db", [note(one) for one in range(number)])
    command = [sys.executable, "-m", "pgrecall", "import", "sqlite", str(file), "--dsn", dsn]
    count = "SELECT count(*) FROM pgrecall.memories"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def has_begun() -> bool:
        assert process.poll() is None
        return bool(scalar(conn, count))

    until(has_begun)
    process.send_signal(signal.SIGKILL)
    process.wait()
    stored = scalar(conn, count)
    assert 0 < stored < number
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"compared with the source: {number} the same" in done.stdout
    found = "SELECT ROW (count(*), count(DISTINCT external_id))::text FROM pgrecall.memories"
    assert scalar(conn, found) == f"({number},{number})"
    with Client(dsn) as client:
        (best, *_) = client.recall("fact number 3999", embed=False)
        assert best.external_id == "sqlite:3999"


def test_a_tenant_imports_into_its_own_namespace_only(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    conn.execute("SELECT pgrecall.create_namespace('ours'), pgrecall.create_namespace('theirs')")
    remember(conn, "not ours", namespace="theirs", external_id="sqlite:1")
    share(conn, "ours")
    file = older_file(tmp_path / "m.db", [note(1)])
    with Client(make_conninfo(dsn, options="-c role=pgrecall_writer")) as writer:
        assert outcome(run(writer, sqlite_source(file), namespace="ours")[0]) == (1, 0, 0, 0)
        with pytest.raises(PermissionDenied):
            run(writer, sqlite_source(file), namespace="theirs")
        # What it may not see is not there for it.
        assert outcome(_dry_run(writer, file, "theirs")) == (1, 0, 0, 0)
    assert set(stored_memories(conn, "theirs")) == {"sqlite:1"}


def _dry_run(client: Client, file: Path, namespace: str) -> Any:
    with sqlite_source(file) as source:
        return import_from(client, source, reject=lambda _: None, namespace=namespace, dry_run=True)


@pytest.fixture
def command(dsn: str) -> Callable[..., subprocess.CompletedProcess[str]]:
    def called(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pgrecall", "import", *arguments],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PGRECALL_DSN": dsn},
        )

    return called


@pytest.mark.slow
def test_the_command_reports_what_it_rejects(
    command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    file = older_file(tmp_path / "m.db", [note(1), note(2, importance=7), note(3, is_sensitive=1)])
    rejected = tmp_path / "rejected.jsonl"
    done = command("sqlite", str(file), "--rejected", str(rejected), "--namespace", "new")
    assert done.returncode == 1
    assert "3 rows: 2 stored, 0 updated, 0 already there" in done.stdout
    assert "1 are sensitive" in done.stdout
    assert "compared with the source: 2 the same" in done.stdout
    assert [json.loads(line) for line in rejected.read_text().splitlines()] == [
        {"place": "id 2", "reason": "importance must lie between 0 and 1"}
    ]
    done = command("sqlite", str(file), "--importance-max", "10", "--namespace", "new", "--dry-run")
    assert done.returncode == 0
    assert "3 rows: 1 would be stored, 0 would be updated, 2 already there" in done.stdout


@pytest.mark.slow
def test_a_file_that_is_none(
    command: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    no_database = tmp_path / "text.db"
    no_database.write_text("tea" * 1000)
    for arguments in (
        ["sqlite", str(tmp_path / "none.db")],
        ["sqlite", str(no_database)],
        ["jsonl", "/none"],
    ):
        done = command(*arguments)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-2].startswith("error: ")
        assert done.stderr.splitlines()[-1].startswith("hint: ")


def test_embeddings_of_another_model_are_not_taken_over(
    command: Callable[..., subprocess.CompletedProcess[str]], conn: psycopg.Connection[Any]
) -> None:
    conn.execute("CREATE TABLE mem0 (id uuid PRIMARY KEY, vector vector(3), payload jsonb)")
    done = command("mem0", "--same-model", "another-model")
    assert done.returncode == 1
    assert "not another-model" in done.stderr
    assert command("mem0").returncode == 0
