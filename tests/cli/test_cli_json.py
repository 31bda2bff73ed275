"""Every command that prints takes --json."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from pgrecall.cli import app
from support.command import commands

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from support.command import Outcome

WITHOUT = {
    "embedder": "serves until it is stopped; its log has --log-json",
    "mcp": "serves until it is stopped; its output is the protocol",
    "ui": "serves until it is stopped",
    "psql": "is replaced by psql",
    "agent install": "prints a difference of files",
    "agent uninstall": "prints a difference of files",
    "hook capture": "an agent calls it",
    "hook recall": "an agent calls it; its output is what the agent takes",
    "export": "writes JSON Lines",
    "graph export": "writes GraphML or DOT",
    "feedback": "prints nothing",
    "namespace create": "prints nothing",
    "namespace rename": "prints nothing",
    "page drop": "prints nothing",
    "page set": "prints nothing",
}


def test_every_command_that_prints_has_json() -> None:
    without = {
        name
        for name, command in commands(get_command(app))
        if not any("--json" in option.opts for option in command.params)
    }
    assert without == set(WITHOUT)


@pytest.mark.parametrize("name", [name for name, reason in WITHOUT.items() if reason == "prints nothing"])
def test_what_has_no_json_prints_nothing(name: str, cli: Callable[..., Outcome]) -> None:
    number = cli("remember", "Priya likes tea", "--namespace", "new", "--create-namespace").out.strip()
    arguments = {
        "feedback": ["tea", number, "--namespace", "new", "--no-embed"],
        "namespace create": ["other"],
        "namespace rename": ["new", "newer"],
        "page drop": ["about-user", "--namespace", "new"],
        "page set": ["--namespace", "new"],
    }[name]
    if name == "page drop":
        cli("page", "set", "--namespace", "new")
    outcome = cli(*name.split(), *arguments)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")


def test_writing_commands_print_one_json_value(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    def found(*arguments: object) -> Any:
        outcome = cli(*map(str, arguments), "--json")
        assert outcome.code == 0, outcome
        return json.loads(outcome.out)

    one = found("remember", "Priya likes tea")["id"]
    assert found("count") == {"memories": 1}
    assert found("update", one, "--title", "tea") == {"id": one, "changed": True}
    two = found("supersede", one, "Priya likes coffee")["id"]
    assert found("forget", two) == {"forgotten": 1}
    assert found("restore", two) == {"restored": 1}
    assert found("forget", "--tag", "tea", "--dry-run") == {"to_forget": 0}
    assert found("failures", "retry") == {"retried": 0}
    assert found("config", "set", "rrf_k", "50")["value"] == "50"
    assert found("config", "unset", "rrf_k")["source"] == "default"
    assert found("migrate")["changed"] is False
    assert found("migrate", "--check")["current"] is True
    assert found("reembed", "--status")["generations"]
    assert {"connection", "schema"} <= {check["check_name"] for check in found("doctor")}
    assert "tea" in found("briefing", "tea", "--no-embed")["text"]
    assert found("graph", "rules", "PROJECT", "--keyword", "Helios")["keywords"] == ["Helios"]
    file = tmp_path / "notes.csv"
    file.write_text("content\nPriya has a cat\n")
    assert found("import", file)["stored"] == 1
    notes = tmp_path / "notes.md"
    notes.write_text("# Tea\n\nGreen.\n")
    imported = found("import", "markdown", notes)
    assert (imported["stored"], imported["compared"]["same"]) == (1, 1)


def test_a_migration_that_is_needed_is_told_in_json(
    cli: Callable[..., Outcome], new_database: Callable[..., str]
) -> None:
    outcome = cli("migrate", "--check", "--json", "--dsn", new_database())
    assert outcome.code == 1
    assert json.loads(outcome.out)["problems"]


# -- one family of imports


def test_import_reads_a_kind_before_a_file(
    cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "git").write_text('{"content": "tea"}\n')
    assert cli("import", "git").code == 2
    assert cli("import", "./git").out == "1 memory stored\n"
    assert cli("import", "file", "git").out == "1 memory stored\n"
    assert cli("import", "--format", "jsonl", "git").out == "1 memory stored\n"


def test_import_names_the_command_that_reads_what_it_cannot(
    cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    def said(file: object) -> str:
        outcome = cli("import", str(file))
        assert (outcome.code, outcome.out) == (2, "")
        return " ".join(outcome.err.replace("│", " ").split())

    assert "did you mean `pgrecall import mem0`?" in said("memo")
    assert "pgrecall import markdown" in said(tmp_path)
    (tmp_path / ".git").mkdir()
    assert "pgrecall import git" in said(tmp_path)
    file = tmp_path / "memories.db"
    file.write_bytes(b"SQLite format 3\0 and more")
    assert "pgrecall import sqlite" in said(file)
    assert "did you mean" not in said(tmp_path / "notes.csv")


def test_import_lists_every_kind(cli: Callable[..., Outcome]) -> None:
    from pgrecall.cli.import_files import KINDS

    group: Any = get_command(app)
    assert set(group.commands["import"].commands) == {"file", *KINDS}
    assert all(kind in cli("import", "--help").out for kind in KINDS)


# -- what is mistyped


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["remembr", "tea"], "remember"),
        (["namespace", "lst"], "list"),
        (["import-from", "mem0"], "import"),
        (["import", "markdwn", "notes"], "markdown"),
        (["recall", "tea", "--namespce", "x"], "--namespace"),
    ],
)
def test_the_nearest_command_or_option_is_named(
    cli: Callable[..., Outcome], arguments: list[str], meant: str
) -> None:
    outcome = cli(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert meant in outcome.err
    assert "Did you mean" in outcome.err or "Possible options" in outcome.err
