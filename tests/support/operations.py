"""What the tests of status, findings and failures share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrecall.admin.bundle import bundle_hash
from support.memories import remember_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

WORKER = "11111111-1111-1111-1111-111111111111"
OTHER = "22222222-2222-2222-2222-222222222222"
VECTOR = str([1.0] + [0.0] * 383)


def remember(conn: Connection[Any], *contents: str) -> list[int]:
    return remember_many(conn, [{"content": content} for content in contents])


def dicts(conn: Connection[Any], query: str) -> list[dict[str, Any]]:
    return conn.cursor(row_factory=dict_row).execute(query.encode()).fetchall()


def status(conn: Connection[Any]) -> dict[str, Any]:
    (row,) = dicts(conn, "SELECT * FROM recall_status()")
    return row


def health(conn: Connection[Any]) -> dict[str, tuple[str, str | None]]:
    """Status and remedy of each finding."""
    rows = conn.execute("SELECT check_name, status, remedy FROM pgrecall.health()").fetchall()
    return {name: (state, remedy) for name, state, remedy in rows}


def detail(conn: Connection[Any], name: str) -> str:
    query = "SELECT detail FROM pgrecall.health() WHERE check_name = %s"
    [(text,)] = conn.execute(query, (name,)).fetchall()
    return str(text)


def beat(
    conn: Connection[Any],
    worker: str = WORKER,
    *,
    generations: Sequence[int] = (),
    per_second: float = 0.0,
    pauses: Sequence[dict[str, str]] = (),
    code: str | None = None,
) -> None:
    """A heartbeat of a daemon that is not there."""
    conn.execute(
        "SELECT pgrecall.heartbeat(%s, 'host', 17, %s, 'model', 0, %s, %s::real, %s)",
        (
            worker,
            bundle_hash() if code is None else code,
            list(generations),
            per_second,
            Jsonb(list(pauses)),
        ),
    )


def fail_for_good(
    conn: Connection[Any], memory: int, cause: str, *, generation: int = 1, error: str = "out of order"
) -> None:
    """Fail a memory as often as it takes to have it given up."""
    for _ in range(5):
        conn.execute(
            "UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = 'embedding' AND failed_at IS NULL"
        )
        claimed = conn.execute(
            "SELECT memory_id FROM pgrecall.claim(%s, generation => %s)", (WORKER, generation)
        ).fetchall()
        assert (memory,) in claimed
        conn.execute("SELECT pgrecall.fail(%s, %s, %s, %s, %s)", (WORKER, memory, error, cause, generation))
        conn.execute("SELECT pgrecall.release(%s)", (WORKER,))


def prepare(conn: Connection[Any]) -> None:
    """Make what generation 2 needs to be switched to."""
    for stage in ("fill", "search"):
        statements = conn.execute("SELECT * FROM pgrecall.generation_statements(2, %s)", (stage,)).fetchall()
        for (statement,) in statements:
            conn.execute(statement)


def switch(conn: Connection[Any]) -> None:
    """Switch to generation 2, whatever waits for it."""
    prepare(conn)
    conn.execute("SELECT pgrecall.switch_generation(2, true)")
