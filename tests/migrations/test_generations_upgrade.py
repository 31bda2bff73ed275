"""The revisions of generations, up from the one before and down again: nothing that was embedded is lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.errors import PgrecallError
from pgrecall.install import check, migrate
from support.embedding_queue import begin, claim, table
from support.judging import judge, measured
from support.memories import call, remember, rows, scalar, stored
from support.migrating import BEFORE_GENERATIONS, HEAD, MINILM, run, schema
from support.ranking import NORTH, at, recalled

if TYPE_CHECKING:
    from collections.abc import Callable

# As the code of revision 0008 has them: bodies that the server keeps apart depend on what they call.
OLDER_CODE = """
CREATE FUNCTION public.recall_status() RETURNS TABLE (memories bigint) LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT count(m.embedded_at) FROM pgrecall.memories m; END;
CREATE FUNCTION pgrecall.health() RETURNS TABLE (detail text) LANGUAGE sql STABLE
    BEGIN ATOMIC SELECT s.memories::text FROM public.recall_status() s; END;
CREATE FUNCTION pgrecall.claim(worker uuid, batch integer DEFAULT 64, lease interval DEFAULT '2 minutes')
    RETURNS TABLE (memory_id bigint, content_hash bytea, content text) LANGUAGE sql
    RETURN (SELECT (m.id, m.content_hash, m.content) FROM pgrecall.memories m LIMIT 1);
UPDATE pgrecall.installation SET public_functions = '{recall_status()}';
"""
# What its functions would have left: a job in hand and one that failed.
JOBS = """
INSERT INTO pgrecall.embedding_jobs (memory_id, worker_id, lease_expires_at, attempts, next_attempt_at)
SELECT id, CASE WHEN id % 2 = 0 THEN gen_random_uuid() END, CASE WHEN id % 2 = 0 THEN now() + interval '1 hour' END,
       CASE WHEN id % 2 = 1 THEN 4 ELSE 0 END, CASE WHEN id % 2 = 1 THEN now() + interval '1 hour' END
FROM pgrecall.memories WHERE embedding IS NULL AND NOT is_sensitive
"""


def answers(conn: psycopg.Connection[Any]) -> list[Any]:
    return [
        [(row["id"], row["score"], row["similarity"]) for row in recalled(conn, query, query_vec)]
        for query, query_vec in (("ferry", NORTH), (None, NORTH), ("crane harbour", None))
    ]


@pytest.fixture
def older(new_database: Callable[..., str]) -> tuple[str, list[Any]]:
    """A database of the revision before, and what it answered as the newest."""
    dsn = new_database()
    migrate(dsn)
    with psycopg.connect(dsn, autocommit=True) as conn:
        contents = ["the ferry leaves at nine", "the crane was sold", "a harbour at night"]
        for place, content in enumerate(contents):
            number = remember(conn, content, tags=["harbour"])
            conn.execute(
                "UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (at(0.9 - place / 5), number)
            )
        judge(conn, "q", [1], query="ferry", query_vec=NORTH)
        judge(conn, "words", [2], query="crane")
        remember(conn, "not embedded yet")
        remember(conn, "nor this one")
        remember(conn, "secret", is_sensitive=True)
        conn.execute("UPDATE pgrecall.concepts SET embedding = %s", (NORTH,))
        before = [answers(conn), measured(conn)]
    migrate(dsn, revision=BEFORE_GENERATIONS)
    run(dsn, JOBS)
    run(dsn, OLDER_CODE)
    return dsn, before


def test_the_revision_before_has_what_it_had(older: tuple[str, list[Any]]) -> None:
    dsn, _ = older
    columns = "SELECT embedding_model_id, embedded_at IS NOT NULL FROM pgrecall.memories WHERE embedding IS NOT NULL"
    assert len(set(run(dsn, columns))) == 1
    assert run(dsn, "SELECT value FROM pgrecall.settings WHERE name = 'embedding_model'") == [(MINILM,)]
    vectors = (
        "SELECT query_id, query_vec IS NOT NULL, embedding_model_id FROM pgrecall.judged_queries ORDER BY 1"
    )
    [(_, has_vector, model), words] = run(dsn, vectors)
    assert (has_vector, model is not None, words) == (True, True, ("words", False, None))
    types = """
        SELECT attname, format_type(atttypid, atttypmod) FROM pg_attribute
        WHERE attrelid = 'pgrecall.judged_queries'::regclass AND attname = 'query_vec'
    """
    assert run(dsn, types) == [("query_vec", "halfvec(384)")]


def test_up_keeps_embeddings_model_and_answers(older: tuple[str, list[Any]], fresh: str) -> None:
    dsn, before = older
    vectors = "SELECT id, embedding::text FROM pgrecall.memories ORDER BY id"
    embedded = run(dsn, vectors)
    assert migrate(dsn).revision == HEAD
    assert schema(dsn) == fresh
    assert run(dsn, vectors) == embedded
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert [answers(conn), measured(conn)] == before
        assert rows(conn, "pgrecall.active_model")[0][1:3] == (MINILM, 384)
        assert scalar(conn, "SELECT count(*) FROM pgrecall.settings WHERE name = 'embedding_model'") == 0
        (generation,) = table(conn, "generations")
        assert (generation["id"], generation["state"], generation["column_name"]) == (
            1,
            "active",
            "embedding",
        )
        assert scalar(conn, "SELECT count(*) FROM pgrecall.concepts WHERE embedding IS NULL") == 0
        # Leases and failures of before are not of this queue: what is pending is claimed at once.
        assert sorted(claim(conn)) == [4, 5]
        assert stored(conn, 6)["embedding"] is None


def test_down_and_up_again(older: tuple[str, list[Any]], fresh: str) -> None:
    dsn, before = older
    migrate(dsn)
    migrate(dsn, revision=BEFORE_GENERATIONS)
    once = schema(dsn)
    migrate(dsn)
    migrate(dsn, revision=BEFORE_GENERATIONS)
    assert schema(dsn) == once
    migrate(dsn)
    assert schema(dsn) == fresh
    with psycopg.connect(dsn, autocommit=True) as conn:
        assert [answers(conn), measured(conn)] == before


def test_a_database_without_a_model(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, dim=16)
    migrate(dsn, revision=BEFORE_GENERATIONS)
    migrate(dsn)
    assert run(dsn, "SELECT id, model_id, dimension, state FROM pgrecall.generations") == [
        (1, None, 16, "active")
    ]
    assert check(dsn).current
    migrate(dsn, model="own/model", dim=16)
    assert run(dsn, "SELECT name, dimension FROM pgrecall.active_model()") == [("own/model", 16)]


def test_no_way_down_with_a_second_generation(conn: psycopg.Connection[Any], dsn: str, fresh: str) -> None:
    number = remember(conn, "one")
    begin(conn)
    conn.execute("UPDATE pgrecall.memories SET embedding_2 = '[1,0,0,0,0,0,0,0]'")
    conn.close()
    with pytest.raises(PgrecallError, match="another generation") as caught:
        migrate(dsn, revision=BEFORE_GENERATIONS)
    assert caught.value.sqlstate == "55000"
    assert "pgrecall reembed --drop-old" in str(caught.value.hint)
    # Nothing was taken away.
    assert check(dsn).current
    with psycopg.connect(dsn, autocommit=True) as again:
        assert (
            scalar(again, "SELECT embedding_2 IS NULL FROM pgrecall.memories WHERE id = %s", number) is False
        )
        call(again, "pgrecall.drop_generation", 2)
    assert schema(dsn) == fresh
    migrate(dsn, revision=BEFORE_GENERATIONS)
