"""What an import makes of memories that others store, change or forget while it waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import call, remember, rows, stored, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

LINE: dict[str, Any] = {
    "pgrecall": 1, "id": 1, "namespace": "default", "external_id": "x", "content": "the old text",
    "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-02-01T00:00:00Z",
}  # fmt: skip
ENDS: dict[str, dict[str, Any]] = {
    "forgotten": {"deleted_at": "2025-06-01T00:00:00Z"},
    "superseded": {"superseded_by": 2, "superseded_at": "2025-06-01T00:00:00Z"},
    "current": {},
}


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def _import(conn: Connection[Any], *lines: dict[str, Any]) -> list[tuple[int, str]]:
    return [(row[1], row[2]) for row in rows(conn, "pgrecall.import_memories", Jsonb(lines))]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize(("said", "outcome"), [("the current text", "differs"), ("the old text", "present")])
def test_what_is_stored_meanwhile_stays_as_it_is(
    conn: Connection[Any], other: Connection[Any], end: str, said: str, outcome: str
) -> None:
    new = LINE | {"id": 3, "external_id": "y", "content": "another", "deleted_at": "2025-06-01T00:00:00Z"}
    options = {"external_id": "x", "created_at": LINE["created_at"]}
    with other.transaction():
        id = remember(other, said, **options)
        call(other, "update_memory", id, importance=0.75)
        call(other, "update_memory", id, importance=0.5)
        before = stored(other, id)
        done = waits(conn, lambda: _import(conn, LINE | ENDS[end], new))
    (found, first), (added, second) = done()
    assert (found, first, second) == (id, outcome, "stored")
    assert stored(conn, id) == before
    assert [row[1] for row in rows(conn, "memory_history", id)] == ["remember", "update", "update"]
    assert stored(conn, added)["deleted_at"] is not None


def test_a_line_without_external_id_changes_only_what_it_stores(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    """Nothing but the import of the other line makes it wait, so both are stored."""
    fields = {"content": LINE["content"], "created_at": LINE["created_at"]}
    line = {key: value for key, value in LINE.items() if key != "external_id"} | ENDS["forgotten"]
    with other.transaction():
        id = remember(other, **fields)
        call(other, "update_memory", id, importance=0.75)
        before = stored(other, id)
        remember(other, "the last", external_id="y")
        done = waits(conn, lambda: _import(conn, line, LINE | {"external_id": "y", "content": "the last"}))
    (found, outcome), _ = done()
    assert outcome == "stored"
    assert found != id
    assert stored(conn, id) == before
    assert [row[1] for row in rows(conn, "memory_history", id)] == ["remember", "update"]


def test_what_is_forgotten_meanwhile_does_not_come_back(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    id = remember(conn, "the current text", external_id="x")
    with other.transaction():
        call(other, "forget", id)
        line = Jsonb([{"external_id": "x", "content": "the old text"}])
        done = waits(conn, lambda: rows(conn, "pgrecall.import_lines", line, on_conflict="update"))
    assert done() == [(1, id, "differs")]
    assert stored(conn, id)["deleted_at"] is not None
