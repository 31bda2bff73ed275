"""`pgrecall import` of a JSON array and of tables, and `pgrecall psql`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from pgrecall.cli import app
from pgrecall.jsonl.formats import guess_format

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

TABLE = (
    "\ufefftext,when,tags,importance,is_sensitive,mood\n"
    '"Priya likes tea, green",2026-05-17,tea; Priya,0.9,no,glad\n'
    ",,,,,\n"
    '"two\nlines",,"[""a;b""]",,YES,\n'
)
MAP = ("--map", "text=content", "--map", "when=occurred_at")


def imported(dsn: str, *arguments: str, given: bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["import", *arguments, "--dsn", dsn], input=given)


def memories(conn: psycopg.Connection[Any]) -> list[Any]:
    return conn.execute(
        "SELECT content, tags, importance, is_sensitive, metadata, occurred_at::date::text "
        "FROM pgrecall.memories ORDER BY id"
    ).fetchall()


def test_a_table(dsn: str, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    file = tmp_path / "notes.csv"
    file.write_text(TABLE, encoding="utf-8")
    done = imported(dsn, str(file), *MAP)
    assert done.exit_code == 0, done.output
    assert memories(conn) == [
        (
            "Priya likes tea, green",
            ["tea", "Priya"],
            pytest.approx(0.9),
            False,
            {"mood": "glad"},
            "2026-05-17",
        ),
        ("two\nlines", ["a;b"], 0.5, True, {}, None),
    ]
    tabs = tmp_path / "notes.tsv"
    tabs.write_text("content\tid\nwombat\t7\n")
    assert imported(dsn, str(tabs)).exit_code == 0
    assert conn.execute("SELECT content FROM pgrecall.memories WHERE external_id = '7'").fetchall() == [
        ("wombat",)
    ]
    again = imported(dsn, str(tabs))
    assert again.exit_code == 0
    assert len(memories(conn)) == 3


def test_an_array(dsn: str, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    file = tmp_path / "notes.json"
    file.write_text(
        json.dumps([{"content": "quokka", "id": 1}, {"content": "wombat", "mood": "glad"}], indent=2)
    )
    assert imported(dsn, str(file)).exit_code == 0
    assert [row[0] for row in memories(conn)] == ["quokka", "wombat"]
    done = imported(dsn, "-", given=b' [{"content": "from standard input"}, 7, null]')
    assert done.exit_code == 1  # the 7 is refused, and everything else is stored
    assert [row[0] for row in memories(conn)][2:] == ["from standard input"]
    lines = b'{"content": "a line"}\n[]\n'
    assert imported(dsn, "-", given=lines).exit_code == 1
    assert [row[0] for row in memories(conn)][3:] == ["a line"]


@pytest.mark.parametrize(
    ("name", "text", "options", "complaint"),
    [
        ("x.csv", "text,when\na,b\n", [], "--map COLUMN=content"),
        ("x.csv", "text\na\n", ["--map", "words=content"], "there is no column 'words'"),
        ("x.csv", "text\na\n", ["--map", "text"], "is not COLUMN=FIELD"),
        ("x.csv", "", [], "no column is the content"),
        ("x.jsonl", '{"content": "a"}\n', ["--map", "a=b"], "only a table has columns"),
        ("x.json", '[{"content": "a"}', [], "no JSON array"),
        ("x.json", "\udcff", ["--format", "json"], "no JSON array: it is not UTF-8"),
        ("x.csv", "content\n\udcff\n", [], "not UTF-8"),
        ("x.csv", "content\na,b\n", [], "line 2"),
        ("x.csv", "content,importance\na,much\n", [], "line 2"),
    ],
)
def test_what_is_refused(
    dsn: str,
    conn: psycopg.Connection[Any],
    tmp_path: Path,
    name: str,
    text: str,
    options: list[str],
    complaint: str,
) -> None:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8", errors="surrogateescape")
    done = imported(dsn, str(file), *options)
    assert done.exit_code != 0
    said = f"{done.output} {done.exception} {getattr(done.exception, 'hint', '')}"
    assert complaint in " ".join(said.replace("│", " ").split())
    assert memories(conn) == []


def test_formats_are_guessed() -> None:
    assert guess_format("-", b"\xef\xbb\xbf\n [1]") == "json"
    assert guess_format("x.CSV", b"[") == "csv"
    assert guess_format("x.tsv", b"") == "tsv"
    assert guess_format("x.json", b'{"content": 1}') == "jsonl"


def test_psql(dsn: str, tmp_path: Path) -> None:
    program = tmp_path / "psql"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$PGPASSWORD"\n')
    program.chmod(0o755)
    command = [sys.executable, "-m", "pgrecall", "psql", "-At", "-c", "SELECT 6 * 7", "--dsn"]
    said = subprocess.run(
        [*command, make_conninfo(dsn, password="s3cret")],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True, text=True, check=True, timeout=180,
    ).stdout.splitlines()  # fmt: skip
    assert said[2:] == ["-At", "-c", "SELECT 6 * 7", "s3cret"]
    assert not any("s3cret" in one for one in said[:-1])
    done = subprocess.run([*command, dsn], capture_output=True, text=True, check=True, timeout=180)
    assert done.stdout == "42\n"


def test_an_import_without_records_needs_no_folder_for_temporary_files(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tea.jsonl").write_text('{"content": "tea"}\n')
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    done = imported(dsn, str(tmp_path / "tea.jsonl"))
    assert done.exit_code == 0, done.output
    assert [row[0] for row in memories(conn)] == ["tea"]
