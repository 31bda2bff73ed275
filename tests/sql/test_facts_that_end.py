"""Facts that a later memory ends, in the order of what happened and not of what was stored."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall_embedder.jobs.extract.encoding import encode_facts
from pgrecall_extract.base import Document, Extraction
from support.facts import day, forget_facts, read, recalled, relationships, triples
from support.memories import remember
from support.reading import RULES_ONLY

if TYPE_CHECKING:
    from datetime import datetime

    from psycopg import Connection


def tell(conn: Connection[Any], text: str, said: datetime) -> int:
    """Remember a text and what is read in it."""
    memory = remember(conn, text, occurred_at=said)
    (found,) = RULES_ONLY.extract([Document(memory, text, None, None, said)])
    assert isinstance(found, Extraction)
    read(conn, memory, *json.loads(encode_facts(found.facts))["facts"])
    return memory


def now_true(conn: Connection[Any], name: str) -> set[tuple[str, str, str]]:
    return set(triples(conn, f"What about {name}?", k=50))


CHANGES = [
    ("Ben works at Initech", "Ben no longer works at Initech", ("Ben", "works at", "Initech")),
    ("Ada works at Initech", "Ada left Initech", ("Ada", "works at", "Initech")),
    ("Ada works at Initech", "Ada quit Initech", ("Ada", "works at", "Initech")),
    ("Dot works at Initech", "Dot joined Hooli", ("Dot", "works at", "Initech")),
    ("Cid works at Initech", "Cid now works at Hooli", ("Cid", "works at", "Initech")),
    ("Cid works at Initech", "Cid changed jobs and now works for Hooli", ("Cid", "works at", "Initech")),
    ("Cid works at Initech", "Cid's new employer is Hooli", ("Cid", "works at", "Initech")),
    ("Yara lives in Ghent", "Yara left Ghent for good", ("Yara", "lives in", "Ghent")),
    ("Yara lives in Ghent", "Yara moved to Antwerp", ("Yara", "lives in", "Ghent")),
    ("Eva is married to Rob", "Eva and Rob are divorced", ("Eva", "married to", "Rob")),
    ("Rob is married to Eva", "Eva and Rob are divorced", ("Rob", "married to", "Eva")),
    ("Fay lives in Ghent", "Fay doesn't live in Ghent anymore", ("Fay", "lives in", "Ghent")),
    ("Mia joined the Harbour Choir", "Mia left the Harbour Choir", ("Mia", "member of", "Harbour Choir")),
    ("Mia uses Python", "Mia switched from Python to Rust", ("Mia", "uses", "Python")),
    ("Mia is the CEO of Globex", "Mia stepped down as CEO of Globex", ("Mia", "leads", "Globex")),
]


@pytest.mark.parametrize(("before", "after", "old"), CHANGES)
@pytest.mark.parametrize("later_first", [False, True])
def test_what_is_told_later_ends_a_fact(
    conn: Connection[Any], before: str, after: str, old: tuple[str, str, str], later_first: bool
) -> None:
    told = [(before, day(1)), (after, day(6))]
    ids = {text: tell(conn, text, said) for text, said in (reversed(told) if later_first else told)}
    assert old not in now_true(conn, old[0])
    ends = {
        (row["subject"], row["label"], row["object"]): row["valid_to"]
        for row in recalled(conn, f"What about {old[0]}?", k=50, include_superseded=True)
    }
    assert ends[old] == day(6)
    forget_facts(conn, ids[after])
    assert old in now_true(conn, old[0])


def test_a_return_begins_anew(conn: Connection[Any]) -> None:
    tell(conn, "Ben works at Initech", day(1))
    tell(conn, "Ben works at Initech", day(9))
    tell(conn, "Ben quit Initech", day(6))
    assert [
        (row["valid_from"], row["valid_to"]) for row in relationships(conn) if row["label"] == "works at"
    ] == [(None, day(6)), (None, None)]
    assert ("Ben", "works at", "Initech") in now_true(conn, "Ben")


def test_only_an_end_shows_no_fact(conn: Connection[Any]) -> None:
    """It fits several labels, and nothing says which of them was so."""
    tell(conn, "Ada left Initech", day(6))
    assert recalled(conn, "What about Ada?", include_superseded=True) == []


def test_other_people_and_objects_stay(conn: Connection[Any]) -> None:
    for text in ("Ben works at Initech", "Ada works at Initech", "Ada lives in Ghent", "Ada uses Python"):
        tell(conn, text, day(1))
    tell(conn, "Ada left Initech", day(6))
    assert ("Ben", "works at", "Initech") in now_true(conn, "Ben")
    assert now_true(conn, "Ada") == {("Ada", "lives in", "Ghent"), ("Ada", "uses", "Python")}


@pytest.mark.parametrize(
    "text",
    ["Did Ada leave Initech?", "If Ada left Initech, we would miss her", "Ada might leave Initech", "Ada won't leave Initech"],
)  # fmt: skip
def test_what_is_only_thought_ends_nothing(conn: Connection[Any], text: str) -> None:
    tell(conn, "Ada works at Initech", day(1))
    tell(conn, text, day(6))
    assert ("Ada", "works at", "Initech") in now_true(conn, "Ada")
