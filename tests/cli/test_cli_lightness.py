"""A command with a running embedder loads no model, and no library that it does not need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client
from support.answering import Model, answering, embed_all

if TYPE_CHECKING:
    import psycopg

HEAVY = {
    "alembic",
    "numpy",
    "pydantic_settings",
    "sentence_transformers",
    "sqlalchemy",
    "torch",
    "transformers",
}
RUN = """
import json, sys
from pgrecall.cli import main
try:
    main(sys.argv[1:])
except SystemExit as end:
    assert not end.code, end.code
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})), file=sys.stderr)
"""
COMMANDS = [
    ("recall", "a pet"),
    ("recall", "a pet", "--json"),
    ("briefing", "a pet"),
    ("timeline", "a pet"),
    ("facts", "which pet is it?"),
    ("remember", "The dog barks."),
    ("list",),
    ("status",),
    ("get", "1"),
]


@pytest.fixture
def model(conn: psycopg.Connection[Any], dsn: str) -> Model:
    """The model of a database with a memory."""
    made = Model()
    with Client(dsn) as client:
        client.remember("The cat sleeps.")
    embed_all(conn, made)
    return made


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_loads_nothing_heavy(dsn: str, model: Model, command: tuple[str, ...]) -> None:
    with answering(dsn, model):
        done = subprocess.run(
            [sys.executable, "-c", RUN, *command],
            env=os.environ | {"PGRECALL_DSN": dsn, "PGRECALL_EMBED_WAIT": "30"},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(json.loads(done.stderr.splitlines()[-1])) == set()
    if command[0] in {"recall", "briefing", "timeline"}:
        assert "The cat sleeps." in done.stdout
        assert model.queries == ["a pet"]
