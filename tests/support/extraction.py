"""What an extraction is made of, and what must be true of the concept graph after any writer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from psycopg import sql
from psycopg.types.json import Jsonb

from support.memories import call, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

WORKER = UUID(int=7)
VERSION = "v1"

# Each finds what must not be there.
INVARIANTS = {
    "a mention whose name is not its concept's": """
        SELECT m.memory_id, m.alias_id FROM pgrecall.mentions m WHERE NOT EXISTS (
            SELECT FROM pgrecall.concept_aliases a
            WHERE a.namespace_id = m.namespace_id AND a.id = m.alias_id AND a.concept_id = m.concept_id)
    """,
    "a mention of another namespace": """
        SELECT m.memory_id FROM pgrecall.mentions m JOIN pgrecall.memories x ON x.id = m.memory_id
        WHERE x.namespace_id <> m.namespace_id
    """,
    "a name that nothing uses": """
        SELECT a.alias FROM pgrecall.concept_aliases a
        WHERE NOT a.is_manual AND NOT _pgrecall.is_alias_used(a.concept_id, a.id)
    """,
    "a concept without its own name": """
        SELECT c.key FROM pgrecall.concepts c WHERE NOT EXISTS (
            SELECT FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id AND a.alias = c.key)
    """,
    "a trace of a memory that is sensitive or forgotten": """
        SELECT x.id, kind.name FROM pgrecall.memories x
        CROSS JOIN LATERAL (
            SELECT 'mention' FROM pgrecall.mentions m WHERE m.memory_id = x.id
            UNION ALL SELECT 'time' FROM pgrecall.temporal_refs t WHERE t.memory_id = x.id
            UNION ALL SELECT 'evidence' FROM pgrecall.relationship_evidence e WHERE e.memory_id = x.id
            UNION ALL SELECT 'extraction' FROM pgrecall.extractions e WHERE e.memory_id = x.id
            UNION ALL SELECT 'job' FROM pgrecall.jobs e WHERE e.memory_id = x.id
        ) kind (name)
        WHERE x.is_sensitive OR x.deleted_at IS NOT NULL
    """,
    "a relationship without evidence": """
        SELECT r.id FROM pgrecall.relationships r
        WHERE NOT EXISTS (SELECT FROM pgrecall.relationship_evidence e WHERE e.relationship_id = r.id)
    """,
    "a memory that nobody is to read": """
        SELECT x.id FROM pgrecall.memories x WHERE NOT x.is_sensitive AND x.deleted_at IS NULL AND NOT EXISTS (
            SELECT FROM pgrecall.extractions e WHERE e.memory_id = x.id AND e.enricher = 'text'
            UNION ALL SELECT FROM pgrecall.jobs e WHERE e.memory_id = x.id AND e.kind = 'text')
    """,
    "a merge of names that are not its concept's": """
        SELECT g.id FROM pgrecall.concept_merges g WHERE g.split_at IS NULL AND (g.aliases = '{}' OR EXISTS (
            SELECT FROM unnest(g.aliases || g.key || g.into_key) n (alias) WHERE NOT EXISTS (
                SELECT FROM pgrecall.concept_aliases a WHERE a.concept_id = g.concept_id AND a.alias = n.alias)))
    """,
    "what a memory says by its tags is not what it mentions": """
        (SELECT s.memory_id, s.source, s.alias
         FROM _pgrecall.declared_concepts(ARRAY(SELECT id FROM pgrecall.memories)) s
         EXCEPT SELECT m.memory_id, m.source::text, a.alias FROM pgrecall.mentions m
         JOIN pgrecall.concept_aliases a ON a.id = m.alias_id)
        UNION ALL
        (SELECT m.memory_id, m.source::text, a.alias FROM pgrecall.mentions m
         JOIN pgrecall.concept_aliases a ON a.id = m.alias_id WHERE m.source IN ('tag', 'keyword')
         EXCEPT SELECT s.memory_id, s.source, s.alias
         FROM _pgrecall.declared_concepts(ARRAY(SELECT id FROM pgrecall.memories)) s)
    """,
}


def wrong(conn: Connection[Any]) -> dict[str, list[Any]]:
    """What is not true of the concept graph that must be."""
    found = {what: conn.execute(query.encode()).fetchall() for what, query in INVARIANTS.items()}
    return {what: broken for what, broken in found.items() if broken}


def mention(name: str, type_: str = "CONCEPT", confidence: object = 0.9, **more: object) -> dict[str, Any]:
    """A mention as an extractor gives it."""
    return {
        "name": name,
        "type": type_,
        "confidence": confidence,
        "source": "spacy",
        "start": 0,
        "end": 1,
        **more,
    }


def fact(subject: str, label: str, object_: str, **more: object) -> dict[str, Any]:
    """A fact as an extractor gives it."""
    given = {"subject": subject, "label": label, "object": object_, "confidence": 0.9, "source": "pattern"}
    return {**given, **more}


def time(from_at: str, to_at: str, **more: object) -> dict[str, Any]:
    """A time as an extractor gives it."""
    given = {
        "from_at": from_at,
        "to_at": to_at,
        "start": 0,
        "end": 3,
        "granularity": "day",
        "confidence": 0.9,
    }
    return {**given, "source": "pattern", **more}


def claimed(conn: Connection[Any], worker: UUID = WORKER, **options: object) -> list[Any]:
    """Rows of claim_extractions: memory_id, ticket, namespace_id, title, content, speaker, anchor, language."""
    return rows(conn, "pgrecall.claim_extractions", worker, **options)


def complete(
    conn: Connection[Any], read: Sequence[object], enricher: str = "text", version: str = VERSION
) -> int:
    """Store what was read."""
    return int(call(conn, "pgrecall.complete_extractions", enricher, version, Jsonb(list(read))))


def extract(conn: Connection[Any], read: dict[int, dict[str, Any]]) -> int:
    """Complete pending extractions with what `read` gives for them; other memories contain nothing."""
    items = [
        {"memory_id": row[0], "ticket": row[1], **read.get(row[0], {})} for row in claimed(conn, batch=10_000)
    ]
    return complete(conn, items)


def names(conn: Connection[Any], memory_id: int) -> list[tuple[str, str]]:
    """Names that a memory mentions, each with what found it there."""
    query = """
        SELECT a.alias, m.source::text FROM pgrecall.mentions m JOIN pgrecall.concept_aliases a ON a.id = m.alias_id
        WHERE m.memory_id = %s ORDER BY 1, 2
    """
    return conn.execute(query, (memory_id,)).fetchall()


def partition(conn: Connection[Any]) -> list[list[str]]:
    """The names of each concept."""
    query = "SELECT array_agg(a.alias ORDER BY a.alias) FROM pgrecall.concept_aliases a GROUP BY a.concept_id ORDER BY 1"
    return [found for (found,) in conn.execute(query)]


def holders(conn: Connection[Any], word: str) -> set[str]:
    """Tables of the schema, and sequences and views left out, with a row that holds a word."""
    query = """
        SELECT t.table_name FROM information_schema.tables t
        WHERE t.table_schema = 'pgrecall' AND t.table_type = 'BASE TABLE'
    """
    found = set()
    for (table,) in conn.execute(query).fetchall():
        holds = sql.SQL("SELECT EXISTS (SELECT FROM {} t WHERE lower(t::text) LIKE {})").format(
            sql.Identifier("pgrecall", table), sql.Literal(f"%{word.lower()}%")
        )
        if conn.execute(holds).fetchone() == (True,):
            found.add(table)
    return found
