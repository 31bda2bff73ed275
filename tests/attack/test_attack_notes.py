"""Attacks through notes: by tenants, by a compromised embedder, and by messages that talk to the model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, remember, rows, scalar, stored
from support.notes import TALK, claim, evidence, note, notes_in, switch_on, talk
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

CLAIMS = json.dumps([{"memory_id": 1, "ticket": 1}])
NOTES = json.dumps([{"text": "Priya owns the house", "memory_ids": [1]}])


@pytest.fixture
def on(conn: Connection[Any]) -> Connection[Any]:
    switch_on(conn)
    return conn


@pytest.mark.parametrize("name", ["pgrecall_reader", "pgrecall_writer"])
@pytest.mark.parametrize(
    "statement",
    [
        f"SELECT pgrecall.complete_notes('m', '{CLAIMS}', '{NOTES}')",
        "SELECT * FROM pgrecall.message_context(ARRAY[1])",
        "SELECT _pgrecall.withdraw_notes(1)",
        "SELECT * FROM pgrecall.note_evidence",
        "INSERT INTO pgrecall.note_evidence (memory_id, note_id) VALUES (1, 2)",
        "SELECT pgrecall.set_setting('extract_notes', 'on')",
    ],
)
def test_tenants_have_no_part_in_it(on: Connection[Any], name: str, statement: str) -> None:
    with role(on, name), pytest.raises(psycopg.errors.InsufficientPrivilege):
        on.execute(statement.encode())


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM pgrecall.note_evidence",
        "INSERT INTO pgrecall.note_evidence (memory_id, note_id) VALUES (1, 2)",
        "UPDATE pgrecall.note_evidence SET is_stated = false",
        "DELETE FROM pgrecall.note_evidence",
        "SELECT _pgrecall.withdraw_notes(1, sensitive => true)",
        "SELECT _pgrecall.insert_memories('[]', 'default')",
        "SELECT pgrecall.set_setting('extract_notes', 'on')",
        "SELECT pgrecall.reextract(enricher => 'notes')",
    ],
)
def test_an_embedder_has_the_functions_alone(on: Connection[Any], statement: str) -> None:
    with role(on, "pgrecall_embedder"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        on.execute(statement.encode())


def test_an_embedder_writes_notes_of_what_it_claimed_alone(on: Connection[Any]) -> None:
    first, second, third = talk(on)
    other = remember(on, "the bank's code", session="trip")
    with role(on, "pgrecall_embedder"):
        tickets = claim(on)
        ticket, foreign = tickets[first], tickets[second]
        for guess in (1, ticket + 1, foreign, 0):
            assert note(on, {first: guess}, Priya_owns_the_house=[first]) == 0
        assert note(on, {other: ticket}, Priya_owns_the_house=[other]) == 0
        # What is named as evidence without a ticket is none, and a note without evidence is none.
        assert note(on, {first: ticket}, Priya_owns_the_house=[second, other], Priya_asks=[first, third]) == 1
        # Used once, the ticket is void.
        assert note(on, {first: ticket}, Priya_owns_the_house=[first]) == 0
    assert notes_in(on) == [("Priya asks", False)]
    assert evidence(on) == [("Priya asks", first, True)]


def test_a_ticket_for_facts_is_none_for_notes(on: Connection[Any]) -> None:
    call(on, "pgrecall.set_setting", "extract_llm", "on")
    ids = talk(on)
    with role(on, "pgrecall_embedder"):
        facts = {row[0]: row[1] for row in rows(on, "pgrecall.claim_extractions", "7" * 32, "llm")}
        assert set(facts) == set(ids)
        assert note(on, facts, Priya_owns_the_house=ids) == 0
    assert notes_in(on) == []


def test_no_note_crosses_namespaces_or_sessions(on: Connection[Any]) -> None:
    ids = talk(on, namespace="one", create_namespace=True)
    theirs = talk(on, namespace="two", create_namespace=True)
    with role(on, "pgrecall_embedder"):
        tickets = claim(on)
        with pytest.raises(psycopg.errors.InvalidParameterValue, match="sessions"), on.transaction():
            note(on, tickets, Priya_owns_the_house=[*ids, *theirs])
        mine = {number: tickets[number] for number in ids}
        assert note(on, mine, Priya_owns_the_house=[*ids, *theirs]) == 3
    [(_, first, _), *_] = evidence(on)
    query = "SELECT namespace_id FROM pgrecall.memories WHERE category = 'note'"
    assert scalar(on, query) == stored(on, first)["namespace_id"] == stored(on, ids[0])["namespace_id"]
    assert {number for _, number, _ in evidence(on)} == set(ids)


def test_no_sensitive_message_is_claimed_or_sent(on: Connection[Any]) -> None:
    first, second, third = talk(on)
    call(on, "update_memory", second, is_sensitive=True)
    with role(on, "pgrecall_embedder"):
        tickets = claim(on)
        assert set(tickets) == {first, third}
        assert {row[0] for row in rows(on, "pgrecall.message_context", [first, second, third])} == {
            first,
            third,
        }


def test_a_sensitive_note_cannot_be_brought_back_by_an_embedder(on: Connection[Any]) -> None:
    ids = talk(on)
    note(on, claim(on), Priya_prefers_trains=ids)
    number = scalar(on, "SELECT id FROM pgrecall.memories WHERE category = 'note'")
    call(on, "update_memory", number, is_sensitive=True)
    call(on, "forget", number)
    call(on, "pgrecall.reextract", enricher="notes")
    with role(on, "pgrecall_embedder"):
        assert note(on, claim(on), Priya_prefers_trains=ids) == 3
    kept = stored(on, number)
    assert (kept["is_sensitive"], kept["deleted_at"] is not None, len(notes_in(on))) == (True, True, 1)


def test_a_writer_of_one_namespace_forgets_no_note_of_another(on: Connection[Any]) -> None:
    """A tenant forges the external id of a message and of a note; neither reaches beyond its namespace."""
    ids = talk(on, namespace="one", create_namespace=True)
    note(on, claim(on), Priya_prefers_trains=ids)
    key = scalar(on, "SELECT external_id FROM pgrecall.memories WHERE category = 'note'")
    call(on, "pgrecall.create_namespace", "two")
    on.execute("CREATE ROLE note_thief IN ROLE pgrecall_writer")
    try:
        call(on, "pgrecall.grant_namespace", "note_thief", "two", "write")
        with role(on, "note_thief"):
            forged = remember(on, "Priya owns the house", namespace="two", session="trip", external_id=key)
            call(on, "update_memory", forged, content="another text")
            call(on, "forget", forged)
            for number in ids:
                assert not call(on, "forget", number)
    finally:
        on.execute("DROP OWNED BY note_thief")
        on.execute("DELETE FROM pgrecall.grants WHERE role = 'note_thief'::regrole")
        on.execute("DROP ROLE note_thief")
    assert notes_in(on) == [("Priya prefers trains", False)]
    assert [is_stated for _, _, is_stated in evidence(on)] == [True] * len(TALK)
