"""Attacks of a compromised embedder: it answers for what it claimed, and changes nothing else."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import ONE, OTHER
from support.extraction import claimed, complete, mention
from support.memories import call, remember, rows, scalar, stored
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

VECTOR = str([1.0] * 384)
FORGED = str([-1.0, *[0.0] * 383])


def embed(
    conn: Connection[Any], worker: object, number: int, ticket: int, digest: bytes, vector: str = VECTOR
) -> int:
    with role(conn, "pgrecall_embedder"):
        return int(call(conn, "pgrecall.complete_claimed", worker, [number], [ticket], [digest], [vector]))


def claim(conn: Connection[Any], worker: object = ONE) -> dict[int, tuple[bytes, int]]:
    with role(conn, "pgrecall_embedder"):
        return {row[0]: (row[1], row[4]) for row in rows(conn, "pgrecall.claim", worker)}


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE pgrecall.memories SET embedding = NULL",
        "UPDATE pgrecall.memories SET embedding = array_fill(1, ARRAY[384])::halfvec",
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, ticket) VALUES ({number}, 'llm', 1, 1)",
        "UPDATE pgrecall.jobs SET ticket = 1",
        "DELETE FROM pgrecall.jobs",
        "SELECT ticket FROM pgrecall.jobs",
        "INSERT INTO pgrecall.extractions (memory_id, enricher) VALUES ({number}, 'llm')",
        "SELECT query FROM pgrecall.query_embeddings",
        "SELECT pgrecall.complete('{worker}', ARRAY[{number}], ARRAY[''::bytea], ARRAY['[1]'])",
        "INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding) "
        "VALUES ({number}, 1, 1, 1, 0, 1, '[1]')",
        "DELETE FROM pgrecall.passages",
        "SELECT embedding FROM pgrecall.passages",
        "SELECT _pgrecall.random_ticket()",
    ],
)
def test_no_ticket_is_an_embedders_to_make(conn: Connection[Any], statement: str) -> None:
    number = remember(conn)
    with role(conn, "pgrecall_embedder"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(statement.format(number=number, worker=ONE).encode())


def test_a_vector_lands_only_with_the_ticket_of_its_claim(conn: Connection[Any]) -> None:
    number, other = remember(conn, "one"), remember(conn, "two")
    taken = claim(conn)
    (digest, ticket), (_, foreign) = taken[number], taken[other]
    for worker, wrong in ((ONE, 1), (ONE, ticket + 1), (ONE, foreign), (OTHER, ticket)):
        assert embed(conn, worker, number, wrong, digest) == 0
    assert stored(conn, number)["embedding"] is None
    assert embed(conn, ONE, number, ticket, digest) == 1
    before = stored(conn, number)["embedding"]
    # Used once, it is void; and what is embedded is nobody's to embed again.
    assert embed(conn, ONE, number, ticket, digest, FORGED) == 0
    assert stored(conn, number)["embedding"] == before


def test_passages_land_only_with_the_ticket_of_their_memory(conn: Connection[Any]) -> None:
    """Whatever an embedder sends beside a vector, it is stored for what it claimed, and for that alone."""
    long = "The ferry leaves at nine. " * 60
    number, other = remember(conn, long), remember(conn, f"{long} Other.")
    with role(conn, "pgrecall_embedder"):
        taken = {row[0]: row for row in rows(conn, "pgrecall.claim", ONE)}
    passages = [[VECTOR] * len(taken[memory][5]) for memory in (number, other)]
    with role(conn, "pgrecall_embedder"):
        landed = call(
            conn, "pgrecall.complete_claimed", ONE, [number, other], [taken[number][4], taken[number][4]],
            [taken[number][1], taken[other][1]], [VECTOR, FORGED], passages=json.dumps(passages),
        )  # fmt: skip
    assert landed == 1
    query = "SELECT array_agg(DISTINCT memory_id) FROM pgrecall.passages"
    assert scalar(conn, query) == [number]
    assert stored(conn, other)["embedding"] is None


def test_a_claim_that_another_has_now_is_void(conn: Connection[Any]) -> None:
    number = remember(conn)
    digest, ticket = claim(conn)[number]
    conn.execute("UPDATE pgrecall.jobs SET lease_expires_at = now() WHERE kind = 'embedding'")
    _, later = claim(conn, OTHER)[number]
    assert embed(conn, ONE, number, ticket, digest) == 0
    assert embed(conn, OTHER, number, later, digest) == 1


def test_what_was_never_claimed_keeps_its_embedding(conn: Connection[Any]) -> None:
    number = remember(conn)
    digest, ticket = claim(conn)[number]
    assert embed(conn, ONE, number, ticket, digest) == 1
    before = stored(conn, number)["embedding"]
    for guess in range(100):
        assert embed(conn, ONE, number, guess, digest, FORGED) == 0
    assert stored(conn, number)["embedding"] == before


def test_what_became_secret_meanwhile_takes_no_vector(conn: Connection[Any]) -> None:
    number = remember(conn)
    digest, ticket = claim(conn)[number]
    call(conn, "update_memory", number, is_sensitive=True)
    assert embed(conn, ONE, number, ticket, digest) == 0


def test_tickets_cannot_be_guessed(conn: Connection[Any]) -> None:
    for _ in range(20):
        remember(conn)
    tickets = [row[1] for row in claimed(conn)]
    assert len(set(tickets)) == 20
    assert min(abs(one - other) for one, other in itertools.pairwise(tickets)) > 10**6
    assert len({ticket for _, ticket in claim(conn).values()}) == 20
    assert all(0 <= ticket < 2**59 for ticket in tickets)


def test_no_claim_gives_out_a_secret(conn: Connection[Any]) -> None:
    open_, _ = remember(conn, "open"), remember(conn, "canary", is_sensitive=True)
    # Even where a row of a queue says that there is something to do.
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) "
        "SELECT m.id, k.kind, m.namespace_id FROM pgrecall.memories m, (VALUES ('text'), ('curation')) k (kind) "
        "ON CONFLICT DO NOTHING"
    )
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    with role(conn, "pgrecall_embedder"):
        assert [row[0] for row in rows(conn, "pgrecall.claim", ONE)] == [open_]
        assert [row[0] for row in rows(conn, "pgrecall.claim_extractions", ONE)] == [open_]
        assert [row[0] for row in rows(conn, "pgrecall.claim_curations", ONE)] == [open_]


def test_a_forged_ticket_curates_nothing(conn: Connection[Any]) -> None:
    number, other = remember(conn, "one"), remember(conn, "two")
    call(conn, "pgrecall.set_setting", "curate", "rules")
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories WHERE id = %s",
        (other,),
    )
    said = (
        '{{"decision": "SUPERSEDE", "other_id": {}, "decider": "forged", "evidence": {{}}, '
        '"memory_hash": "{}", "other_hash": "{}"}}'
    ).format(number, *(bytes(stored(conn, memory)["content_hash"]).hex() for memory in (other, number)))
    with role(conn, "pgrecall_embedder"):
        for guess in (0, 1, 2, None):
            query = "SELECT pgrecall.curate_claimed(%s, %s, %s::jsonb)"
            assert conn.execute(query, (other, guess, said)).fetchone() == (None,)
    assert stored(conn, number)["superseded_by"] is None


def test_what_was_read_lands_once(conn: Connection[Any]) -> None:
    number = remember(conn)
    ((_, ticket, *_),) = claimed(conn)
    read = {"memory_id": number, "mentions": [mention("Jane", "PERSON")]}
    assert complete(conn, [{**read, "ticket": 1}]) == 0
    assert complete(conn, [{**read, "ticket": ticket}]) == 1
    assert complete(conn, [{**read, "ticket": ticket}]) == 0
