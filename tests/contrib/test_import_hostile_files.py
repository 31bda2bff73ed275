"""Files and tables whose author wants something of the reader: nothing is run or followed, nothing hangs, no traceback."""

from __future__ import annotations

import io
import os
import resource
import socket
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo
from typer.testing import CliRunner

from pgrecall import InvalidInput, PgrecallError
from pgrecall.cli import app
from pgrecall.contrib.importers import Rejected, Row
from pgrecall.contrib.importers.jsonl import jsonl_source
from pgrecall.contrib.importers.markdown import markdown_source
from pgrecall.contrib.importers.mem0 import mem0_source
from pgrecall.contrib.importers.sqlite import sqlite_source
from pgrecall.contrib.importers.table import table_source
from pgrecall.jsonl.formats import array_lines
from pgrecall.jsonl.lines import bounded_lines, json_object

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg


def _special(folder: Path) -> list[Path]:
    os.mkfifo(folder / "pipe.md")
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(str(folder / "socket.md"))
    listening.close()
    (folder / "null.md").symlink_to("/dev/null")
    (folder / "zero.md").symlink_to("/dev/zero")
    return [folder / f"{name}.md" for name in ("pipe", "socket", "null", "zero")]


def test_links_out_of_a_folder_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("# Key\n\nsecret")
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("tea")
    (folder / "b.md").symlink_to(tmp_path / "secret")
    (folder / "c.md").symlink_to("/etc/passwd")
    (folder / "d.md").symlink_to("d.md")
    (folder / "e").symlink_to(tmp_path)
    (folder / "up").symlink_to(folder)
    _special(folder)
    with markdown_source(folder) as source:
        rows = list(source.rows())
    assert [row.memory.content for row in rows if isinstance(row, Row)] == ["tea"]
    assert {row.place for row in rows if isinstance(row, Rejected)} == {
        f"{name}.md" for name in ("b", "c", "d", "null", "pipe", "socket", "zero")
    }
    (tmp_path / "named").symlink_to(folder / "a.md")
    with markdown_source(tmp_path / "named") as source:
        assert [row.memory.content for row in source.rows() if isinstance(row, Row)] == ["tea"]


def test_what_is_no_regular_file_is_refused_at_once(dsn: str, tmp_path: Path) -> None:
    for file in (*_special(tmp_path), tmp_path / "none"):
        for opened in (sqlite_source(file), jsonl_source(file)):
            with pytest.raises(PgrecallError) as caught, opened:
                pass
            assert caught.value.hint
        done = CliRunner().invoke(app, ["import", "file", str(file), "--dsn", dsn])
        assert done.exit_code != 0
        assert isinstance(done.exception, PgrecallError | SystemExit)


ENDLESS = (
    "WITH RECURSIVE r (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM r) SELECT id, 'x' AS content FROM r"
)


@pytest.mark.parametrize(
    "statement",
    [
        f"CREATE VIEW memories AS {ENDLESS}",
        "CREATE VIEW memories AS SELECT 1 AS id, hex(zeroblob(900000000)) AS content",
        "CREATE VIEW memories AS SELECT 1 AS id, load_extension('x') AS content",
        "CREATE VIRTUAL TABLE memories USING fts5(id, content)",
        "CREATE VIRTUAL TABLE memories USING generate_series",
    ],
)
def test_a_view_of_a_file_is_not_run(tmp_path: Path, statement: str) -> None:
    file = tmp_path / "m.db"
    with closing(sqlite3.connect(file)) as connection:
        try:
            connection.execute(statement)
        except sqlite3.OperationalError:
            # A module that this SQLite lacks may still stand in a file.
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "INSERT INTO sqlite_master VALUES ('table', 'memories', 'memories', 0, ?)", (statement,)
            )
        connection.commit()
    with pytest.raises(InvalidInput, match="a view or a virtual table"), sqlite_source(file):
        pass


@pytest.mark.slow
def test_generated_columns_and_large_values_of_a_file_cost_no_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgrecall.contrib.importers.sqlite._LONGEST", 2**20)
    file = tmp_path / "m.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(
            "CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT, "
            "mood TEXT AS (hex(zeroblob(400000000))) VIRTUAL)"
        )
        connection.execute("INSERT INTO memories (content) VALUES ('tea')")
        connection.commit()
        with sqlite_source(file) as source:
            assert [row.memory.content for row in source.rows() if isinstance(row, Row)] == ["tea"]
        connection.execute("INSERT INTO memories (content) VALUES (CAST(zeroblob(2000000) AS TEXT))")
        connection.commit()
    with pytest.raises(PgrecallError, match="longer than"), sqlite_source(file) as source:
        list(source.rows())


def test_a_broken_file_of_sqlite_is_no_traceback(tmp_path: Path) -> None:
    file = tmp_path / "m.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE memories (id INTEGER PRIMARY KEY, content TEXT)")
        connection.executemany("INSERT INTO memories (content) VALUES (?)", [("tea " * 50,)] * 2000)
        connection.commit()
    whole = file.read_bytes()
    for place in range(0, 16384, 331):
        file.write_bytes(
            whole[:place] + bytes(255 - one for one in whole[place : place + 60]) + whole[place + 60 :]
        )
        with suppress(PgrecallError), sqlite_source(file) as source:
            assert sum(1 for _ in source.rows()) <= len(whole)


