"""Documents and shorthands for the tests of reading texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pgrecall_extract.base import Document, Extraction, Fact, Mention
from pgrecall_extract.extractor import Extractor, ExtractorOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

ANCHOR = datetime(2024, 5, 1, tzinfo=UTC)
RULES_ONLY = Extractor(ExtractorOptions(spacy=False))


def document(
    content: str,
    title: str | None = None,
    speaker: str | None = None,
    language: str = "english",
    namespace_id: int = 0,
) -> Document:
    return Document(1, content, title, speaker, ANCHOR, language, namespace_id)


def read(
    content: str, title: str | None = None, speaker: str | None = None, language: str = "english"
) -> Extraction:
    (outcome,) = RULES_ONLY.extract([document(content, title, speaker, language)])
    assert isinstance(outcome, Extraction)
    return outcome


def facts(content: str, title: str | None = None, speaker: str | None = None) -> list[tuple[str, str, str]]:
    return [triple(fact) for fact in read(content, title, speaker).facts]


def triple(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.label, fact.object


def typed(mentions: Iterable[Mention]) -> dict[str, str]:
    return {mention.name: mention.type for mention in mentions}


def assert_spans(text: str, mentions: Iterable[Mention]) -> None:
    """Every span lies in the text and holds the name; every confidence is from 0 to 1."""
    for mention in mentions:
        assert 0 <= mention.confidence <= 1
        if mention.start is None or mention.end is None:
            assert mention.start == mention.end
            continue
        assert 0 <= mention.start < mention.end <= len(text)
        assert text[mention.start : mention.end] == mention.name
