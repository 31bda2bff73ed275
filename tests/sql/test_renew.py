"""Leases that a worker renews while it is at work, and those that it lets go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import ONE, OTHER, claim
from support.memories import call, remember, scalar
from support.roles import denied, role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

SECONDS_LEFT = "SELECT ceil(extract(epoch FROM lease_expires_at - clock_timestamp()))::integer FROM pgrecall.jobs WHERE worker_id = %s"


def left(conn: Connection[Any], worker: object = ONE) -> list[int]:
    return sorted(row[0] for row in conn.execute(SECONDS_LEFT.encode(), [worker]))


def tickets(conn: Connection[Any], worker: object = ONE) -> list[int]:
    query = "SELECT ticket FROM pgrecall.jobs WHERE worker_id = %s"
    return [row[0] for row in conn.execute(query, [worker])]


def lease(conn: Connection[Any], memory: int, kind: str, worker: object, ticket: int) -> None:
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, worker_id, ticket, lease_expires_at) "
        "VALUES (%s, %s, 1, %s, %s, now())",
        [memory, kind, worker, ticket],
    )


def expire(conn: Connection[Any], by: str) -> None:
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = clock_timestamp() + %s::interval", [by])


@pytest.mark.parametrize("by", ["30 seconds", "-1 hour", "2 days", "200 years"])
def test_a_lease_lasts_from_now_on(conn: Connection[Any], by: str) -> None:
    """Also one that is over and that nobody took, or that a clock wrote that was ahead."""
    remember(conn)
    claim(conn)
    expire(conn, by)
    assert call(conn, "pgrecall.renew", ONE, tickets(conn), "2 minutes") == 1
    assert left(conn) == [120]
    assert claim(conn, OTHER) == []
    assert scalar(conn, "SELECT attempts FROM pgrecall.jobs WHERE kind = 'embedding'") == 0


def test_what_lasts_long_enough_is_not_written(conn: Connection[Any]) -> None:
    remember(conn)
    claim(conn)
    expire(conn, "100 seconds")
    assert call(conn, "pgrecall.renew", ONE, tickets(conn), "2 minutes") == 1
    assert left(conn) == [100]


def test_leases_of_every_kind_and_of_nobody_else(conn: Connection[Any]) -> None:
    mine, theirs = remember(conn), remember(conn)
    conn.execute("DELETE FROM pgrecall.jobs")
    for number, worker in ((mine, ONE), (theirs, OTHER)):
        for kind in ("text", "notes"):
            lease(conn, number, kind, worker, 7)
    assert call(conn, "pgrecall.renew", ONE, [7], "1 minute") == 2
    assert left(conn) == [60, 60]
    assert all(seconds <= 0 for seconds in left(conn, OTHER))


def test_what_is_not_in_hand_is_not_renewed(conn: Connection[Any]) -> None:
    """A worker may not know of a lease: a batch that it could not store, or a claim whose answer was lost."""
    in_hand, left_out = remember(conn), remember(conn)
    conn.execute("DELETE FROM pgrecall.jobs")
    lease(conn, in_hand, "text", ONE, 7)
    lease(conn, left_out, "text", ONE, 8)
    assert call(conn, "pgrecall.renew", ONE, [7], "1 minute") == 1
    assert left(conn)[1] == 60
    assert left(conn)[0] <= 0
    assert call(conn, "pgrecall.renew", ONE, [], "1 minute") == 0


def test_a_worker_without_leases_holds_none(conn: Connection[Any]) -> None:
    number = remember(conn)
    assert call(conn, "pgrecall.renew", ONE, [1], "1 minute") == 0
    claim(conn)
    held = tickets(conn)
    call(conn, "pgrecall.fail", ONE, number, "no")
    assert call(conn, "pgrecall.renew", ONE, held, "1 minute") == 0
    assert left(conn) == []


def test_what_is_postponed_waits_for_seconds_and_counts_no_attempt(conn: Connection[Any]) -> None:
    let_go, in_hand, theirs = (remember(conn) for _ in range(3))
    conn.execute("DELETE FROM pgrecall.jobs")
    for kind in ("text", "llm", "notes", "sparse", "curation"):
        lease(conn, let_go, kind, ONE, 7)
        lease(conn, in_hand, kind, ONE, 8)
        lease(conn, theirs, kind, OTHER, 7)
    call(conn, "pgrecall.postpone", ONE, [7, 9])
    free = conn.execute(
        "SELECT DISTINCT memory_id, attempts, next_attempt_at - clock_timestamp() BETWEEN '5 seconds' AND '25 seconds' "
        "FROM pgrecall.jobs WHERE ticket IS NULL AND worker_id IS NULL AND lease_expires_at IS NULL"
    ).fetchall()
    assert free == [(let_go, 0, True)]
    assert (tickets(conn), tickets(conn, OTHER)) == ([8] * 5, [7] * 5)


@pytest.mark.parametrize("lease", [None, "-1 second", "2 days"])
def test_a_lease_out_of_range(conn: Connection[Any], lease: str | None) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(conn, "pgrecall.renew", ONE, [7], lease)


@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_writer"])
def test_only_an_embedder_renews_and_postpones(conn: Connection[Any], name: str) -> None:
    with role(conn, name):
        denied(conn, "SELECT pgrecall.renew(gen_random_uuid(), '{1}', '1 minute')")
        denied(conn, "SELECT pgrecall.postpone(gen_random_uuid(), '{1}')")
