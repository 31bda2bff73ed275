"""forget(): tombstones, what goes with them, and how they come back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from support.embedding_queue import jobs
from support.memories import call, concepts, contents, embed, remember, rows, stored, waits

if TYPE_CHECKING:
    from psycopg import Connection

WORKER = "11111111-1111-4111-8111-111111111111"


def test_forgetting_is_idempotent(conn: Connection[Any]) -> None:
    number = remember(conn, "content")
    assert call(conn, "forget", number) is True
    before = contents(conn)
    for unknown in (number, number + 1, -1, None):
        assert call(conn, "forget", unknown) is False
    assert contents(conn) == before


def test_the_row_stays(conn: Connection[Any]) -> None:
    number = remember(conn, "content", title="title", tags=["ann"], metadata={"a": 1})
    embed(conn, number)
    before = stored(conn, number)
    call(conn, "forget", number)
    after = stored(conn, number)
    assert after["deleted_at"] == after["updated_at"] > before["updated_at"]
    changed = ("deleted_at", "updated_at")
    assert {**after, **dict.fromkeys(changed)} == {**before, **dict.fromkeys(changed)}


def test_forgotten_memories_are_not_recalled(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    assert len(rows(conn, "recall", "yellow submarine")) == 1
    call(conn, "forget", number)
    assert rows(conn, "recall", "yellow submarine", include_superseded=True) == []


def test_concepts_go_with_the_last_memory(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one", tags=["shared", "own"]), remember(conn, "two", tags=["shared"])
    call(conn, "forget", one)
    assert concepts(conn) == ["shared"]
    call(conn, "forget", two)
    assert (concepts(conn), contents(conn)["concept_aliases"], contents(conn)["mentions"]) == ([], [], [])


def test_forgotten_memories_leave_the_queue(conn: Connection[Any]) -> None:
    number = remember(conn, "content")
    assert len(rows(conn, "pgrecall.claim", WORKER)) == 1
    call(conn, "forget", number)
    assert jobs(conn) == []
    conn.execute("SELECT pgrecall.fail(%s, %s, 'too late')", (WORKER, number))
    assert jobs(conn) == []
    assert rows(conn, "pgrecall.claim", WORKER) == []
    (status,) = rows(conn, "recall_status")
    assert status[5:11] == (0, 0, 0, 0, 0, 0)


def test_coming_back_with_the_same_text_keeps_the_embedding(conn: Connection[Any]) -> None:
    number = remember(conn, "content", tags=["ann"], external_id="e")
    embed(conn, number)
    call(conn, "forget", number)
    remember(conn, "content", external_id="e", on_conflict="update")
    found = stored(conn, number)
    assert found["deleted_at"] is None
    assert found["embedding"] is not None
    assert concepts(conn, number) == ["ann"]


def test_coming_back_with_another_text(conn: Connection[Any]) -> None:
    number = remember(conn, "content", external_id="e")
    embed(conn, number)
    call(conn, "forget", number)
    remember(conn, "new", external_id="e", is_sensitive=False, on_conflict="update")
    assert stored(conn, number)["embedding"] is None
    assert len(rows(conn, "pgrecall.claim", WORKER)) == 1


def test_two_sessions_forget_one_memory(conn: Connection[Any], dsn: str) -> None:
    number = remember(conn, "content", tags=["ann"])
    with psycopg.connect(dsn) as first:
        assert call(first, "forget", number) is True
        second = waits(conn, lambda: call(conn, "forget", number))
        first.commit()
        assert second() is False


def test_two_sessions_forget_the_last_two_memories_of_a_concept(conn: Connection[Any], dsn: str) -> None:
    one, two = remember(conn, "one", tags=["ann", "bob"]), remember(conn, "two", tags=["bob", "ann"])
    with psycopg.connect(dsn) as first:
        call(first, "forget", one)
        second = waits(conn, lambda: call(conn, "forget", two))
        first.commit()
        assert second() is True
    assert concepts(conn) == []
