"""Mentions and relationships take their numbers of aliases, and back; readers read on while they do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from support.migrating import run, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = """
INSERT INTO pgrecall.namespaces (name) VALUES ('moved');
INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)
SELECT n.id, 'memory ' || i, 'english', sha256(i::text::bytea), ''
FROM pgrecall.namespaces n, generate_series(1, 3) i WHERE n.name = 'moved';
INSERT INTO pgrecall.concepts (namespace_id, key, name)
SELECT n.id, 'name ' || i, 'Name ' || i FROM pgrecall.namespaces n, generate_series(1, 3) i WHERE n.name = 'moved';
INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name, is_manual)
SELECT namespace_id, key, id, name, key = 'name 3' FROM pgrecall.concepts
UNION ALL SELECT namespace_id, 'other name', id, 'Other Name', false FROM pgrecall.concepts WHERE key = 'name 1';
INSERT INTO pgrecall.mentions (namespace_id, memory_id, concept_id, alias, source, type, confidence, span, is_about)
SELECT a.namespace_id, m.id, a.concept_id, a.alias, s.source, s.type, s.confidence, s.span, a.alias = 'name 1'
FROM pgrecall.concept_aliases a, pgrecall.memories m, (VALUES
    ('tag', NULL, 1, NULL), ('phrase', 'CONCEPT', 0.5, '[1,4)'::int4range), ('mine', 'PERSON', 0.25, NULL),
    ('yours', 'ORG', 0.75, NULL)
) s (source, type, confidence, span);
INSERT INTO pgrecall.relationships (namespace_id, source_id, target_id, source_alias, target_alias, label)
SELECT a.namespace_id, a.concept_id, b.concept_id, a.alias, b.alias, 'knows'
FROM pgrecall.concept_aliases a JOIN pgrecall.concept_aliases b ON b.alias = 'name 2' WHERE a.alias <> 'name 2';
"""
ALIASES = "SELECT alias, concept_id, name, is_manual FROM pgrecall.concept_aliases ORDER BY 1"
RELATIONSHIPS = (
    "SELECT id, source_id, target_id, source_alias, target_alias FROM pgrecall.relationships ORDER BY 1"
)
MENTIONS = "SELECT memory_id, concept_id, alias, source, type, confidence, is_about FROM pgrecall.mentions ORDER BY 1, 2, 3, 4"
NEW_MENTIONS = """
SELECT a.alias, m.source::text, m.type, m.confidence, m.is_about, count(*)
FROM pgrecall.mentions m
JOIN pgrecall.concept_aliases a ON (a.concept_id, a.id, a.namespace_id) = (m.concept_id, m.alias_id, m.namespace_id)
GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2
"""
NEW_RELATIONSHIPS = """
SELECT r.id, r.source_id, r.target_id, s.alias, t.alias
FROM pgrecall.relationships r
JOIN pgrecall.concept_aliases s ON s.id = r.source_alias_id AND s.concept_id = r.source_id
JOIN pgrecall.concept_aliases t ON t.id = r.target_alias_id AND t.concept_id = r.target_id
ORDER BY 1
"""


@pytest.fixture
def filled(new_database: Callable[..., str]) -> str:
    """A database of the revision before, with its code and with mentions."""
    dsn = new_database()
    migrate(dsn, revision="0031")
    run(dsn, BEFORE)
    return dsn


def test_mentions_and_relationships_move_there_and_back(filled: str) -> None:
    aliases, mentions, relationships = (run(filled, query) for query in (ALIASES, MENTIONS, RELATIONSHIPS))
    migrate(filled)
    assert run(filled, ALIASES) == aliases
    assert run(filled, NEW_RELATIONSHIPS) == relationships
    # The unspecific type is none, and of two enrichers that are not known the surer one stays.
    assert run(filled, NEW_MENTIONS) == [
        (alias, source, type_, confidence, alias == "name 1", 3)
        for alias in ("name 1", "name 2", "name 3", "other name")
        for source, type_, confidence in (("other", "ORG", 0.75), ("phrase", None, 0.5), ("tag", None, 1))
    ]
    migrate(filled, revision="0031")
    assert run(filled, ALIASES) == aliases
    assert run(filled, RELATIONSHIPS) == relationships
    assert run(filled, MENTIONS) == sorted(
        (*row[:3], "other" if row[3] == "yours" else row[3], *row[4:]) for row in mentions if row[3] != "mine"
    )


def test_a_right_of_everybody_stops_no_upgrade(filled: str) -> None:
    run(filled, "GRANT SELECT ON pgrecall.mentions TO PUBLIC")
    migrate(filled)
    assert run(filled, "SELECT count(*) FROM pgrecall.mentions") == [(36,)]


OLD_CODE = """
CREATE VIEW pgrecall.concept_overview WITH (security_invoker = true) AS
SELECT c.id, n.name AS namespace, c.name, c.type, c.type_confidence,
       ARRAY(SELECT a.alias FROM pgrecall.concept_aliases a WHERE a.concept_id = c.id ORDER BY a.alias) AS aliases,
       (SELECT count(DISTINCT m.memory_id) FROM pgrecall.mentions m WHERE m.concept_id = c.id) AS mentions,
       0::bigint AS about, c.created_at AS first_seen, c.created_at AS last_seen, '[]'::jsonb AS merged
FROM pgrecall.concepts c JOIN pgrecall.namespaces n ON n.id = c.namespace_id;
CREATE FUNCTION _pgrecall.concept_memories(concept_id bigint, hub_max_mentions integer)
RETURNS TABLE (memory_ids bigint[], are_about boolean[], df integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1
BEGIN ATOMIC
    SELECT array_agg(m.memory_id), array_agg(m.is_about), 1 FROM pgrecall.mentions m
    WHERE m.concept_id = concept_memories.concept_id;
END;
CREATE VIEW public.mine AS SELECT name, mentions FROM pgrecall.concept_overview;
"""


def test_reading_goes_on_while_a_writer_holds_up_the_move(filled: str) -> None:
    run(filled, OLD_CODE)
    with psycopg.connect(filled) as writer, ThreadPoolExecutor() as pool:
        writer.execute("UPDATE pgrecall.mentions SET confidence = 0 WHERE source = 'tag'")
        moving = pool.submit(migrate, filled)
        wait_for(
            filled,
            "EXISTS (SELECT FROM pg_locks WHERE relation = 'pgrecall.mentions'::regclass AND NOT granted)",
        )
        with psycopg.connect(filled) as reader:
            reader.execute("SET lock_timeout = '1s'")
            assert reader.execute("SELECT count(*), max(mentions) FROM public.mine").fetchone() == (3, 3)
        writer.commit()
        moving.result(60)
    assert run(filled, "SELECT count(*) FROM pgrecall.mentions WHERE confidence = 0") == [(12,)]


def test_what_users_made_of_the_view_of_concepts_stays(filled: str) -> None:
    run(filled, OLD_CODE)
    migrate(filled)
    assert run(filled, "SELECT count(*), max(mentions) FROM public.mine") == [(3, 3)]
