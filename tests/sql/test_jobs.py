"""Every kind of job: its turn, its leases, its attempts, its failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.docs import ROOT
from support.embedding_queue import ONE, OTHER, failed, jobs, table
from support.memories import call, remember, remember_many, rows, scalar, share
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

KINDS = ("embedding", "text", "llm", "notes", "sparse", "curation")
pytestmark = pytest.mark.rollback


def enqueue(conn: Connection[Any], kind: str) -> None:
    """Queue every memory for a kind, as what comes before it does."""
    if kind == "curation":
        conn.execute("UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec")
    if kind != "embedding":
        conn.execute(
            "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, %s, namespace_id FROM pgrecall.memories "
            "ON CONFLICT DO NOTHING",
            (kind,),
        )


def claim(conn: Connection[Any], kind: str, worker: object = ONE, batch: int = 16) -> list[int]:
    if kind == "embedding":
        found = rows(conn, "pgrecall.claim", worker, batch)
    elif kind == "curation":
        found = rows(conn, "pgrecall.claim_curations", worker, batch)
    else:
        found = rows(conn, "pgrecall.claim_extractions", worker, kind, batch)
    return [row[0] for row in found]


def lose(conn: Connection[Any]) -> None:
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE lease_expires_at IS NOT NULL")


def release(conn: Connection[Any]) -> int:
    return int(call(conn, "pgrecall.release", ONE))


def test_every_kind_is_declared(conn: Connection[Any]) -> None:
    assert sorted(row[0] for row in rows(conn, "_pgrecall.job_kinds")) == sorted(KINDS)
    assert sorted(scalar(conn, "SELECT jobs FROM recall_status()")) == sorted(KINDS)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("pyclient/pgrecall/cli/failures.py", "Only jobs of this kind: (.*)\\."),
        ("sql/core/jobs/failures.sql", "-- kind  (.*)"),
        ("sql/core/api/recall_status.sql", r"-- jobs +by kind \((.*)\)"),
    ],
)
def test_texts_that_list_the_kinds_name_every_kind(file: str, line: str) -> None:
    [said] = re.findall(line, (ROOT / file).read_text(encoding="utf-8"))
    assert set(KINDS) <= set(re.findall(r"\w+", said))


@pytest.mark.parametrize("kind", KINDS)
def test_no_namespace_waits_for_the_work_of_another(conn: Connection[Any], kind: str) -> None:
    quiet = [remember(conn, "tea", namespace=name, create_namespace=True) for name in "bcd"]
    remember_many(conn, [{"content": f"tea {n}"} for n in range(100)], namespace="a", create_namespace=True)
    enqueue(conn, kind)
    seen: set[int] = set()
    for _ in range(4):
        found = claim(conn, kind)
        assert len(found) == 16
        seen |= set(found)
        remember_many(conn, [{"content": f"more {n} {len(seen)}"} for n in range(16)], namespace="a")
        enqueue(conn, kind)
    assert set(quiet) <= seen


@pytest.mark.parametrize("kind", KINDS)
def test_a_lost_lease_counts_and_the_fifth_ends_it(conn: Connection[Any], kind: str) -> None:
    number = remember(conn)
    enqueue(conn, kind)
    for attempts in range(5):
        assert claim(conn, kind) == [number]
        assert claim(conn, kind, OTHER) == []
        (job,) = jobs(conn, kind)
        assert job["attempts"] == attempts
        lose(conn)
    assert claim(conn, kind) == []
    (failure,) = failed(conn, kind)
    assert (failure["attempts"], failure["cause"]) == (5, "worker_lost")
    found = [(row[0], row[4], row[6], row[8]) for row in rows(conn, "pgrecall.failures")]
    assert found == [(number, "worker_lost", 5, kind)]
    status = scalar(conn, "SELECT jobs FROM recall_status()")
    assert (status[kind]["failed"], status[kind]["pending"], status[kind]["seconds"]) == (1, 1, None)
    checks = {row[0]: row for row in rows(conn, "pgrecall.health")}
    assert checks["failures"][1] == "warn"
    assert call(conn, "pgrecall.retry_failures", kind="another") == 0
    assert call(conn, "pgrecall.retry_failures", kind=kind) == 1
    assert claim(conn, kind) == [number]
    assert jobs(conn, kind)[0]["attempts"] == 0


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_released_counts_nothing_and_is_claimed_again(conn: Connection[Any], kind: str) -> None:
    number = remember(conn)
    enqueue(conn, kind)
    for _ in range(7):
        assert claim(conn, kind) == [number]
        assert (release(conn), release(conn)) == (1, 0)
    assert all(job["attempts"] == 0 for job in jobs(conn, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("state", ["waiting", "claimed", "failed"])
@pytest.mark.parametrize("change", [{"is_sensitive": True}, None])
def test_what_is_sensitive_or_forgotten_has_no_job(
    conn: Connection[Any], kind: str, state: str, change: dict[str, bool] | None
) -> None:
    number = remember(conn)
    enqueue(conn, kind)
    if state != "waiting":
        assert claim(conn, kind) == [number]
    if state == "failed":
        conn.execute("UPDATE pgrecall.jobs SET failed_at = now(), lease_expires_at = NULL")
    share(conn)
    with role(conn, "pgrecall_writer"):
        if change is None:
            call(conn, "forget", number)
        else:
            call(conn, "update_memory", number, **change)
    assert table(conn, "jobs") == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_new_text_has_no_failures_of_the_old_one(conn: Connection[Any], kind: str) -> None:
    number = remember(conn)
    enqueue(conn, kind)
    assert claim(conn, kind) == [number]
    conn.execute(
        "UPDATE pgrecall.jobs SET failed_at = now(), attempts = 5, cause = 'error', lease_expires_at = NULL "
        "WHERE kind = %s",
        (kind,),
    )
    assert [row[8] for row in rows(conn, "pgrecall.failures")] == [kind]
    call(conn, "update_memory", number, content="another text")
    assert rows(conn, "pgrecall.failures") == []
    assert all(job["attempts"] == 0 for job in jobs(conn, kind))


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("docs/operations.md", r"`jobs` has the states of every\skind\sof job: (.*?);"),
        ("docs/operations.md", r"tries each job of a memory \((.*?)\)"),
        ("docs/cli.md", r"Only jobs of this kind: (.*?)\."),
        ("sql/core/jobs/failures.sql", r"\n-- kind  (.*?)\n"),
        ("sql/README.md", r"`jobs` has one row for each job of a memory: (.*?) has a row only"),
        ("sql/core/api/recall_status.sql", r"by kind \((.*?)\)"),
    ],
)
def test_who_lists_the_kinds_lists_all(conn: Connection[Any], path: str, pattern: str) -> None:
    found = re.search(pattern, (ROOT / path).read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None, pattern
    words = set(re.findall(r"[a-z]+", found[1]))
    kinds = {row[0] for row in rows(conn, "_pgrecall.job_kinds")}
    names = {"text": "extraction", "llm": "extraction"} if "tries" in pattern else {}
    assert {names.get(kind, kind) for kind in kinds} <= words


@pytest.mark.parametrize("kind", ["text", "llm", "notes"])
def test_all_kinds_wait_longer_after_each_attempt(conn: Connection[Any], kind: str) -> None:
    number = remember(conn)
    enqueue(conn, kind)
    for attempt in range(4):
        ((_, ticket, *_),) = rows(conn, "pgrecall.claim_extractions", ONE, kind)
        call(conn, "pgrecall.fail_extraction", kind, number, ticket, "no")
        wait = scalar(
            conn,
            "SELECT EXTRACT(epoch FROM next_attempt_at - clock_timestamp())::float8 FROM pgrecall.jobs WHERE kind = %s",
            kind,
        )
        assert 60 * 2**attempt * 0.75 - 5 <= wait <= 60 * 2**attempt * 1.25
        conn.execute("UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = %s", (kind,))


def test_a_tenant_sees_and_retries_the_failures_of_its_namespaces_only(conn: Connection[Any]) -> None:
    own = remember(conn)
    remember(conn, namespace="other", create_namespace=True)
    conn.execute(
        "UPDATE pgrecall.jobs SET failed_at = now(), attempts = 5, cause = 'error', last_error = 'no'"
    )
    share(conn)
    with role(conn, "pgrecall_reader"):
        assert [row[0] for row in rows(conn, "pgrecall.failures")] == [own]
        assert scalar(conn, "SELECT jobs -> 'text' ->> 'failed' FROM recall_status()") == "1"
        with pytest.raises(psycopg.errors.InsufficientPrivilege), conn.transaction():
            rows(conn, "pgrecall.retry_failures")
    with role(conn, "pgrecall_writer"):
        assert call(conn, "pgrecall.retry_failures") == 1
    assert [row["failed_at"] is None for row in table(conn, "jobs")] == [True, False]
