"""Attacks by way of sparse terms: by tenants, and by an embedder that answers for more than it claimed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import psycopg
import pytest

from support.memories import call, remember, rows, scalar
from support.notes import queue
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg import Connection

pytestmark = pytest.mark.rollback

WORKER = UUID(int=7)
ITEM = '[{"memory_id": 1, "ticket": 1, "terms": {"boat": 1}}]'


@pytest.fixture(autouse=True)
def _on(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.set_setting", "extract_sparse", "a-model")


def claim(conn: Connection[Any], enricher: str = "sparse") -> dict[int, int]:
    with role(conn, "pgrecall_embedder"):
        return {row[0]: row[1] for row in rows(conn, "pgrecall.claim_extractions", WORKER, enricher)}


def store(conn: Connection[Any], tickets: Mapping[int, int], word: str = "boat") -> int:
    items = [{"memory_id": one, "ticket": ticket, "terms": {word: 1}} for one, ticket in tickets.items()]
    with role(conn, "pgrecall_embedder"):
        return int(call(conn, "pgrecall.complete_sparse", "a-model", json.dumps(items)))


def stored(conn: Connection[Any]) -> list[Any]:
    return conn.execute("SELECT memory_id, weights::text FROM pgrecall.sparse_terms ORDER BY 1").fetchall()


@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_writer"])
@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT pgrecall.complete_sparse('m', '{ITEM}')",
        "SELECT * FROM pgrecall.sparse_terms",
        "SELECT _pgrecall.sparse_score(1, NULL)",
    ],
)
def test_tenants_have_no_part_in_it(conn: Connection[Any], name: str, statement: str) -> None:
    with role(conn, name), pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM pgrecall.sparse_terms",
        "DELETE FROM pgrecall.sparse_terms",
        "INSERT INTO pgrecall.sparse_terms VALUES (1, 1, '{1:1}/268435456')",
        "UPDATE pgrecall.sparse_terms SET weights = '{1:1}/268435456'",
        "SELECT pgrecall.set_setting('extract_sparse', 'another')",
    ],
)
def test_an_embedder_has_the_function_alone(conn: Connection[Any], statement: str) -> None:
    with role(conn, "pgrecall_embedder"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute(statement.encode())


def test_terms_land_only_with_the_ticket_of_their_claim(conn: Connection[Any]) -> None:
    number, other = remember(conn, "one"), remember(conn, "two")
    text = claim(conn, "text")
    assert store(conn, {number: text[number]}) == 0
    with role(conn, "pgrecall_embedder"):
        items = [
            {"memory_id": one, "ticket": ticket, "mentions": [], "times": [], "facts": []}
            for one, ticket in text.items()
        ]
        call(conn, "pgrecall.complete_extractions", "text", "1", json.dumps(items))
    tickets = claim(conn)
    for wrong in (1, tickets[number] + 1, tickets[other]):
        assert store(conn, {number: wrong}) == 0
    assert stored(conn) == []
    assert store(conn, {number: tickets[number]}) == 1
    before = stored(conn)
    # Used once, it is void.
    assert store(conn, {number: tickets[number]}, "forged") == 0
    assert stored(conn) == before


def test_a_secret_is_not_read(conn: Connection[Any]) -> None:
    remember(conn, "one", is_sensitive=True)
    later = remember(conn, "two")
    queue(conn)
    tickets = claim(conn)
    assert set(tickets) == {later}
    conn.execute("UPDATE pgrecall.memories SET is_sensitive = true WHERE id = %s", [later])
    assert store(conn, tickets) == 0
    assert stored(conn) == []


def test_terms_of_one_tenant_leave_the_lists_of_another_as_they_are(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "other")
    remember(conn, "The red boat", namespace="other")
    remember(conn, "The blue boat", namespace="other")
    seen = "SELECT id, score, lexical_weight FROM recall_explain('red boat', namespace => 'other')"
    before = conn.execute(seen.encode()).fetchall()
    mine = remember(conn, "My red boat")
    queue(conn)
    assert store(conn, {mine: claim(conn)[mine]}, "red") == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.sparse_terms") == 1
    assert conn.execute(seen.encode()).fetchall() == before
