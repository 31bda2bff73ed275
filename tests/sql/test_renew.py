"""Leases that a worker renews while it is at work."""

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


def expire(conn: Connection[Any], by: str) -> None:
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = clock_timestamp() + %s::interval", [by])


@pytest.mark.parametrize("by", ["30 seconds", "-1 hour", "2 days", "200 years"])
def test_a_lease_lasts_from_now_on(conn: Connection[Any], by: str) -> None:
    """Also one that is over and that nobody took, or that a clock wrote that was ahead."""
    remember(conn)
    claim(conn)
    expire(conn, by)
    assert call(conn, "pgrecall.renew", ONE, "2 minutes") == 1
    assert left(conn) == [120]
    assert claim(conn, OTHER) == []
    assert scalar(conn, "SELECT attempts FROM pgrecall.jobs WHERE kind = 'embedding'") == 0


def test_what_lasts_long_enough_is_not_written(conn: Connection[Any]) -> None:
    remember(conn)
    claim(conn)
    expire(conn, "100 seconds")
    assert call(conn, "pgrecall.renew", ONE, "2 minutes") == 1
    assert left(conn) == [100]


def test_leases_of_every_kind_and_of_nobody_else(conn: Connection[Any]) -> None:
    mine, theirs = remember(conn), remember(conn)
    conn.execute("DELETE FROM pgrecall.jobs")
    for number, worker in ((mine, ONE), (theirs, OTHER)):
        for kind in ("text", "notes"):
            conn.execute(
                "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, worker_id, ticket, lease_expires_at) "
                "VALUES (%s, %s, 1, %s, 7, now())",
                [number, kind, worker],
            )
    assert call(conn, "pgrecall.renew", ONE, "1 minute") == 2
    assert left(conn) == [60, 60]
    assert all(seconds <= 0 for seconds in left(conn, OTHER))


def test_a_worker_without_leases_holds_none(conn: Connection[Any]) -> None:
    number = remember(conn)
    assert call(conn, "pgrecall.renew", ONE, "1 minute") == 0
    claim(conn)
    call(conn, "pgrecall.fail", ONE, number, "no")
    assert call(conn, "pgrecall.renew", ONE, "1 minute") == 0
    assert left(conn) == []


@pytest.mark.parametrize("lease", [None, "-1 second", "2 days"])
def test_a_lease_out_of_range(conn: Connection[Any], lease: str | None) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        call(conn, "pgrecall.renew", ONE, lease)


@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_writer"])
def test_only_an_embedder_renews(conn: Connection[Any], name: str) -> None:
    with role(conn, name):
        denied(conn, "SELECT pgrecall.renew(gen_random_uuid(), '1 minute')")
