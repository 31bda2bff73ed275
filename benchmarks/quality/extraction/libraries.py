"""What libraries find alone, against the rules: `python -m benchmarks.quality.extraction.libraries`."""

from __future__ import annotations

import json
import re
import sys
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from benchmarks.checkout import revision
from benchmarks.quality.extraction.labels import load_entities, load_times
from benchmarks.quality.extraction.run import extracted_names, read_times
from benchmarks.quality.extraction.scoring import score_entities, score_times
from pgrecall_extract.base import Document, Extraction, TemporalReference
from pgrecall_extract.entities.gazetteer import EntityRules
from pgrecall_extract.entities.spacy_names import SpacyNames
from pgrecall_extract.extractor import Extractor, ExtractorOptions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.extraction.labels import LabelledText, TimedText

_SEED: Final = 42
_SAID: Final = datetime.fromisoformat("2024-06-12T09:00:00+00:00")
_MONTHS: Final = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"

Names = list[set[tuple[str, str]]]


def spacy_alone(texts: Sequence[LabelledText]) -> Names:
    """Return what spaCy finds in the contents."""
    found = SpacyNames().find_many([text.content for text in texts])
    return [{(mention.name, mention.type) for mention in mentions} for mentions in found]


def spacy_without_names(texts: Sequence[LabelledText], *, patterns: bool) -> Names:
    """Return what the extraction finds with spaCy and without its rules for names."""
    options = ExtractorOptions(patterns=patterns, names=False, spacy=True)
    documents = [
        Document(place, text.content, text.title, text.speaker, _SAID, namespace_id=place)
        for place, text in enumerate(texts)
    ]
    rules = {
        place: tuple(EntityRules(type=type, keywords=words, patterns=()) for type, words in lists.items())
        for place, text in enumerate(texts)
        if (lists := text.keywords)
    }
    found = Extractor(options).extract(documents, rules)
    return [
        {(mention.name, mention.type) for mention in one.mentions} if isinstance(one, Extraction) else set()
        for one in found
    ]


def dateparser_alone(texts: Sequence[TimedText]) -> list[tuple[TemporalReference, ...]]:
    """Return what dateparser's search finds, each moment widened to the period that its words name."""
    from dateparser.search import search_dates

    found: list[tuple[TemporalReference, ...]] = []
    for text in texts:
        settings = {"RELATIVE_BASE": text.anchor.replace(tzinfo=None), "PREFER_DATES_FROM": "past"}
        references: list[TemporalReference] = []
        end = 0
        for words, moment in search_dates(text.content, languages=["en"], settings=settings) or []:
            start = max(0, text.content.find(words, end))
            end = start + len(words)
            begins, ends, unit = _period(words.lower(), moment.replace(tzinfo=text.anchor.tzinfo))
            references.append(TemporalReference(start, end, begins, ends, unit, 0.5, "dateparser"))
        found.append(tuple(references))
    return found


def _period(words: str, moment: datetime) -> tuple[datetime, datetime, str]:
    day = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if re.search(r"\d:\d\d|\d ?[ap]m\b|hour|minute", words):
        return moment, moment + timedelta(hours=1), "hour"
    if "week" in words and "weekend" not in words:
        monday = day - timedelta(days=day.weekday())
        return monday, monday + timedelta(days=7), "week"
    if re.fullmatch(r"(?:in |on |since )?\d{4}", words) or "year" in words:
        first = day.replace(month=1, day=1)
        return first, first.replace(year=first.year + 1), "year"
    has_day = re.search(r"\b\d{1,2}(?:st|nd|rd|th)?\b(?!\d)", words)
    if "month" in words or (re.search(_MONTHS, words) and not has_day):
        first = day.replace(day=1)
        return first, (first + timedelta(days=32)).replace(day=1), "month"
    return day, day + timedelta(days=1), "day"


def measure() -> dict[str, Any]:
    """Score every way to find names and times."""
    texts, timed = load_entities(), load_times()
    names = {
        "spaCy": spacy_alone(texts),
        "spaCy, titles, speakers, keywords": spacy_without_names(texts, patterns=False),
        "the same and patterns": spacy_without_names(texts, patterns=True),
        "rules": extracted_names("patterns", texts),
        "rules and spaCy": extracted_names("patterns and spaCy", texts),
    }
    times = {"dateparser": dateparser_alone(timed), "rules": read_times(timed)}
    return {
        "kind": "names-and-times",
        "git": revision("embedder", "benchmarks", ":(exclude)benchmarks/results"),
        "seed": _SEED,
        "names": {system: score_entities(texts, found, seed=_SEED) for system, found in names.items()},
        "times": {system: score_times(timed, found, seed=_SEED) for system, found in times.items()},
    }


def main() -> None:
    """Print the F1 of each, and write everything where a file is named."""
    result = measure()
    for kind in ("names", "times"):
        for system, scores in result[kind].items():
            print(f"{kind}: {system}: {scores['overall']}")
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
