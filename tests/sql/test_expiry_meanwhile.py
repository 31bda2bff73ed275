"""Expiry beside others: what a user keeps meanwhile stays, and what one tenant has locked holds up nobody else."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import refused, remember, remember_many, rows, scalar, stored

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

PAST = datetime(2024, 3, 1, tzinfo=UTC)
KEEPS = {
    "extended": "SELECT update_memory(%s, expires_at => now() + interval '1 day')",
    "without an end": "SELECT update_memory(%s, expires_at => 'infinity')",
    "restored": "SELECT restore(%s)",
    "of a category that is kept": "SELECT update_memory(%s, category => 'kept')",
}


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """Another session, in a transaction that stays open."""
    with psycopg.connect(dsn) as connection:
        yield connection
        connection.rollback()


def expire(conn: Connection[Any], **options: object) -> tuple[int, int]:
    (counts,) = rows(conn, "pgrecall.expire_memories", **options)
    return (counts[0], counts[1])


def home(conn: Connection[Any], name: str, action: str = "forget", count: int = 1) -> list[int]:
    """A namespace with so many memories that are due."""
    ids = remember_many(
        conn,
        [{"content": f"{name} {n}", "expires_at": str(PAST), "tags": ["tea"]} for n in range(count)],
        namespace=name,
        create_namespace=True,
    )
    if action == "erase":
        conn.execute("SELECT pgrecall.set_retention(%s, '1000 years', NULL, 'erase')", (name,))
    return ids


@pytest.mark.parametrize("action", ["forget", "erase"])
@pytest.mark.parametrize("how", KEEPS)
def test_what_is_kept_during_a_sweep_stays(conn: Connection[Any], dsn: str, action: str, how: str) -> None:
    by_rule = "category" in how
    due = {"created_at": "2004-03-01"} if by_rule else {"expires_at": str(PAST)}
    ids = remember_many(conn, [{"content": f"memory {n}", **due} for n in range(120)])
    conn.execute(
        "SELECT pgrecall.set_retention('default', %s, NULL, %s)",
        ("1 year" if by_rule else "1000 years", action),
    )
    conn.execute("SELECT pgrecall.set_retention('default', '100 years', 'kept')")
    kept: list[int] = []

    def keep() -> None:
        with psycopg.connect(dsn, autocommit=True) as user:
            for number in reversed(ids):
                try:
                    user.execute(KEEPS[how].encode(), (number,))
                except psycopg.errors.NoDataFound:
                    continue  # too late, and the user is told
                kept.append(number)

    with ThreadPoolExecutor(1) as pool, psycopg.connect(dsn, autocommit=True) as sweeper:
        keeping = pool.submit(keep)
        while not keeping.done():
            expire(sweeper, max_memories=30)
        keeping.result()
    while sum(expire(conn)):
        pass
    alive = {
        number for (number,) in conn.execute("SELECT id FROM pgrecall.memories WHERE deleted_at IS NULL")
    }
    assert alive == set(kept)


@pytest.mark.parametrize("action", ["forget", "erase"])
@pytest.mark.parametrize(
    "holding",
    [
        "SELECT update_memory(id, importance => 0.5) FROM unnest(%(ids)s) id",
        "SELECT update_memory(id, tags => '{milk}') FROM unnest(%(ids)s) id",
        "SELECT forget(id) FROM unnest(%(ids)s) id",
        "SELECT erase((%(ids)s)[1])",
        "SELECT remember('a', namespace => 'held', tags => ARRAY['tea', 'x' || n]) FROM generate_series(1, 20) n",
        "SELECT count(*) FROM remember_many((SELECT jsonb_agg(jsonb_build_object('content', 'b ' || n)) FROM generate_series(1, 300) n), namespace => 'held')",
        "SELECT FROM pgrecall.locks WHERE home = (SELECT id FROM pgrecall.namespaces WHERE name = 'held') FOR UPDATE",
        "SELECT FROM pgrecall.concept_aliases FOR UPDATE",
    ],
)
def test_an_open_transaction_holds_up_no_other_namespace(
    conn: Connection[Any], other: Connection[Any], holding: str, action: str
) -> None:
    held = home(conn, "held", action, 40)
    free = [number for n in range(3) for number in home(conn, f"free {n}", action, 10)]
    other.execute(holding.encode(), {"ids": held} if "ids" in holding else None)
    started = time.monotonic()
    done = sum(expire(conn)) + sum(expire(conn))
    assert time.monotonic() - started < 30  # or it waits for as long as the lock is held
    left = conn.execute(
        "SELECT id FROM pgrecall.memories WHERE deleted_at IS NULL AND id = ANY (%s)", (free,)
    ).fetchall()
    if "FROM pgrecall.concept_aliases" not in holding:
        assert (done >= len(free), left) == (True, [])
    other.rollback()
    while sum(expire(conn)):
        pass
    assert (
        scalar(
            conn, "SELECT count(*) FROM pgrecall.memories WHERE expires_at <= now() AND deleted_at IS NULL"
        )
        == 0
    )


def test_another_namespace_is_restored_while_a_sweep_waits(
    conn: Connection[Any], dsn: str, other: Connection[Any]
) -> None:
    ids = home(conn, "free", count=3)
    expire(conn)
    home(conn, "held", "erase", 30)
    other.execute("SELECT FROM pgrecall.locks FOR SHARE")
    with psycopg.connect(dsn, autocommit=True) as sweeper, ThreadPoolExecutor(1) as pool:
        sweep = pool.submit(expire, sweeper)
        started = time.monotonic()
        for number in ids:
            conn.execute("SELECT restore(%s)", (number,))
        assert time.monotonic() - started < 30  # or it waits for as long as the lock is held
        sweep.result(60)
    assert [stored(conn, number)["deleted_at"] for number in ids] == [None] * 3


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_expiry_says_which_isolation_it_needs(conn: Connection[Any], level: str) -> None:
    remember(conn, expires_at=PAST)
    with refused(conn, "55000"), conn.transaction():
        conn.execute(f"SET TRANSACTION ISOLATION LEVEL {level}".encode())
        expire(conn)
    assert expire(conn) == (1, 0)
