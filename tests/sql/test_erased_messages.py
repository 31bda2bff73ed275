"""An erased message stays away, however often its conversation is handed over again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from support.memories import call, remember, rows, scalar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

pytestmark = pytest.mark.rollback

SESSION = "chat-1"


def messages(texts: Sequence[str], *, dated: bool = False) -> str:
    """Turns of a conversation, one a minute from noon on if they have a time."""
    return json.dumps(
        [
            {"role": "user" if place % 2 == 0 else "assistant", "content": text}
            | ({"created_at": f"2026-05-13T12:{place:02}:00Z"} if dated else {})
            for place, text in enumerate(texts)
        ]
    )


def hand_over(
    conn: Connection[Any], texts: Sequence[str], *, dated: bool = False, namespace: str | None = None
) -> tuple[list[int], list[int]]:
    """Hand over a conversation; returns the places that have a memory, and those that are new."""
    found = rows(
        conn,
        "remember_messages",
        messages(texts, dated=dated),
        SESSION,
        namespace=namespace,
        create_namespace=True,
    )
    return [place for place, _, _ in found], [place for place, _, is_new in found if is_new]


def erase(conn: Connection[Any], position: int) -> None:
    number = scalar(
        conn, 'SELECT id FROM pgrecall.memories WHERE session = %s AND "position" = %s', SESSION, position
    )
    rows(conn, "erase", number)


TALK = ["hello", "yes", "tea at four", "yes", "bye", "yes"]


@pytest.mark.parametrize("dated", [False, True])
@pytest.mark.parametrize(
    "erased", [[1], [2], [3], [4], [6], [1, 2], [2, 4], [2, 4, 6], [4, 5, 6], [1, 2, 3, 4, 5]]
)
def test_the_whole_conversation_again(conn: Connection[Any], dated: bool, erased: list[int]) -> None:
    hand_over(conn, TALK, dated=dated)
    for position in erased:
        erase(conn, position)
    stays = [place for place in range(1, 7) if place not in erased]
    for _ in range(2):
        assert hand_over(conn, TALK, dated=dated) == (stays, [])
    assert hand_over(conn, [*TALK, "one more"], dated=dated) == ([*stays, 7], [7])
    assert hand_over(conn, [*TALK, "one more", "yes"], dated=dated) == ([*stays, 7, 8], [8])


@pytest.mark.parametrize("dated", [False, True])
def test_all_of_it_erased(conn: Connection[Any], dated: bool) -> None:
    hand_over(conn, TALK[:3], dated=dated)
    for position in (1, 2, 3):
        erase(conn, position)
    assert hand_over(conn, TALK[:3], dated=dated) == ([], [])
    assert hand_over(conn, TALK[:4], dated=dated) == ([4], [4])


def test_a_new_turn_that_says_the_same_is_stored(conn: Connection[Any]) -> None:
    hand_over(conn, TALK)
    erase(conn, 4)
    assert hand_over(conn, ["so what?", "yes"]) == ([1, 2], [1, 2])


def test_another_namespace_and_another_session_keep_theirs(conn: Connection[Any]) -> None:
    hand_over(conn, TALK, namespace="one")
    erase(conn, 3)
    assert hand_over(conn, TALK, namespace="two")[1] == [1, 2, 3, 4, 5, 6]
    found = rows(conn, "remember_messages", messages(TALK), "chat-2", namespace="one")
    assert [is_new for _, _, is_new in found] == [True] * 6


def test_a_dry_run_and_forget_leave_no_trace(conn: Connection[Any]) -> None:
    hand_over(conn, TALK)
    number = scalar(conn, 'SELECT id FROM pgrecall.memories WHERE "position" = 3')
    rows(conn, "erase", number, dry_run=True)
    call(conn, "forget", number)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.erased_messages") == 0


def test_the_namespace_takes_its_traces_along(conn: Connection[Any]) -> None:
    hand_over(conn, TALK, namespace="one")
    erase(conn, 3)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.erased_messages") == 1
    rows(conn, "erase_namespace", "one")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.erased_messages") == 0
    assert hand_over(conn, TALK, namespace="one")[1] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    "external_id", ["message:x", "message:" + "a" * 64, "message:" + "a" * 64 + ":99999999999"]
)
def test_an_id_of_an_application_is_none_of_a_message(conn: Connection[Any], external_id: str) -> None:
    number = remember(conn, external_id=external_id)
    rows(conn, "erase", number)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.erased_messages") == 0


def test_retention_erases_for_good(conn: Connection[Any]) -> None:
    hand_over(conn, TALK, dated=True)
    rows(conn, "erase_many", speakers=["assistant"])
    assert hand_over(conn, TALK, dated=True) == ([1, 3, 5], [])
