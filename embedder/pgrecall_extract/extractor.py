"""All enrichers together: documents in, extractions out."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from pgrecall_extract.errors import InvalidRules

from .base import Document, Extraction, Fact, Mention
from .entities.common_nouns import without_wrong_types
from .entities.contexts import typed_by_context
from .entities.gazetteer import BUILT_IN_RULES, EntityRules, Gazetteer, gazetteer_of
from .entities.names import find_names
from .entities.patterns import find_patterns
from .entities.spacy_names import DEFAULT_SPACY_MODEL, SpacyNames, spacy_installed
from .entities.subjects import (
    body_start,
    is_program,
    is_role,
    mark_subject,
    speaker_mention,
    title_mentions,
    titles_inside,
    type_from_definition,
)
from .entities.surnames import with_surnames
from .entities.versions import with_products, with_versions
from .languages import GENERIC_LANGUAGES
from .relations.facts import find_facts
from .relations.introduction_frames import ASKED_AS
from .relations.introductions import introductions
from .resolving import resolve, unique
from .secrets import secret_spans
from .temporal.references import temporal_references

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .base import TemporalReference

__all__ = ["LONGEST_TEXT", "MOST_MENTIONS", "Extractor", "ExtractorOptions", "Failure", "Outcome"]

CODE_VERSION: Final = 9
"""Raised whenever the same options read other things in the same text."""

LONGEST_TEXT: Final = 20_000
"""Characters of a memory that are read."""

MOST_MENTIONS: Final = 64
"""Names that are kept of one memory."""

_NO_RULES: Final[Mapping[int, tuple[EntityRules, ...]]] = {}
_BUILT_IN_CONFIDENCE = 0.85


@dataclass(frozen=True, slots=True)
class ExtractorOptions:
    """One switch per enricher.

    Attributes:
        patterns: Paths, addresses, handles, identifiers, issues, versions.
        names: Capitalised phrases.
        keywords: The namespace's lists and patterns, and the built-in technologies.
        spacy: spaCy's named-entity recogniser, for English; None: where it is installed.
        spacy_model: Name of an installed spaCy package, or a folder.
        titles: Titles, and the subject that a text begins with, as what the memory is about.
        speakers: Who says a memory.
        facts: Relationships that English sentences state.
        times: The times that a text speaks of.
        minimum_confidence: Mentions and facts below it are dropped; from 0 to 1.
    """

    patterns: bool = True
    names: bool = True
    keywords: bool = True
    spacy: bool | None = None
    spacy_model: str = DEFAULT_SPACY_MODEL
    titles: bool = True
    speakers: bool = True
    facts: bool = True
    times: bool = True
    minimum_confidence: float = 0.5


@dataclass(frozen=True, slots=True)
class Failure:
    """A memory that could not be read.

    Attributes:
        memory_id: The memory.
        error: What went wrong: the class of the exception, and its text where that cannot quote the memory.
    """

    memory_id: int
    error: str


Outcome: TypeAlias = Extraction | Failure


class Extractor:
    """Reads memories. It holds no state between calls, and one thread at a time may use it.

    Args:
        options: The switches.

    Raises:
        ExtractionUnavailable: spaCy is switched on and it or the model is not there.
        InvalidRules: The minimum confidence is no number from 0 to 1.
    """

    def __init__(self, options: ExtractorOptions | None = None) -> None:
        self.options = options or ExtractorOptions()
        if not 0 <= self.options.minimum_confidence <= 1:
            raise InvalidRules("the minimum confidence is no number from 0 to 1", hint="0.5 is the default.")
        wanted = self.options.spacy
        if wanted is None:
            wanted = spacy_installed(self.options.spacy_model)
        self._spacy = SpacyNames(self.options.spacy_model) if wanted else None
        self._built_in = Gazetteer(BUILT_IN_RULES, _BUILT_IN_CONFIDENCE)

    @property
    def version(self) -> str:
        """A short text that changes when the same memory may be read differently: code, switches or model."""
        return self.version_with(())

    def version_with(self, rules: tuple[EntityRules, ...]) -> str:
        """Return `version` as it is for a namespace with rules of its own.

        Args:
            rules: The namespace's rules.
        """
        model = "" if self._spacy is None else self._spacy.version
        switches = astuple(replace(self.options, spacy=self._spacy is not None, spacy_model=""))
        told = repr((switches, model, tuple(map(astuple, BUILT_IN_RULES)), tuple(map(astuple, rules))))
        return f"{CODE_VERSION}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"

    def extract(
        self, documents: Sequence[Document], rules: Mapping[int, tuple[EntityRules, ...]] = _NO_RULES
    ) -> list[Outcome]:
        """Read memories, each by itself: one that fails does not touch the others.

        Args:
            documents: The memories. Of each the first 20,000 characters are read.
            rules: Rules by namespace; a namespace that is not in it has none.

        Returns:
            One outcome for each document, in their order.
        """
        recognised = self._recognise(documents)
        return [
            self._outcome(document, names, rules)
            for document, names in zip(documents, recognised, strict=True)
        ]

    def _outcome(
        self,
        document: Document,
        names: list[Mention] | Failure,
        rules: Mapping[int, tuple[EntityRules, ...]],
    ) -> Outcome:
        if isinstance(names, Failure):
            return names
        try:
            own = gazetteer_of(rules.get(document.namespace_id, ()))
        except InvalidRules as error:
            return Failure(document.memory_id, f"InvalidRules: {error}")
        try:
            return self._read(document, names, own)
        except Exception as error:  # noqa: BLE001 - told of this text, and of it alone
            return Failure(document.memory_id, type(error).__name__)

    def _recognise(self, documents: Sequence[Document]) -> list[list[Mention] | Failure]:
        """Return the model's names of every document: none where the model does not read the language."""
        found: list[list[Mention] | Failure] = [[] for _ in documents]
        model = self._spacy
        if model is None:
            return found
        read = [number for number, document in enumerate(documents) if document.language == "english"]
        texts = [documents[number].content[:LONGEST_TEXT] for number in read]
        try:
            found_in = list(model.find_many(texts))
        except Exception:  # noqa: BLE001 - one text of the batch is to blame: find out which
            for number, text in zip(read, texts, strict=True):
                found[number] = _alone(model, documents[number].memory_id, text)
            return found
        for number, mentions in zip(read, found_in, strict=True):
            found[number] = mentions
        return found

    def _read(self, document: Document, recognised: list[Mention], own: Gazetteer) -> Extraction:
        options = self.options
        text = document.content[:LONGEST_TEXT]
        start = body_start(text, document.title, document.speaker)
        found = list(recognised)
        if options.patterns:
            found += find_patterns(text)
        if options.keywords:
            found += own.find(text)
            found += self._built_in.find(text)
        if options.names and (document.language == "english" or document.language in GENERIC_LANGUAGES):
            found += find_names(text, document.language)
        titles = title_mentions(document.title) if options.titles and document.title else []
        found += titles_inside(text, titles, found)
        mentions = resolve(text, found, secret_spans(text), options.minimum_confidence)
        mentions = with_versions(text, mentions)
        if document.language == "english":
            mentions = typed_by_context(text, with_surnames(text, mentions))
        mentions = without_wrong_types(text, mentions)
        if options.titles:
            mentions = _typed(text, mark_subject(text, mentions, start))
            if document.title:
                # What has a title is about that, and what its text begins with is often something else.
                mentions = [replace(mention, is_about=False) for mention in mentions]
        speaker = speaker_mention(document.speaker) if document.speaker else None
        teller = None if speaker is not None and is_program(speaker.name) else speaker
        facts: list[Fact] = []
        if options.facts and document.language == "english":
            facts = [
                fact
                for fact in find_facts(text, mentions, teller, document.anchor, start)
                # A guess that something has ended claims nothing.
                if fact.confidence >= options.minimum_confidence or not fact.confidence
            ]
            mentions = without_wrong_types(text, _typed_by_facts(mentions, facts))
            facts = _named_in_full(facts, titles)
        mentions = [*titles, *with_products(mentions)]
        if options.speakers and (speaker is None or teller is not None):
            names, named = _introduced(text, start, teller)
            mentions = [*names, *mentions]
            facts += named if options.facts else []
        if options.speakers and speaker is not None and not is_role(speaker.name):
            mentions = [speaker, *mentions]
        times: tuple[TemporalReference, ...] = ()
        if options.times:
            times = temporal_references(text, document.anchor, document.language)
        return Extraction(
            document.memory_id,
            mentions=unique(mentions, MOST_MENTIONS),
            times=times,
            facts=tuple(dict.fromkeys(facts)),
        )


