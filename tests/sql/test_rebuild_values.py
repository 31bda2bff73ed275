"""Memories of an older version get the lexemes of their values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

VALUE = "SELECT search_vector @@ '''=12-09'''::tsquery FROM pgrecall.memories WHERE id = %s"


def test_older_memories_get_their_values(conn: Connection[Any]) -> None:
    memory = remember(conn, "piano on 9 December")
    remember(conn, "piano without a day")
    conn.execute("ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_10_derive")
    conn.execute("UPDATE pgrecall.memories SET search_vector = ts_delete(search_vector, '=12-09')")
    conn.execute("ALTER TABLE pgrecall.memories ENABLE TRIGGER memories_10_derive")
    before = conn.execute("SELECT id, updated_at, word_count FROM pgrecall.memories ORDER BY id").fetchall()
    assert not scalar(conn, VALUE, memory)
    conn.execute("CALL pgrecall.rebuild_values()")
    assert scalar(conn, VALUE, memory)
    assert (
        conn.execute("SELECT id, updated_at, word_count FROM pgrecall.memories ORDER BY id").fetchall()
        == before
    )
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memory_changes") == 0
