"""The embedding queue under failures and load: backoff, parking, fairness, many claimers, what a claim costs."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest

from support.embedding_queue import (
    ONE,
    OTHER,
    begin,
    claim,
    complete,
    due,
    fail,
    failed,
    jobs,
    lost,
    table,
    vector,
)
from support.memories import call, contents, remember, remember_many, rows, scalar, share, stored
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

WAIT = "SELECT EXTRACT(epoch FROM next_attempt_at - clock_timestamp())::float8 FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL"
# As a daemon on another host would leave them: rows without the work of triggers.
FILL = """
INSERT INTO pgrecall.memories (namespace_id, content, language, content_hash, search_vector, updated_at)
SELECT n.id, 'memory ' || i, 'english', sha256(i::text::bytea), '', now() - i * interval '1 second'
FROM generate_series(1, %(rows)s) i
JOIN (SELECT id, row_number() OVER (ORDER BY id) AS place FROM pgrecall.namespaces) n ON n.place = 1 + i %% %(namespaces)s
"""


def give_up(conn: Connection[Any], number: int, cause: str = "refused") -> None:
    """Fail one memory until it is no longer retried."""
    for _ in range(5):
        due(conn)
        assert number in claim(conn)
        fail(conn, number, cause)
        call(conn, "pgrecall.release", ONE)


# --- Attempts ---


def test_the_time_between_attempts_doubles_within_its_bounds(conn: Connection[Any]) -> None:
    number = remember(conn)
    for attempt in range(4):
        due(conn)
        assert claim(conn) == [number]
        fail(conn, number)
        expected = 30 * 2**attempt
        assert expected * 0.75 - 5 <= scalar(conn, WAIT) <= expected * 1.25
        assert jobs(conn)[0]["attempts"] == attempt + 1
        assert claim(conn) == []


def test_attempts_are_spread(conn: Connection[Any]) -> None:
    ids = remember_many(conn, [{"content": f"memory {place}"} for place in range(20)])
    claim(conn)
    with conn.transaction():
        for number in ids:
            fail(conn, number)
    waits = [row[0] for row in conn.execute(WAIT).fetchall()]
    assert max(waits) - min(waits) > 2
    assert 20 < min(waits) < max(waits) <= 37.5


def test_no_wait_is_longer_than_an_hour_and_a_quarter(conn: Connection[Any]) -> None:
    number = remember(conn)
    claim(conn)
    # No path of the functions leads there: parking comes first.
    conn.execute("UPDATE pgrecall.jobs SET attempts = 3 WHERE kind = 'embedding'")
    fail(conn, number)
    assert scalar(conn, WAIT) <= 3600 * 1.25


def test_after_the_fifth_attempt_it_is_parked_with_its_cause(conn: Connection[Any]) -> None:
    number, good = remember(conn, "canary"), remember(conn, "good")
    give_up(conn, number, "too_long")
    (failure,) = failed(conn)
    assert (failure["memory_id"], failure["generation_id"], failure["attempts"]) == (number, 1, 5)
    assert (failure["cause"], failure["last_error"]) == ("too_long", "it was not taken")
    assert "canary" not in str(contents(conn)["jobs"])
    due(conn)
    lost(conn)
    assert claim(conn) == [good]
    # It stays in every count, and nothing else waits for it.
    (progress,) = rows(conn, "pgrecall.generation_progress")
    assert progress[5:10] == (0, 2, 1, 0, 1)
    assert rows(conn, "pgrecall.embedding_backlog")[0][:3] == (1, 0, 1)


def test_long_causes_and_errors_are_cut(conn: Connection[Any]) -> None:
    number = remember(conn)
    for _ in range(5):
        due(conn)
        claim(conn)
        rows(conn, "pgrecall.fail", ONE, number, "e" * 1000, "c" * 1000)
    (failure,) = failed(conn)
    assert (len(failure["last_error"]), len(failure["cause"])) == (500, 60)


def test_a_lease_that_ran_out_counts(conn: Connection[Any]) -> None:
    number = remember(conn)
    claim(conn)
    for attempts in range(1, 5):
        lost(conn)
        assert claim(conn, OTHER) == [number]
        (job,) = jobs(conn)
        assert (job["attempts"], job["worker_id"]) == (attempts, OTHER)
        assert "not heard of" in job["last_error"]
    lost(conn)
    assert claim(conn) == []
    (failure,) = failed(conn)
    assert (failure["memory_id"], failure["attempts"], failure["cause"]) == (number, 5, "worker_lost")
    assert jobs(conn) == []


def test_a_released_lease_counts_nothing(conn: Connection[Any]) -> None:
    number = remember(conn)
    for _ in range(7):
        assert claim(conn) == [number]
        assert call(conn, "pgrecall.release", ONE, 1) == 1
        assert call(conn, "pgrecall.release", ONE, 2) == 0
    assert failed(conn) == []


def test_parked_memories_are_tried_again_when_asked(conn: Connection[Any], dsn: str) -> None:
    one, two, three = (remember(conn, content) for content in ("one", "two", "three"))
    for number, cause in ((one, "too_long"), (two, "refused"), (three, "refused")):
        give_up(conn, number, cause)
    with psycopg.connect(dsn, autocommit=True) as listener:
        listener.execute("LISTEN pgrecall_embed")
        assert call(conn, "pgrecall.retry_failures", "no_such_cause") == 0
        assert [note.channel for note in listener.notifies(timeout=0.2)] == []
        assert call(conn, "pgrecall.retry_failures", "refused", two) == 1
        assert [note.channel for note in listener.notifies(timeout=60, stop_after=1)] == ["pgrecall_embed"]
    assert claim(conn) == [two]
    assert call(conn, "pgrecall.retry_failures") == 2
    # With all their attempts.
    assert sorted(claim(conn)) == [one, three]
    fail(conn, one)
    assert [row["memory_id"] for row in failed(conn)] == []
    with role(conn, "pgrecall_reader"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(conn, "pgrecall.retry_failures")


@pytest.mark.parametrize("state", ["in_progress", "retrying", "failed", "embedded"])
@pytest.mark.parametrize("change", ["edit", "flag", "forget"])
def test_what_changes_starts_afresh(conn: Connection[Any], change: str, state: str) -> None:
    number = remember(conn)
    if state == "failed":
        give_up(conn, number)
    else:
        claim(conn)
    if state == "retrying":
        fail(conn, number)
    if state == "embedded":
        assert complete(conn, [number], is_truncated=[True]) == 1
        assert len(table(conn, "truncated_embeddings")) == 1
    share(conn)
    with role(conn, "pgrecall_writer"):
        if change == "edit":
            call(conn, "update_memory", number, content="new")
        elif change == "flag":
            call(conn, "update_memory", number, is_sensitive=True)
        else:
            call(conn, "forget", number)
    assert (jobs(conn), failed(conn), table(conn, "truncated_embeddings")) == ([], [], [])
    assert claim(conn) == ([number] if change == "edit" else [])


def test_an_edit_of_other_things_leaves_a_parked_memory_parked(conn: Connection[Any]) -> None:
    number = remember(conn)
    give_up(conn, number)
    call(conn, "update_memory", number, tags=["a"], importance=0.9)
    assert len(failed(conn)) == 1
    assert claim(conn) == []


def test_only_what_landed_is_marked_as_truncated(conn: Connection[Any]) -> None:
    whole, cut, edited = (remember(conn, content) for content in ("whole", "cut", "edited"))
    claimed = rows(conn, "pgrecall.claim", ONE)
    hashes = {row[0]: row[1] for row in claimed}
    call(conn, "update_memory", edited, content="new")
    ids = [whole, cut, edited]
    given = (ONE, ids, [hashes[number] for number in ids], [str([1.0] * 384)] * 3)
    assert call(conn, "pgrecall.complete", *given, is_truncated=[False, True, True]) == 2
    assert [row["memory_id"] for row in table(conn, "truncated_embeddings")] == [cut]
    (progress,) = rows(conn, "pgrecall.generation_progress")
    assert progress[10] == 1


def test_leases_and_failures_are_of_one_generation(conn: Connection[Any]) -> None:
    number = remember(conn)
    second = begin(conn)
    give_up(conn, number)
    assert claim(conn) == []
    assert claim(conn, generation=second) == [number]
    assert complete(conn, [number], generation=second) == 1
    assert [row["generation_id"] for row in failed(conn)] == [1]


def test_a_generation_that_is_gone_takes_nothing(conn: Connection[Any]) -> None:
    number = remember(conn)
    second = begin(conn)
    assert claim(conn, generation=second) == [number]
    call(conn, "pgrecall.drop_generation", second)
    assert jobs(conn) == []
    assert complete(conn, [number], generation=second, embedding=str([1.0] * 8)) == 0
    assert claim(conn, generation=second) == []
    rows(conn, "pgrecall.fail", ONE, number, "late", "late", generation=second)
    assert call(conn, "pgrecall.release", ONE, second) == 0
    assert (jobs(conn), failed(conn)) == ([], [])
    assert stored(conn, number)["embedding"] is None


# --- Fairness ---


@pytest.fixture
def tenants(conn: Connection[Any]) -> tuple[list[int], list[int]]:
    """One namespace with 5,000 pending memories, and fifty with an older one each."""
    names = [f"tenant {place}" for place in range(50)]
    small = [remember(conn, "the only one", namespace=name, create_namespace=True) for name in names]
    big = remember_many(conn, [{"content": f"memory {place}"} for place in range(5000)])
    return small, big


def test_no_tenant_waits_for_anothers_backlog(
    conn: Connection[Any], tenants: tuple[list[int], list[int]]
) -> None:
    small, _ = tenants
    served: set[int] = set()
    for _ in range(12):
        batch = claim(conn)
        assert len(batch) == 64
        complete(conn, batch)
        served |= set(batch)
        # The backlog goes on as well.
        assert len(set(batch) - set(small)) >= 32
    assert set(small) <= served


def test_a_fresh_memory_comes_with_the_next_claim(
    conn: Connection[Any], tenants: tuple[list[int], list[int]]
) -> None:
    _, big = tenants
    claim(conn)
    first = remember(conn, "just written", namespace="tenant 7")
    last = remember(conn, "written after it")
    assert claim(conn, OTHER, batch=8)[:2] == [last, first]
    # Even behind what has been given up.
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, attempts, cause, last_error, namespace_id, failed_at) "
        "SELECT id, 'embedding', 1, 5, 'refused', '', namespace_id, now() FROM pgrecall.memories WHERE id = ANY (%s) "
        "ON CONFLICT ON CONSTRAINT jobs_pkey DO UPDATE SET lease_expires_at = NULL, failed_at = now()",
        (big[-500:],),
    )
    assert len(claim(conn, batch=16)) == 16


def test_everything_is_served_in_the_end(conn: Connection[Any]) -> None:
    for place in range(7):
        name = f"n{place}"
        call(conn, "pgrecall.create_namespace", name)
        remember_many(conn, [{"content": f"memory {number}"} for number in range(place * 13)], namespace=name)
    seen: list[int] = []
    while batch := claim(conn, batch=5):
        assert len(batch) == 5 or len(seen) + len(batch) == 273
        seen += batch
    assert len(seen) == len(set(seen)) == 273


def test_eight_claimers_at_once_share_everything(conn: Connection[Any], dsn: str) -> None:
    ids = [
        number
        for place in range(5)
        for number in remember_many(
            conn,
            [{"content": f"memory {number}"} for number in range(240)],
            namespace=f"n{place}",
            create_namespace=True,
        )
    ]
    start = threading.Barrier(8)

    def work(_: int) -> list[int]:
        worker, mine, dry = uuid4(), [], 0
        with psycopg.connect(dsn, autocommit=True) as own:
            start.wait(timeout=180)
            while dry < 3:  # what another worker is claiming at this moment is skipped, so look again
                batch = claim(own, worker, 16)
                dry = 0 if batch else dry + 1
                mine += batch
        return mine

    with ThreadPoolExecutor(8) as pool:
        shares = list(pool.map(work, range(8)))
    assert sorted(number for share in shares for number in share) == ids
    assert all(shares)


def test_a_claim_that_is_under_way_does_not_leave_the_next_with_nothing(
    conn: Connection[Any], dsn: str
) -> None:
    ids = remember_many(conn, [{"content": f"memory {place}"} for place in range(40)])
    with psycopg.connect(dsn) as first:
        held = claim(first, batch=16)
        assert held == ids[:-17:-1]
        taken = claim(conn, OTHER, batch=16)
        assert len(taken) == 16
        assert not set(held) & set(taken)


def test_the_embedders_role_claims_in_every_generation(conn: Connection[Any]) -> None:
    number, secret = remember(conn), remember(conn, "secret", is_sensitive=True)
    second = begin(conn)
    with role(conn, "pgrecall_embedder"):
        for generation in (1, second):
            ((_, content_hash, _, _, ticket, _),) = rows(conn, "pgrecall.claim", ONE, generation=generation)
            vectors = [vector(384 if generation == 1 else 8, 1.0)]
            landed = call(
                conn,
                "pgrecall.complete_claimed",
                ONE,
                [number],
                [ticket],
                [content_hash],
                vectors,
                generation,
            )
            assert landed == 1
            assert rows(conn, "pgrecall.embedding_backlog", generation) == [(0, 0, 0, None)]
    assert scalar(conn, "SELECT embedding_2 IS NULL FROM pgrecall.memories WHERE id = %s", secret)


def test_each_generation_has_passages_of_its_own(conn: Connection[Any]) -> None:
    long = "The ferry leaves at nine. " * 60
    number = remember(conn, long)
    count = len(rows(conn, "_pgrecall.passage_bounds", long))
    passages = json.dumps([[vector(384, 1.0)] * count])
    assert complete(conn, [number], passages=passages) == 1
    second = begin(conn)
    passages = json.dumps([[vector(8, 0, 1.0)] * count])
    assert complete(conn, [number], generation=second, passages=passages) == 1
    assert len(table(conn, "passages")) == 2 * count
    call(conn, "pgrecall.drop_generation", second)
    assert {row["generation_id"] for row in table(conn, "passages")} == {1}


# --- What a claim costs ---


@pytest.fixture(scope="module")
def large(migrated_database: Callable[[], str]) -> Iterator[Connection[Any]]:
    """20,000 pending memories in 2,000 namespaces, as many embedded, and 2,000 failed ones, the newest."""
    dsn = migrated_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("INSERT INTO pgrecall.namespaces (name) SELECT 'n' || i FROM generate_series(1, 1999) i")
        conn.execute("SET session_replication_role = replica")
        conn.execute(FILL, {"rows": 40_000, "namespaces": 2000})
        conn.execute("SET session_replication_role = origin")
        # No claim reads it, and 20,000 memories would enter it one by one.
        conn.execute("DROP INDEX pgrecall.memories_embedding_idx")
        conn.execute(
            "UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec WHERE id % 2 = 0"
        )
        conn.execute(
            "INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, attempts, cause, last_error, namespace_id, failed_at) "
            "SELECT id, 'embedding', 1, 5, 'refused', '', namespace_id, now() FROM pgrecall.memories WHERE embedding IS NULL "
            "ORDER BY updated_at DESC LIMIT 2000"
        )
        conn.execute("VACUUM ANALYZE pgrecall.memories, pgrecall.jobs")
        yield conn


def nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def chosen(conn: Connection[Any], batch: int = 64) -> list[dict[str, Any]]:
    """The nodes of the plan by which claim() chooses, run."""
    statement = scalar(
        conn,
        "SELECT _pgrecall.job_choice(k.kind, k.of_generation, k.oldest_first, k.ready, 'embedding') "
        "FROM _pgrecall.job_kinds() k WHERE k.kind = 'embedding'",
    )
    for place, value in enumerate(("1", str(batch), "1000", "262144"), 1):
        statement = statement.replace(f"${place}", value)
    explain = "EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, FORMAT json) "
    return list(nodes(scalar(conn, explain + statement)[0]["Plan"]))


def test_a_claim_reads_the_partial_indexes_and_little_of_them(large: Connection[Any]) -> None:
    plan = chosen(large)
    read = [node for node in plan if node.get("Relation Name") == "memories"]
    assert {node["Node Type"] for node in read} <= {"Index Scan", "Index Only Scan"}
    assert {node["Index Name"] for node in read} == {
        "memories_pending_idx",
        "memories_pending_namespace_idx",
    }
    # The failed ones in front, and a batch of each order; not the 18,000 that can be claimed.
    assert sum(node["Actual Rows"] * node["Actual Loops"] for node in read) < 1500
    removed = sum(node.get("Rows Removed by Filter", 0) * node["Actual Loops"] for node in read)
    assert removed < 4000


def test_claims_go_past_what_is_parked(large: Connection[Any]) -> None:
    with large.transaction(force_rollback=True):
        ids = claim(large, batch=200)
        assert len(ids) == 200
        assert not set(ids) & {row["memory_id"] for row in failed(large)}
        query = "SELECT count(DISTINCT namespace_id) FROM pgrecall.memories WHERE id = ANY (%s)"
        assert scalar(large, query, ids) >= 100
