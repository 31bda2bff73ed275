"""The newer of two near-identical statements goes first; other memories keep their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.memories import remember, rows

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

OLD, NEW = "2024-03-01", "2025-03-01"

STATEMENTS = [
    ("what is my favourite colour?", "My favourite colour is blue", "My favourite colour is green"),
    ("when is the dentist appointment?", "The dentist appointment is on Tuesday at 3pm", "The dentist appointment is on Friday at 9am"),
    ("what is the wifi password?", "The wifi password is abc123", "The wifi password is swordfish"),
    ("where does Priya live?", "Priya lives in Berlin", "Priya lives in Lisbon"),
    ("where do I live?", "I live in Porto", "I live in Ghent"),
    ("which database does Marlin use?", "Project Marlin uses PostgreSQL 15", "Project Marlin uses PostgreSQL 16"),
    ("who leads the search team?", "Omar leads the search team", "Ines leads the search team"),
    ("what is the rent?", "The rent is 900 euros a month", "The rent is 1,050 euros a month"),
    ("how many parking spaces does the office have?", "The office has 12 parking spaces", "The office has 20 parking spaces"),
    ("what is Tom's phone number?", "Tom's phone number is +44 20 7946 0014", "Tom's phone number is +44 20 7946 0991"),
    ("when does the release train leave?", "The release train leaves on Mondays", "The release train leaves on Wednesdays now"),
    ("which editor does Kofi like?", "Kofi likes Vim as his editor", "Kofi likes Helix as his editor"),
    ("how do I take my coffee?", "I take my coffee black", "I take my coffee with oat milk"),
    ("¿dónde vive Marta?", "Marta vive en Sevilla", "Marta vive en Granada"),
    ("Wann ist die Teambesprechung?", "Die Teambesprechung ist dienstags", "Die Teambesprechung ist donnerstags"),
    ("when is the standup?", "The standup is at 9:00", "The standup is at 10:30"),
    ("wann öffnet die Bäckerei?", "Die Bäckerei öffnet um 6:45 Uhr", "Die Bäckerei öffnet um 7:15 Uhr"),
    ("what is the gate code?", "The gate code is 44 71", "The gate code is 90 12"),
    ("when is the deadline?", "The deadline is 3 May 2025", "The deadline is 17 June 2025"),
    ("what is the rent?", "The rent is €900", "The rent is €1,050"),
    ("花子さんの住所は?", "花子さんの住所は京都です", "花子さんの住所は大阪です"),
]  # fmt: skip
OTHERS = ("The bicycle has a flat tyre", "Lunch was at noon with Bo", "The printer on the second floor jams")


def order(conn: Connection[Any], question: str, **options: Any) -> list[int]:
    return [row[0] for row in rows(conn, "recall", question, **options)]


@pytest.mark.parametrize(("question", "old", "new"), STATEMENTS)
@pytest.mark.parametrize("newer_is_stored_first", [False, True])
def test_the_newer_statement_goes_first(
    conn: Connection[Any], question: str, old: str, new: str, newer_is_stored_first: bool
) -> None:
    for other in OTHERS:
        remember(conn, other)
    both = [(old, OLD), (new, NEW)]
    ids = {
        text: remember(conn, text, occurred_at=at)
        for text, at in (both[::-1] if newer_is_stored_first else both)
    }
    assert order(conn, question)[:2] == [ids[new], ids[old]]


@pytest.mark.parametrize(
    ("question", "older", "newer"),
    [
        # It is about another subject, holds less of the question, or says something else.
        ("which database does Marlin use?", "Project Marlin uses PostgreSQL 15", "Project Marten uses PostgreSQL 16"),
        ("when is the Tuesday meeting?", "The Tuesday meeting is at noon", "The Friday meeting is at noon"),
        ("what happens at 9:00?", "The standup is at 9:00", "The standup is at 10:30"),
        ("who is in room 4?", "Room 4 has 3 chairs", "Room 9 has 2 chairs"),
        ("what did Ann say about the harbour?", "Ann said that the harbour is closed", "Ann asked for a longer ladder today"),
    ],
)  # fmt: skip
def test_another_subject_stays_behind(conn: Connection[Any], question: str, older: str, newer: str) -> None:
    first, second = remember(conn, older, occurred_at=OLD), remember(conn, newer, occurred_at=NEW)
    found = order(conn, question)
    assert found[0] == first
    assert found in ([first, second], [first])


@pytest.mark.parametrize(("speaker", "place"), [("Ada", 1), ("Ben", 0), (None, 0)])
def test_what_another_person_says_is_no_newer_statement(
    conn: Connection[Any], speaker: str | None, place: int
) -> None:
    first = remember(conn, "I like tea in the morning", speaker="Ada", occurred_at=OLD)
    remember(conn, "I like tea in the evening", speaker=speaker, occurred_at=NEW)
    assert order(conn, "who likes tea?").index(first) == place


def test_of_two_of_the_same_time_the_one_stored_later_is_newer(conn: Connection[Any]) -> None:
    first, second = (
        remember(conn, f"The code of the door is {code}", occurred_at=OLD) for code in (1111, 2222)
    )
    assert order(conn, "code of the door") == [second, first]


@pytest.mark.parametrize(
    ("question", "statements"),
    [
        ("where is the spare key?", ["The spare key is under the mat", "The spare key is with Olga"]),
        ("where do I live?", ["I live in Porto", "I live in Ghent"]),
        ("when is the standup?", ["The standup is at 9:00", "The standup is at 10:30"]),
        ("which car does Ines drive?", ["Ines drives a Skoda", "Ines drives a Seat", "Ines drives a Volvo"]),
        ("¿dónde vive Marta?", ["Marta vive en Sevilla", "Marta vive en Granada"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("times", [3, 4, 7])
def test_what_changes_back_is_the_newest_again(
    conn: Connection[Any], question: str, statements: list[str], times: int
) -> None:
    texts = [statements[number % len(statements)] for number in range(times)]
    stored = [remember(conn, text, occurred_at=f"{2010 + number}-01-01") for number, text in enumerate(texts)]
    found = order(conn, question, k=20)
    assert found[0] == stored[-1]
    for place, text in enumerate(texts[:-1]):
        newer = next(number for number in range(place + 1, times) if texts[number] != text)
        assert found.index(stored[newer]) < found.index(stored[place])


def test_the_newer_statement_is_raised_to_the_score_of_the_older_one(conn: Connection[Any]) -> None:
    old = remember(conn, "My favourite colour is blue", occurred_at=OLD)
    new = remember(conn, "My favourite colour is dark green", occurred_at=NEW)
    last = remember(conn, "The blue printer is mine", occurred_at=NEW)
    query = (
        "SELECT id, place, candidate_rank, score, newer_factor, combined, arithmetic "
        "FROM recall_explain('what is my favourite colour?', ids => %s)"
    )
    explained = {row[0]: row[1:] for row in conn.execute(query, [[old, new, last]])}
    assert [explained[memory][:2] for memory in (new, old)] == [(1, 1), (2, 2)]
    assert explained[new][2] == pytest.approx(explained[old][2])
    assert explained[new][3] == pytest.approx(explained[old][2] / explained[new][4])
    assert explained[new][3] > 1
    assert " * newer 1.0" in explained[new][5]
    assert [explained[memory][3] for memory in (old, last)] == [1, 1]


def test_the_scores_of_a_list_descend(conn: Connection[Any]) -> None:
    for year in range(2001, 2021):
        text = f"My favourite colour {'quite ' * (year % 3)}is number {year * 7 % 20}"
        remember(conn, text, occurred_at=f"{year}-01-01")
        remember(conn, f"The colour of door {year} in the eastern wing fades", occurred_at=f"{year}-01-01")
    scores = [
        row[0] for row in conn.execute("SELECT score FROM recall('what is my favourite colour?', k => 30)")
    ]
    assert len(set(scores)) > 1
    assert scores == sorted(scores, reverse=True)


def test_an_order_by_importance_or_time_is_kept(conn: Connection[Any]) -> None:
    first = remember(conn, "My favourite colour is blue", occurred_at=OLD, importance=0.9)
    second = remember(conn, "My favourite colour is green", occurred_at=NEW, importance=0.1)
    assert order(conn, "favourite colour", sort_by="importance") == [first, second]


@pytest.mark.parametrize(
    "settings", [{"newer_first": False}, {"strategy": "fulltext"}, {"profile": "service"}]
)
def test_it_can_be_turned_off(conn: Connection[Any], settings: dict[str, Any]) -> None:
    first = remember(conn, "My favourite colour is blue", occurred_at=OLD, importance=0.6)
    second = remember(conn, "My favourite colour is green", occurred_at=NEW)
    assert order(conn, "favourite colour", settings=settings) == [first, second]


def test_no_memory_is_lost_or_doubled(conn: Connection[Any]) -> None:
    ids = [
        remember(conn, f"My favourite colour is number {n}", occurred_at=f"20{10 + n * 7 % 30}-01-01")
        for n in range(30)
    ]
    for k in (1, 5, 20, 30):
        found = order(conn, "favourite colour", k=k)
        assert len(set(found)) == k
        assert set(found) <= set(ids)
    assert rows(conn, "_pgrecall.newer_statements", [], [], []) == []
