"""What the tests of curation share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from support.memories import call, remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

LIVES = "Ayesha lives in Leicester with two flatmates."
MOVED = "Ayesha has moved to Nottingham."


def decided(conn: Connection[Any], memory: int) -> dict[str, Any]:
    """What the rules say of a memory."""
    query = "SELECT decision, other_id, evidence FROM pgrecall.decide_curation(%s)"
    row = conn.cursor(row_factory=dict_row).execute(query, [memory]).fetchone()
    assert row is not None
    return row


def decision(conn: Connection[Any], memory: int) -> str:
    return str(decided(conn, memory)["decision"])


def pair(conn: Connection[Any], old: str = LIVES, new: str = MOVED, **options: object) -> tuple[int, int]:
    return remember(conn, old, **options), remember(conn, new, **options)


def curated(conn: Connection[Any], memory: int) -> int:
    """Curate a memory by rules; the number of the decision."""
    return int(call(conn, "pgrecall.curate", memory))


def noted(conn: Connection[Any], curation: int) -> dict[str, Any]:
    query = "SELECT * FROM pgrecall.curations WHERE id = %s"
    row = conn.cursor(row_factory=dict_row).execute(query, [curation]).fetchone()
    assert row is not None
    return row


def embed_as(conn: Connection[Any], memory: int, *values: float) -> None:
    """Give a memory a vector that begins so."""
    vector = str([*values, *[0.0] * (384 - len(values))])
    conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", [vector, memory])


def count(conn: Connection[Any], table: str) -> int:
    return int(scalar(conn, f"SELECT count(*) FROM pgrecall.{table}"))
