"""recall_status() and pgrecall.health(): they tell the truth about what is stored and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.rows import dict_row

from pgrecall.bundle import bundle_hash

if TYPE_CHECKING:
    from psycopg import Connection

WORKER = "11111111-1111-1111-1111-111111111111"
VECTOR = str([1.0] + [0.0] * 383)


def status(conn: Connection[Any]) -> dict[str, Any]:
    row = conn.cursor(row_factory=dict_row).execute("SELECT * FROM recall_status()").fetchone()
    assert row is not None
    return row


def health(conn: Connection[Any]) -> dict[str, tuple[str, str | None]]:
    rows = conn.execute("SELECT check_name, status, remedy FROM pgrecall.health()").fetchall()
    return {name: (state, remedy) for name, state, remedy in rows}


def test_an_empty_database(conn: Connection[Any]) -> None:
    found = status(conn)
    assert found["bundle_hash"] == bundle_hash()
    assert (found["model"], found["dimension"]) == ("sentence-transformers/all-MiniLM-L6-v2", 384)
    assert found["dense_index_valid"] is True
    assert found["oldest_pending"] is None
    counts = (
        "namespaces",
        "memories",
        "sensitive",
        "embedded",
        "pending",
        "in_progress",
        "failed",
        "workers",
    )
    assert [found[name] for name in counts] == [1, 0, 0, 0, 0, 0, 0, 0]


def test_counts_follow_a_memory_through_its_life(conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('secret', is_sensitive => true)")
    conn.execute("SELECT remember('open')")
    found = status(conn)
    assert (found["memories"], found["sensitive"], found["pending"], found["embedded"]) == (2, 1, 1, 0)
    assert found["oldest_pending"].total_seconds() < 60

    ((number, digest, _),) = conn.execute("SELECT * FROM pgrecall.claim(%s)", (WORKER,)).fetchall()
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["failed"]) == (1, 1, 0)

    conn.execute("SELECT pgrecall.fail(%s, %s, 'out of order')", (WORKER, number))
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["failed"]) == (1, 0, 1)

    conn.execute("UPDATE pgrecall.embedding_jobs SET next_attempt_at = now()")
    conn.execute("SELECT * FROM pgrecall.claim(%s)", (WORKER,))
    conn.execute("SELECT pgrecall.complete(%s, %s, %s, %s)", (WORKER, [number], [digest], [VECTOR]))
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["failed"], found["embedded"]) == (0, 0, 0, 1)

    conn.execute("SELECT forget(%s)", (number,))
    found = status(conn)
    assert (found["memories"], found["embedded"], found["pending"]) == (1, 0, 0)


def test_workers_count_while_their_heart_beats(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.heartbeat(%s, 'host', 1, 'hash', 'model', 0)", (WORKER,))
    assert status(conn)["workers"] == 1
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '31 seconds'")
    assert status(conn)["workers"] == 0


def test_all_is_well_in_a_new_database(conn: Connection[Any]) -> None:
    assert {state for state, _ in health(conn).values()} == {"ok"}


def test_says_what_is_wrong_and_what_to_run(dsn: str, conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('open')")
    assert health(conn)["embedder"] == ("warn", "pgrecall embedder")
    assert health(conn)["pending embeddings"][0] == "ok"
    conn.execute("UPDATE pgrecall.memories SET updated_at = now() - interval '1 hour'")
    assert health(conn)["pending embeddings"] == ("warn", "pgrecall embedder")

    conn.execute("SET hnsw.ef_search = 10")
    conn.execute("SET hnsw.iterative_scan = off")
    found = health(conn)
    assert found["hnsw.ef_search"][0] == found["hnsw.iterative_scan"][0] == "warn"
    conn.execute(str(found["hnsw.iterative_scan"][1]).encode())
    conn.execute("RESET hnsw.ef_search")
    with psycopg.connect(dsn) as fresh:
        assert health(fresh)["hnsw.iterative_scan"][0] == "ok"

    conn.execute("SET pgrecall.rrf_k = 'many'")
    assert health(conn)["settings"][0] == "fail"
    conn.execute("RESET pgrecall.rrf_k")
    conn.execute("DROP INDEX pgrecall.memories_embedding_idx")
    assert health(conn)["indexes"][0] == "fail"
    assert status(conn)["dense_index_valid"] is False


def test_an_invalid_index_is_named_with_its_repair(conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('one', tags => ARRAY['a'])")
    # A failed CREATE INDEX CONCURRENTLY is what leaves an invalid index behind in real life.
    conn.execute("SELECT remember('two', tags => ARRAY['a'])")
    with pytest.raises(psycopg.errors.UniqueViolation):
        conn.execute("CREATE UNIQUE INDEX CONCURRENTLY broken ON pgrecall.memories (namespace_id)")
    assert health(conn)["indexes"] == ("fail", "REINDEX INDEX CONCURRENTLY pgrecall.broken")
