"""A claim hands out the text that is there after its lease, never one that is older."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

from support.embedding_queue import ONE
from support.memories import call, remember, rows, waits

if TYPE_CHECKING:
    from psycopg import Connection


def test_a_text_that_changes_during_a_claim_is_handed_out_new_or_not_at_all(
    conn: Connection[Any], dsn: str
) -> None:
    number = remember(conn, "before")
    with psycopg.connect(dsn) as writer:
        call(writer, "update_memory", number, content="after")
        assert rows(conn, "pgrecall.claim_extractions", ONE) == []
        assert rows(conn, "pgrecall.claim", ONE) == []
        writer.commit()
    assert [row[4] for row in rows(conn, "pgrecall.claim_extractions", ONE)] == ["after"]


def test_the_ticket_of_a_text_that_changes_after_the_lease_is_void(conn: Connection[Any], dsn: str) -> None:
    number = remember(conn, "before")
    with psycopg.connect(dsn) as claimer:
        ((_, ticket, *_),) = rows(claimer, "pgrecall.claim_extractions", ONE)
        changed = waits(conn, lambda: call(conn, "update_memory", number, content="after"))
        claimer.commit()
        changed()
    assert conn.execute("SELECT ticket FROM pgrecall.jobs WHERE kind = 'text'").fetchall() == [(None,)]
    assert ticket is not None


def test_the_text_is_read_by_a_later_statement_than_the_lease(conn: Connection[Any]) -> None:
    for name in ("claim", "claim_extractions"):
        [(source,)] = conn.execute("SELECT prosrc FROM pg_proc WHERE proname = %s", (name,)).fetchall()
        assert "lease_jobs" not in source[source.index("RETURN QUERY") :], name
