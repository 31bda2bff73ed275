"""The labelled texts: names of things in `entities.jsonl`, times in `times.jsonl`.

README.md says what is labelled and what is not. The files are checked when they are read.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeVar

from benchmarks.quality.datasets import DataError
from pgrecall_extract.base import ENTITY_TYPES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = [
    "ENTITIES",
    "GRANULARITIES",
    "TIMES",
    "Entity",
    "LabelledText",
    "Time",
    "TimedText",
    "halves",
    "load_entities",
    "load_times",
]

_HERE = Path(__file__).parent
ENTITIES: Final = _HERE / "entities.jsonl"
TIMES: Final = _HERE / "times.jsonl"
GRANULARITIES: Final = ("minute", "hour", "day", "week", "month", "quarter", "year")

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Entity:
    """A name that should be found.

    Attributes:
        name: As it is written.
        type: One of ENTITY_TYPES.
    """

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text and all the names in it.

    Attributes:
        id: Unique in the file.
        domain: What kind of text it is, such as "software" or "dialogue".
        content: The text.
        title: Its title, if it has one.
        speaker: Who says it, in a dialogue.
        keywords: Words that the namespace has configured, by type.
        entities: The names, each once.
    """

    id: str
    domain: str
    content: str
    title: str | None = None
    speaker: str | None = None
    keywords: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    entities: tuple[Entity, ...] = ()


@dataclass(frozen=True, slots=True)
class Time:
    """A time that should be found: a half-open period.

    Attributes:
        kind: How it is said, such as "weekday" or "range".
        start: First character of the words.
        end: One past the last character.
        from_at: The period's begin, in the anchor's UTC offset.
        to_at: The period's end, exclusive.
        granularity: One of GRANULARITIES: the unit that the words name.
    """

    kind: str
    start: int
    end: int
    from_at: datetime
    to_at: datetime
    granularity: str


@dataclass(frozen=True, slots=True)
class TimedText:
    """A text and all the times it speaks of.

    Attributes:
        id: Unique in the file.
        content: The text.
        anchor: When it was said.
        times: The times, in the order of the words.
    """

    id: str
    content: str
    anchor: datetime
    times: tuple[Time, ...] = ()


def load_entities(path: Path = ENTITIES) -> tuple[LabelledText, ...]:
    """Read the texts with names.

    Raises:
        DataError: A line cannot be read, an id or a name is there twice, a name is not in its text, or a type
            is unknown.
    """
    return _load(path, _labelled_text)


def load_times(path: Path = TIMES) -> tuple[TimedText, ...]:
    """Read the texts with times.

    Raises:
        DataError: A line cannot be read, an id is there twice, words are not in their text exactly once, a
            period has no length or another offset than its anchor, or a granularity is unknown.
    """
    return _load(path, _timed_text)


def halves(ids: Sequence[str], seed: int) -> tuple[frozenset[str], frozenset[str]]:
    """Return a tuning and a reporting half: mistakes are looked at in the first only."""
    shuffled = sorted(ids)
    random.Random(seed).shuffle(shuffled)  # noqa: S311
    middle = len(shuffled) // 2
    return frozenset(shuffled[:middle]), frozenset(shuffled[middle:])


def _load(path: Path, read: Callable[[dict[str, Any]], _T]) -> tuple[_T, ...]:
    found: dict[str, _T] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            row = json.loads(line)
            if row["id"] in found:
                raise ValueError("its id is there twice")
            found[row["id"]] = read(row)
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{path.name}, line {number}: {type(error).__name__}: {error}") from error
    return tuple(found.values())


def _labelled_text(row: dict[str, Any]) -> LabelledText:
    entities = tuple(Entity(one["name"], one["type"]) for one in row["entities"])
    keywords = {type: tuple(words) for type, words in row.get("keywords", {}).items()}
    unknown = sorted({*keywords, *(one.type for one in entities)} - set(ENTITY_TYPES))
    if unknown:
        raise ValueError(f"unknown types: {', '.join(unknown)}")
    if len(set(entities)) != len(entities):
        raise ValueError("a name is there twice")
    parts = [part for part in (row["content"], row.get("title"), row.get("speaker")) if part is not None]
    absent = [one.name for one in entities if not any(one.name in part for part in parts)]
    if absent:
        raise ValueError(f"names that are not in the text: {', '.join(absent)}")
    return LabelledText(
        id=row["id"],
        domain=row["domain"],
        content=row["content"],
        title=row.get("title"),
        speaker=row.get("speaker"),
        keywords=MappingProxyType(keywords),
        entities=entities,
    )


def _timed_text(row: dict[str, Any]) -> TimedText:
    anchor = datetime.fromisoformat(row["anchor"])
    if anchor.utcoffset() is None:
        raise ValueError("the anchor has no UTC offset")
    times = tuple(_time(row["content"], anchor, one) for one in row["times"])
    return TimedText(row["id"], row["content"], anchor, times)


def _time(content: str, anchor: datetime, label: dict[str, str]) -> Time:
    words = label["text"]
    if content.count(words) != 1:
        raise ValueError(f"{words!r} is not in the text exactly once")
    from_at, to_at = (datetime.fromisoformat(label[end]) for end in ("from", "to"))
    if {from_at.utcoffset(), to_at.utcoffset()} != {anchor.utcoffset()}:
        raise ValueError(f"{words!r} has another UTC offset than the anchor")
    if from_at >= to_at:
        raise ValueError(f"{words!r} has no length")
    if label["granularity"] not in GRANULARITIES:
        raise ValueError(f"unknown granularity: {label['granularity']}")
    start = content.index(words)
    return Time(label["kind"], start, start + len(words), from_at, to_at, label["granularity"])
