"""pgrecall.complete_notes(): a note is stored once, and lives as long as a message states it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, remember, rows, scalar, stored
from support.notes import TALK, again, claim, evidence, note, notes_in, queue, switch_on, talk

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback
TRAINS = "Priya prefers trains"


@pytest.fixture
def on(conn: Connection[Any]) -> Connection[Any]:
    switch_on(conn)
    return conn


def noted(conn: Connection[Any], **options: Any) -> list[int]:
    """A conversation of three messages, the last of which states a note."""
    ids = talk(conn, **options)
    assert note(conn, claim(conn), Priya_prefers_trains=[ids[2]]) == 3
    return ids


def the_note(conn: Connection[Any]) -> int:
    return int(scalar(conn, "SELECT id FROM pgrecall.memories WHERE category = 'note'"))


def test_off_by_default(conn: Connection[Any]) -> None:
    talk(conn)
    assert claim(conn) == {}


def test_only_messages_are_read(on: Connection[Any]) -> None:
    remember(on, "no message")
    remember(on, "a turn", session="trip", position=9)
    ids = talk(on)
    assert sorted(claim(on)) == ids
    call(on, "pgrecall.reextract")
    call(on, "pgrecall.reextract", enricher="notes")
    queue(on)
    assert set(claim(on)) <= set(ids)


def test_a_note_has_what_its_message_has(on: Connection[Any]) -> None:
    ids = talk(
        on, [{**TALK[2], "created_at": "2026-03-01T10:00:00Z"}], metadata={"user_id": "priya"}, tags=["trip"],
        expires_at="2999-01-01T00:00:00Z",
    )  # fmt: skip
    assert note(on, claim(on), Priya_prefers_trains=ids) == 1
    one, message = stored(on, the_note(on)), stored(on, ids[0])
    same = ("namespace_id", "session", "speaker", "metadata", "tags", "occurred_at", "expires_at", "language")
    assert {name: one[name] for name in same} == {name: message[name] for name in same}
    assert (one["content"], one["category"], one["position"], one["is_sensitive"]) == (
        TRAINS,
        "note",
        None,
        False,
    )
    assert [row[0] for row in rows(on, "recall", "who prefers trains", categories=["note"])] == [one["id"]]


def test_a_note_is_stored_once(on: Connection[Any]) -> None:
    """Whoever states it, and however often the conversation is handed over or read."""
    ids = noted(on)
    assert notes_in(on) == [(TRAINS, False)]
    assert talk(on) == ids
    assert claim(on) == {}
    more = talk(on, [*TALK, {"role": "user", "name": "Priya", "content": "Trains, please!"}])
    assert note(on, claim(on), priya_PREFERS_trains=[more[3]]) == 1
    assert note(on, again(on), Priya_prefers_trains=[ids[2], more[3]]) == 4
    assert notes_in(on) == [(TRAINS, False)]
    assert evidence(on) == [(TRAINS, ids[2], True), (TRAINS, more[3], True)]
    # Another conversation has notes of its own.
    talk(on, TALK, "other")
    tickets = claim(on)
    assert note(on, tickets, Priya_prefers_trains=[max(tickets)]) == 3
    assert notes_in(on) == [(TRAINS, False), (TRAINS, False)]


def test_a_note_is_not_read_for_notes(on: Connection[Any]) -> None:
    noted(on)
    queue(on)
    assert claim(on) == {}
    assert the_note(on) not in again(on)


def test_the_answer_of_a_claim_counts_once(on: Connection[Any]) -> None:
    ids = talk(on)
    tickets = claim(on)
    assert note(on, tickets, Priya_prefers_trains=ids) == 3
    assert note(on, tickets, Priya_prefers_planes=ids) == 0
    assert notes_in(on) == [(TRAINS, False)]


def test_a_reading_of_something_else_meanwhile_is_void(on: Connection[Any]) -> None:
    """Of a message that was edited, forgotten or became sensitive while the model was asked, nothing is kept."""
    first, second, third = talk(on)
    tickets = claim(on)
    call(on, "update_memory", first, content="Where is the station?")
    call(on, "forget", second)
    call(on, "update_memory", third, is_sensitive=True)
    assert note(on, tickets, Priya_prefers_trains=[first, second, third]) == 0
    assert notes_in(on) == []
    # The edited one is read again.
    queue(on)
    assert set(claim(on)) == {first}


CHANGES = {
    "edited": lambda conn, number: call(conn, "update_memory", number, content="Where is the station?"),
    "said by another": lambda conn, number: call(conn, "update_memory", number, speaker="Tomas"),
    "forgotten": lambda conn, number: call(conn, "forget", number),
    "sensitive": lambda conn, number: call(conn, "update_memory", number, is_sensitive=True),
    "erased": lambda conn, number: call(conn, "erase", number),
}


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("change", CHANGES)
def test_a_note_does_not_outlive_any_of_its_messages(on: Connection[Any], change: str, place: int) -> None:
    """It may say what they say only together."""
    ids = talk(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[0], ids[2]]) == 3
    CHANGES[change](on, ids[place])
    other = ids[2 - place]
    assert notes_in(on) == ([] if change == "erased" else [(TRAINS, True)])
    # The other message is read again. What it states alone comes back, unless that is sensitive now.
    queue(on)
    tickets = claim(on)
    assert other in tickets
    assert note(on, tickets, Priya_prefers_trains=[other]) == len(tickets)
    assert notes_in(on) == [(TRAINS, change == "sensitive")]
    if change == "sensitive":
        assert stored(on, the_note(on))["is_sensitive"]


def test_a_note_comes_back_with_a_restored_message(on: Connection[Any]) -> None:
    ids = noted(on)
    call(on, "forget", ids[2])
    assert notes_in(on) == [(TRAINS, True)]
    call(on, "restore", ids[2])
    queue(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[2]]) == 1
    assert notes_in(on) == [(TRAINS, False)]


@pytest.mark.parametrize("end", ["expires_at", "retention"])
@pytest.mark.parametrize("batch", [1, 1000])
def test_a_note_that_expired_with_its_message_comes_back_with_it(
    on: Connection[Any], end: str, batch: int
) -> None:
    ids = noted(on, expires_at="2999-01-01T00:00:00Z" if end == "expires_at" else None)
    if end == "expires_at":
        on.execute("UPDATE pgrecall.memories SET expires_at = now() - interval '1 hour'")
    else:
        on.execute("UPDATE pgrecall.memories SET created_at = now() - interval '2 days'")
        call(on, "pgrecall.set_retention", "default", "1 day")
    for _ in range(5):
        rows(on, "pgrecall.expire_memories", batch)
    assert notes_in(on) == [(TRAINS, True)]
    call(on, "pgrecall.set_retention", "default", None)
    call(on, "restore", ids[2])
    queue(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[2]]) == 1
    assert notes_in(on) == [(TRAINS, False)]
    assert stored(on, the_note(on))["expires_at"] is None


def test_a_note_that_a_user_let_expire_stays_forgotten(on: Connection[Any]) -> None:
    ids = noted(on, expires_at="2999-01-01T00:00:00Z")
    on.execute("UPDATE pgrecall.memories SET expires_at = now() - interval '2 hours' WHERE category = 'note'")
    rows(on, "pgrecall.expire_memories")
    on.execute("UPDATE pgrecall.memories SET expires_at = now() - interval '1 hour' WHERE id = %s", (ids[2],))
    rows(on, "pgrecall.expire_memories")
    call(on, "restore", ids[2])
    queue(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[2]]) == 1
    assert notes_in(on) == [(TRAINS, True)]


def test_a_note_of_a_message_that_changed_while_the_model_was_asked_is_void(on: Connection[Any]) -> None:
    first, second, third = talk(on)
    tickets = claim(on)
    call(on, "update_memory", first, content="Where is the station?")
    assert note(on, tickets, Priya_prefers_trains=[first, third], Planes_fly=[second]) == 1
    assert notes_in(on) == [("Planes fly", False)]
    # The third is still claimed; whoever claims it later reads it again.
    assert on.execute("SELECT memory_id FROM pgrecall.jobs WHERE kind = 'notes'").fetchall() == [(third,)]


def test_a_note_that_a_user_forgot_stays_forgotten(on: Connection[Any]) -> None:
    ids = noted(on)
    call(on, "forget", the_note(on))
    # Also where a reading between two others does not find it.
    assert note(on, again(on)) == 3
    assert note(on, again(on), Priya_prefers_trains=[ids[0], ids[2]]) == 3
    assert notes_in(on) == [(TRAINS, True)]
    call(on, "forget", ids[2])
    call(on, "restore", ids[2])
    queue(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[2]]) == 1
    assert notes_in(on) == [(TRAINS, True)]


def test_an_edited_message_states_what_it_says_now(on: Connection[Any]) -> None:
    ids = noted(on)
    call(on, "update_memory", ids[2], content="I prefer planes.")
    assert notes_in(on) == [(TRAINS, True)]
    queue(on)
    assert note(on, claim(on), Priya_prefers_planes=[ids[2]]) == 1
    assert notes_in(on) == [(TRAINS, True), ("Priya prefers planes", False)]


def test_another_reading_replaces_the_notes(on: Connection[Any]) -> None:
    ids = noted(on)
    assert note(on, again(on), Priya_likes_trains=[ids[2]]) == 3
    assert notes_in(on) == [(TRAINS, True), ("Priya likes trains", False)]


def test_a_forgotten_note_becomes_sensitive_too(on: Connection[Any]) -> None:
    """Restored by hand, it would be embedded and sent."""
    ids = noted(on)
    call(on, "forget", the_note(on))
    call(on, "update_memory", ids[2], is_sensitive=True)
    assert stored(on, the_note(on))["is_sensitive"]


def test_a_note_lasts_as_long_as_the_message_that_lasts_longest(on: Connection[Any]) -> None:
    message = {"role": "user", "name": "Priya"}
    for year, text in (("2998", "one"), ("2999", "two"), ("2997", "three"), (None, "four")):
        [number] = talk(on, [{**message, "content": text}], expires_at=year and f"{year}-01-01T00:00:00Z")
        assert note(on, claim(on), Priya_counts=[number]) == 1
        ends = stored(on, the_note(on))["expires_at"]
        assert (ends and ends.year) == {"one": 2998, "two": 2999, "three": 2999, "four": None}[text]


def test_erasing_a_message_erases_its_notes(on: Connection[Any]) -> None:
    ids = talk(on)
    assert note(on, claim(on), Priya_prefers_trains=[ids[0], ids[2]], Priya_asks=[ids[0]]) == 3
    # Also one that was withdrawn before.
    call(on, "forget", ids[2])
    assert notes_in(on) == [("Priya asks", False), (TRAINS, True)]
    erased = rows(on, "erase", ids[0])[0][5]
    assert (erased["memories"], erased["note_evidence"]) == (3, 3)
    assert notes_in(on) == []


def test_erasing_a_note_leaves_its_message(on: Connection[Any]) -> None:
    ids = noted(on)
    erased = rows(on, "erase", the_note(on))[0][5]
    assert (erased["memories"], erased["note_evidence"]) == (1, 1)
    assert stored(on, ids[2])["deleted_at"] is None


def test_switched_off_meanwhile_nothing_is_stored(on: Connection[Any]) -> None:
    ids = talk(on)
    tickets = claim(on)
    call(on, "pgrecall.set_setting", "extract_notes", "off")
    assert note(on, tickets, Priya_prefers_trains=ids) == 0
    assert notes_in(on) == []


def test_one_session_at_a_time(on: Connection[Any]) -> None:
    ids = talk(on) + talk(on, TALK, "other")
    with pytest.raises(psycopg.errors.InvalidParameterValue, match="2 sessions"):
        note(on, claim(on), Priya_prefers_trains=ids)


@pytest.mark.parametrize(
    ("claims", "notes"),
    [
        ("{}", "[]"), ("[]", "{}"), (None, "[]"), ("[]", None), ("[1]", "[]"), ('[{"memory_id": "x"}]', "[]"), ("[]", "[1]"),
        *(("[]", json.dumps([one])) for one in (
            {}, {"text": "x"}, {"text": 7, "memory_ids": [1]}, {"text": " ", "memory_ids": [1]},
            {"text": "\u200b\u3164", "memory_ids": [1]},
            {"text": "secret" * 100, "memory_ids": [1]}, {"text": "x", "memory_ids": 1},
            {"text": "x", "memory_ids": ["secret"]}, {"text": "x", "memory_ids": [1.5]}, {"text": "x", "memory_ids": [-1]},
        )),
    ],
)  # fmt: skip
def test_what_is_refused(on: Connection[Any], claims: str | None, notes: str | None) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        call(on, "pgrecall.complete_notes", "m", claims, notes)
    assert "secret" not in str(caught.value)


def test_at_most_64_notes(on: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.ProgramLimitExceeded, match="65 notes"):
        call(on, "pgrecall.complete_notes", "m", "[]", json.dumps([{"text": "x", "memory_ids": [1]}] * 65))
