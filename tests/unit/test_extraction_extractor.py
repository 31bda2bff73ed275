"""All enrichers together."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pgrecall_extract.base import Extraction
from pgrecall_extract.entities.gazetteer import EntityRules
from pgrecall_extract.errors import InvalidRules
from pgrecall_extract.extractor import Extractor, ExtractorOptions, Failure
from support.reading import RULES_ONLY, assert_spans, document, read, typed


def test_a_title_gives_its_whole_and_what_stands_before_the_parenthesis() -> None:
    mentions = read("It is played on a board.", title="Go (game)").mentions
    assert [(mention.name, mention.source, mention.is_about) for mention in mentions] == [
        ("Go (game)", "title", True),
        ("Go", "title", True),
    ]
    assert read("x", title="Is this a sentence, and not a name?").mentions == ()


def test_a_speaker_is_a_person_whom_the_turn_is_not_about() -> None:
    (mention,) = read("Gina: Wow, thanks!", speaker="Gina").mentions
    assert (mention.name, mention.type, mention.source, mention.is_about) == (
        "Gina",
        "PERSON",
        "speaker",
        False,
    )
    assert (mention.start, mention.end) == (None, None)


def test_the_subject_that_a_text_begins_with_is_what_it_is_about() -> None:
    about = {
        mention.name: mention.is_about for mention in read("The Globex Corporation hired Jane Doe.").mentions
    }
    assert about == {"Globex Corporation": True, "Jane Doe": False}
    assert not any(mention.is_about for mention in read("Thanks, Anna! Paul left.").mentions)
    titled = read("The Globex Corporation hired Jane Doe.", title="Notes of Tuesday").mentions
    assert {mention.name for mention in titled if mention.is_about} == {"Notes of Tuesday"}


def test_a_definition_tells_the_type_of_the_subject() -> None:
    assert typed(read("Zorblax is a small river in Fnord.").mentions)["Zorblax"] == "PLACE"


def test_a_title_is_found_whole_inside_its_text() -> None:
    title = "Hotel and Restaurant Workers Union"
    assert set(typed(read(f"The {title} is in Sweden.", title=title).mentions)) == {title, "Sweden"}


def test_no_name_comes_from_a_secret() -> None:
    text = "Mail Jane.Doe@example.com, the password is Hunter2Tom. Key AKIAIOSFODNN7EXAMPLE."
    names = " ".join(typed(read(text).mentions))
    assert not any(part in names for part in ("Jane", "Doe", "example", "Hunter", "AKIA"))


def test_a_name_is_told_once_and_no_span_overlaps() -> None:
    mentions = read("I saw Anna Berg. ANNA BERG saw me. Then Anna Berg left Oslo.").mentions
    assert sorted(mention.name.casefold() for mention in mentions) == ["anna berg", "oslo"]


def test_at_most_64_names_and_20000_characters_are_read() -> None:
    many = ", ".join(
        f"we met Anna Bar{chr(97 + number // 26)}{chr(97 + number % 26)}" for number in range(200)
    )
    assert len(read(many).mentions) == 64
    assert typed(read("a " * 10_000 + "we saw Oslo").mentions) == {}


def test_rules_belong_to_their_namespace() -> None:
    rules = {7: (EntityRules("PRODUCT", keywords=("blue rocket",)),)}
    texts = [document("a blue rocket", namespace_id=7), document("a blue rocket", namespace_id=8)]
    with_rules, without = RULES_ONLY.extract(texts, rules)
    assert isinstance(with_rules, Extraction)
    assert isinstance(without, Extraction)
    assert typed(with_rules.mentions) == {"blue rocket": "PRODUCT"}
    assert without.mentions == ()


def test_a_document_that_fails_does_not_touch_the_others_and_is_told_without_its_text() -> None:
    rules = {7: (EntityRules("X", patterns=("(",)),)}
    broken = replace(document("secret words"), content=None)  # type: ignore[arg-type]
    good, bad_rules, bad_text = RULES_ONLY.extract(
        [document("We saw Oslo."), document("a", namespace_id=7), broken], rules
    )
    assert isinstance(good, Extraction)
    assert isinstance(bad_rules, Failure)
    assert isinstance(bad_text, Failure)
    assert "pattern 1 of type X" in bad_rules.error
    assert bad_text.error == "TypeError"


def test_the_version_changes_with_switches_and_rules_and_with_nothing_else() -> None:
    options = ExtractorOptions(spacy=False)
    extractor = Extractor(options)
    assert extractor.version == Extractor(options).version
    rules = (EntityRules("X", keywords=("a",)),)
    others = {
        Extractor(replace(options, facts=False)).version,
        Extractor(replace(options, minimum_confidence=0.6)).version,
        extractor.version_with(rules),
    }
    assert len(others | {extractor.version}) == 4
    assert len(extractor.version) < 20


@pytest.mark.parametrize(
    ("switch", "text", "lost"),
    [
        ("patterns", "see src/main.py", "src/main.py"),
        ("names", "we saw Anna Berg", "Anna Berg"),
        ("keywords", "it needs kubernetes", "kubernetes"),
        ("titles", "x", "Some Title"),
        ("speakers", "x", "Gina"),
    ],
)
def test_every_enricher_has_its_switch(switch: str, text: str, lost: str) -> None:
    one = replace(document(text), title="Some Title", speaker="Gina")
    options = ExtractorOptions(spacy=False)
    for wanted in (True, False):
        changed = replace(options, **{switch: wanted})  # type: ignore[arg-type]
        (outcome,) = Extractor(changed).extract([one])
        assert isinstance(outcome, Extraction)
        assert (lost in typed(outcome.mentions)) is wanted


def test_the_minimum_confidence_counts_and_must_be_one() -> None:
    (outcome,) = Extractor(ExtractorOptions(spacy=False, minimum_confidence=0.8)).extract(
        [document("we saw Zorblax in Oslo")]
    )
    assert isinstance(outcome, Extraction)
    assert typed(outcome.mentions) == {"Oslo": "PLACE"}
    with pytest.raises(InvalidRules):
        Extractor(ExtractorOptions(spacy=False, minimum_confidence=1.5))


@given(
    st.text(max_size=300),
    st.none() | st.text(max_size=40),
    st.none() | st.text(max_size=20),
    st.sampled_from(["english", "german", "spanish", "russian", "simple"]),
)
def test_any_text_title_and_speaker_are_read(
    text: str, title: str | None, speaker: str | None, language: str
) -> None:
    (outcome,) = RULES_ONLY.extract([document(text, title, speaker, language)])
    assert isinstance(outcome, Extraction)
    assert_spans(text, outcome.mentions)
    names = [mention.name.casefold() for mention in outcome.mentions]
    assert len(names) == len(set(names))
