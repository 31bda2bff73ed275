"""Types that the words around a name tell, and names that go on in small letters or numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall_extract.base import Mention
from pgrecall_extract.entities.contexts import typed_by_context
from pgrecall_extract.entities.versions import with_products, with_versions
from support.reading import assert_spans, read, typed


@pytest.mark.parametrize(
    ("text", "name", "type_"),
    [
        ("My sister Zorbla bakes.", "Zorbla", "PERSON"),
        ("The cat is called Zorbla and sleeps.", "Zorbla", "PERSON"),
        ("I met Zorbla there.", "Zorbla", "PERSON"),
        ("We had lunch with Zorbla today.", "Zorbla", "PERSON"),
        ("It is Zorbla's birthday.", "Zorbla", "PERSON"),
        ("It was directed by Zorbla Quent.", "Zorbla Quent", "PERSON"),
        ("We met Zorbla and Quenta.", "Quenta", "PERSON"),
        ("Thanks so much, Zorbla!", "Zorbla", "PERSON"),
        ("Her name is Zorbla.", "Zorbla", "PERSON"),
        ("We flew to Zorbla in May.", "Zorbla", "PLACE"),
        ("She lives in Zorbla.", "Zorbla", "PLACE"),
        ("He took the train from Zorbla to Quenta.", "Zorbla", "PLACE"),
        ("It is in the town of Zorbla.", "Zorbla", "PLACE"),
        ("It is near the Zorbla office.", "Zorbla", "PLACE"),
        ("He works at Zorbla now.", "Zorbla", "ORG"),
        ("She got an interview at Zorbla.", "Zorbla", "ORG"),
        ("There is a startup called Zorbla.", "Zorbla", "ORG"),
        ("The Zorbla migration is late.", "Zorbla", "TECHNOLOGY"),
        ("The Zorbla roadmap is late.", "Zorbla", "PROJECT"),
        ("I watched Zorbla Nights.", "Zorbla Nights", "CONCEPT"),
        ("I own a Zorbla Runner 255.", "Zorbla Runner 255", "TECHNOLOGY"),
    ],
)
def test_the_words_around_a_name_tell_its_type(text: str, name: str, type_: str) -> None:
    mentions = read(text).mentions
    assert typed(mentions)[name] == type_
    assert_spans(text, mentions)


@pytest.mark.parametrize(
    "text",
    [
        "I went to an ZQX conference.",
        "He was interested in Zorbla.",
        "It was signed in Zorbla style.",
        "We saw Zorbla there.",
    ],
)
def test_what_may_be_anything_stays_without_a_type(text: str) -> None:
    assert set(typed(read(text).mentions).values()) == {"CONCEPT"}


def test_a_strong_cue_corrects_a_recogniser_and_a_weak_one_does_not() -> None:
    def retyped(text: str) -> str:
        start = text.index("Zorbla")
        (mention,) = typed_by_context(text, [Mention("Zorbla", "ORG", start, start + 6, 0.75, "spacy")])
        return mention.type

    assert retyped("We flew to Zorbla.") == "PLACE"
    assert retyped("It was directed by Zorbla.") == "ORG"


@pytest.mark.parametrize(
    ("text", "name", "wrong", "type_"),
    [
        ("Nora is married to Zorbla Quent.", "Zorbla Quent", "ORG", "PERSON"),
        ("Nora is married to Zorbla.", "Zorbla", "PLACE", "PERSON"),
        ("Nora got divorced from Zorbla Quent.", "Zorbla Quent", "PLACE", "PERSON"),
        ("Zorbla Quent works at Deloitte.", "Zorbla Quent", "ORG", "PERSON"),
        ("Zorbla Quent no longer works at Deloitte.", "Zorbla Quent", "PLACE", "PERSON"),
        ("Zorbla Quent was an engineer at Deloitte.", "Zorbla Quent", "ORG", "PERSON"),
        ("Grace Quent works for Deloitte.", "Grace Quent", "ORG", "PERSON"),
        ("Nora moved out of Zorbla.", "Zorbla", "PERSON", "PLACE"),
        ("Nora is moving away from Zorbla.", "Zorbla", "ORG", "PLACE"),
        ("Nora resides in Zorbla.", "Zorbla", "ORG", "PLACE"),
        ("Nora was laid off from Zorbla.", "Zorbla", "PLACE", "ORG"),
        ("Nora resigned from Zorbla.", "Zorbla", "PERSON", "ORG"),
        ("Nora is employed by Zorbla.", "Zorbla", "PERSON", "ORG"),
        ("Nora joined Zorbla.", "Zorbla", "PLACE", "ORG"),
        # what others do as well
        ("Nora is married to Zorbla.", "Zorbla", "ORG", "ORG"),
        ("Nora joined Zorbla.", "Zorbla", "PERSON", "PERSON"),
        ("Nora is employed by Zorbla Quent.", "Zorbla Quent", "PERSON", "PERSON"),
        ("Zorbla Quent works for Deloitte.", "Zorbla Quent", "ORG", "ORG"),
        ("Zorbla Quent moved to Ghent.", "Zorbla Quent", "ORG", "ORG"),
        ("Zorbla Quent joined Deloitte.", "Zorbla Quent", "ORG", "ORG"),
        ("Zorbla works at Deloitte.", "Zorbla", "ORG", "ORG"),
        ("Zorbla Pay works at Lidl.", "Zorbla Pay", "ORG", "ORG"),
        ("Zorbla Quent works at night.", "Zorbla Quent", "ORG", "ORG"),
        ("Zorbla is married to its data.", "Zorbla", "ORG", "ORG"),
    ],
)
def test_what_a_sentence_says_of_a_name_corrects_a_recogniser(
    text: str, name: str, wrong: str, type_: str
) -> None:
    start = text.index(name)
    (mention,) = typed_by_context(text, [Mention(name, wrong, start, start + len(name), 0.75, "spacy")])
    assert mention.type == type_


def test_a_list_is_not_corrected_by_the_context() -> None:
    assert typed(read("We flew to Microsoft.").mentions) == {"Microsoft": "ORG"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "We run PostgreSQL 17.2 now.",
            {"PostgreSQL 17.2": "TECHNOLOGY", "PostgreSQL": "TECHNOLOGY"},
        ),
        ("It needs Zorbla v2 to run.", {"Zorbla v2": "TECHNOLOGY", "Zorbla": "TECHNOLOGY"}),
        ("My iPhone 15 is broken.", {"iPhone 15": "TECHNOLOGY"}),
        ("It has Zorbla's disease.", {"Zorbla's disease": "CONCEPT"}),
        ("They proved the Zorbla conjecture.", {"Zorbla conjecture": "CONCEPT"}),
        ("It grew in Zorbla 3.5 million times.", {"Zorbla": "CONCEPT"}),
        ("It is at Gate 12.", {"Gate": "CONCEPT"}),
        ("They came to Oslo 12 times.", {"Oslo": "PLACE"}),
    ],
)
def test_a_name_goes_on_to_its_end(text: str, found: dict[str, str]) -> None:
    mentions = read(text).mentions
    assert typed(mentions) == found
    assert_spans(text, mentions)


def test_roles_are_nobody() -> None:
    assert read("I can do that.", speaker="assistant").mentions == ()
    assert typed(read("I can do that.", speaker="Gina").mentions) == {"Gina": "PERSON"}


@given(
    st.lists(
        st.sampled_from(
            ["Zorbla", "Quent", "in", "at", "met", "my", "sister", "17.2", "255", "disease", "'s", "and",
             ",", ".", "\n", "to", "the", "called", "PostgreSQL", "(", "1999"]
        )
    )
)  # fmt: skip
def test_any_mixture_of_cues_gives_spans_within_the_text(words: list[str]) -> None:
    text = " ".join(words)
    mentions = [
        Mention(match, "CONCEPT", place, place + len(match), 0.6, "phrase")
        for match in ("Zorbla", "PostgreSQL")
        for place in range(len(text))
        if text.startswith(match, place)
    ]
    mentions.sort(key=lambda mention: mention.start or 0)
    assert_spans(text, with_products(typed_by_context(text, with_versions(text, mentions))))
