"""The process that reads memories: `python -m pgrecall_embedder.jobs.extract.process`, started by the daemon.

Extraction is Python code: in the daemon it would hold the interpreter's lock and stall the embedding threads.
And a text that crashes or hangs a library ends only this process. It has no connection to the database, and
ends when its standard input does, so it never outlives the daemon for long.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import signal
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pgrecall_embedder.jobs.setup import Setup
from pgrecall_embedder.logs import describe
from pgrecall_extract.base import NO_ANCHOR, Extraction
from pgrecall_extract.entities.gazetteer import MOST_PATTERNS, EntityRules, gazetteer_of
from pgrecall_extract.errors import ExtractionUnavailable, InvalidRules
from pgrecall_extract.extractor import Extractor, ExtractorOptions

from .encoding import encode
from .frames import Read, Ready, receive, sent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall_extract.base import Document

__all__ = ["TextReader", "main"]

_TIMES_VERSION: Final = 1
"""Raised whenever the same text may get other times, or what was read is stored otherwise."""

# The longest request of `reader`. The daemon kills a process that hangs; this is for one whose daemon was
# killed. The kernel's alarm needs no interpreter, whose lock a regular expression holds.
_LONGEST_SECONDS = 300
# Several times what all libraries and models take.
_MOST_BYTES: Final = 4 * 2**30


class TextReader:
    """Reads memories as a setup says.

    Args:
        setup: The setup.
    """

    def __init__(self, setup: Setup) -> None:
        self._problems: list[str] = []
        self._missing: list[str] = []
        self._times = setup.reads("times")
        self._extractor = self._made(_options(setup))
        self._common, self._own = self._checked(setup)
        version = self._extractor.version_with(
            (*self._common, *(one for rules in self._own.values() for one in rules))
        )
        has_dateparser = importlib.util.find_spec("dateparser") is not None
        if self._times:
            version += f".t{_TIMES_VERSION}{'d' if has_dateparser else ''}"
            if not has_dateparser:
                self._missing.append("dateparser")
        self.ready = Ready(version, tuple(self._missing), tuple(self._problems))

    def read(self, documents: Sequence[Document]) -> list[Read]:
        """Read memories, each by itself.

        Args:
            documents: The memories.
        """
        spaces = {document.namespace_id for document in documents}
        rules = {space: (*self._own.get(space, ()), *self._common) for space in spaces}
        return [
            self._read(document, outcome)
            if isinstance(outcome, Extraction)
            else Read(document.memory_id, None, outcome.error)
            for document, outcome in zip(documents, self._extractor.extract(documents, rules), strict=True)
        ]

    def _read(self, document: Document, extraction: Extraction) -> Read:
        try:
            with_times = self._times and document.anchor != NO_ANCHOR
            return Read(document.memory_id, encode(extraction, with_times=with_times))
        except Exception as error:  # noqa: BLE001 - a text that breaks the extractor fails alone
            return Read(document.memory_id, None, describe(error))

    def _made(self, options: ExtractorOptions) -> Extractor:
        try:
            return Extractor(options)
        except ExtractionUnavailable as error:
            if importlib.util.find_spec("spacy") is None:
                self._missing.append("spaCy")
            else:
                self._problems.append(error.message)
            return Extractor(replace(options, spacy=False))

    def _checked(self, setup: Setup) -> tuple[tuple[EntityRules, ...], Mapping[int, tuple[EntityRules, ...]]]:
        """Return the rules for all namespaces, and those of single ones, without what cannot be used."""
        common: list[EntityRules] = []
        own: dict[int, tuple[EntityRules, ...]] = {}
        for rule in setup.rules:
            rules = EntityRules(rule.type, rule.keywords, rule.patterns)
            # What holds for all namespaces comes first; with it a namespace's own must not be too much.
            beside = common if rule.namespace_id is None else (*common, *own.get(rule.namespace_id, ()))
            try:
                gazetteer_of((rules,))
                if sum(len(one.patterns) for one in (*beside, rules)) > MOST_PATTERNS:
                    raise InvalidRules(f"there are more than {MOST_PATTERNS} patterns")
            except InvalidRules as error:
                self._problems.append(f"rules of type {rule.type} are left out: {error.message}")
                continue
            if rule.namespace_id is None:
                common.append(rules)
            else:
                own[rule.namespace_id] = (*own.get(rule.namespace_id, ()), rules)
        return tuple(common), own


def _options(setup: Setup) -> ExtractorOptions:
    confidence = setup.number("extract_min_confidence")
    return ExtractorOptions(
        patterns=setup.reads("patterns"),
        names=setup.reads("names"),
        keywords=setup.reads("keywords"),
        spacy=setup.reads("spacy"),
        spacy_model=setup.settings["extract_spacy_model"],
        titles=setup.reads("titles"),
        speakers=setup.reads("speakers"),
        facts=setup.reads("facts"),
        times=setup.reads("times"),
        minimum_confidence=0.5 if confidence is None else confidence,
    )


def main() -> None:
    """Take setups and memories from stdin and answer on stdout until stdin ends."""
    # A signal to the whole group is for the daemon: it says what happens to what is in hand here.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    requests, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a library prints must not come between the answers.
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 0)
    os.dup2(nowhere, 1)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    most = _MOST_BYTES if hard == resource.RLIM_INFINITY else min(_MOST_BYTES, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
    reader: TextReader | None = None
    while (request := receive(requests)) is not None:
        signal.alarm(_LONGEST_SECONDS)
        if isinstance(request, Setup):
            reader = TextReader(request)
            answer: object = reader.ready
        elif reader is None:
            return
        else:
            answer = reader.read(request)
        answers.write(sent(answer))
        answers.flush()
        signal.alarm(0)


if __name__ == "__main__":
    main()
