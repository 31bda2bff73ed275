"""Rows that were written while the server's clock was ahead, and identifiers up to the largest."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from support.embedding_queue import ONE, OTHER, claim
from support.extraction import claimed
from support.extraction import complete as complete_extractions
from support.memories import call, remember, rows, scalar, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

AHEAD = ["2 days", "1 year", "200 years"]
LARGEST = 2**63 - 1
IDS = [10**18 - 1, 10**18, 10**18 + 1, 5 * 10**18, LARGEST - 1, LARGEST]


def put_ahead(conn: Connection[Any], table: str, *columns: str, by: str) -> None:
    """As if the row had been written by a clock that was ahead by that much."""
    changes = ", ".join(f"{column} = {column} + interval '{by}'" for column in columns)
    conn.execute(f"UPDATE pgrecall.{table} SET {changes}".encode())


def beat(conn: Connection[Any], worker: UUID = ONE) -> None:
    call(conn, "pgrecall.heartbeat", worker, "host", 1, "hash", "model", 0, [1])


@pytest.mark.parametrize("by", AHEAD)
def test_a_lease_of_an_embedding_from_a_clock_ahead_has_expired(conn: Connection[Any], by: str) -> None:
    number = remember(conn)
    assert claim(conn) == [number]
    assert claim(conn, OTHER) == []
    put_ahead(conn, "jobs", "lease_expires_at", by=by)
    assert claim(conn, OTHER) == [number]
    assert claim(conn) == []


@pytest.mark.parametrize("by", AHEAD)
def test_a_next_attempt_of_a_clock_ahead_is_now(conn: Connection[Any], by: str) -> None:
    number = remember(conn)
    claim(conn)
    call(conn, "pgrecall.fail", ONE, number, "no")
    assert claim(conn) == []
    put_ahead(conn, "jobs", "next_attempt_at", by=by)
    assert claim(conn) == [number]


@pytest.mark.parametrize("by", AHEAD)
def test_the_last_attempt_of_a_clock_ahead_ends(conn: Connection[Any], by: str) -> None:
    number = remember(conn)
    for _ in range(5):
        assert claim(conn) == [number]
        put_ahead(conn, "jobs", "lease_expires_at", by=by)
    assert claim(conn) == []
    assert (
        scalar(conn, "SELECT cause FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL")
        == "worker_lost"
    )


@pytest.mark.parametrize("by", AHEAD)
def test_an_extraction_claimed_by_a_clock_ahead_is_claimed_again(conn: Connection[Any], by: str) -> None:
    remember(conn)
    ((number, ticket, *_),) = claimed(conn)
    assert claimed(conn) == []
    put_ahead(conn, "jobs", "lease_expires_at", by=by)
    ((_, ticket, *_),) = claimed(conn)
    call(conn, "pgrecall.fail_extraction", "text", number, ticket, "no", "100 years")
    assert scalar(conn, "SELECT next_attempt_at < now() + interval '25 hours' FROM pgrecall.jobs")
    assert claimed(conn) == []
    put_ahead(conn, "jobs", "next_attempt_at", by=by)
    ((_, ticket, *_),) = claimed(conn)
    for _ in range(4):
        call(conn, "pgrecall.fail_extraction", "text", number, ticket, "no", "0")
        ticket = next((row[1] for row in claimed(conn)), ticket)
    assert scalar(conn, "SELECT failed_at IS NOT NULL FROM pgrecall.jobs")
    assert claimed(conn) == []


@pytest.mark.parametrize("by", AHEAD)
def test_a_curation_claimed_by_a_clock_ahead_is_claimed_again(conn: Connection[Any], by: str) -> None:
    number = remember(conn)
    conn.execute("DELETE FROM pgrecall.jobs WHERE kind = 'curation'")
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s",
        (number,),
    )
    conn.execute("UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec")
    assert len(rows(conn, "pgrecall.claim_curations", ONE)) == 1
    assert rows(conn, "pgrecall.claim_curations", ONE) == []
    put_ahead(conn, "jobs", "lease_expires_at", by=by)
    assert len(rows(conn, "pgrecall.claim_curations", ONE)) == 1


@pytest.mark.parametrize("by", AHEAD)
def test_a_worker_that_a_clock_ahead_saw_last_is_not_alive(conn: Connection[Any], by: str) -> None:
    beat(conn)
    assert scalar(conn, "SELECT is_alive FROM pgrecall.worker_status()")
    put_ahead(conn, "workers", "last_seen_at", "started_at", by=by)
    assert not scalar(conn, "SELECT is_alive FROM pgrecall.worker_status()")
    assert scalar(conn, "SELECT workers FROM recall_status()") == 0
    ((_, _, _, error, _),) = rows(conn, "pgrecall.request_query_embedding", "tea")
    assert error is not None
    beat(conn, OTHER)
    assert scalar(conn, "SELECT array_agg(id) FROM pgrecall.workers") == [OTHER]


@pytest.mark.parametrize("by", AHEAD)
def test_a_question_of_a_clock_ahead_holds_up_none(conn: Connection[Any], by: str) -> None:
    beat(conn)
    rows(conn, "pgrecall.request_query_embedding", "tea")
    ((number, _),) = rows(conn, "pgrecall.claim_query_embeddings", 1)
    put_ahead(conn, "query_embeddings", "lease_expires_at", by=by)
    assert [row[0] for row in rows(conn, "pgrecall.claim_query_embeddings", 1)] == [number]
    call(conn, "pgrecall.complete_query_embeddings", [number], [None], ["no"])
    put_ahead(conn, "query_embeddings", "answered_at", "requested_at", "claimed_at", by=by)
    # The error is not remembered for as long as the clock was ahead.
    ((_, _, _, error, _),) = rows(conn, "pgrecall.request_query_embedding", "tea")
    assert error is None
    assert [row[1] for row in rows(conn, "pgrecall.claim_query_embeddings", 1)] == ["tea"]


@pytest.mark.parametrize("number", IDS)
def test_a_memory_of_any_id_is_embedded_read_and_curated(conn: Connection[Any], number: int) -> None:
    conn.execute(
        "INSERT INTO pgrecall.memories (id, namespace_id, language, content) OVERRIDING SYSTEM VALUE "
        "SELECT %s, n.id, 'english', repeat('Jane Quokka likes tea. ', 200) FROM pgrecall.namespaces n WHERE n.name = 'default'",
        (number,),
    )
    found = rows(conn, "pgrecall.claim", ONE)
    assert [row[0] for row in found] == [number]
    vector = str([0.5] * 384)
    passages = json.dumps([[vector] * len(found[0][5] or [])])
    assert call(
        conn, "pgrecall.complete_claimed", ONE, [number], [found[0][4]], [found[0][1]], [vector], passages=passages
    ) == 1  # fmt: skip
    ((_, ticket, *_),) = claimed(conn)
    item = {
        "memory_id": number,
        "ticket": ticket,
        "mentions": [{"name": "Jane", "type": "PERSON", "source": "rules"}],
    }
    assert complete_extractions(conn, [item]) == 1
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s ON CONFLICT DO NOTHING",
        (number,),
    )
    ((_, ticket),) = rows(conn, "pgrecall.claim_curations", ONE)
    call(conn, "pgrecall.set_setting", "curate", "rules")
    verdict = {"decision": "ADD", "other_id": None, "decider": "test", "evidence": {},
               "memory_hash": stored(conn, number)["content_hash"].hex(), "other_hash": ""}  # fmt: skip
    assert call(conn, "pgrecall.curate_claimed", number, ticket, Jsonb(verdict)) is not None
    assert number in [row[0] for row in rows(conn, "recall", "quokka tea", vector)]
    assert rows(conn, "get_memories", [number])[0][0] == number


def test_what_is_no_id_is_refused(conn: Connection[Any]) -> None:
    for text, expected in (
        ("0", True), (str(LARGEST), True), ("0001", True), (str(LARGEST + 1), False), ("9" * 19, False), ("9" * 30, False),
        ("", False), ("-1", False), ("1.5", False), ("1e3", False), (" 1", False), ("٣", False), ("1\n", False),
    ):  # fmt: skip
        assert scalar(conn, "SELECT _pgrecall.is_id(%s)", text) is expected, text


def test_a_role_has_a_limited_number_of_workers_and_evicts_no_other(conn: Connection[Any]) -> None:
    beat(conn)
    conn.execute("UPDATE pgrecall.workers SET role_name = 'another'")
    for number in range(2, 302):
        beat(conn, UUID(int=number))
    assert scalar(conn, "SELECT count(*) FROM pgrecall.workers") == 257
    assert scalar(conn, "SELECT count(*) FROM pgrecall.workers WHERE role_name = 'another'") == 1
    # now() stands still in this transaction.
    put_ahead(conn, "workers", "last_seen_at", by="-1 hour")
    beat(conn, UUID(int=1000))
    assert UUID(int=1000) in scalar(conn, "SELECT array_agg(id) FROM pgrecall.workers")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.workers") == 257
