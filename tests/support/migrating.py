"""What the tests of migrations share."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg

from pgrecall.server import binaries

ROOT = Path(__file__).resolve().parents[2]
HEAD = "0018"
BEFORE_INDEX = "0001"
BEFORE_POSTINGS = "0004"
BEFORE_GRAPH = "0007"
BEFORE_GENERATIONS = "0008"
BEFORE_PYTHON = "0011"
BEFORE_LAST = "0017"
BGE_LARGE = "BAAI/bge-large-en-v1.5"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
SECONDS = 60
MIGRATE = "import sys; from pgrecall.install import migrate; migrate(sys.argv[1])"


def run(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own; return its rows."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        cursor = conn.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def schema(dsn: str) -> str:
    """Return everything but data that a dump of the database holds, and the settings of the database."""
    dumped = subprocess.run(
        [binaries() / "pg_dump", "--schema-only", "--dbname", dsn],
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    ).stdout
    settings = run(
        dsn,
        "SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase "
        "WHERE datname = current_database()",
    )
    # \restrict and \unrestrict carry a random word, pg_attver (Debian's 15) a number of the session.
    noise = r"(?m)^(\\(un)?restrict |.* SET \(pg_attver=).*\n"
    return re.sub(noise, "", dumped) + f"-- settings {settings}\n"


def vector(dimension: int, *values: float) -> str:
    return str([*values, *[0.0] * (dimension - len(values))])


def index_is_valid(dsn: str) -> bool:
    rows = run(
        dsn, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'pgrecall.memories_embedding_idx'::regclass"
    )
    return rows == [(True,)]


def wait_for(dsn: str, condition: str) -> None:
    deadline = time.monotonic() + SECONDS
    while run(dsn, f"SELECT {condition}") != [(True,)]:
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


def installer(dsn: str) -> subprocess.Popen[bytes]:
    """Start a process that migrates."""
    return subprocess.Popen([sys.executable, "-c", MIGRATE, dsn], stderr=subprocess.PIPE)


def alembic(*arguments: str, dsn: str | None, ini: Path = ROOT / "alembic.ini") -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PGRECALL_DSN"}
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-c", str(ini), *arguments],
        env=environment if dsn is None else environment | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr
