"""A memory that its owner gives another id, as when two databases are put together, is found under it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember, rows, scalar
from support.postings import fold, problems

if TYPE_CHECKING:
    from psycopg import Connection


@pytest.mark.parametrize("folded", [False, True])
def test_another_id(conn: Connection[Any], folded: bool) -> None:
    number = remember(conn, "the ferry leaves at nine")
    if folded:
        fold(conn)
    # As of a memory that waits for nothing: a job keeps its id.
    conn.execute("DELETE FROM pgrecall.jobs WHERE memory_id = %s", (number,))
    new = scalar(conn, "UPDATE pgrecall.memories SET id = id + 7 WHERE id = %s RETURNING id", number)
    assert new != number
    assert problems(conn) == {}
    assert [row[0] for row in rows(conn, "recall", "ferry")] == [new]
    fold(conn)
    assert problems(conn) == {}
    assert [row[0] for row in rows(conn, "recall", "ferry")] == [new]
