"""What an extraction takes and gives: documents in; mentions, temporal references and facts out."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final

__all__ = ["ENTITY_TYPES", "NO_ANCHOR", "Document", "Extraction", "Fact", "Mention", "TemporalReference"]

ENTITY_TYPES: Final = ("PERSON", "ORG", "PLACE", "PROJECT", "TECHNOLOGY", "FILE", "CONCEPT")
"""The built-in types; a namespace may have others of its own."""

NO_ANCHOR: Final = datetime(1, 1, 2, tzinfo=UTC)
"""Stands for a time of a memory that Python's calendar does not have, such as infinity."""


@dataclass(frozen=True, slots=True)
class Document:
    """A memory to read. Its text never shows in a representation.

    Attributes:
        memory_id: Its id.
        content: Its text; spans count characters of it, from 0.
        title: Its title, if it has one.
        speaker: Who says it, in a dialogue.
        anchor: When it was said: `occurred_at`, else `created_at`; with a time zone.
        language: Name of a PostgreSQL text-search configuration, such as "english".
        namespace_id: Whose memory it is.
    """

    memory_id: int
    content: str = field(repr=False)
    title: str | None = field(repr=False)
    speaker: str | None = field(repr=False)
    anchor: datetime
    language: str = "english"
    namespace_id: int = 0


@dataclass(frozen=True, slots=True)
class Mention:
    """A name that a memory mentions.

    Attributes:
        name: The name as it is written, without what does not belong to it ("the", "'s", brackets).
        type: One of ENTITY_TYPES, or a type of the namespace's own.
        start: First character in the content; None where it is not a stretch of the content (title, speaker).
        end: One past the last character; None like start.
        confidence: From 0 to 1.
        source: What found it, in one word: path, url, handle, identifier, issue, version, listed, pattern,
            spacy, phrase, title, speaker.
        is_about: The memory is about it: it is its title or, without one, the subject that its text begins
            with.
    """

    name: str = field(repr=False)
    type: str
    start: int | None
    end: int | None
    confidence: float
    source: str
    is_about: bool = False


@dataclass(frozen=True, slots=True)
class TemporalReference:
    """A time that a text speaks of: a half-open period.

    Attributes:
        start: First character in the content.
        end: One past the last character.
        from_at: The period's begin, with a time zone.
        to_at: The period's end, exclusive, with a time zone.
        granularity: minute, hour, day, week, month, quarter, year; the unit that the words name.
        confidence: From 0 to 1.
        source: What read it, in one word: pattern or dateparser.
    """

    start: int
    end: int
    from_at: datetime
    to_at: datetime
    granularity: str
    confidence: float
    source: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A relationship that a text states: subject, label, object.

    Attributes:
        subject: Name of the concept it starts from.
        subject_type: One of ENTITY_TYPES, or a type of the namespace's own.
        label: What relates them, in lower case words: "capital of", "works at".
        object: Name of the concept it leads to.
        object_type: Like subject_type.
        confidence: From 0 to 1; 0 with a valid_to: if it was so, it has ended.
        source: pattern or llm.
        statement: The fact in one sentence, as recall_facts() shows it; None: names and label say it.
        valid_from: Since when it is true, with a time zone; None: not said.
        valid_to: Until when; None: not said.
        is_past: Only the past tense says it, so it ends nothing that is said in the present tense.
    """

    subject: str = field(repr=False)
    subject_type: str
    label: str = field(repr=False)
    object: str = field(repr=False)
    object_type: str
    confidence: float
    source: str
    statement: str | None = field(repr=False, default=None)
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    is_past: bool = False


@dataclass(frozen=True, slots=True)
class Extraction:
    """What one memory says.

    Attributes:
        memory_id: The memory.
        mentions: The names in it; of a name only the most confident mention.
        times: The times it speaks of.
        facts: The relationships it states.
    """

    memory_id: int
    mentions: tuple[Mention, ...] = ()
    times: tuple[TemporalReference, ...] = ()
    facts: tuple[Fact, ...] = ()
