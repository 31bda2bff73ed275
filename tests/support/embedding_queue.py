"""The embedding queue and generations, as tests drive them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg import sql
from psycopg.rows import dict_row

from support.memories import call, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

ONE, OTHER = UUID(int=1), UUID(int=2)
SECOND = "second/model"


def vector(dimension: int, *head: float) -> str:
    """A vector that is zero after these."""
    return str([*head, *[0.0] * (dimension - len(head))])


def claim(
    conn: Connection[Any], worker: UUID = ONE, batch: int = 64, generation: int | None = None
) -> list[int]:
    """Claim, and return the ids."""
    return [row[0] for row in rows(conn, "pgrecall.claim", worker, batch, generation=generation)]


def complete(
    conn: Connection[Any], ids: list[int], worker: UUID = ONE, generation: int | None = None,
    embedding: str | None = None, **options: object,
) -> int:  # fmt: skip
    """Complete memories with their hashes of now; returns how many landed."""
    # An embedder has the hashes of what it claimed; here they are read by the role that logged in.
    (role,) = conn.execute("SELECT current_setting('role')").fetchone() or ("none",)
    conn.execute("RESET ROLE")
    found = conn.execute(
        "SELECT id, content_hash FROM pgrecall.memories WHERE id = ANY (%s)", (ids,)
    ).fetchall()
    conn.execute("SELECT set_config('role', %s, false)", (role,))
    hashes = dict(found)
    dimension = 384
    if generation is not None:
        query = "SELECT dimension FROM pgrecall.generations WHERE id = %s"
        dimension = int((conn.execute(query, (generation,)).fetchone() or (384,))[0])
    embeddings = [embedding or vector(dimension, 1.0)] * len(ids)
    return int(
        call(
            conn, "pgrecall.complete", worker, ids, [hashes.get(number, b"") for number in ids], embeddings,
            generation=generation, **options,
        )
    )  # fmt: skip


def fail(conn: Connection[Any], number: int, cause: str = "refused", worker: UUID = ONE) -> None:
    rows(conn, "pgrecall.fail", worker, number, "it was not taken", cause)


def due(conn: Connection[Any]) -> None:
    """Let the time pass that failed memories wait."""
    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = 'embedding' AND next_attempt_at IS NOT NULL"
    )


def lost(conn: Connection[Any]) -> None:
    """Let every lease run out."""
    conn.execute(
        "UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE kind = 'embedding' AND lease_expires_at IS NOT NULL"
    )


def table(conn: Connection[Any], name: str) -> list[dict[str, Any]]:
    """The rows of a table of the schema, by its first column."""
    query = sql.SQL("SELECT * FROM {} ORDER BY 1").format(sql.Identifier("pgrecall", name))
    return conn.cursor(row_factory=dict_row).execute(query).fetchall()


def jobs(conn: Connection[Any], kind: str = "embedding") -> list[dict[str, Any]]:
    """The jobs of a kind that have not failed."""
    return [row for row in table(conn, "jobs") if row["kind"] == kind and row["failed_at"] is None]


def failed(conn: Connection[Any], kind: str = "embedding") -> list[dict[str, Any]]:
    """The jobs of a kind that have failed."""
    return [row for row in table(conn, "jobs") if row["kind"] == kind and row["failed_at"] is not None]


def build(conn: Connection[Any], generation: int) -> None:
    """Give a generation all that it needs, whatever is embedded."""
    for stage in ("fill", "search"):
        for statement in rows(conn, "pgrecall.generation_statements", generation, stage):
            conn.execute(statement.encode())


def begin(conn: Connection[Any], model: str = SECOND, dimension: int = 8) -> int:
    """Begin a generation and build its indexes."""
    generation = int(call(conn, "pgrecall.add_generation", model, dimension))
    build(conn, generation)
    return generation


def embed_all(conn: Connection[Any], generation: int) -> None:
    """Embed what is pending, each memory in a direction of its own."""
    dimension = int(scalar(conn, "SELECT dimension FROM pgrecall.generations WHERE id = %s", generation))
    while ids := claim(conn, generation=generation):
        for number in ids:
            complete(conn, [number], generation=generation, embedding=vector(dimension, 1.0, number / 100))
