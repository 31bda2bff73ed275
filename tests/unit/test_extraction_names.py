"""Capitalised phrases as names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall_extract.entities.names import find_names
from support.reading import assert_spans, typed

LANGUAGES = ("english", "spanish", "french", "italian", "portuguese", "russian", "german", "simple")


def names(text: str, language: str = "english") -> dict[str, str]:
    found = list(find_names(text, language))
    assert_spans(text, found)
    return typed(found)


@pytest.mark.parametrize(
    ("text", "name", "type_"),
    [
        ("It was written by J. R. R. Tolkien in Oxford.", "J. R. R. Tolkien", "PERSON"),
        ("We met Dr. Ngata there.", "Ngata", "PERSON"),
        ("She works at the University of Copenhagen now.", "University of Copenhagen", "ORG"),
        ("He left Globex Corporation.", "Globex Corporation", "ORG"),
        ("The Humaya River is long.", "Humaya River", "PLACE"),
        ("They live in Giles County.", "Giles County", "PLACE"),
        ("It is in New Zealand.", "New Zealand", "PLACE"),
        ("It was by Ludwig van Beethoven.", "Ludwig van Beethoven", "PERSON"),
        ("This is Bruce Wayne's house.", "Bruce Wayne", "PERSON"),
        ("It is called Whispering Falls by all.", "Whispering Falls", "PLACE"),
        ("The FCC licensed it.", "FCC", "CONCEPT"),
        ("We went to São Tomé in June.", "São Tomé", "PLACE"),
        ("See Jean-Jacques Rousseau on it.", "Jean-Jacques Rousseau", "PERSON"),
        ("Hey Zorblax, how are you?", "Zorblax", "PERSON"),
        ("They gave Project Zorblax a budget.", "Project Zorblax", "PROJECT"),
        ("We saw it in the Museum of Fine Arts there.", "Museum of Fine Arts", "PLACE"),
        ("Let us meet at Café Zorblax then.", "Café Zorblax", "PLACE"),
        ("It was signed by Berger & Sons.", "Berger & Sons", "ORG"),
        ("She flew over West Africa.", "West Africa", "PLACE"),
        ("She bought it from Siemens.", "Siemens", "ORG"),
        ("He won at the Winter Olympics.", "Winter Olympics", "CONCEPT"),
        ("I ran the Oslo Marathon.", "Oslo Marathon", "CONCEPT"),
        ("The Kepler Space Telescope saw it.", "Kepler Space Telescope", "TECHNOLOGY"),
        ("My favourite is Spirited Away.", "Spirited Away", "CONCEPT"),
        ("Set Zorblax Mode first.", "Zorblax Mode", "CONCEPT"),
        ("We met for Christmas.", "Christmas", "CONCEPT"),
    ],
)
def test_a_phrase_is_a_name_with_a_type(text: str, name: str, type_: str) -> None:
    assert names(text)[name] == type_


@pytest.mark.parametrize(
    "text",
    [
        "Wow! Thanks, that is great. Yeah, I'm fine. Haha OK.",
        "Winning felt amazing. Pets bring joy. Programming is fun.",
        "On Monday, in January, I rest. May I? It's summer.",
        "He is a German composer and she is French.",
        "Let's go. Don't stop! We'll see. Congrats!",
        "WOW THIS IS SO GREAT",
        "That starts with chapter II.",
    ],
)
def test_greetings_times_and_openers_are_no_names(text: str) -> None:
    assert names(text) == {}


def test_a_lone_opener_needs_evidence() -> None:
    assert names("Glimmering was loud.") == {}
    assert "Blorvix" in names("Blorvix is a tool. I like it.")
    assert "Rovena" in names("Rovena, an actress. Critics praised Rovena.")


def test_and_parts_names_while_connectors_join_them() -> None:
    assert {"Jon", "Gina"} <= set(names("I saw Jon and Gina."))
    assert set(names("It is made by Procter & Gamble.")) == {"Procter & Gamble"}
    assert {"Nicaragua"} == set(names("He was the President of Nicaragua."))


def test_a_possessive_and_the_end_of_a_sentence_close_a_name() -> None:
    assert {"Priya", "Acme"} == set(names("I have Priya's Acme badge."))
    assert {"Oslo", "Bergen"} <= set(names("I was in Oslo. Bergen is next."))


def test_german_nouns_are_no_names() -> None:
    assert names("Der Hund und die Katze schlafen im Haus.", "german") == {}


def test_other_languages_trust_capitals_inside_a_sentence() -> None:
    assert set(names("Ayer vimos a Lucía en Sevilla.", "spanish")) == {"Lucía", "Sevilla"}
    assert set(names("Hier nous avons visité Lyon.", "french")) == {"Lyon"}
    assert set(names("Потом мы поехали в Казань.", "russian")) == {"Казань"}


@given(st.text(), st.sampled_from(LANGUAGES))
def test_any_text_gives_spans_within_it(text: str, language: str) -> None:
    assert_spans(text, find_names(text, language))


@given(
    st.lists(
        st.sampled_from(
            [
                "The",
                "A.",
                "Dr.",
                "Anna",
                "and",
                "of",
                "van",
                "I'm",
                "O'Brien's",
                "U.S.",
                "Wow!",
                "May",
                "Lake",
                ".",
                "?",
                "\n",
                "-",
                ":",
                "Inc.",
                "x",
                "12",
            ]
        )
    )
)
def test_any_mixture_of_words_gives_spans_within_it(words: list[str]) -> None:
    text = " ".join(words)
    assert_spans(text, find_names(text))
