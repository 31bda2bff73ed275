"""The revision of the concept graph, up and down, over what older code and hands have left there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.install import migrate
from support.extraction import extract, fact, holders, mention, names, wrong
from support.memories import call, remember
from support.migrating import BEFORE_GRAPH, run, schema

if TYPE_CHECKING:
    from collections.abc import Callable

# As the code of revision 0007 has it: a body that the server keeps apart depends on what it calls.
OLDER_CODE = """
CREATE FUNCTION public.recall_status() RETURNS TABLE (memories bigint) LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT count(*) FROM pgrecall.memories; END;
CREATE FUNCTION pgrecall.health() RETURNS TABLE (detail text) LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT s.memories::text FROM public.recall_status() s; END;
UPDATE pgrecall.installation SET public_functions = '{recall_status()}';
"""

# None of this has been written by any code of ours; an administrator could.
BY_HAND = """
WITH made AS (
    INSERT INTO pgrecall.concepts (namespace_id, key, name, type)
    SELECT namespace_id, key, name, 'PERSON' FROM pgrecall.concepts WHERE key IN ('ferry', 'goa') RETURNING *
)
INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, source)
SELECT namespace_id, made.id, 1, kind FROM made CROSS JOIN (VALUES ('tag'), ('by hand')) k (kind);
INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id)
SELECT c.namespace_id, given.alias, c.id FROM pgrecall.concepts c
JOIN (VALUES ('goa', 'panjim'), ('ferry', 'panjim'), ('goa', 'ferry')) given (key, alias) ON given.key = c.key
WHERE c.type = 'CONCEPT';
INSERT INTO pgrecall.relationships (namespace_id, source_id, target_id, label)
SELECT a.namespace_id, a.id, b.id, 'leads to' FROM pgrecall.concepts a JOIN pgrecall.concepts b ON a.id < b.id;
"""


@pytest.fixture
def before(new_database: Callable[..., str]) -> str:
    """A database of the revision before this one, with memories, tags and the like of older code."""
    dsn = new_database()
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember(conn, "one", tags=["ferry", "Goa"])
        remember(conn, "two", tags=["Goa"], expanded_keywords=["night ferry"])
        remember(conn, "three", tags=["Quibblesnark"], is_sensitive=True)
    migrate(dsn, revision=BEFORE_GRAPH)
    run(dsn, OLDER_CODE)
    return dsn


def test_it_comes_over_the_code_before_it(before: str, fresh: str) -> None:
    migrate(before)
    assert schema(before) == fresh
    with psycopg.connect(before, autocommit=True) as conn:
        assert wrong(conn) == {}
        assert names(conn, 1) == [("ferry", "tag"), ("goa", "tag")]
        assert holders(conn, "quibblesnark") <= {"memories", "postings", "lexicon", "unposted"}


def test_it_comes_over_what_was_written_by_hand(before: str, fresh: str) -> None:
    run(before, BY_HAND)
    migrate(before)
    assert schema(before) == fresh
    with psycopg.connect(before, autocommit=True) as conn:
        assert wrong(conn) == {}
        assert names(conn, 1) == [("ferry", "tag"), ("goa", "tag")]
        assert names(conn, 2) == [("goa", "tag"), ("night ferry", "keyword")]
        found = conn.execute(
            "SELECT alias, name, is_manual FROM pgrecall.concept_aliases ORDER BY 1"
        ).fetchall()
        assert found == [
            ("ferry", "ferry", False),
            ("goa", "Goa", False),
            ("night ferry", "night ferry", False),
            ("panjim", "panjim", True),
        ]
        extract(conn, {1: {"facts": [fact("ferry", "leads to", "panjim")]}})
        assert wrong(conn) == {}


def test_down_and_up_again_parts_what_was_merged(conn: psycopg.Connection[Any], dsn: str) -> None:
    memory = remember(conn, "one", tags=["Goa", "Panjim", "ferry"])
    extract(
        conn, {memory: {"mentions": [mention("Jane", "PERSON")], "facts": [fact("Jane", "likes", "Goa")]}}
    )
    ids = [call(conn, "pgrecall.find_concept", name) for name in ("panjim", "goa")]
    call(conn, "pgrecall.merge_concepts", *ids)
    call(conn, "pgrecall.add_alias", ids[1], "India's smallest state")
    conn.close()
    migrate(dsn, revision=BEFORE_GRAPH)
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as again:
        assert wrong(again) == {}
        assert names(again, memory) == [("ferry", "tag"), ("goa", "tag"), ("panjim", "tag")]
        assert call(again, "pgrecall.find_concept", "india s smallest state") == ids[1]
