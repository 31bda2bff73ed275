"""Relationships that a sentence states."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.reading import facts, read


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Priya Rao works at Acme.", ("Priya Rao", "works at", "Acme")),
        ("Priya Rao is a software engineer at Acme.", ("Priya Rao", "works at", "Acme")),
        ("Anna Berg was born in Oslo, Norway.", ("Anna Berg", "born in", "Oslo")),
        ("Anna Berg (born in Oslo, 2 May 1960) is a painter.", ("Anna Berg", "born in", "Oslo")),
        ("Anna Berg lives in Lisbon.", ("Anna Berg", "lives in", "Lisbon")),
        ("Anna Berg married Paul Holm.", ("Anna Berg", "married to", "Paul Holm")),
        ("Globex was founded by Hank Scorpio.", ("Hank Scorpio", "founded", "Globex")),
        ("Quiet Hills is a 1994 film directed by Jane Doe.", ("Jane Doe", "directed", "Quiet Hills")),
        ("Jane Doe wrote Quiet Hills.", ("Jane Doe", "wrote", "Quiet Hills")),
        ("Lisbon is the capital of Portugal.", ("Lisbon", "capital of", "Portugal")),
        ("The Humaya River is a river in the state of Sinaloa.", ("Humaya River", "located in", "Sinaloa")),
        ("Raft Mountain is part of the Shuswap Highland.", ("Raft Mountain", "part of", "Shuswap Highland")),
        ("Acme Corp. acquired Initech in 2019.", ("Acme Corp", "acquired", "Initech")),
        ("Rocket uses PostgreSQL.", ("Rocket", "uses", "PostgreSQL")),
        ("Priya Rao prefers Python.", ("Priya Rao", "prefers", "Python")),
    ],
)
def test_a_plain_statement_gives_its_fact(text: str, fact: tuple[str, str, str]) -> None:
    assert facts(text) == [fact]


@pytest.mark.parametrize(
    "text",
    [
        "Priya Rao does not work at Acme on Sundays.",
        "Priya Rao never worked at Acme.",
        "Priya Rao might work at Acme.",
        "If Priya Rao works at Acme, we win.",
        "Is it true that Priya Rao works at Acme?",
        'Tom said "Priya Rao works at Acme" again.',
        "He works at Acme. She was born in Oslo.",
        "The father of Anna Berg was born in Oslo.",
        "Priya Rao uses Python scripts.",
        "Jon and Gina work at Acme.",
    ],
)
def test_what_is_denied_asked_doubted_or_quoted_gives_none(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Cid changed jobs and now works for Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid quit her job last month and now works at Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid graduated and now lives in Ghent.", ("Cid", "lives in", "Ghent")),
        ("Cid has a new job at Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid's new employer is Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid’s current job is at Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid rejoined Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid went back to working at Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid joined Spotify as a data engineer.", ("Cid", "works at", "Spotify")),
        ("Cid is back at work at Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid is back at Hooli as an engineer.", ("Cid", "works at", "Hooli")),
        ("Cid switched jobs from Initech to Hooli.", ("Cid", "works at", "Hooli")),
        ("Cid moved from working at Initech to working at Hooli.", ("Cid", "works at", "Hooli")),
    ],
)
def test_a_new_job_is_told_in_many_ways(text: str, fact: tuple[str, str, str]) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "Dot joined Spotify.",
        "Dot joined Spotify as a listener.",
        "Dot joined Slack as an administrator.",
        "Dot rejoined the Harbour Choir.",
        "Dot has a job interview at Hooli.",
        "Dot has no job at Hooli.",
        "Dot wants a new job at Hooli.",
        "Dot might have changed jobs and now works for Hooli.",
        "Dot met a man who changed jobs and now works for Hooli.",
        "Dot's sister changed jobs and now works for Hooli.",
        "Dot changed jobs and her sister now works for Hooli.",
        "Dot's old employer is Hooli.",
        "Dot's new employer is not Hooli.",
        "Dot's new employer is Hooli's rival.",
        "Is Dot's new employer Hooli?",
        "Dot is back at Hooli.",
        "Dot is back at Hooli for a visit.",
        "Dot is not back at work at Hooli.",
    ],
)
def test_what_is_near_a_job_is_none(text: str) -> None:
    assert "works at" not in {label for _, label, _ in facts(text)}


def test_a_speaker_tells_of_a_new_employer() -> None:
    for text in (
        "My new employer is Hooli.",
        "My new job is at Hooli.",
        "I changed jobs and now work for Hooli.",
    ):
        assert facts(text, speaker="Cid") == [("Cid", "works at", "Hooli")]
    for text in (
        "My new employer is nice.",
        "My sister's new employer is Hooli.",
        "Is my new employer Hooli?",
    ):
        assert facts(text, speaker="Cid") == []


def test_i_is_the_speaker_and_nobody_without_one() -> None:
    assert facts("I work at Acme.", speaker="Priya") == [("Priya", "works at", "Acme")]
    assert facts("Priya: Yeah, I love Lisbon!", speaker="Priya") == [("Priya", "likes", "Lisbon")]
    assert facts("I work at Acme.") == []
    assert facts('He said "I work at Acme" to me.', speaker="Priya") == []


@pytest.mark.parametrize("speaker", ["assistant", "Assistant", "AI", "bot", "system", "tool"])
def test_what_a_program_says_of_itself_is_no_fact(speaker: str) -> None:
    """It echoes: "I am allergic to nuts" after the user said so."""
    assert facts("I work at Acme. Meera lives in Ghent.", speaker=speaker) == [("Meera", "lives in", "Ghent")]
    assert facts("I work at Acme.", speaker="user") == [("user", "works at", "Acme")]


def test_relatives_belong_to_the_speaker() -> None:
    assert facts("We met my brother Tom there.", speaker="Priya") == [("Tom", "brother of", "Priya")]
    assert facts("My friend, Tom and I left.", speaker="Priya") == []


def test_a_second_verb_has_the_same_subject() -> None:
    assert facts("Anna Berg lives in Lisbon and works at Acme.") == [
        ("Anna Berg", "lives in", "Lisbon"),
        ("Anna Berg", "works at", "Acme"),
    ]


def test_a_surname_means_whom_the_title_names() -> None:
    assert facts("Garbarek was born in Mysen.", title="Jan Garbarek") == [
        ("Jan Garbarek", "born in", "Mysen")
    ]


@pytest.mark.parametrize(
    ("text", "valid_from", "valid_to"),
    [
        ("Priya Rao worked at Acme from 1994 to 1998.", (1994, 1, 1), (1999, 1, 1)),
        ("Priya Rao works at Acme since March 2021.", (2021, 3, 1), None),
        ("Priya Rao moved to Lisbon on 5 May 2019.", (2019, 5, 5), None),
        ("Priya Rao lived in Lisbon until June 2010.", None, (2010, 7, 1)),
        ("Priya Rao worked at Acme.", None, None),
        ("Priya Rao lived in Lisbon from 1998 to 1994.", None, None),
        ("Priya Rao moved to Lisbon on 31 June 2019.", None, None),
    ],
)
def test_times_are_told_where_the_words_do(
    text: str, valid_from: tuple[int, int, int] | None, valid_to: tuple[int, int, int] | None
) -> None:
    (fact, *_) = read(text).facts
    assert fact.valid_from == (None if valid_from is None else datetime(*valid_from, tzinfo=UTC))
    assert fact.valid_to == (None if valid_to is None else datetime(*valid_to, tzinfo=UTC))


def test_the_past_tense_shows_in_the_statement() -> None:
    (fact,) = read("Priya Rao worked at Acme.").facts
    assert (fact.label, fact.statement) == ("works at", "Priya Rao worked at Acme")


def test_facts_tell_types() -> None:
    (fact,) = read("Zorblax Quum was born in Fnord.").facts
    assert (fact.subject_type, fact.object_type) == ("PERSON", "PLACE")


PIECES = 'Anna Berg|was born in|Oslo|works at|Acme|I|my brother|Tom|, and|.|"|(|)|from 1994 to 1998|since|founded by|is a river in|?|\n'


@given(st.lists(st.sampled_from(PIECES.split("|")), max_size=25))
def test_any_mixture_of_pieces_is_read(pieces: list[str]) -> None:
    for fact in read(" ".join(pieces), speaker="Priya").facts:
        assert fact.subject != fact.object
        assert fact.label == fact.label.lower().strip()
        assert 0.5 <= fact.confidence <= 1
