"""What the extraction finds in the labelled texts."""

from __future__ import annotations

import importlib
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from benchmarks.quality.resources import Unavailable
from pgrecall_extract.base import Document, Extraction

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.quality.extraction.labels import LabelledText, TimedText
    from pgrecall_extract.base import TemporalReference

__all__ = ["SYSTEMS", "extracted_names", "read_times"]

SYSTEMS: Final = {"patterns": False, "patterns and spaCy": True}
"""The ways to read names, and whether spaCy takes part. All read times the same way."""

_PACKAGE = "pgrecall_extract"
_SAID = datetime(2024, 6, 12, 9, tzinfo=UTC)
"""The anchor of texts that are read for names alone."""


def extracted_names(system: str, texts: Sequence[LabelledText]) -> list[set[tuple[str, str]]]:
    """Return the names and types found in each text.

    Each text is in a namespace of its own, whose keyword lists are the text's.

    Args:
        system: One of SYSTEMS.
        texts: What to read.

    Raises:
        Unavailable: spaCy or the extraction is not installed.
        RuntimeError: A text could not be read.
    """
    documents = [
        Document(place, text.content, text.title, text.speaker, _SAID, namespace_id=place)
        for place, text in enumerate(texts)
    ]
    rules = {place: text.keywords for place, text in enumerate(texts) if text.keywords}
    return [
        {(mention.name, mention.type) for mention in extraction.mentions}
        for extraction in _extracted(documents, rules, spacy=SYSTEMS[system])
    ]


def read_times(texts: Sequence[TimedText]) -> list[tuple[TemporalReference, ...]]:
    """Return the times found in each text.

    Raises:
        Unavailable: The extraction is not installed.
        RuntimeError: A text could not be read.
    """
    documents = [Document(place, text.content, None, None, text.anchor) for place, text in enumerate(texts)]
    return [extraction.times for extraction in _extracted(documents, {}, spacy=False)]


def _extracted(
    documents: Sequence[Document], keywords: Mapping[int, Mapping[str, tuple[str, ...]]], *, spacy: bool
) -> list[Extraction]:
    if spacy and find_spec("spacy") is None:
        raise Unavailable("spaCy is not installed")
    extractor, gazetteer = _module("extractor"), _module("entities.gazetteer")
    rules = {
        namespace: tuple(
            gazetteer.EntityRules(type=type, keywords=words, patterns=()) for type, words in lists.items()
        )
        for namespace, lists in keywords.items()
    }
    answers = extractor.Extractor(extractor.ExtractorOptions(spacy=spacy)).extract(documents, rules)
    unread = [
        str(document.memory_id)
        for document, answer in zip(documents, answers, strict=True)
        if not isinstance(answer, Extraction)
    ]
    if unread:
        raise RuntimeError(f"not read: the texts at {', '.join(unread)}")
    return list(answers)


def _module(name: str) -> Any:
    try:
        return importlib.import_module(f"{_PACKAGE}.{name}")
    except ModuleNotFoundError as error:
        raise Unavailable(f"{error.name} is not installed") from error
