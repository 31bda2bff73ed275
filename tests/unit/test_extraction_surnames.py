"""Persons whose surname is a word for a place or a thing, and places that stay places."""

from __future__ import annotations

import pytest

from support.reading import facts, read, typed

PEOPLE = [
    "Kim Park", "Anna Hill", "Rosa Lake", "Tom Street", "Lee Garden", "Grace Church", "Jack London",
    "Paris Hilton", "Dean Forest", "Emma Stone", "Joan Rivers", "Tina Field", "Sam Bridge", "Amy Valley",
    "Carl Castle", "Julia Woods", "Peter Hall", "Nora Bay", "Will Banks", "Olivia Tower", "Henry Ford",
    "Petra Beach", "Mia Hills", "Oscar College", "Ruth Temple", "Frank Ocean", "Clara Springs", "Vera Court",
    "Tess Mountain", "Robin Drive", "Ulla Canal", "Sara Day", "Maria Night", "Brooke Isle", "Ivy Port", "Ray Range",
]  # fmt: skip


@pytest.mark.parametrize("name", PEOPLE)
def test_a_person_with_such_a_surname_has_facts(name: str) -> None:
    assert facts(f"{name} works at Initech") == [(name, "works at", "Initech")]
    assert facts(f"{name} lives in Ghent.") == [(name, "lives in", "Ghent")]
    assert facts(f"{name} is a software engineer at Initech.") == [(name, "works at", "Initech")]
    assert (name, "married to", "Robert") in facts(f"{name} is married to Robert.")
    assert (name, "works at", "Initech") in facts(f"{name} no longer works at Initech.")


@pytest.mark.parametrize(
    "name", ["Summer Reed", "Autumn Ross", "April May", "Hope Brown", "Nguyễn Văn An", "Minh An", "Kim So"]
)
def test_a_person_named_by_a_small_word_has_facts(name: str) -> None:
    assert facts(f"{name} works at Initech.") == [(name, "works at", "Initech")]
    assert facts(f"{name} lives in Ghent.") == [(name, "lives in", "Ghent")]
    assert (name, "married to", "Robert") in facts(f"{name} is married to Robert.")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Hope Brown is well.", "Hope Brown"),
        ("Hope Anna works hard.", "Hope Anna"),
        ("Summer Camp was fun.", "Summer Camp"),
        ("April May be cold.", "April May"),
        ("Ask Minh An hour later.", "Minh An"),
    ],
)
def test_a_small_word_is_no_name_by_its_capital(text: str, name: str) -> None:
    assert name not in typed(read(text).mentions)


@pytest.mark.parametrize("name", PEOPLE)
def test_every_occurrence_of_a_name_is_the_person(name: str) -> None:
    mentions = read(f"{name} was born in Oslo. We met near the sea, and {name} had tea.").mentions
    assert typed(mentions)[name] == "PERSON"
    assert typed(read(f"My sister {name} called.").mentions)[name] == "PERSON"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("We walked through Hyde Park today.", "Hyde Park"),
        ("Hyde Park is lovely in May.", "Hyde Park"),
        ("Silver Lake is frozen.", "Silver Lake"),
        ("Main Street was closed on Friday.", "Main Street"),
        ("The shop on Main Street moved.", "Main Street"),
        ("Victoria Park opens at eight.", "Victoria Park"),
        ("We met at Victoria Station.", "Victoria Station"),
        ("The concert at Albert Hall was sold out.", "Albert Hall"),
        ("The Charles River runs through Boston.", "Charles River"),
        ("Anna Street lies near the harbour.", "Anna Street"),
        ("Rosa Lake is a lake in Canada.", "Rosa Lake"),
        ("She lives in Rosa Street.", "Rosa Street"),
        ("The Tom Tower is old.", "Tom Tower"),
        ("Black Forest lives up to its name.", "Black Forest"),
        ("Silver Lake said that it would buy the firm.", "Silver Lake"),
        ("Silver Lake joined the round.", "Silver Lake"),
        ("North Beach lived through two wars.", "North Beach"),
        ("Lake Victoria is deep.", "Lake Victoria"),
        ("Mount Robson is snowy.", "Mount Robson"),
        ("We left Diana Beach at noon.", "Diana Beach"),
    ],
)
def test_a_place_stays_a_place(text: str, name: str) -> None:
    assert typed(read(text).mentions).get(name) != "PERSON"
