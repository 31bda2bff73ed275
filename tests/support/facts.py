"""Memories that state facts, as an extraction would have read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.memories import remember

if TYPE_CHECKING:
    from psycopg import Connection


def day(month: int, number: int = 1, year: int = 2026) -> datetime:
    """Return the begin of a day of 2026."""
    return datetime(year, month, number, tzinfo=UTC)


def fact(subject: str, label: str, object_: str, **fields: object) -> dict[str, Any]:
    """Return a fact as an extraction hands it over; times become text."""
    written = {
        name: value.isoformat() if isinstance(value, datetime) else value for name, value in fields.items()
    }
    return {
        "subject": subject,
        "label": label,
        "object": object_,
        "confidence": 0.8,
        "source": "llm",
        **written,
    }


def lives(subject: str, place: str, **fields: object) -> dict[str, Any]:
    """Return a fact that a subject has one of at a time."""
    return fact(subject, "lives in", place, is_exclusive=True, **fields)


def namespace_of(conn: Connection[Any], memory_id: int) -> int:
    row = conn.execute("SELECT namespace_id FROM pgrecall.memories WHERE id = %s", (memory_id,)).fetchone()
    assert row is not None
    return int(row[0])


def read(conn: Connection[Any], memory_id: int, *facts: dict[str, Any]) -> None:
    """Store what was read in a memory, its names before, as complete_extractions() does."""
    item = {
        "memory_id": memory_id,
        "namespace_id": namespace_of(conn, memory_id),
        "mentions": [],
        "facts": [*facts],
    }
    with conn.transaction():
        conn.execute(
            """
            SELECT _pgrecall.upsert_concepts(array_agg(ROW (n.namespace_id, n.alias, n.name)::pgrecall.naming))
            FROM _pgrecall.extracted_names(%s) n
            """,
            (Jsonb([item]),),
        )
        conn.execute("SELECT _pgrecall.store_facts(%s)", (Jsonb([item]),))


def told(conn: Connection[Any], content: str, *facts: dict[str, Any], **fields: object) -> int:
    """Remember something and what was read in it; return the memory."""
    memory_id = remember(conn, content, **fields)
    read(conn, memory_id, *facts)
    return memory_id


def forget_facts(conn: Connection[Any], *memory_ids: int) -> None:
    conn.execute("SELECT _pgrecall.remove_evidence(%s)", (list(memory_ids),))


def relationships(conn: Connection[Any]) -> list[dict[str, Any]]:
    """Every relationship with names for ids: what it is, when it holds, what ended it, and by which memories."""
    query = """
        SELECT s.name AS subject, r.label, t.name AS object, r.valid_from, r.valid_to, round(r.weight::numeric, 4)::float AS weight,
               (SELECT concat_ws(' ', a.name, b.label, c.name) FROM pgrecall.relationships b
                JOIN pgrecall.concepts a ON a.id = b.source_id JOIN pgrecall.concepts c ON c.id = b.target_id
                WHERE b.id = r.superseded_by) AS superseded_by,
               r.recorded_at, r.superseded_at,
               ARRAY(SELECT e.memory_id FROM pgrecall.relationship_evidence e WHERE e.relationship_id = r.id
                     ORDER BY e.memory_id) AS evidence
        FROM pgrecall.relationships r
        JOIN pgrecall.concepts s ON s.id = r.source_id JOIN pgrecall.concepts t ON t.id = r.target_id
        ORDER BY s.name, r.label, r.recorded_at, t.name, r.valid_from NULLS FIRST, r.valid_to
    """
    return conn.cursor(row_factory=dict_row).execute(query.encode()).fetchall()


def spans(conn: Connection[Any]) -> list[tuple[Any, ...]]:
    """Objects with the period in which they hold."""
    return [(row["object"], row["valid_from"], row["valid_to"]) for row in relationships(conn)]


def recalled(conn: Connection[Any], query: str, **options: object) -> list[dict[str, Any]]:
    """Rows of recall_facts()."""
    named = "".join(f", {name} => %({name})s" for name in options)
    statement = f"SELECT * FROM recall_facts(%(query)s{named})"
    return (
        conn.cursor(row_factory=dict_row).execute(statement.encode(), {"query": query, **options}).fetchall()
    )


def triples(conn: Connection[Any], query: str, **options: object) -> list[tuple[str, str, str]]:
    """What recall_facts() returns, in its order, as subject, label and object."""
    return [(row["subject"], row["label"], row["object"]) for row in recalled(conn, query, **options)]
