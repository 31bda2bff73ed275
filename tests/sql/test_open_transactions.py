"""One tenant's open transaction: what the embedder does for the others goes on, and for that tenant afterwards."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.embedding_queue import ONE, OTHER, claim, vector
from support.extraction import claimed, fact, mention
from support.extraction import complete as complete_extractions
from support.memories import call, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

# What the transaction of tenant A has done, and keeps.
HOLDING = {
    "updated": "SELECT update_memory(id, importance => 0.1) FROM pgrecall.memories WHERE namespace_id = {a}",
    "edited": "SELECT update_memory(id, content => 'coffee ' || id) FROM pgrecall.memories WHERE namespace_id = {a}",
    "forgotten": "SELECT forget(id) FROM pgrecall.memories WHERE namespace_id = {a}",
    "erased": "SELECT erase((SELECT min(id) FROM pgrecall.memories WHERE namespace_id = {a}))",
    "superseded": "SELECT supersede((SELECT min(id) FROM pgrecall.memories WHERE namespace_id = {a}), 'coffee')",
    "locked": "SELECT FROM pgrecall.memories WHERE namespace_id = {a} FOR UPDATE",
    "new names": "SELECT remember('x', namespace => 'a', tags => ARRAY['jane quokka', 'tea', 'milk'])",
    "locked names": "SELECT _pgrecall.lock_aliases_exclusive({a})",
    "locked facts": "SELECT _pgrecall.lock_relationships(ARRAY[{a}])",
    "locked queues": "SELECT FROM pgrecall.jobs x JOIN pgrecall.memories m ON m.id = x.memory_id WHERE m.namespace_id = {a} FOR UPDATE",
    "locked background": "SELECT FROM pgrecall.embedding_backgrounds FOR UPDATE",
    "removed namespace": "SELECT erase_namespace('a')",
}


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """Tenant A, whose transaction stays open."""
    with psycopg.connect(dsn) as connection:
        yield connection
        connection.rollback()


@pytest.fixture
def tenants(conn: Connection[Any]) -> dict[str, list[int]]:
    """Memories of both tenants, taking turns."""
    ids: dict[str, list[int]] = {"a": [], "b": []}
    for n in range(5):
        for name, found in ids.items():
            found.append(remember(conn, f"Jane Quokka likes tea {n}", namespace=name, create_namespace=True))
    return ids


def hold(conn: Connection[Any], other: Connection[Any], how: str) -> None:
    home = scalar(conn, "SELECT id FROM pgrecall.namespaces WHERE name = 'a'")
    other.execute(HOLDING[how].format(a=home).encode())


@pytest.fixture
def quickly() -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 30  # or it waits for as long as the lock is held


def embedded(conn: Connection[Any], ids: list[int]) -> set[int]:
    query = "SELECT id FROM pgrecall.memories WHERE embedding IS NOT NULL AND id = ANY (%s)"
    return {number for (number,) in conn.execute(query, (ids,))}


def store(conn: Connection[Any], worker: Any, found: list[Any]) -> int:
    return int(
        call(
            conn, "pgrecall.complete_claimed", worker, [row[0] for row in found], [row[4] for row in found],
            [row[1] for row in found], [vector(384, 1.0)] * len(found),
        )
    )  # fmt: skip


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", HOLDING)
def test_memories_of_others_are_embedded(
    conn: Connection[Any], other: Connection[Any], tenants: dict[str, list[int]], how: str
) -> None:
    conn.execute("SET lock_timeout = '3s'")
    found = rows(conn, "pgrecall.claim", ONE)
    assert len(found) == 10
    hold(conn, other, how)
    stored = store(conn, ONE, found)
    assert embedded(conn, tenants["b"]) == set(tenants["b"])
    # A failure, the leases of a worker that leaves, and the next claim wait for it no more.
    for number in tenants["a"]:
        call(conn, "pgrecall.fail", ONE, number, "no")
    call(conn, "pgrecall.release", ONE)
    assert set(claim(conn, OTHER)) <= set(tenants["a"])
    other.rollback()
    conn.execute("DELETE FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL")
    # What the transaction had locked keeps its lease until that ends by itself.
    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = NULL, lease_expires_at = NULL WHERE kind = 'embedding'"
    )
    again = rows(conn, "pgrecall.claim", OTHER)
    assert stored + store(conn, OTHER, again) == 10
    assert (
        scalar(conn, "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL") == 0
    )


def test_a_locked_memory_costs_no_attempt(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn)
    for _ in range(7):
        found = rows(conn, "pgrecall.claim", ONE)
        with other.transaction():
            other.execute("SELECT FROM pgrecall.memories FOR UPDATE")
            assert store(conn, ONE, found) == 0
            assert claim(conn, OTHER) == []
    assert scalar(conn, "SELECT COALESCE(max(attempts), 0) FROM pgrecall.jobs WHERE kind = 'embedding'") == 0
    assert store(conn, ONE, rows(conn, "pgrecall.claim", ONE)) == 1
    assert embedded(conn, [number]) == {number}


def test_the_last_attempt_at_a_memory_that_is_being_erased_stops_no_claim(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    number, free = remember(conn), remember(conn)
    claim(conn)
    conn.execute(
        "UPDATE pgrecall.jobs SET attempts = 4, lease_expires_at = now() WHERE kind = 'embedding' AND memory_id = %s",
        (number,),
    )
    conn.execute(
        "DELETE FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL AND memory_id = %s", (free,)
    )
    other.execute("SELECT FROM pgrecall.memories WHERE id = %s FOR UPDATE", (number,))
    conn.execute("SET lock_timeout = '1s'")
    assert claim(conn, OTHER) == [free]


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", HOLDING)
def test_names_and_facts_of_others_are_stored(
    conn: Connection[Any], other: Connection[Any], tenants: dict[str, list[int]], how: str
) -> None:
    if how == "removed namespace":
        for number in tenants["a"]:
            call(conn, "forget", number)
    conn.execute("SET lock_timeout = '3s'")
    found = claimed(conn)
    items = [
        {
            "memory_id": row[0],
            "ticket": row[1],
            "mentions": [mention("Jane Quokka"), mention("tea", "CONCEPT")],
            "facts": [fact("Jane Quokka", "likes", "tea")],
        }
        for row in found
    ]
    hold(conn, other, how)
    done = complete_extractions(conn, items)
    pending = "SELECT array_agg(memory_id) FROM pgrecall.jobs WHERE kind = 'text' AND memory_id = ANY (%s)"
    assert scalar(conn, pending, tenants["b"]) is None
    call(conn, "pgrecall.release_extractions", "00000000-0000-0000-0000-000000000007")
    claimed(conn)
    other.rollback()
    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = NULL, lease_expires_at = NULL WHERE kind IN ('text', 'llm', 'notes')"
    )
    again = {row[0]: row[1] for row in claimed(conn)}
    left = [{**one, "ticket": again[one["memory_id"]]} for one in items if one["memory_id"] in again]
    assert done + (complete_extractions(conn, left) if left else 0) == len(items)
    assert scalar(conn, "SELECT COALESCE(max(attempts), 0) FROM pgrecall.jobs") == 0


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", ["updated", "edited", "forgotten", "superseded", "locked"])
def test_a_curation_waits_for_nobody(
    conn: Connection[Any], other: Connection[Any], tenants: dict[str, list[int]], how: str
) -> None:
    call(conn, "pgrecall.set_setting", "curate", "rules")
    conn.execute("UPDATE pgrecall.memories SET embedding = %s", (vector(384, 1.0),))
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories ON CONFLICT DO NOTHING"
    )
    tickets = dict(rows(conn, "pgrecall.claim_curations", ONE))
    hold(conn, other, how)
    conn.execute("SET lock_timeout = '3s'")
    for number in sorted(tickets):
        call(conn, "pgrecall.curate_claimed", number, tickets[number])
    left = {
        number for (number,) in conn.execute("SELECT memory_id FROM pgrecall.jobs WHERE kind = 'curation'")
    }
    assert not left & set(tenants["b"])
    call(conn, "pgrecall.release_curations", ONE)
    other.rollback()
    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = NULL, lease_expires_at = NULL WHERE kind = 'curation'"
    )
    for number, ticket in sorted(rows(conn, "pgrecall.claim_curations", OTHER)):
        call(conn, "pgrecall.curate_claimed", number, ticket)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'curation'") == 0


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("how", ["updated", "edited", "forgotten", "locked", "locked queues"])
def test_notes_wait_for_nobody(conn: Connection[Any], other: Connection[Any], how: str) -> None:
    call(conn, "pgrecall.set_setting", "extract_notes", "on")
    ids = {}
    for name in ("a", "b"):
        message = {"content": f"I like tea {name}", "session": "s", "external_id": f"message:{name}"}
        (ids[name],) = remember_many(conn, [message], namespace=name, create_namespace=True)
        conn.execute(
            "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'notes', namespace_id FROM pgrecall.memories WHERE id = %s",
            (ids[name],),
        )
    found = rows(conn, "pgrecall.claim_extractions", ONE, "notes")
    hold(conn, other, how)
    conn.execute("SET lock_timeout = '3s'")
    done = {}
    for number, ticket, *_ in found:
        claims, notes = (
            [{"memory_id": number, "ticket": ticket}],
            [{"text": "likes tea", "memory_ids": [number]}],
        )
        done[number] = call(conn, "pgrecall.complete_notes", "v", Jsonb(claims), Jsonb(notes))
    assert done[ids["b"]] == 1
    other.rollback()
    conn.execute(
        "UPDATE pgrecall.jobs SET next_attempt_at = NULL, lease_expires_at = NULL WHERE kind IN ('text', 'llm', 'notes')"
    )
    for number, ticket, *_ in rows(conn, "pgrecall.claim_extractions", ONE, "notes"):
        claims, notes = (
            [{"memory_id": number, "ticket": ticket}],
            [{"text": "likes tea", "memory_ids": [number]}],
        )
        done[number] += call(conn, "pgrecall.complete_notes", "v", Jsonb(claims), Jsonb(notes))
    assert set(done.values()) == {1}


def test_a_heartbeat_waits_for_no_other(conn: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn) as other:
        call(conn, "pgrecall.heartbeat", ONE, "host", 1, "hash", "model", 0, [1])
        conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '2 days'")
        other.execute("SELECT FROM pgrecall.workers FOR UPDATE")
        conn.execute("SET lock_timeout = '1s'")
        call(conn, "pgrecall.heartbeat", OTHER, "host", 1, "hash", "model", 0, [1])
