"""The benchmark of moving in: the file it writes is what it says, and processor time is the server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.operations.import_from import _server_cpu, _write_source
from benchmarks.speed.generator import Corpus
from pgrecall.contrib.importers import Row
from pgrecall.contrib.importers.sqlite import sqlite_source

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg


def test_the_source_is_as_expected(tmp_path: Path) -> None:
    rows, ids, sensitive, deleted = _write_source(tmp_path / "m.db", Corpus(400, 16))
    with sqlite_source(tmp_path / "m.db") as source:
        assert source.total == rows == ids == 400
        read = [row for row in source.rows() if isinstance(row, Row)]
    assert len({row.id for row in read}) == 400
    assert sum(bool(row.memory.is_sensitive) for row in read) == sensitive == 8
    assert sum(row.deleted_at is not None for row in read) == deleted == 4
    assert any(row.memory.tags for row in read)


def test_processor_time_is_the_servers(conn: psycopg.Connection[Any]) -> None:
    before = _server_cpu(conn)
    if before is None:  # a server on another machine
        return
    conn.execute("SELECT sum(sqrt(n)) FROM generate_series(1, 3000000) n")
    after = _server_cpu(conn)
    assert after is not None
    assert after > before
