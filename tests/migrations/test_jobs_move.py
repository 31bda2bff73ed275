"""The rows of the queues that were there before the table of jobs move into it, and back."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg

from pgrecall.admin.migrate import migrate
from support.migrating import run, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable

BEFORE = """
INSERT INTO pgrecall.namespaces (name) VALUES ('moved');
INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector)
SELECT n.id, 'memory ' || i, 'english', sha256(i::text::bytea), ''
FROM pgrecall.namespaces n, generate_series(1, 5) i WHERE n.name = 'moved';
INSERT INTO pgrecall.embedding_jobs (memory_id, generation_id, worker_id, ticket, lease_expires_at, attempts, last_error)
SELECT min(id), 1, gen_random_uuid(), 7, now() + interval '1 hour', 2, 'once' FROM pgrecall.memories;
INSERT INTO pgrecall.embedding_failures (memory_id, generation_id, attempts, cause, error)
SELECT min(id) + 1, 1, 5, 'input_refused', 'no' FROM pgrecall.memories;
INSERT INTO pgrecall.extractions (memory_id, enricher, namespace_id, is_pending, version, extracted_at, attempts,
                                  next_attempt_at, last_error)
SELECT m.id, v.enricher, m.namespace_id, v.is_pending, v.version, v.at, v.attempts, v.next_at, v.error
FROM (SELECT min(id) AS id, min(namespace_id) AS namespace_id FROM pgrecall.memories) m, (VALUES
    ('text', false, 'v1', now(), 0, NULL::timestamptz, NULL), ('llm', true, NULL, NULL, 5, 'infinity', 'no'),
    ('notes', true, 'v0', now(), 1, '2030-01-01', 'once')
) v (enricher, is_pending, version, at, attempts, next_at, error);
INSERT INTO pgrecall.curation_jobs (memory_id, namespace_id, attempts)
SELECT id, namespace_id, CASE WHEN id % 2 = 0 THEN 5 ELSE 0 END FROM pgrecall.memories;
"""
OLD = {
    "embedding_jobs": "memory_id, generation_id, worker_id, ticket, lease_expires_at, next_attempt_at, attempts, last_error",
    "embedding_failures": "memory_id, generation_id, attempts, cause, error, failed_at",
    "extractions": "memory_id, enricher, namespace_id, is_pending, attempts, next_attempt_at::text, last_error",
    "curation_jobs": "memory_id, namespace_id, attempts",
}
KINDS = (
    "SELECT kind, count(*), count(failed_at), sum(attempts) FROM pgrecall.jobs GROUP BY kind ORDER BY kind"
)
MOVED = [("curation", 5, 2, 10), ("embedding", 2, 1, 7), ("llm", 1, 1, 5), ("notes", 1, 0, 1)]


def contents(dsn: str) -> dict[str, list[tuple[object, ...]]]:
    return {
        name: run(dsn, f"SELECT {columns} FROM pgrecall.{name} ORDER BY 1, 2")
        for name, columns in OLD.items()
    }


def test_the_rows_of_all_queues_move_there_and_back(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, revision="0017")
    run(dsn, BEFORE)
    before = contents(dsn)
    migrate(dsn)
    assert run(dsn, KINDS) == MOVED
    assert run(dsn, "SELECT enricher, version FROM pgrecall.extractions ORDER BY 1") == [
        ("notes", "v0"),
        ("text", "v1"),
    ]
    assert run(dsn, "SELECT count(*) FROM pgrecall.jobs j JOIN pgrecall.memories m ON m.id = j.memory_id "
                    "WHERE j.namespace_id <> m.namespace_id") == [(0,)]  # fmt: skip
    migrate(dsn, revision="0017")
    assert contents(dsn) == before


def test_what_is_written_while_the_rows_move_is_not_lost(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, revision="0024")
    with psycopg.connect(dsn) as writer, ThreadPoolExecutor() as pool:
        writer.execute(BEFORE.encode())
        moving = pool.submit(migrate, dsn)
        wait_for(
            dsn,
            "EXISTS (SELECT FROM pg_locks WHERE relation = 'pgrecall.memories'::regclass AND NOT granted)",
        )
        # Another one comes while the revision waits, which keeps nobody waiting for long.
        with psycopg.connect(dsn) as late:
            late.execute("SET lock_timeout = '5s'")
            late.execute("LOCK TABLE pgrecall.memories IN ROW EXCLUSIVE MODE")
        writer.commit()
        moving.result(60)
    assert run(dsn, KINDS) == MOVED
