"""Empty conditions: no condition for a reader, an error where memories are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql

from support.memories import remember_many

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

EMPTY = {"text[]": ["{}"], "jsonb": ["{}"], "text": [""]}
UNBOUNDED = {
    "since": ["-infinity", "0001-01-01 BC"],
    "until": ["infinity"],
    "timeframe": ["(,)", "[-infinity,infinity]"],
}
NO_FILTER = {"namespace", "include_superseded", "include_sensitive", "dry_run", "as_of"}
DELETING = ("forget_many", "erase_many")
TAUTOLOGIES = [
    '{"u": {"$nin": []}}', '{"$and": []}', '{"$or": []}', '{"u": {}}', '{"$and": [{}]}', '{"$or": [{"u": 1}, {}]}',
    '{"$or": [{"u": 1}, {"v": {"$nin": []}}]}', '{"$and": [{"$or": [{"u": 1}, {"$and": []}]}]}',
]  # fmt: skip
LOST = ['{"u": "a", "team": {}}', '{"u": "a", "team": {"$nin": []}}', '{"$and": [{"u": "a"}, {}]}']
"""Conditions that restrict, of which a part does not."""


def filters(conn: Connection[Any], function: str) -> dict[str, str]:
    """The filter arguments of a function, each with its type, from the catalog."""
    listed = conn.execute(
        """
        SELECT a.name, format_type(a.type, NULL)
        FROM pg_proc p CROSS JOIN LATERAL unnest(p.proargnames[:p.pronargs], p.proargtypes::oid[]) a (name, type)
        WHERE p.oid = %s::regproc
        """,
        (f"public.{function}",),
    ).fetchall()
    return {name: kind for name, kind in listed if name not in NO_FILTER}


def functions(conn: Connection[Any]) -> list[str]:
    """The public functions that take filters."""
    return [
        name
        for (name,) in conn.execute(
            "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND 'tags_any' = ANY (proargnames)"
        )
    ]


def call(conn: Connection[Any], function: str, **arguments: str) -> list[Any]:
    """Call a function; an argument is a literal of its type."""
    asked = {
        "recall": {"query": "tea"},
        "recall_briefing": {"query": "tea"},
        "recall_timeline": {"topic": "tea"},
    }
    named = {**asked.get(function, {}), **arguments}
    given = sql.SQL(", ").join(
        sql.SQL("{} => {}").format(sql.Identifier(n), sql.Literal(v)) for n, v in named.items()
    )
    return conn.execute(sql.SQL("SELECT * FROM {}({})").format(sql.Identifier(function), given)).fetchall()


def seed(conn: Connection[Any]) -> None:
    remember_many(conn, [
        {"content": "tea one", "tags": ["x"], "metadata": {"u": "a"}, "external_id": "e1", "session": "s"},
        {"content": "tea two", "speaker": "Priya", "source": "mail", "category": "note"},
    ])  # fmt: skip


def refuses(conn: Connection[Any], function: str, **arguments: str) -> None:
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        call(conn, function, **arguments)
    assert caught.value.sqlstate == "22023", (function, arguments, caught.value)
    assert caught.value.diag.message_hint


def test_an_empty_condition_is_no_condition_for_every_reader(conn: Connection[Any]) -> None:
    seed(conn)
    readers = [name for name in functions(conn) if name not in {*DELETING, "recall_explain"}]
    assert {"recall", "list_memories", "count_memories", "recall_timeline", "recall_briefing"} <= set(readers)
    for function in readers:
        everything = call(conn, function)
        assert everything
        taken = filters(conn, "forget_many").keys() & filters(conn, function).keys()
        assert len(taken) > 8
        for name in taken:
            for empty in EMPTY.get(filters(conn, function)[name], []):
                assert call(conn, function, **{name: empty}) == everything, (function, name)
        for conditions in ("{}", *TAUTOLOGIES):
            assert call(conn, function, metadata_where=conditions) == everything, (function, conditions)


@pytest.mark.parametrize("function", DELETING)
def test_what_deletes_refuses_every_condition_that_all_memories_meet(
    conn: Connection[Any], function: str
) -> None:
    seed(conn)
    tried = set()
    for name, kind in filters(conn, function).items():
        for empty in (*EMPTY.get(kind, []), *UNBOUNDED.get(name, [])):
            refuses(conn, function, **{name: empty})
            refuses(conn, function, **{name: empty}, dry_run="true")
            if name != "tags_any":
                # Beside a condition that restricts: a list that came out empty by mistake.
                refuses(conn, function, **{name: empty}, tags_any="{x}")
            tried.add(name)
    assert tried == set(filters(conn, function)), "a filter has no empty value in this test"
    for conditions in ("{}", *TAUTOLOGIES, *LOST):
        refuses(conn, function, metadata_where=conditions)
    refuses(conn, function)
    assert call(conn, "count_memories") == [(2,)]


def test_an_empty_in_fits_nothing_and_widens_nothing(conn: Connection[Any]) -> None:
    seed(conn)
    for conditions in (
        '{"u": {"$in": []}}',
        '{"$or": [{"u": {"$in": []}}, {"u": "b"}]}',
        '{"$and": [{"u": "a"}, {"u": "b"}]}',
    ):
        assert call(conn, "count_memories", metadata_where=conditions) == [(0,)]
        assert call(conn, "forget_many", metadata_where=conditions) == [(0,)]
