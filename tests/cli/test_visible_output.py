"""Whatever others wrote, a command prints visible text: nothing there controls the terminal or hides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb
from typer.main import get_command

import pgrecall.cli
from pgrecall import Client
from pgrecall.cli import app
from pgrecall.cli.common import echo, note, terminal
from pgrecall.formatting import printable
from support.command import commands
from support.facts import fact, read
from support.operations import fail_for_good

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import psycopg

    from support.command import Outcome

    Cli = Callable[..., Outcome]

# Colour, a title, clearing by 8-bit CSI, bell, backspace, delete, return, an override of direction, line ends, a tag.
HOSTILE = "a\x1b[31mred\x1b]0;title\x07\x9b2J\x08\x7f\rover\u202etxt\u2028line\u2029end\x85next\x0b\x0c\U000e0041b\nforged"
UNSEEN = re.compile("[\0-\t\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
HIDDEN = re.compile("[\u200b\U000e0000-\U000e007f]")
SILENT = {
    "embedder": "serves until it is stopped; its log is of another module",
    "mcp": "serves until it is stopped; its output is the protocol",
    "ui": "serves until it is stopped; prints an address",
    "psql": "is replaced by psql",
    "up": "prints an address",
    "down": "prints a path",
    "dsn": "prints an address",
    "scrub": "prints a number",
    "hook capture": "prints nothing",
    "hook recall": "prints a briefing: tests/cli/test_hook_recall.py",
    "graph build": "prints a number",
    "shard init": "needs a router: prints nothing of others",
    "shard add": "needs a router: prints nothing of others",
    "shard list": "needs a router: names go through echo",
    "shard move": "needs a router: names go through echo",
    "shard check": "needs a router: names go through echo",
}

FILES = {"export", "graph export"}


@pytest.fixture
def memory(conn: psycopg.Connection[Any], client: Client) -> int:
    """A memory, a namespace, a worker, a failure, a setting and a graph whose every text is hostile."""
    # What the client refuses, a role with SQL may be able to store.
    client.admin.create_namespace("hostile")
    stored = client.remember(
        f"{HOSTILE} Priya works at Acme",
        title=HOSTILE,
        category="fact",
        tags=[HOSTILE],
        session=HOSTILE,
        speaker=HOSTILE,
        source=HOSTILE,
        external_id=HOSTILE,
        metadata={HOSTILE: HOSTILE},
        namespace="hostile",
    )
    conn.execute("UPDATE pgrecall.memories SET category = %s WHERE id = %s", (HOSTILE, stored))
    read(conn, stored, fact("Priya", "works at", "Acme"))
    conn.execute("UPDATE pgrecall.concepts SET name = name || %s", (HOSTILE,))
    client.update(stored, title=f"{HOSTILE} again")
    conn.execute("UPDATE pgrecall.memory_changes SET role = %s", (HOSTILE,))
    failed = client.remember(f"{HOSTILE} second", namespace="hostile")
    fail_for_good(conn, failed, HOSTILE, error=HOSTILE)
    conn.execute(
        "SELECT pgrecall.heartbeat(gen_random_uuid(), %s, 1, %s, %s, 0, '{1}', 1, %s, 7)",
        (HOSTILE, HOSTILE, HOSTILE, Jsonb([{"model": HOSTILE, "cause": HOSTILE, "until": HOSTILE}])),
    )
    conn.execute("UPDATE pgrecall.embedding_models SET name = %s", (HOSTILE,))
    conn.execute("UPDATE pgrecall.namespaces SET name = %s WHERE name = 'hostile'", (HOSTILE,))
    return stored


def calls(memory: int, folder: Path) -> Mapping[str, list[str]]:
    """Arguments of every command that prints something of others."""
    here = ["-n", HOSTILE]
    lines = folder / "lines.jsonl"
    table = folder / "table.csv"
    notes = folder / "notes"
    notes.mkdir(exist_ok=True)
    (notes / "one.md").write_text(f"---\ntags: {HOSTILE}\n---\n# {HOSTILE}\n\n{HOSTILE}")
    lines.write_text('{"content": "", "external_id": "\\u001b[31m\\u009b"}\nnot json \x1b[31m\n')
    table.write_text(f'content,"{HOSTILE}"\ntea,1,2\n')
    copy = str(folder / "copy.db")
    number = str(memory)
    return {
        "remember": [HOSTILE, "-n", f"{HOSTILE}x"],
        "recall": ["Priya", *here, "--no-embed"],
        "facts": ["Priya", *here, "--no-embed"],
        "timeline": ["Priya", *here, "--no-embed"],
        "briefing": ["Priya", *here, "--no-embed"],
        "explain": ["Priya", *here, "--no-embed"],
        "page set": ["about-user", *here],
        "page show": ["about-user", *here],
        "page list": here,
        "page drop": ["about-user", *here],
        "get": [number],
        "list": here,
        "count": ["-n", f"{HOSTILE}x"],
        "sessions": here,
        "history": [number],
        "update": [number, "--title", HOSTILE],
        "supersede": [number, "--occurred-at", HOSTILE, "x"],
        "forget": ["--session", HOSTILE, *here],
        "restore": [number],
        "erase": ["--session", HOSTILE, "--dry-run", *here],
        "duplicates": here,
        "feedback": [HOSTILE, number, "--no-embed", *here],
        "learn": ["--log", *here],
        "export": here,
        "migrate": ["--check"],
        "reembed": ["--status"],
        "status": [],
        "doctor": [],
        "curate": ["--dry-run", *here],
        "curate log": ["--all", *here],
        "curate undo": ["1"],
        "graph show": ["Priya", *here],
        "graph export": ["--min-mentions", "0", *here],
        "graph merge": ["Priya", f"{HOSTILE}x", *here],
        "graph split": ["1"],
        "graph rules": [HOSTILE, "--keyword", HOSTILE, *here],
        "namespace list": [],
        "namespace create": [f"{HOSTILE}x"],
        "namespace rename": [f"{HOSTILE}y", HOSTILE],
        "namespace retention": [],
        "namespace secrets": [],
        "namespace scan": ["--dry-run"],
        "import file": [str(lines), *here],
        "import sqlite": [str(lines), *here],
        "import jsonl": [str(lines), *here],
        "import table": [HOSTILE, *here],
        "import mem0": [HOSTILE, *here],
        "import langchain": [HOSTILE, *here],
        "import git": [str(folder), *here],
        "import markdown": [str(notes), *here],
        "import claude-code": [str(lines), *here],
        "import codex": [str(lines), *here],
        "import chatgpt": [str(lines), *here],
        "import claude": [str(lines), *here],
        "agent install": ["claude-code", "--project", "--print", "-n", HOSTILE],
        "agent uninstall": ["claude-code", "--project", "--print"],
        "offline pull": [copy, *here],
        "offline push": [copy],
        "offline recall": [copy, "Priya"],
        "offline remember": [copy, HOSTILE],
        "offline status": [copy],
        "offline retry": [copy],
        "offline discard": [copy, "1"],
        "failures": [],
        "failures retry": [],
        "config": [],
        "config get": [HOSTILE],
        "config set": ["namespace", HOSTILE],
        "config unset": [HOSTILE],
    }


def test_every_command_is_tried() -> None:
    assert {*calls(1, Path("/tmp")), *SILENT} == dict(commands(get_command(app))).keys()


@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(cli: Cli, memory: int, tmp_path: Path) -> None:
    showed_something = set()
    for name, arguments in calls(memory, tmp_path).items():
        for more in ([], ["--json"]):
            told = cli(*name.split(), *arguments, *more)
            for text in (told.out, told.err):
                assert UNSEEN.search(text) is None, (name, more, text)
                # JSON keeps the value, and a program reads it.
                if not more and name not in FILES:
                    assert HIDDEN.search(text) is None, (name, text)
                    assert "\nforged" not in text, (name, text)
            if "red" in told.out + told.err:
                showed_something.add(name)
    assert len(showed_something) > 20
    assert {"list", "get", "history", "status", "doctor", "failures", "sessions"} <= showed_something


def test_one_module_prints() -> None:
    folder = Path(pgrecall.cli.__file__).parent
    printing = re.compile(
        r"\b(?:typer|click)\.s?echo\(|(?<![\w.])print\(|sys\.std(?:out|err)\.write\(|(?<![\w.])Console\("
    )
    found = {
        file.name
        for file in folder.glob("*.py")
        for line in file.read_text(encoding="utf-8").splitlines()
        if printing.search(line)
    }
    assert found == {"common.py"}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("  two\n    four", "  two\n    four"),
        ("a\x85b\x9dc", "a b c"),
        ("\x1b[31mred\x1b[0m", " [31mred [0m"),
        ("zero\u200bwidth, soft\u00adhyphen", "zerowidth, softhyphen"),
        ("caf\u00e9 \u4f60\u597d \U0001f600", "caf\u00e9 \u4f60\u597d \U0001f600"),
    ],
)
def test_lines_and_indentation_stay(text: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert printable(text) == shown
    echo(text)
    note(text)
    terminal().print(text, markup=False, soft_wrap=True)
    told = capsys.readouterr()
    assert told.out == f"{shown}\n{shown}\n"
    assert told.err == f"{shown}\n"