def _alone(model: SpacyNames, memory_id: int, text: str) -> list[Mention] | Failure:
    try:
        return next(iter(model.find_many([text])))
    except Exception as error:  # noqa: BLE001 - told of this text, without quoting it
        return Failure(memory_id, type(error).__name__)


def _introduced(text: str, start: int, teller: Mention | None) -> tuple[list[Mention], list[Fact]]:
    """Return what a teller says that he is called: names, also those by which he asks for it, and facts."""
    mentions, facts = [], []
    for found in introductions(text, start):
        asked = dict.fromkeys((*ASKED_AS["english"], *ASKED_AS[found.language]))
        mentions += [Mention(name, "CONCEPT", None, None, 0.9, "speaker", is_about=True) for name in asked]
        mentions.append(Mention(found.name, "PERSON", found.start, found.end, 0.9, "phrase"))
        if teller is not None and not {*found.name.casefold().split()} <= {*teller.name.casefold().split()}:
            facts.append(Fact(teller.name, "PERSON", found.label, found.name, "PERSON", 0.85, "pattern"))
    return mentions, facts


def _typed(text: str, mentions: list[Mention]) -> list[Mention]:
    """Give what the text is about the type of its definition: "The Humaya River is a river in ..."."""
    return [
        replace(mention, type=type_from_definition(text, mention.end) or mention.type)
        if mention.is_about and mention.end is not None and mention.type == "CONCEPT"
        else mention
        for mention in mentions
    ]


def _named_in_full(facts: list[Fact], titles: list[Mention]) -> list[Fact]:
    """Give facts about "Garbarek" in a text entitled "Jan Garbarek" that name."""
    names = [mention for mention in titles if mention.type in {"PERSON", "CONCEPT"}]
    if not names or " " not in names[-1].name:
        return facts
    full = names[-1].name
    surname = full.split()[-1].casefold()
    return [
        replace(fact, subject=full if fact.subject.casefold() == surname else fact.subject)
        if fact.subject_type == "PERSON" and fact.object.casefold() != full.casefold()
        else fact
        for fact in facts
    ]


def _typed_by_facts(mentions: list[Mention], facts: list[Fact]) -> list[Mention]:
    """Give names without a type the one that a fact tells: who is born somewhere is a PERSON."""
    if not facts:
        return mentions
    told = {fact.subject: fact.subject_type for fact in facts} | {
        fact.object: fact.object_type for fact in facts
    }
    return [
        replace(mention, type=told.get(mention.name, "CONCEPT")) if mention.type == "CONCEPT" else mention
        for mention in mentions
    ]
