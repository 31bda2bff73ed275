"""The command line against a real server: output, exit codes, and errors in one line with a hint."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from typer.main import get_command

from pgrecall import __version__
from pgrecall.cli import app
from pgrecall.query.legs import LEGS
from support.memories import share

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    from support.command import Outcome


def _process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "from pgrecall.cli import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def _assert_error(outcome: Outcome) -> None:
    assert outcome.code == 1
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert len(lines) == 2


# -- help and usage


def test_help_lists_every_command_under_a_heading(cli: Callable[..., Outcome]) -> None:
    outcome = cli("--help")
    assert outcome.code == 0
    headings = re.findall(r"^╭─ (.*?) ─", outcome.out, re.MULTILINE)
    assert headings == [
        "Options", "Remember and recall", "Manage memories", "Move in and out", "Set up and run", "Serve",
    ]  # fmt: skip
    names = re.findall(r"^│ ([a-z][a-z-]*) ", outcome.out, re.MULTILINE)
    assert names[:6] == ["remember", "recall", "facts", "timeline", "briefing", "explain"]
    assert set(names) == set(getattr(get_command(app), "commands", {}))
    assert len(names) == len(set(names))
    for name in names:
        assert cli(name, "--help").code == 0


def test_version(cli: Callable[..., Outcome]) -> None:
    assert cli("--version").out == f"pgrecall {__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["frobnicate"],
        ["recall", "x", "-k", "0"],
        ["recall", "x", "-k", "1001"],
        ["remember", "x", "--importance", "2"],
        ["recall"],
        ["recall", "x", "-k", "ten"],
        ["recall", "x", "--since", "someday"],
        ["facts", "x", "--as-of", "someday"],
        ["recall", "x", "--metadata", "{"],
        ["recall", "x", "--metadata", "[]"],
        ["recall", "x", "--set", "rrf_k"],
        ["recall", "x", "--dsn", "a", "--data-dir", "b"],
        ["remember", "x", "--on-conflict", "perhaps"],
        ["import", "/nonexistent.jsonl"],
        ["migrate", "--check", "--dim", "3"],
        ["embedder", "--concurrency", "0"],
    ],
)
def test_usage_errors_exit_with_2(cli: Callable[..., Outcome], arguments: list[str]) -> None:
    outcome = cli(*arguments)
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


# -- errors


def test_expected_errors_are_one_line_and_a_hint(
    cli: Callable[..., Outcome], new_database: Callable[..., str]
) -> None:
    _assert_error(cli("recall", "x" * 20_000, "--no-embed"))
    _assert_error(cli("remember", " "))
    _assert_error(cli("remember", "x", "--namespace", "nowhere"))
    _assert_error(cli("status", "--dsn", "host=/nonexistent"))
    _assert_error(cli("doctor", "--dsn", "no connection string"))
    unmigrated = new_database()
    for command in (["status"], ["recall", "x"], ["remember", "x"]):
        outcome = cli(*command, "--dsn", unmigrated)
        _assert_error(outcome)
        assert "pgrecall migrate" in outcome.err


def test_errors_of_the_embedded_server(tmp_path: Path, cli: Callable[..., Outcome]) -> None:
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "letters.txt").write_text("mine")
    _assert_error(cli("up", "--data-dir", str(taken)))
    _assert_error(cli("status", "--data-dir", str(taken)))
    assert (taken / "letters.txt").read_text() == "mine"


def test_the_installed_command_has_no_traceback_either() -> None:
    done = _process("status", PGRECALL_DSN="host=/nonexistent")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.splitlines()[1].startswith("hint: ")


# -- remember and recall


def test_remember_prints_the_id_and_recall_finds_it(cli: Callable[..., Outcome]) -> None:
    outcome = cli(
        "remember", "Priya prefers mountains to beaches.", "--title", "Holidays", "--category", "preference",
        "--tag", "Priya", "--tag", "vacation", "--keyword", "alps", "--importance", "0.9",
        "--metadata", '{"mood": "glad"}', "--source", "chat", "--session", "s1", "--speaker", "Me",
        "--position", "3", "--language", "english", "--occurred-at", "2026-05-17", "--external-id", "p-1",
        "--namespace", "mine", "--create-namespace",
    )  # fmt: skip
    assert outcome.code == 0, outcome.err
    number = int(outcome.out)
    outcome = cli("recall", "mountains", "--namespace", "mine", "--no-embed", "--json")
    (found,) = json.loads(outcome.out)
    assert outcome.err == ""
    assert outcome.out.count("\n") == 1
    assert len(found) == 28
    assert (found["id"], found["external_id"], found["title"]) == (number, "p-1", "Holidays")
    assert found["tags"] == ["Priya", "vacation"]
    assert found["metadata"] == {"mood": "glad"}
    assert found["occurred_at"] == "2026-05-17T00:00:00+00:00"
    assert datetime.fromisoformat(found["created_at"]).tzinfo is not None
    assert cli("recall", "mountains", "--no-embed", "--json").out == "[]\n"


def test_remember_reads_standard_input(cli: Callable[..., Outcome]) -> None:
    assert cli("remember", "-", "--sensitive", stdin="grüner Tee".encode()).code == 0
    (found,) = json.loads(cli("recall", "Tee", "--no-embed", "--json").out)
    assert found["content"] == "grüner Tee"
    assert found["is_sensitive"] is True


def test_on_conflict(cli: Callable[..., Outcome]) -> None:
    first = cli("remember", "one tea", "--external-id", "t").out
    _assert_error(cli("remember", "two teas", "--external-id", "t"))
    assert cli("remember", "two teas", "--external-id", "t", "--on-conflict", "update").out == first


def test_recall_filters_and_settings(cli: Callable[..., Outcome]) -> None:
    cli("remember", "tea one", "--tag", "x", "--category", "a", "--occurred-at", "2026-05-17")
    cli(
        "remember",
        "tea two",
        "--tag",
        "x",
        "--tag",
        "y",
        "--metadata",
        '{"a": 1}',
        "--occurred-at",
        "2026-05-18",
    )

    def found(*options: str) -> set[str]:
        outcome = cli("recall", "tea", "--no-embed", "--json", *options)
        assert outcome.code == 0, outcome.err
        return {memory["content"].split()[1] for memory in json.loads(outcome.out)}

    assert found() == {"one", "two"}
    assert found("--tag", "x") == {"one", "two"}
    assert found("--all-tag", "x", "--all-tag", "y") == {"two"}
    assert found("--category", "a", "--category", "b") == {"one"}
    assert found("--metadata", '{"a": 1}') == {"two"}
    assert found("--since", "2026-05-18") == {"two"}
    assert found("--until", "2026-05-18T00:00:00+02:00") == {"one"}
    assert len(found("-k", "1")) == 1
    scores = [
        json.loads(cli("recall", "one", "--no-embed", "--json", *options).out)[0]["score"]
        for options in (
            ["--set", "fusion=rrf"],
            ["--set", "fusion=rrf", "--set", "rrf_k=5"],
            ["--set", "fusion=rrf", "--set", "rrf_k=5", "--ef-search", "50"],
        )
    ]
    assert scores[0] < scores[1] == scores[2]
    _assert_error(cli("recall", "tea", "--no-embed", "--set", "rrf_k=many"))
    for command in ("recall", "explain"):
        for unknown in ("rrf_kk=1", "pgrecall.rrf_k=1", "rrf-k=1"):
            result = cli(command, "tea", "--no-embed", "--set", unknown)
            _assert_error(result)
            assert "there is no setting" in result.err
            assert "rrf_k" in result.err.splitlines()[1]


def test_recall_prints_a_table(cli: Callable[..., Outcome]) -> None:
    cli("remember", "green tea\nin the [bold]morning[/bold] \x1b[31mred")
    outcome = cli("recall", "tea", "--no-embed")
    assert outcome.code == 0
    for heading in ("#", "score", *LEGS, "sim", "age", "content"):
        assert heading in outcome.out
    assert "green tea in the [bold]morning[/bold] [31mred" in outcome.out
    assert "\x1b[31mred" not in outcome.out
    assert "1.0000" in outcome.out
    cli("remember", "coffee " * 1000)
    assert "…" in cli("recall", "coffee", "--no-embed").out
    assert cli("recall", "coffee", "--no-embed", "--full").out.count("coffee") == 1000
    empty = cli("recall", "nothing like that", "--no-embed")
    assert (empty.code, empty.out) == (0, "")
    assert "nothing found" in empty.err


def test_recall_says_when_the_dense_leg_is_missing(
    cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_MODEL", "some/other")
    cli("remember", "green tea")
    outcome = cli("recall", "tea", "--json")
    assert len(json.loads(outcome.out)) == 1
    assert "words and concepts only" in outcome.err
    _assert_error(cli("recall", "tea", "--embed"))


# -- import


def _write(folder: Path, *records: Any) -> str:
    file = folder / "memories.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(file)


def test_import_and_import_again(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    file = _write(
        tmp_path, *({"id": n, "content": f"tea {n}", "conversation": f"c{n % 2}"} for n in range(9))
    )
    outcome = cli("import", file, "--namespace-field", "conversation")
    assert (outcome.code, outcome.out, outcome.err) == (0, "9 memories stored in 2 namespaces\n", "")
    outcome = cli("import", file, "--namespace-field", "conversation")
    assert outcome.code == 0
    assert outcome.out == "0 memories stored in 2 namespaces\n9 lines already there\n"
    assert len(json.loads(cli("recall", "tea", "-n", "c0", "--no-embed", "--json").out)) == 5


def test_import_reports_rejected_lines(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    file = _write(
        tmp_path, {"content": "tea", "id": 1}, {"content": " "}, ["x"], {"content": "more", "id": 2}
    )
    outcome = cli("import", file, "--namespace", "mine")
    assert outcome.code == 1
    assert outcome.out == "2 memories stored in 1 namespace\n"
    assert outcome.err.splitlines() == [
        "line 2: content is blank", "line 3: not a JSON object", "2 lines rejected",
    ]  # fmt: skip


def test_import_from_standard_input_and_of_nothing(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    outcome = cli("import", "-", stdin=b'{"content": "tea"}\n')
    assert (outcome.code, outcome.out) == (0, "1 memory stored\n")
    assert "1 line without an id" in outcome.err
    outcome = cli("import", _write(tmp_path))
    assert (outcome.code, outcome.out, outcome.err) == (0, "0 memories stored\n", "")
    _assert_error(cli("import", "-", "--dsn", "host=/nonexistent"))


def test_import_by_a_role_that_may_not_analyze(
    cli: Callable[..., Outcome], dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    conn.execute("REVOKE EXECUTE ON FUNCTION pgrecall.analyze FROM pgrecall_reader")
    share(conn)
    writer = make_conninfo(dsn, options="-c role=pgrecall_writer")
    outcome = cli("import", _write(tmp_path, {"id": 1, "content": "tea"}), "--dsn", writer)
    assert (outcome.code, outcome.out) == (0, "1 memory stored\n")


# -- migrate, status, doctor


def test_migrate_and_check(cli: Callable[..., Outcome], new_database: Callable[..., str]) -> None:
    fresh = new_database()
    outcome = cli("migrate", "--check", "--dsn", fresh)
    assert outcome.code == 1
    assert "pgrecall migrate" in outcome.err
    outcome = cli("migrate", "--dim", "8", "--dsn", fresh)
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines()[-1].startswith("migrated: revision ")
    outcome = cli("migrate", "--dsn", fresh)
    assert outcome.out.splitlines()[-1].startswith("nothing to do: ")
    outcome = cli("migrate", "--check", "--dsn", fresh)
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.startswith("current: ")
    _assert_error(cli("migrate", "--dim", "9", "--dsn", fresh))
    assert json.loads(cli("status", "--json", "--dsn", fresh).out)["dimension"] == 8


def test_a_downgrade_asks_first(
    cli: Callable[..., Outcome], new_database: Callable[..., str], template: str
) -> None:
    assert template
    dsn = new_database()
    assert cli("migrate", "--revision", "0001", "--dsn", dsn).code == 0  # it is empty
    assert cli("migrate", "--dsn", dsn).code == 0
    cli("remember", "Priya drinks tea", "--dsn", dsn)
    name = str(conninfo_to_dict(dsn)["dbname"])
    for revision in ("base", "0030"):
        refused = cli("migrate", "--revision", revision, "--dsn", dsn)
        assert refused.code == 1
        assert name in refused.err
        assert "--yes" in refused.err
    assert "Priya drinks tea" in cli("recall", "tea", "--dsn", dsn).out
    assert cli("migrate", "--revision", "base", "--yes", "--dsn", dsn).code == 0
    assert cli("migrate", "--revision", "base", "--dsn", dsn).code == 0  # nothing is left to lose


def test_status(cli: Callable[..., Outcome]) -> None:
    cli("remember", "tea")
    outcome = cli("status")
    assert outcome.code == 0
    assert re.search(r"memories +1\b", outcome.out)
    plain = json.loads(cli("status", "--json").out)
    assert (plain["memories"], plain["pending"], plain["embedded"]) == (1, 1, 0)
    assert plain["oldest_pending"] >= 0
    assert plain["dense_index_valid"] is True


def test_doctor_on_a_sound_database(cli: Callable[..., Outcome]) -> None:
    outcome = cli("doctor")
    assert outcome.code == 0, outcome.out
    assert not re.search(r"^fail", outcome.out, re.MULTILINE)
    assert re.search(r"^ok +connection: ", outcome.out, re.MULTILINE)
    assert re.search(r"^ok +schema: revision ", outcome.out, re.MULTILINE)
    assert re.search(r"^ok +pgvector: ", outcome.out, re.MULTILINE)


def test_doctor_says_what_to_run(
    cli: Callable[..., Outcome],
    conn: psycopg.Connection[Any],
    new_database: Callable[..., str],
) -> None:
    cli("remember", "tea")
    outcome = cli("doctor")
    assert outcome.code == 0
    assert re.search(r"^warn +embedder: .*\n +hint: pgrecall embedder$", outcome.out, re.MULTILINE)

    conn.execute(
        "UPDATE pg_index SET indisvalid = false"
        " WHERE indexrelid = 'pgrecall.memories_embedding_idx'::regclass"
    )
    outcome = cli("doctor")
    assert outcome.code == 1
    assert re.search(r"^fail +indexes: .*\n +hint: REINDEX ", outcome.out, re.MULTILINE)

    conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
    outcome = cli("doctor")
    assert outcome.code == 1
    assert re.search(r"^fail +schema: .*pgrecall migrate", outcome.out, re.MULTILINE)

    outcome = cli("doctor", "--dsn", new_database())
    assert outcome.code == 1
    assert re.search(r"^fail +schema: .*pgrecall migrate", outcome.out, re.MULTILINE)

    outcome = cli("doctor", "--dsn", "host=/nonexistent")
    assert outcome.code == 1
    assert outcome.out.startswith("fail  connection: ")


# -- the embedded server


def test_up_dsn_status_down(cli: Callable[..., Outcome], public_dir: Path) -> None:
    folder = str(public_dir / "cli")
    outcome = cli("dsn", "--data-dir", folder)
    assert outcome.code == 0
    assert "not running" in outcome.err
    # A mistyped path makes no server.
    for command in (["recall", "x"], ["remember", "x"], ["migrate"], ["doctor"], ["mcp"], ["embedder"]):
        outcome = cli(*command, "--data-dir", folder)
        _assert_error(outcome)
        assert f"there is no embedded server in {folder}" in outcome.err
    assert not (public_dir / "cli").exists()
    try:
        up = cli("up", "--data-dir", folder)
        assert up.code == 0, up.err
        assert "started" in up.err
        dsn = up.out.strip()
        assert cli("up", "--data-dir", folder).out.strip() == dsn
        assert cli("dsn", "--data-dir", folder).out.strip() == dsn
        assert cli("migrate", "--data-dir", folder).code == 0
        assert json.loads(cli("status", "--json", "--dsn", dsn).out)["memories"] == 0
    finally:
        down = cli("down", "--data-dir", folder)
    assert down.code == 0
    assert "stopped" in down.err
    assert "was not running" in cli("down", "--data-dir", folder).err


@pytest.mark.slow
def test_embedder_drains(cli: Callable[..., Outcome]) -> None:
    cli("remember", "I went to a support group yesterday.")
    outcome = cli("embedder", "--drain")
    assert outcome.code == 0, outcome.err
    assert json.loads(cli("status", "--json").out)["embedded"] == 1
    (found,) = json.loads(cli("recall", "Which self-help meeting did I attend?", "--json").out)
    assert found["dense_rank"] == 1
    assert found["similarity"] > 0.2
