"""Broken tables and edited files: what is wrong is named with its line, and no edit is dropped silently."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import threading
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from typer.testing import CliRunner

from pgrecall import Client
from pgrecall.cli import app
from pgrecall.jsonl.load import ImportReport, import_jsonl

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg


def imported(dsn: str, *arguments: str, given: bytes | None = None) -> Any:
    return CliRunner().invoke(app, ["import", *arguments, "--dsn", dsn], input=given)


def said(done: Any) -> str:
    text = f"{done.output} {done.exception} {getattr(done.exception, 'hint', '')}"
    return " ".join(text.replace("│", " ").split())


def zipped(raw: bytes) -> bytes:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("x.jsonl", raw)
    return archive.getvalue()


def contents(conn: psycopg.Connection[Any]) -> list[str]:
    return [row[0] for row in conn.execute("SELECT content FROM pgrecall.memories ORDER BY id").fetchall()]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('id,content\n1,one\n2,"two\n3,three\n4,four\n', "line 3: a quote is opened and never closed"),
        ('id,content\n1,one\n2,"two\n3,"three"\n', "line 3: a quote is closed inside a cell"),
        ('content\n"one\r\n"two"\r\n', "line 2: a quote is closed inside a cell"),
        ('content\n"a""\nb\n', "line 2: a quote is opened and never closed"),
        ('"content\na\n', "line 1: a quote is opened and never closed"),
        ("content,tags,tags\na,b,c\n", "columns 2 and 3 are both 'tags'"),
        ("content,Tags,tags\na,b,c\n", "columns 2 and 3 are both 'tags'"),
        ("content,mood,mood\na,b,c\n", "columns 2 and 3 are both 'mood'"),
        ("text,content\na,b\n", "columns 1 and 2 are both 'content'"),
        ("", "the file is empty"),
        ("\n", "the file is empty"),
        ("a;b\nc;d\n", "--delimiter"),
    ],
)
def test_a_broken_table_is_refused(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, text: str, complaint: str
) -> None:
    (tmp_path / "x.csv").write_text(text, newline="")
    options = ["--map", "text=content"] if text.startswith("text,") else []
    done = imported(dsn, str(tmp_path / "x.csv"), *options)
    assert done.exit_code == 1
    assert complaint in said(done)
    assert contents(conn) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("content,mood\ngood,x\na,b,c\n", "it has 3 cells; the header has 2"),
        ('content,mood\ngood,"x\ny"\na,b,c\n', "it has 3 cells; the header has 2"),
        ("content,importance\ngood,1\na,much\n", "importance must be a number, not str"),
        ("content,metadata\ngood,{}\na,[[\n", "metadata must be an object, not a string"),
        ("content\ngood\ncaf\udce9\n", "not UTF-8 at byte 17"),
    ],
)
@pytest.mark.parametrize("to_file", [False, True])
def test_a_bad_row_is_named_with_its_line(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, text: str, reason: str, to_file: bool
) -> None:
    (tmp_path / "x.csv").write_text(text, errors="surrogateescape")
    out = tmp_path / "rejected.jsonl"
    done = imported(dsn, str(tmp_path / "x.csv"), *(["--rejected", str(out)] if to_file else []))
    assert done.exit_code == 1
    place = f"line {text.rstrip().count(chr(10)) + 1}"
    if to_file:
        assert [json.loads(line) for line in out.read_text().splitlines()] == [
            {"place": place, "reason": reason}
        ]
    else:
        assert f"{place}: {reason}" in done.output
    assert contents(conn) == ["good"]
    assert ("iconv -f cp1252 -t utf-8" in done.output) == reason.startswith("not UTF-8")


@pytest.mark.parametrize(
    ("raw", "options"),
    [
        (b"id;content\n1;tea, green\n", []),
        (b"sep=;\nid;content\n1;tea, green\n", []),
        (b"sep=|\r\nid|content\r\n1|tea, green\r\n", []),
        (b"id\tcontent\n1\ttea, green\n", []),
        (b"id#content\n1#tea, green\n", ["--delimiter", "#"]),
        (b"id\tcontent\n1\ttea, green\n", ["--delimiter", "tab"]),
        (b'ID,Content,\n1,"tea, green",\n', []),
        (b'id,content\n1,"tea, green",,,\n', []),
        (b'id,CONTENT\r1,"tea, green"\r', []),
        ('id,content\n1,"tea, green"\n'.encode("utf-16"), []),
        ('id,content\n1,"tea, green"\n'.encode("utf-32"), []),
        ('\ufeffid;content\n1;"tea, green"\n'.encode("utf-16-be"), []),
    ],
)
def test_tables_as_other_programs_write_them(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, raw: bytes, options: list[str]
) -> None:
    (tmp_path / "x.csv").write_bytes(raw)
    done = imported(dsn, str(tmp_path / "x.csv"), *options)
    assert done.exit_code == 0, said(done)
    found = conn.execute("SELECT external_id, content, metadata FROM pgrecall.memories").fetchall()
    assert found == [("1", "tea, green", {})]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("name", ["x.csv", "x.jsonl", "x.json"])
def test_utf16_without_a_mark_is_told_with_a_command_that_converts_it(
    dsn: str, tmp_path: Path, encoding: str, name: str
) -> None:
    (tmp_path / name).write_bytes("content\ntea\n".encode(encoding))
    assert f"iconv -f {encoding.replace('-le', 'le').replace('-be', 'be')} -t utf-8" in said(
        imported(dsn, str(tmp_path / name))
    )


@pytest.mark.parametrize(
    ("compress", "kind"),
    [(gzip.compress, "gzip"), (bz2.compress, "bzip2"), (lzma.compress, "xz"), (zipped, "ZIP")],
)
@pytest.mark.parametrize(
    "arguments", [["x.jsonl"], ["x.csv"], ["x.json"], ["-"], ["jsonl", "x.jsonl"], ["chatgpt", "x.json"]]
)
def test_compressed_files_are_told_from_other_encodings(
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compress: Callable[[bytes], bytes],
    kind: str,
    arguments: list[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    raw = compress(b'{"content": "tea"}\n')
    (tmp_path / arguments[-1]).write_bytes(raw)
    done = imported(dsn, *arguments, given=raw if arguments == ["-"] else None)
    assert done.exit_code == 1
    assert f"the file is compressed: {kind}" in said(done)
    assert "not UTF-8" not in said(done)


def test_lines_in_utf16_are_read(dsn: str, conn: psycopg.Connection[Any]) -> None:
    assert imported(dsn, "-", given='{"content": "thé"}\n'.encode("utf-16")).exit_code == 0
    assert imported(dsn, "-", given='[{"content": "maté"}]\n'.encode("utf-16")).exit_code == 0
    assert contents(conn) == ["thé", "maté"]


def test_a_long_line_costs_only_itself(dsn: str, conn: psycopg.Connection[Any]) -> None:
    lines = b'{"content": "one"}\n{"content": "' + b"x" * 40_000_000 + b'"}\n{"content": "two"}\n'
    done = imported(dsn, "-", given=lines)
    assert done.exit_code == 1
    assert "line 2: it has more than 4194304 bytes" in done.output
    done = imported(dsn, "-", given=b'[{"content": "three"}, ' + b"[" * 100_000 + b"]" * 100_000 + b"]")
    assert done.exit_code == 1
    assert "element 2: nested too deeply" in done.output
    assert contents(conn) == ["one", "two", "three"]


# -- files that were edited

EDITS = (
    {"content": "green tea"},
    {"title": "T"},
    {"tags": ["a", "b"]},
    {"importance": 0.25},
    {"metadata": {"m": 1}},
    {"mood": "glad"},
    {"occurred_at": "2026-01-02T00:00:00Z"},
    {"is_sensitive": True},
    {"speaker": "Omar"},
    {"position": 7},
)


@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: next(iter(edit)))
def test_an_edited_line_is_counted_and_can_be_taken_over(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, edit: dict[str, Any]
) -> None:
    line = {"id": "a", "content": "tea", "title": "Tea", "session": "s", "tags": ["a"], "importance": 0.5}
    other = {"id": "b", "content": "mate", "session": "s"}
    file = tmp_path / "x.jsonl"
    file.write_text(f"{json.dumps(line)}\n{json.dumps(other)}\n")
    for _ in range(2):
        done = imported(dsn, str(file))
        assert done.exit_code == 0
        assert "differ" not in done.output
    file.write_text(f"{json.dumps(line | edit)}\n{json.dumps(other)}\n")
    before = conn.execute("SELECT to_jsonb(m) FROM pgrecall.memories m ORDER BY id").fetchall()
    done = imported(dsn, str(file))
    assert done.exit_code == 1
    assert "1 line of them differ" in done.output
    assert "--on-conflict update" in done.output
    assert conn.execute("SELECT to_jsonb(m) FROM pgrecall.memories m ORDER BY id").fetchall() == before
    done = imported(dsn, str(file), "--on-conflict", "update")
    assert done.exit_code == 0
    assert "1 memory updated" in done.output
    after = conn.execute("SELECT to_jsonb(m) FROM pgrecall.memories m ORDER BY id").fetchall()
    assert after[1] == before[1]
    assert after[0] != before[0]
    done = imported(dsn, str(file), "--on-conflict", "update")
    assert done.exit_code == 0
    assert "updated" not in done.output
    assert conn.execute("SELECT to_jsonb(m) FROM pgrecall.memories m ORDER BY id").fetchall() == after


def test_two_texts_for_one_id_in_a_file(dsn: str, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("id,content\na,tea\nb,mate\na,green tea\na,tea\n")
    done = imported(dsn, str(tmp_path / "x.csv"))
    assert done.exit_code == 1
    assert "2 memories stored" in done.output
    assert "2 lines already there" in done.output
    assert "1 line of them differ" in done.output
    (tmp_path / "x.csv").write_text("id,content\na,black tea\na,white tea\n")
    done = imported(dsn, str(tmp_path / "x.csv"), "--on-conflict", "update")
    assert "2 memories updated" in done.output
    assert contents(conn) == ["white tea", "mate"]


def test_an_edit_does_not_bring_back_what_was_forgotten(dsn: str, conn: psycopg.Connection[Any]) -> None:
    imported(dsn, "-", given=b'{"id": "a", "content": "tea"}\n')
    conn.execute("SELECT forget(id) FROM pgrecall.memories")
    edited = b'{"id": "a", "content": "green tea"}\n'
    done = imported(dsn, "-", "--on-conflict", "update", given=edited)
    assert done.exit_code == 1
    assert "unless it was forgotten" in done.output
    assert conn.execute("SELECT content, deleted_at IS NULL FROM pgrecall.memories").fetchall() == [
        ("tea", False)
    ]


def test_several_that_import_one_file_count_right(dsn: str, conn: psycopg.Connection[Any]) -> None:
    lines = [json.dumps({"id": str(number), "content": f"fact {number}"}).encode() for number in range(1200)]
    reports: list[ImportReport] = []

    def run() -> None:
        with Client(dsn, pool_max=1) as client:
            reports.append(import_jsonl(client, lines))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(report.stored for report in reports) == 1200
    assert sum(report.present for report in reports) == 3600
    assert sum(report.differing for report in reports) == 0
    assert len(contents(conn)) == 1200
