"""Names found by spaCy's recogniser."""

from __future__ import annotations

import pytest

from pgrecall_extract.base import Extraction
from pgrecall_extract.entities.spacy_names import SpacyNames, spacy_installed
from pgrecall_extract.errors import ExtractionUnavailable
from pgrecall_extract.extractor import Extractor, ExtractorOptions
from support.reading import assert_spans, document, typed

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
