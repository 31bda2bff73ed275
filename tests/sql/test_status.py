"""recall_status() and what lists its details: they tell the truth about what is stored and who works on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.bundle import bundle_hash
from support.memories import rows, share
from support.operations import OTHER, VECTOR, WORKER, beat, dicts, fail_for_good, remember, status, switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Every node of a plan."""
    yield plan
    for child in plan.get("Plans", ()):
        yield from nodes(child)


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
        "retrying",
        "failed",
        "workers",
    )
    assert [found[name] for name in counts] == [1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_counts_follow_a_memory_through_its_life(conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('secret', is_sensitive => true)")
    conn.execute("SELECT remember('open')")
    found = status(conn)
    assert (found["memories"], found["sensitive"], found["pending"], found["embedded"]) == (2, 1, 1, 0)
    assert found["oldest_pending"].total_seconds() < 60

    ((number, digest),) = conn.execute(
        "SELECT memory_id, content_hash FROM pgrecall.claim(%s)", (WORKER,)
    ).fetchall()
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["retrying"]) == (1, 1, 0)

    conn.execute("SELECT pgrecall.fail(%s, %s, 'out of order')", (WORKER, number))
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["retrying"]) == (1, 0, 1)

    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = 'embedding' AND failed_at IS NULL"
    )
    conn.execute("SELECT * FROM pgrecall.claim(%s)", (WORKER,))
    conn.execute("SELECT pgrecall.complete(%s, %s, %s, %s)", (WORKER, [number], [digest], [VECTOR]))
    found = status(conn)
    assert (found["pending"], found["in_progress"], found["retrying"], found["embedded"]) == (0, 0, 0, 1)

    conn.execute("SELECT forget(%s)", (number,))
    found = status(conn)
    assert (found["memories"], found["embedded"], found["pending"]) == (1, 0, 0)


def test_workers_count_while_their_heart_beats(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.heartbeat(%s, 'host', 1, 'hash', 'model', 0)", (WORKER,))
    assert status(conn)["workers"] == 1
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '31 seconds'")
    assert status(conn)["workers"] == 0


def test_rate_and_time_left_are_of_those_who_embed_the_active_generation(conn: Connection[Any]) -> None:
    remember(conn, *(f"memory {number}" for number in range(30)))
    found = status(conn)
    assert (found["per_second"], found["eta"]) == (0, None)
    beat(conn, generations=[1], per_second=2.0)
    beat(conn, OTHER, generations=[2], per_second=5.0)
    found = status(conn)
    assert (found["workers"], found["per_second"], found["eta"].total_seconds()) == (2, 2, 15)
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '31 seconds'")
    found = status(conn)
    assert (found["workers"], found["per_second"], found["eta"]) == (0, 0, None)


def test_failed_memories_are_counted_by_cause_and_hold_nothing_up(conn: Connection[Any]) -> None:
    first, second, third, _ = remember(conn, "one", "two", "three", "four")
    conn.execute("UPDATE pgrecall.memories SET updated_at = now() - interval '1 day' WHERE id = %s", (first,))
    assert status(conn)["oldest_pending"].days == 1
    fail_for_good(conn, first, "input_refused")
    fail_for_good(conn, second, "input_refused")
    fail_for_good(conn, third, "error")
    found = status(conn)
    assert (found["pending"], found["retrying"], found["failed"]) == (4, 0, 3)
    assert found["failures_by_cause"] == {"input_refused": 2, "error": 1}
    assert found["oldest_pending"].days == 0
    beat(conn, generations=[1], per_second=1.0)
    assert status(conn)["eta"].total_seconds() == 1


def test_truncated_embeddings_are_counted(conn: Connection[Any]) -> None:
    remember(conn, "one", "two")
    claimed = conn.execute("SELECT memory_id, content_hash FROM pgrecall.claim(%s)", (WORKER,)).fetchall()
    ids, hashes = ([row[place] for row in claimed] for place in (0, 1))
    conn.execute(
        "SELECT pgrecall.complete(%s, %s, %s, %s, is_truncated => '{t,f}')",
        (WORKER, ids, hashes, [VECTOR] * 2),
    )
    found = status(conn)
    assert (found["embedded"], found["truncated"]) == (2, 1)


@pytest.mark.usefixtures("dsn")
def test_a_second_generation_is_named_and_changes_no_count(conn: Connection[Any]) -> None:
    remember(conn, "one")
    assert status(conn)["other_generation"] is None
    conn.execute("SELECT pgrecall.add_generation('next', 8)")
    found = status(conn)
    assert (found["generation"], found["dimension"], found["pending"]) == (1, 384, 1)
    assert (found["other_generation"], found["other_state"], found["other_model"]) == (2, "building", "next")
    switch(conn)
    found = status(conn)
    assert (found["generation"], found["model"], found["dimension"]) == (2, "next", 8)
    assert (found["other_generation"], found["other_state"]) == (1, "retired")
    assert (found["dense_index_name"], found["dense_index_valid"]) == ("memories_embedding_2_idx", True)


def test_what_waits_for_the_language_model_is_counted_apart(conn: Connection[Any]) -> None:
    (number,) = remember(conn, "one")
    assert (status(conn)["pending_extractions"], status(conn)["pending_llm_extractions"]) == (1, 0)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'llm', namespace_id FROM pgrecall.memories WHERE id = %s",
        (number,),
    )
    assert (status(conn)["pending_extractions"], status(conn)["pending_llm_extractions"]) == (1, 1)


