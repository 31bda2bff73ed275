"""The embedding queue: claim, complete, fail, release, heartbeat, and what wakes the embedders."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest

from support.embedding_queue import due, jobs
from support.memories import call, contents, refused, remember, remember_many, rows, stored, waits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psycopg import Connection

ONE, OTHER = UUID(int=1), UUID(int=2)
ONES = str([1.0] * 384)


def fill(conn: Connection[Any], count: int) -> list[int]:
    return remember_many(conn, [{"content": f"memory {place}"} for place in range(count)])


def claim(conn: Connection[Any], worker: UUID = ONE, batch: int = 64, lease: str = "2 minutes") -> list[int]:
    return [row[0] for row in rows(conn, "pgrecall.claim", worker, batch, lease)]


def complete(
    conn: Connection[Any],
    ids: list[int],
    worker: UUID = ONE,
    hashes: list[bytes] | None = None,
    embeddings: Iterable[str | None] | None = None,
) -> int:
    if hashes is None:
        hashes = [stored(conn, number)["content_hash"] for number in ids]
    vectors = [ONES] * len(ids) if embeddings is None else list(embeddings)
    return int(call(conn, "pgrecall.complete", worker, ids, hashes, vectors))


def job(conn: Connection[Any]) -> dict[str, Any]:
    cursor = conn.cursor(row_factory=psycopg.rows.dict_row)
    return (
        cursor.execute(
            "SELECT * FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL"
        ).fetchone()
        or {}
    )


def test_claims_are_newest_first_in_batches(conn: Connection[Any]) -> None:
    ids = fill(conn, 7)
    assert claim(conn, batch=3) == ids[:3:-1]
    assert claim(conn, OTHER, batch=3) == ids[3:0:-1]
    assert claim(conn, batch=3) == ids[:1]
    assert claim(conn) == []


def test_a_claim_brings_hash_and_text(conn: Connection[Any]) -> None:
    number = remember(conn, "content", title="title", expanded_keywords=["word"], tags=["tag"])
    ((memory_id, content_hash, text, is_sensitive, _, passages),) = rows(conn, "pgrecall.claim", ONE)
    assert (memory_id, content_hash, text) == (number, stored(conn, number)["content_hash"], "title\ncontent")
    assert is_sensitive is False
    assert passages is None


def test_what_is_not_to_be_embedded_is_not_claimed(conn: Connection[Any]) -> None:
    remember(conn, "secret", is_sensitive=True)
    call(conn, "forget", remember(conn, "gone"))
    done = remember(conn, "done")
    assert claim(conn) == [done]
    assert complete(conn, [done]) == 1
    assert (claim(conn), jobs(conn)) == ([], [])


def test_claiming_needs_no_model(conn: Connection[Any]) -> None:
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    number = remember(conn)
    assert rows(conn, "pgrecall.active_model") == []
    assert claim(conn) == [number]
    with refused(conn, "55000"):
        complete(conn, [number])


def test_a_lease_expires(conn: Connection[Any]) -> None:
    number = remember(conn)
    assert claim(conn, lease="3 seconds") == [number]
    assert claim(conn, OTHER) == []
    time.sleep(3.05)
    assert claim(conn, OTHER) == [number]
    assert claim(conn) == []
    # The first one was only slow. Its embedding is good and ends the other lease; the other's comes too late.
    assert complete(conn, [number], ONE) == 1
    assert job(conn) == {}
    assert complete(conn, [number], OTHER) == 0
    assert job(conn) == {}


def test_claims_at_once_skip_each_other(conn: Connection[Any], dsn: str) -> None:
    ids = fill(conn, 6)
    with psycopg.connect(dsn) as first:
        assert claim(first, batch=3) == ids[:2:-1]
        conn.execute("SET lock_timeout = '1s'")
        assert claim(conn, OTHER, batch=3) == ids[2::-1]
        first.rollback()
    assert claim(conn, OTHER) == ids[:2:-1]


def test_eight_workers_share_two_thousand_memories(conn: Connection[Any], dsn: str) -> None:
    ids = fill(conn, 2000)

    def work(_: int) -> list[int]:
        worker, mine, dry = uuid4(), [], 0
        with psycopg.connect(dsn, autocommit=True) as own:
            while dry < 3:  # what another worker is claiming at this moment is skipped, so look again
                batch = claim(own, worker, 20)
                dry = 0 if batch else dry + 1
                mine += batch
        return mine

    with ThreadPoolExecutor(8) as pool:
        claimed = [number for mine in pool.map(work, range(8)) for number in mine]
    assert sorted(claimed) == ids


def test_complete_writes_the_embedding_and_nothing_else(conn: Connection[Any]) -> None:
    number = remember(conn, "content", title="title", tags=["ann"])
    claim(conn)
    memory, others = stored(conn, number), contents(conn)
    query = "SELECT xmin::text, ctid::text, c::text FROM pgrecall.concepts c"
    concept = conn.execute(query).fetchall()
    assert complete(conn, [number]) == 1
    after = stored(conn, number)
    assert after["embedding"] == "[" + ",".join("1" * 384) + "]"
    assert {**after, "embedding": None} == memory
    assert conn.execute(query).fetchall() == concept
    assert {**contents(conn), "memories": [], "jobs": []} == {
        **others,
        "memories": [],
        "jobs": [],
    }


def test_writing_back_fires_no_trigger(conn: Connection[Any]) -> None:
    number = remember(conn)
    claim(conn)
    conn.execute("SET track_functions = 'all'")
    complete(conn, [number])
    conn.execute("SELECT pg_stat_force_next_flush()")
    conn.execute("SELECT 1")
    query = """
        SELECT s.funcname FROM pg_stat_user_functions s
        JOIN pg_proc p ON p.oid = s.funcid AND p.prorettype = 'trigger'::regtype
    """
    assert conn.execute(query).fetchall() == []
    call(conn, "update_memory", number, tags=["ann"])
    conn.execute("SELECT pg_stat_force_next_flush()")
    conn.execute("SELECT 1")
    assert ("derive_memory_columns",) in conn.execute(query).fetchall()


def test_what_has_changed_meanwhile_does_not_land(conn: Connection[Any]) -> None:
    edited, secret, gone, same = fill(conn, 4)
    hashes = [stored(conn, number)["content_hash"] for number in (edited, secret, gone, same)]
    claim(conn)
    call(conn, "update_memory", edited, content="new")
    call(conn, "update_memory", secret, is_sensitive=True)
    call(conn, "forget", gone)
    assert complete(conn, [edited, secret, gone, same], hashes=hashes) == 1
    landed = conn.execute("SELECT id FROM pgrecall.memories WHERE embedding IS NOT NULL").fetchall()
    assert (landed, jobs(conn)) == ([(same,)], [])
    assert claim(conn) == [edited]


@pytest.mark.parametrize("change", [{"content": "new"}, {"is_sensitive": True}])
def test_an_edit_in_progress_is_waited_for(conn: Connection[Any], dsn: str, change: dict[str, Any]) -> None:
    number = remember(conn)
    claim(conn)
    with psycopg.connect(dsn) as first:
        call(first, "update_memory", number, **change)
        hashes = [stored(conn, number)["content_hash"]]
        second = waits(conn, lambda: complete(conn, [number], hashes=hashes))
        first.commit()
        assert second() == 0
    assert stored(conn, number)["embedding"] is None


def test_a_secret_is_not_claimed_while_it_becomes_one(conn: Connection[Any], dsn: str) -> None:
    number = remember(conn)
    with psycopg.connect(dsn) as first:
        call(first, "update_memory", number, is_sensitive=True)
        assert claim(conn) == []
        first.commit()
    with psycopg.connect(dsn) as first:
        other = remember(conn)
        assert claim(first) == [other]
        second = waits(conn, lambda: call(conn, "update_memory", other, is_sensitive=True))
        first.commit()
        second()
    assert jobs(conn) == []


def test_what_comes_too_late_leaves_the_lease_of_the_new_text(conn: Connection[Any]) -> None:
    number = remember(conn, "before")
    before = stored(conn, number)["content_hash"]
    assert claim(conn) == [number]
    call(conn, "update_memory", number, "after")
    assert claim(conn) == [number]
    assert complete(conn, [number], hashes=[before]) == 0
    assert claim(conn, OTHER) == []
    assert complete(conn, [number]) == 1
    assert job(conn) == {}


def test_bad_embeddings_are_refused(conn: Connection[Any]) -> None:
    good, bad = fill(conn, 2)
    claim(conn)
    for vector in (
        str([1.0] * 383), str([1.0] * 385), str([0.0] * 384), str([1e-9] * 384), str([float("nan"), *[1.0] * 383]),
        str([float("inf"), *[1.0] * 383]), str([70_000.0] * 384), "[1,2", "", "[]", "null", None,
    ):  # fmt: skip
        with refused(conn, "22023"):
            complete(conn, [good, bad], embeddings=[ONES, vector])
    assert complete(conn, [good, bad]) == 2


def test_arrays_of_different_lengths_are_refused(conn: Connection[Any]) -> None:
    one, two = fill(conn, 2)
    claim(conn)
    with refused(conn, "22023"):
        complete(conn, [one, two], embeddings=[ONES])
    with refused(conn, "22023"):
        complete(conn, [one, two], hashes=[stored(conn, one)["content_hash"]])
    assert complete(conn, []) == 0


def test_unknown_memories_do_not_land(conn: Connection[Any]) -> None:
    number = remember(conn)
    claim(conn)
    assert complete(conn, [number, number + 1], hashes=[stored(conn, number)["content_hash"]] * 2) == 1


def test_a_failed_memory_waits(conn: Connection[Any]) -> None:
    number = remember(conn)
    claim(conn)
    conn.execute("SELECT pgrecall.fail(%s, %s, %s)", (ONE, number, "e" * 1000))
    found = job(conn)
    assert (found["attempts"], found["worker_id"], found["lease_expires_at"]) == (1, None, None)
    assert found["last_error"] == "e" * 500
    assert claim(conn) == []
    due(conn)
    assert claim(conn, OTHER) == [number]
    # Only the worker that holds it can fail it.
    conn.execute("SELECT pgrecall.fail(%s, %s, 'again')", (ONE, number))
    assert (job(conn)["attempts"], job(conn)["worker_id"]) == (1, OTHER)
    conn.execute("SELECT pgrecall.fail(%s, %s, 'again')", (OTHER, number))
    assert (job(conn)["attempts"], job(conn)["last_error"]) == (2, "again")
    assert claim(conn) == []


def test_release_gives_everything_back(conn: Connection[Any]) -> None:
    ids = fill(conn, 3)
    claim(conn, batch=1)
    conn.execute("SELECT pgrecall.fail(%s, %s, 'once')", (ONE, ids[2]))
    due(conn)
    assert claim(conn, batch=2) == ids[:0:-1]
    assert claim(conn, OTHER) == ids[:1]
    assert call(conn, "pgrecall.release", ONE) == 2
    assert call(conn, "pgrecall.release", ONE) == 0
    query = "SELECT memory_id, worker_id, attempts FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL ORDER BY 1"
    assert conn.execute(query).fetchall() == [(ids[0], OTHER, 0), (ids[2], None, 1)]
    assert claim(conn) == ids[:0:-1]


def test_heartbeats(conn: Connection[Any]) -> None:
    def beat(worker: UUID, embedded: int) -> None:
        conn.execute("SELECT pgrecall.heartbeat(%s, 'host', 7, 'bundle', 'model', %s)", (worker, embedded))

    query = "SELECT id, hostname, pid, bundle_hash, model, embedded, last_seen_at > started_at FROM pgrecall.workers"
    beat(ONE, 0)
    assert conn.execute(query).fetchall() == [(ONE, "host", 7, "bundle", "model", 0, False)]
    beat(ONE, 5)
    assert conn.execute(query).fetchall() == [(ONE, "host", 7, "bundle", "model", 5, True)]
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '25 hours'")
    beat(OTHER, 1)
    assert [row[0] for row in conn.execute(query)] == [OTHER]
    conn.execute("SELECT pgrecall.retire(%s)", (OTHER,))
    assert conn.execute(query).fetchall() == []


def heard(listener: Connection[Any]) -> list[tuple[str, str]]:
    """What was sent before now: notifications arrive in the order of the commits."""
    listener.execute("NOTIFY heard")
    found: list[tuple[str, str]] = []
    while ("heard", "") not in found:
        new = [(note.channel, note.payload) for note in listener.notifies(timeout=60, stop_after=1)]
        assert new, "waited in vain"
        found += new
    return found[:-1]


def test_one_notification_a_statement_without_content(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as listener:
        listener.execute("LISTEN pgrecall_embed; LISTEN heard")
        wake = [("pgrecall_embed", "")]
        ids = fill(conn, 100)
        assert heard(listener) == wake
        claim(conn)
        complete(conn, ids[:1], hashes=[stored(conn, ids[0])["content_hash"]])
        conn.execute("SELECT pgrecall.release(%s)", (ONE,))
        conn.execute("UPDATE pgrecall.memories SET importance = 1")
        assert heard(listener) == []
        call(conn, "update_memory", ids[0], content="new")
        assert heard(listener) == wake
        with psycopg.connect(dsn) as other:
            remember(other)
            other.rollback()
        assert heard(listener) == []


def test_a_model_of_another_dimension_is_refused(conn: Connection[Any]) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.activate_model", "large", 1024)


def test_another_model_is_refused_once_there_are_embeddings(conn: Connection[Any]) -> None:
    number = remember(conn)
    call(conn, "pgrecall.activate_model", "one", 384, "q: ", "d: ")
    (model,) = rows(conn, "pgrecall.active_model")
    assert model[1:] == ("one", 384, "sentence-transformers", "q: ", "d: ")
    claim(conn)
    complete(conn, [number])
    with refused(conn, "55000"):
        call(conn, "pgrecall.activate_model", "another", 384)
    # The prompt of memories is part of what their embeddings are.
    with refused(conn, "55000"):
        call(conn, "pgrecall.activate_model", "one", 384, "query: ")
    assert call(conn, "pgrecall.activate_model", "one", 384, "query: ", "d: ") == model[0]
    assert rows(conn, "pgrecall.active_model")[0][4] == "query: "


@pytest.mark.parametrize("batch", [0, 1])
def test_small_batches(conn: Connection[Any], batch: int) -> None:
    fill(conn, 2)
    assert len(claim(conn, batch=batch)) == batch
