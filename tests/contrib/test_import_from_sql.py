"""pgrecall.import_rows and pgrecall.preview_import_rows as SQL: what they refuse, and that it is all or nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.import_from import stored_memories
from support.memories import call, refused, rows, share

if TYPE_CHECKING:
    from psycopg import Connection


def _row(id: str = "x:1", fingerprint: str = "f", **more: Any) -> dict[str, Any]:
    memory = {"external_id": id, "content": "tea", **more.pop("memory", {})}
    return {"memory": memory, "import": {"kind": "x", "id": id, "fingerprint": fingerprint}, **more}


def _import(conn: Connection[Any], *given: object, **options: Any) -> list[Any]:
    return rows(conn, "pgrecall.import_rows", Jsonb(list(given)), **options)


@pytest.mark.parametrize(
    ("row", "sqlstate"),
    [
        ("x", "22023"),
        ({}, "22023"),
        ({"memory": {"content": "tea"}, "import": {"fingerprint": "f"}}, "22023"),
        ({"memory": {"external_id": "x:1", "content": "tea"}, "import": {}}, "22023"),
        (_row(""), "22023"),
        (_row(memory={"metadata": []}), "22023"),
        (_row(memory={"content": " "}), "22023"),
        (_row(memory={"language": "klingon"}), "42704"),
        (_row(memory={"title": "x" * 5000}), "54000"),
        (_row(memory={"mood": "glad"}), "22023"),
        (_row(updated_at="yesterday-ish"), "22023"),
        (_row(deleted_at="yesterday-ish"), "22023"),
        (_row(embedding="[1,2,3]"), "22023"),
    ],
)
def test_a_bad_row_refuses_all(conn: Connection[Any], row: Any, sqlstate: str) -> None:
    with refused(conn, sqlstate):
        _import(conn, _row("x:0"), row)


def test_an_external_id_twice_is_refused(conn: Connection[Any]) -> None:
    with refused(conn, "23505"):
        _import(conn, _row(), _row(fingerprint="g"))


def test_an_external_id_twice_is_refused_also_where_the_memory_is_there(conn: Connection[Any]) -> None:
    _import(conn, _row())
    with refused(conn, "23505"):
        _import(conn, _row(fingerprint="g"), _row(fingerprint="h", deleted_at="2026-01-01Z"))
    assert [row[2] for row in _import(conn, _row(fingerprint="g"), _row("x:2"))] == ["updated", "stored"]


def test_null_is_what_is_not_given(conn: Connection[Any]) -> None:
    nothing = dict.fromkeys(("tags", "importance", "expanded_keywords", "language", "created_at", "title"))
    for fingerprint, outcome in (("f", "stored"), ("g", "updated")):
        row = _row(fingerprint=fingerprint, memory=nothing | {"content": f"tea {fingerprint}"})
        assert _import(conn, row)[0][2] == outcome
    (memory,) = stored_memories(conn).values()
    assert (memory["content"], memory["tags"], memory["importance"]) == ("tea g", [], 0.5)


@pytest.mark.parametrize("value", [{}, None, "x"])
def test_no_array(conn: Connection[Any], value: Any) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.import_rows", Jsonb(value))


def test_outcomes(conn: Connection[Any]) -> None:
    first = _import(conn, _row("x:1"), _row("x:2", deleted_at="2025-01-01T00:00:00Z"), keep_deleted=False)
    assert [(place, outcome) for place, _, outcome in first] == [(1, "stored"), (2, "left out")]
    asked = [_row("x:1"), _row("x:1", "g"), _row("x:2")]
    foreseen = rows(conn, "pgrecall.preview_import_rows", Jsonb(asked))
    assert [row[2] for row in foreseen] == ["present", "changed", "new"]
    again = _import(conn, _row("x:1", "g", memory={"content": "green tea"}), _row("x:2"))
    assert [outcome for *_, outcome in again] == ["updated", "stored"]
    assert _import(conn) == []
    assert {row["content"] for row in stored_memories(conn).values()} == {"green tea", "tea"}


def test_metadata_that_was_meddled_with_is_no_error(conn: Connection[Any]) -> None:
    _import(conn, _row("x:1"), _row("x:2"))
    conn.execute(
        "UPDATE pgrecall.memories SET metadata = '{\"imported_from\": [1]}' WHERE external_id = 'x:1'"
    )
    conn.execute(
        'UPDATE pgrecall.memories SET metadata = \'{"imported_from": {"updated_at": "x"}}\' WHERE external_id = \'x:2\''
    )
    assert [outcome for *_, outcome in _import(conn, _row("x:1"), _row("x:2"))] == ["taken", "updated"]


def test_a_reader_may_do_neither(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.create_namespace('default')")
    share(conn)
    with conn.transaction(force_rollback=True):
        conn.execute("SET LOCAL ROLE pgrecall_reader")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            _import(conn, _row())


def test_a_writer_sees_nothing_of_other_namespaces(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.create_namespace('ours')")
    share(conn, "ours")
    _import(conn, _row(), namespace="theirs")
    with conn.transaction(force_rollback=True):
        conn.execute("SET LOCAL ROLE pgrecall_writer")
        assert rows(conn, "pgrecall.preview_import_rows", Jsonb([_row()]), namespace="theirs") == [
            (1, None, "new", None, None, False, False)
        ]
        assert _import(conn, _row(), namespace="ours")[0][2] == "stored"


def test_a_changed_row_that_names_no_language_has_the_namespaces(conn: Connection[Any]) -> None:
    _import(conn, _row(memory={"language": "german"}))
    _import(conn, _row(fingerprint="g", memory={"content": "coffee"}))
    assert conn.execute("SELECT content, language FROM pgrecall.memories").fetchall() == [
        ("coffee", "english")
    ]