@pytest.mark.parametrize(
    "make",
    [
        "CREATE VIEW lure AS SELECT 1 AS id, theirs.run()::text AS content",
        "CREATE TYPE theirs.word AS ENUM ('x'); CREATE TABLE lure (id int, content theirs.word); "
        "CREATE FUNCTION theirs.as_json(theirs.word) RETURNS json LANGUAGE sql AS 'SELECT to_json(theirs.run())'; "
        "CREATE CAST (theirs.word AS json) WITH FUNCTION theirs.as_json(theirs.word); INSERT INTO lure VALUES (1, 'x')",
    ],
)
def test_a_table_of_somebody_else_runs_nothing(dsn: str, conn: psycopg.Connection[Any], make: str) -> None:
    conn.execute(
        "CREATE ROLE lurer; CREATE SCHEMA theirs AUTHORIZATION lurer; GRANT CREATE ON SCHEMA public TO lurer"
    )
    try:
        conn.execute("CREATE SEQUENCE public.runs; GRANT ALL ON public.runs TO PUBLIC; SET ROLE lurer")
        # A sequence moves in a transaction that only reads, as COPY TO PROGRAM runs in one.
        conn.execute(
            "CREATE FUNCTION theirs.run() RETURNS bigint LANGUAGE sql AS $$SELECT last_value FROM public.runs$$"
        )
        conn.execute(make.encode())
        conn.execute("RESET ROLE; GRANT ALL ON ALL TABLES IN SCHEMA public TO PUBLIC")
        with pytest.raises(InvalidInput, match="reading it runs"), table_source(dsn, "lure"):
            pass
        with pytest.raises(InvalidInput), mem0_source(dsn, "lure"):
            pass
    finally:
        conn.execute("RESET ROLE; DROP OWNED BY lurer CASCADE; DROP ROLE lurer")


def test_an_operator_of_somebody_else_is_not_called(dsn: str, conn: psycopg.Connection[Any]) -> None:
    conn.execute(
        """
        CREATE SCHEMA traps;
        CREATE FUNCTION traps.refuse(oid, regclass) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END';
        CREATE FUNCTION traps.refuse_names(name, text) RETURNS boolean LANGUAGE plpgsql AS 'BEGIN RAISE ''trap''; END';
        CREATE OPERATOR traps.= (LEFTARG = oid, RIGHTARG = regclass, FUNCTION = traps.refuse);
        CREATE OPERATOR traps.= (LEFTARG = name, RIGHTARG = text, FUNCTION = traps.refuse_names);
        CREATE TABLE public.older (id int, content text);
        INSERT INTO public.older VALUES (1, 'tea');
        """
    )
    with table_source(make_conninfo(dsn, options="-c search_path=traps,public"), "older") as source:
        assert [row.memory.content for row in source.rows() if isinstance(row, Row)] == ["tea"]


# -- lines


class _Endless(io.RawIOBase):
    def __init__(self, size: int, text: bytes) -> None:
        self.left = size
        self.text = text * (65536 // len(text))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        number = min(len(buffer), self.left, len(self.text))
        buffer[:number] = self.text[:number]
        self.left -= number
        return number


def _memory(do: Callable[[], object]) -> float:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    do()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


@pytest.mark.parametrize("read", [bounded_lines, array_lines])
@pytest.mark.parametrize("text", [b"x", b'"', b"[", b"{", b"\\", b" ", b"a,"])
def test_a_line_without_end_takes_little_memory(read: Callable[..., Any], text: bytes) -> None:
    def read_all() -> None:
        file = io.BufferedReader(_Endless(2**20, text))
        try:
            for _ in read(file, most=2**16):
                pass
        except InvalidInput:
            pass

    assert _memory(read_all) < 64


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 200 + b"1" + b"}" * 200, "nested too deeply"),
        (b'{"a": ' + b"[" * 500 + b"]" * 500 + b"}", "nested too deeply"),
        (b'{"content": "a", "content": "b"}', "a key stands twice in one object"),
        (b'{"a": {"b": 1, "b": 2}}', "a key stands twice in one object"),
        (b'{"a": ' + b"1" * 5000 + b"}", "holds a number that is too large"),
        (b'{"a": Infinity}', "not JSON: Infinity is not a number of JSON"),
        (b"\xff", "not UTF-8 at byte 1"),
        (b"", "not JSON: Expecting value at column 1"),
    ],
)
def test_malformed_lines_are_refused_by_name(raw: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        json_object(raw)
    assert caught.value.message == reason


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 65536])
def test_elements_of_an_array_are_told_apart_wherever_a_chunk_ends(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr("pgrecall.jsonl.formats._CHUNK", chunk)
    text = b' [ {"a": "]},[\\"\\\\"}, 7 ,null,"x\\\\", [1,[2]],{},"\xc3\xa9" ]\n'
    elements = [line.raw.strip() for line in array_lines(io.BytesIO(text))]
    assert elements == [b'{"a": "]},[\\"\\\\"}', b"7", b"null", b'"x\\\\"', b"[1,[2]]", b"{}", b'"\xc3\xa9"']
    assert list(array_lines(io.BytesIO(b"[]"))) == list(array_lines(io.BytesIO(b" [ ] \n"))) == []
    for broken in (b"[1", b"[1] 2", b"{}", b"", b'["a]', b"[[1]", b"x[]"):
        with pytest.raises(InvalidInput, match="no JSON array"):
            list(array_lines(io.BytesIO(broken)))
    faults = [(line.number, line.fault is not None) for line in array_lines(io.BytesIO(b"[1,,2,]"))]
    assert faults == [(1, False), (2, True), (3, False), (4, True)]
