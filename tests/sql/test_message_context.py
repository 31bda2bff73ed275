"""pgrecall.message_context(): messages with those around them, and nothing that must not be sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import call, remember, rows
from support.notes import claim, note, switch_on, talk

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback


def long_talk(count: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": f"message {number}"} for number in range(count)]


def context(conn: Connection[Any], *ids: int) -> list[tuple[str, bool]]:
    return [(row[4], row[6]) for row in rows(conn, "pgrecall.message_context", list(ids))]


def test_six_before_and_two_after(conn: Connection[Any]) -> None:
    ids = talk(conn, long_talk(20))
    assert context(conn, ids[10]) == [(f"message {number}", number == 10) for number in range(4, 13)]
    assert context(conn, ids[0]) == [(f"message {number}", number == 0) for number in range(3)]
    assert context(conn, ids[8], ids[10]) == [
        (f"message {number}", number in {8, 10}) for number in range(2, 13)
    ]
    assert context(conn) == []


def test_each_session_by_itself(conn: Connection[Any]) -> None:
    first, second = talk(conn, long_talk(2), "a"), talk(conn, long_talk(2), "b")
    found = rows(conn, "pgrecall.message_context", [first[0], second[1]])
    assert [(row[0], row[2], row[6]) for row in found] == [
        (first[0], "a", True), (first[1], "a", False), (second[0], "b", False), (second[1], "b", True),
    ]  # fmt: skip


def test_what_must_not_be_sent_is_left_out(conn: Connection[Any]) -> None:
    ids = talk(conn, long_talk(6))
    call(conn, "update_memory", ids[0], is_sensitive=True)
    call(conn, "forget", ids[1])
    conn.execute("UPDATE pgrecall.memories SET expires_at = now() - interval '1 s' WHERE id = %s", [ids[2]])
    assert context(conn, *ids) == [(f"message {number}", True) for number in (3, 4, 5)]
    assert context(conn, ids[0]) == context(conn, ids[1]) == context(conn, ids[2]) == []


def test_notes_and_other_memories_are_no_context(conn: Connection[Any]) -> None:
    switch_on(conn)
    ids = talk(conn, long_talk(2))
    note(conn, claim(conn), Priya_counts=ids)
    other = remember(conn, "beside it", session="trip")
    assert context(conn, *ids, other) == [("message 0", True), ("message 1", True)]
