"""Guesses of a type that the word itself contradicts."""

from __future__ import annotations

import time

import pytest

from pgrecall_extract.base import Extraction, Mention
from pgrecall_extract.entities.common_nouns import COMPUTING, without_wrong_types
from pgrecall_extract.entities.world import GIVEN_NAMES
from pgrecall_extract.extractor import Extractor, ExtractorOptions
from support.reading import document, typed


def guess(
    text: str, name: str, type_: str = "PERSON", source: str = "spacy", confidence: float = 0.85
) -> str:
    start = text.index(name)
    (kept,) = without_wrong_types(text, [Mention(name, type_, start, start + len(name), confidence, source)])
    return kept.type


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Node is slow", "Node"),
        ("Node 20 is slow", "Node 20"),
        ("The Worker Queue is full", "Worker Queue"),
        ("Wombat: the wombat eats grass", "Wombat"),
    ],
)
def test_a_common_noun_is_nobody(text: str, name: str) -> None:
    assert guess(text, name) == "CONCEPT"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Noor is away", "Noor"),
        ("Larry Page is away", "Larry Page"),
        ("Lily likes a lily", "Lily"),
        ("Noor wrote /home/noor/notes and noor@example.org", "Noor"),
    ],
)
def test_a_person_stays_one(text: str, name: str) -> None:
    assert guess(text, name) == "PERSON"


def test_a_handle_of_computing_is_a_package() -> None:
    assert guess("import it from @node", "node", source="handle") == "CONCEPT"
    assert guess("cc @noor: noor knows", "noor", source="handle") == "PERSON"


def test_a_company_stays_one_and_what_is_sure_too() -> None:
    assert guess("Oracle sued", "Oracle", "ORG") == "ORG"
    assert guess("Node sued", "Node", "ORG") == "CONCEPT"
    assert guess("Dr. Patch has a patch", "Patch", source="phrase", confidence=0.9) == "PERSON"
    assert guess("Node runs", "Node", "TECHNOLOGY", "listed") == "TECHNOLOGY"


def test_no_given_name_is_a_word_of_computing() -> None:
    assert not COMPUTING & GIVEN_NAMES


def test_the_extractor_asks_for_it() -> None:
    (extraction,) = Extractor(ExtractorOptions(spacy=False)).extract([document("Thanks, Node! And @node.")])
    assert isinstance(extraction, Extraction)
    assert set(typed(extraction.mentions).values()) == {"CONCEPT"}


def test_the_time_grows_with_the_text() -> None:
    mentions = [
        Mention(f"Zq{'abcdefghij'[n % 10]}", "PERSON", n, n + 3, 0.85, "spacy") for n in range(20_000)
    ]
    begun = time.perf_counter()
    without_wrong_types("wombat " * 3000, mentions)
    assert time.perf_counter() - begun < 30