@pytest.mark.usefixtures("dsn")
def test_sizes_and_statistics(conn: Connection[Any]) -> None:
    conn.execute("ALTER TABLE pgrecall.memories SET (autovacuum_enabled = off)")
    before = status(conn)
    assert before["analyzed_at"] is None
    remember(conn, *(f"memory {number}" for number in range(100)))
    conn.execute("SELECT pgrecall.analyze()")
    found = status(conn)
    assert found["analyzed_at"] is not None
    assert found["memories_bytes"] > before["memories_bytes"]
    listed = {row["index_name"]: row for row in dicts(conn, "SELECT * FROM pgrecall.index_status()")}
    dense = listed["memories_embedding_idx"]
    assert (dense["table_name"], dense["method"], dense["bytes"]) == (
        "memories",
        "hnsw",
        found["dense_index_bytes"],
    )
    assert all(row["is_valid"] and not row["is_building"] for row in listed.values())
    sizes = [row["bytes"] for row in listed.values()]
    assert sizes == sorted(sizes, reverse=True)


# health() also looks whether any has an id beyond the sequence: it finds none to read.
@pytest.mark.parametrize(("function", "looks"), [("recall_status", 1), ("pgrecall.health", 2)])
def test_memories_are_read_once(conn: Connection[Any], function: str, looks: int) -> None:
    count = 4000
    remember(conn, *(f"memory {number}" for number in range(count)))
    conn.execute("SELECT pgrecall.analyze()")
    # Counted by table, and not as buffers: among these are the catalog's, read anew whenever other sessions' changes
    # have emptied the caches of this one.
    scans = """
        SELECT sum(seq_scan + COALESCE(idx_scan, 0)) FILTER (WHERE relname = 'memories'),
               sum(seq_tup_read + COALESCE(idx_tup_fetch, 0)) FILTER (WHERE relname = 'memories'),
               sum(seq_scan + COALESCE(idx_scan, 0))
        FROM pg_stat_xact_user_tables WHERE schemaname = 'pgrecall'
    """
    rows(conn, function)  # what is read to plan it is not counted
    with conn.transaction():
        [(of_memories, read_before, of_all)] = conn.execute(scans).fetchall()
        rows(conn, function)
        [(memories, read, all_tables)] = conn.execute(scans).fetchall()
    assert memories == of_memories + looks
    assert read - read_before <= count
    # Nor is anything looked up for each of them.
    assert 0 < all_tables - of_all < 100


def test_unposted_memories_are_counted(conn: Connection[Any]) -> None:
    (number,) = remember(conn, "one")
    conn.execute("SELECT pgrecall.flush_pending_postings(1)")
    assert status(conn)["pending_postings"] == 0
    conn.execute("SELECT update_memory(%s, content => 'two')", (number,))
    assert status(conn)["pending_postings"] == 1


def test_workers_say_what_they_do_and_as_whom(conn: Connection[Any]) -> None:
    pauses = [{"model": "m", "cause": "rate_limit", "until": "2026-11-22T12:00:00+00:00"}]
    beat(conn, generations=[1, 2], per_second=2.5, pauses=pauses)
    conn.execute("SET ROLE pgrecall_embedder")
    beat(conn, OTHER, code="another")
    conn.execute("RESET ROLE")
    conn.execute(
        "UPDATE pgrecall.workers SET last_seen_at = now() - interval '1 hour' WHERE id = %s", (OTHER,)
    )
    alive, gone = dicts(conn, "SELECT * FROM pgrecall.worker_status()")
    assert (alive["hostname"], alive["pid"], alive["generations"]) == ("host", 17, [1, 2])
    assert (alive["per_second"], alive["pauses"]) == (2.5, pauses)
    assert (alive["is_alive"], alive["is_current"], alive["is_confined"]) == (True, True, False)
    assert alive["last_seen"].total_seconds() < 30
    assert (gone["is_alive"], gone["is_current"], gone["is_confined"]) == (False, False, True)
    assert gone["last_seen"].total_seconds() >= 3600
    assert gone["role_name"] == "pgrecall_embedder"


def test_a_reader_may_see_it_all(conn: Connection[Any]) -> None:
    (number,) = remember(conn, "one")
    fail_for_good(conn, number, "error")
    beat(conn, generations=[1])
    share(conn)
    conn.execute("SET ROLE pgrecall_reader")
    assert status(conn)["failed"] == 1
    for function in ("worker_status", "failures", "index_status", "generation_progress", "health"):
        assert dicts(conn, f"SELECT * FROM pgrecall.{function}()"), function
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("SELECT pgrecall.retry_failures()")
