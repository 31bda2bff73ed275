"""Names found by spaCy's recogniser."""

from __future__ import annotations

import pytest

from pgrecall_extract.base import Extraction
from pgrecall_extract.entities.spacy_names import SpacyNames, spacy_installed
from pgrecall_extract.errors import ExtractionUnavailable
from pgrecall_extract.extractor import Extractor, ExtractorOptions
from support.reading import assert_spans, document, triple, typed

needs_spacy = pytest.mark.skipif(not spacy_installed(), reason="the extra nlp is not installed")


@pytest.fixture(scope="module")
def model() -> SpacyNames:
    return SpacyNames()


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_get_our_types_and_numbers_are_dropped(model: SpacyNames) -> None:
    text = "Angela Merkel visited the United States with Microsoft in 2015 for $3 million."
    (mentions,) = model.find_many([text])
    assert_spans(text, mentions)
    assert typed(mentions) == {"Angela Merkel": "PERSON", "United States": "PLACE", "Microsoft": "ORG"}


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_greetings_are_cut_off_and_every_text_has_its_names(model: SpacyNames) -> None:
    texts = ["Hey Anna, thanks! Wow!", "", "no names here", "Hello Paul Simon!"]
    found = list(model.find_many(texts))
    assert len(found) == len(texts)
    assert not any(
        mention.name.startswith(("Hey", "Hello", "Wow")) for mentions in found for mention in mentions
    )


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_model_reads_english_only_and_is_part_of_the_version() -> None:
    with_model, without = Extractor(ExtractorOptions(spacy=True)), Extractor(ExtractorOptions(spacy=False))
    assert with_model.version != without.version
    english, german = with_model.extract(
        [
            document("angela merkel met Vladimir Putin."),
            document("Der Hund Angela schläft.", language="german"),
        ]
    )
    assert isinstance(english, Extraction)
    assert isinstance(german, Extraction)
    assert "Vladimir Putin" in typed(english.mentions)
    assert german.mentions == ()


@pytest.fixture(scope="module")
def extractor() -> Extractor:
    return Extractor(ExtractorOptions(spacy=True))


def stated(extractor: Extractor, text: str) -> set[tuple[str, str, str, bool]]:
    """The facts of a text, and whether they have ended."""
    (extraction,) = extractor.extract([document(text)])
    assert isinstance(extraction, Extraction)
    return {(*triple(fact), fact.valid_to is not None) for fact in extraction.facts}


# The model takes each of these names for something else in one of the sentences.
PEOPLE = [
    "Ulf Dahl",
    "Pelle Norén",
    "Olu Bello",
    "Bola Ade",
    "Dag Lunde",
    "Siân Price",
    "Rune Vik",
    "Grace Field",
]
TOWNS = ["Lund", "Leeds", "Faro", "Ely", "Umeå", "Visby", "Kisumu", "Wells"]
FIRMS = ["Deloitte", "Klarna", "Northvolt", "Scania", "Oatly", "Hooli", "Zendrive"]


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", PEOPLE)
def test_a_statement_about_persons_knows_them_better_than_the_model(extractor: Extractor, name: str) -> None:
    assert (name, "works at", "Deloitte", False) in stated(extractor, f"{name} works at Deloitte.")
    assert (name, "works at", "Volvo", True) in stated(extractor, f"{name} was laid off from Volvo.")
    assert (name, "lives in", "Ghent", False) in stated(extractor, f"{name} lives in Ghent.")
    assert (name, "born in", "Oslo", False) in stated(extractor, f"{name} was born in Oslo.")
    for married in (f"Nora Bergman is married to {name}.", f"Nora Bergman married {name} in May."):
        assert ("Nora Bergman", "married to", name, False) in stated(extractor, married)
    for over in (f"Nora Bergman got divorced from {name}.", f"Nora Bergman is no longer married to {name}."):
        assert {
            ("Nora Bergman", "married to", name, True),
            (name, "married to", "Nora Bergman", True),
        } <= stated(extractor, over)


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", TOWNS)
def test_a_statement_about_a_home_knows_the_town_better_than_the_model(
    extractor: Extractor, name: str
) -> None:
    for home in (
        f"Nora Bergman lives in {name}.",
        f"Nora Bergman resides in {name}.",
        f"Nora Bergman moved to {name}.",
    ):
        assert ("Nora Bergman", "lives in", name, False) in stated(extractor, home)
    for over in (f"Nora Bergman has moved out of {name}.", f"Nora Bergman moved away from {name}.",
                 f"Nora Bergman left {name} for good."):  # fmt: skip
        assert ("Nora Bergman", "lives in", name, True) in stated(extractor, over)


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", FIRMS)
def test_a_statement_about_a_job_knows_the_firm_better_than_the_model(
    extractor: Extractor, name: str
) -> None:
    for job in (f"Nora Bergman works at {name}.", f"Nora Bergman is employed by {name}."):
        assert ("Nora Bergman", "works at", name, False) in stated(extractor, job)
    for over in (f"Nora Bergman left {name}.", f"Nora Bergman was laid off from {name}.",
                 f"Nora Bergman resigned from {name}."):  # fmt: skip
        assert ("Nora Bergman", "works at", name, True) in stated(extractor, over)


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    "text",
    [
        "Acme works with Globex.",
        "Siri lives in the cloud.",
        "The team works at night.",
        "Google works at scale.",
        "Amazon is married to its data centres.",
        "Nora is married to Peloton.",
        "Google Meet works at Acme.",
        "Goldman Sachs works at Deloitte.",
        "Kirkland Ellis was hired by Volvo.",
        "Verve Lounge is a cocktail bar at Pike Place.",
        "Nora Bergman has a new position at Acme to fill.",
        "Volvo moved out of Lund.",
        "Rolls Royce moved to Derby.",
        "Nora Bergman joined Pelle for lunch.",
        "Nora Bergman is employed by Pelle Norén.",
        "Nora Bergman never lived in Lund.",
        "Hope Nora Bergman works at Deloitte.",
    ],
)
def test_what_only_looks_like_such_a_statement_is_none(extractor: Extractor, text: str) -> None:
    assert stated(extractor, text) == set()


def test_a_model_that_is_not_there_is_refused() -> None:
    assert not spacy_installed("no_such_model")
    with pytest.raises(ExtractionUnavailable):
        Extractor(ExtractorOptions(spacy=True, spacy_model="no_such_model"))


@needs_spacy
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Node 3 is the replica", "Node 3"),
        ("Node is installed on the server", "Node"),
        ("Node said hi", "Node"),
        ("Node and Redis run on port 5", "Node"),
        ("Install Node.", "Install Node"),
    ],
)
def test_a_word_of_computing_is_nobody(text: str, name: str) -> None:
    (extraction,) = Extractor(ExtractorOptions(spacy=True)).extract([document(text)])
    assert isinstance(extraction, Extraction)
    assert typed(extraction.mentions)[name] == "CONCEPT"
