"""From what a language model says to facts: checked for form, and for being about their memory."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from pgrecall_extract.base import ENTITY_TYPES, Fact

from .errors import AnswerUnusable
from .prompts import read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall_extract.base import Document

__all__ = ["Dropped", "Entry", "facts_of", "normalised", "read_answer", "rows_from_text", "rows_to_text"]

Dropped = Counter[str]
"""How many facts were left out, by the reason: unknown id, malformed, not in the memory, too many; and how
many dates of facts that were kept: date."""

MAX_FACTS: Final = 50
"""Facts of one memory."""

_MAX_NAME: Final = 200
_MAX_LABEL: Final = 60
_MAX_STATEMENT: Final = 500
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_LABEL: Final = re.compile(r"[^\W\d_](?:[\w '’/&-]*\w)?")
# As pgrecall.normalize_name() takes names apart: inside words + # . stay, for c++, c# and node.js.
_SEPARATORS: Final = re.compile(r"(?:[^\w+#.]|_)+|\.+(?!\w)|(?<![^\W_])(?<![+#])[+#]+")
# Scripts that write no spaces between words: a name is found in them anywhere.
_UNSPACED: Final = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_PRONOUNS: Final = frozenset(
    ("i", "me", "my", "mine", "myself", "you", "your", "yours", "he", "him", "his", "she", "her", "hers",
     "it", "its", "we", "us", "our", "ours", "they", "them", "their", "theirs", "this", "that", "these",
     "those", "who", "someone", "somebody", "everyone", "everybody", "anyone", "nobody", "something")
)  # fmt: skip


@dataclass(slots=True)
class Entry:
    """What the model says of one memory: rows of facts, as JSON, that are well formed.

    Attributes:
        rows: The facts.
    """

    rows: list[Mapping[str, object]] = field(default_factory=list, repr=False)


def read_answer(said: object, known: Mapping[str, Document], dropped: Dropped) -> dict[str, Entry]:
    """Sort an answer by the ids of the question.

    Args:
        said: The answer, as JSON.
        known: The ids of the question.
        dropped: Counts what is left out.

    Returns:
        An entry for every answered id. An entry without a well-formed part is no answer.

    Raises:
        AnswerUnusable: It is no object with a list of memories.
    """
    entries = said.get("memories") if isinstance(said, dict) else None
    if not isinstance(entries, list):
        raise AnswerUnusable("the language model's answer does not keep to the schema")
    answered: dict[str, Entry] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("facts"), list):
            dropped["malformed"] += 1
            continue
        rows = entry["facts"]
        given = entry.get("id")
        if not isinstance(given, str) or given not in known:
            dropped["unknown id"] += len(rows)
            continue
        good = [row for row in rows if isinstance(row, dict) and _is_well_formed(row)]
        dropped["malformed"] += len(rows) - len(good)
        if good or not rows:
            answered.setdefault(given, Entry()).rows.extend(good)
    return answered


def facts_of(document: Document, rows: Sequence[Mapping[str, object]], dropped: Dropped) -> tuple[Fact, ...]:
    """Make facts of rows, those that the memory can have stated.

    Args:
        document: The memory.
        rows: From an `Entry`, or from the cache.
        dropped: Counts what is left out.

    Returns:
        The facts, each once, at most `MAX_FACTS`.
    """
    text = _Text(document)
    facts: dict[tuple[str, str, str], Fact] = {}
    for row in rows:
        if not _is_well_formed(row):
            dropped["malformed"] += 1
            continue
        subject, label, target = (_plain(row[name]) for name in ("subject", "label", "object"))
        key = (normalised(subject), label.casefold(), normalised(target))
        if key[0] == key[2] or not (text.names(key[0]) and text.names(key[2])):
            dropped["not in the memory"] += 1
        elif key not in facts and len(facts) == MAX_FACTS:
            dropped["too many"] += 1
        elif key not in facts:
            valid_from, valid_to = _period(row, document.anchor, dropped)
            facts[key] = Fact(
                subject=subject,
                subject_type=str(row["subject_type"]),
                label=label.casefold(),
                object=target,
                object_type=str(row["object_type"]),
                # Of 1e-50 the database could make no real.
                confidence=round(float(row["confidence"]), 6),  # type: ignore[arg-type]
                source="llm",
                statement=_statement(row.get("statement"), key),
                valid_from=valid_from,
                valid_to=valid_to,
            )
    return tuple(facts.values())


def normalised(name: str) -> str:
    """Return the form in which names are looked for: that of pgrecall.normalize_name(), without accents."""
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", name).casefold())
    plain = "".join(sign for sign in folded if not unicodedata.combining(sign))
    return " ".join(_SEPARATORS.sub(" ", unicodedata.normalize("NFKC", plain)).split())


class _Text:
    """What names of a memory's facts are looked for in."""

    def __init__(self, document: Document) -> None:
        parts = (document.title, document.speaker, read_text(document))
        # Two blanks where one part ends: no name goes from one into the next.
        self._spaced = "  ".join(f" {normalised(part)} " for part in parts if part)

    def names(self, name: str) -> bool:
        """Whether a normalised name occurs, as whole words, and could be one."""
        if not name or name in _PRONOUNS:
            return False
        return f" {name} " in self._spaced or (_UNSPACED.search(name) is not None and name in self._spaced)


def _is_well_formed(row: Mapping[str, object]) -> bool:
    names = [row.get("subject"), row.get("object"), row.get("label")]
    confidence = row.get("confidence")
    return (
        all(_is_name(name) for name in names)
        and len(label := _plain(names[2])) <= _MAX_LABEL
        and _LABEL.fullmatch(label) is not None
        and row.get("subject_type") in ENTITY_TYPES
        and row.get("object_type") in ENTITY_TYPES
        and isinstance(row.get("statement"), str | None)
        and isinstance(row.get("valid_from"), str | None)
        and isinstance(row.get("valid_to"), str | None)
        and isinstance(confidence, int | float)
        and not isinstance(confidence, bool)
        and 0 <= confidence <= 1  # NaN is not
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(_plain(value)) <= _MAX_NAME


def _plain(value: object) -> str:
    """Return a text on one line, without signs that no line shows and that PostgreSQL may not take."""
    text = "".join(" " if unicodedata.category(sign) in ("Cc", "Cs") else sign for sign in str(value))
    return " ".join(text.split())


def _statement(value: object, key: tuple[str, str, str]) -> str | None:
    """Return a statement that names both, else None: it will be made of the names and the label."""
    statement = "" if value is None else _plain(value)
    spaced = normalised(statement)
    if len(statement) > _MAX_STATEMENT or not (key[0] in spaced and key[2] in spaced):
        return None
    return statement


def _period(
    row: Mapping[str, object], anchor: datetime, dropped: Dropped
) -> tuple[datetime | None, datetime | None]:
    """Read the first and the last day of a fact as a half-open period in the time zone of the anchor."""
    first, last = (_day(row.get(name), dropped) for name in ("valid_from", "valid_to"))
    if first is not None and last is not None and last < first:
        dropped["date"] += 2
        return None, None
    # The calendar's own last day, 9999-12-31, has no next one: open.
    end = None if last in (None, date.max) else last + timedelta(days=1)
    return _midnight(first, anchor), _midnight(end, anchor)


def _midnight(day: date | None, anchor: datetime) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), anchor.tzinfo)


def _day(value: object, dropped: Dropped) -> date | None:
    if value is None:
        return None
    try:
        if _DATE.fullmatch(str(value)) is None:
            raise ValueError
        return date.fromisoformat(str(value))
    except ValueError:
        dropped["date"] += 1
        return None


def rows_to_text(rows: Sequence[Mapping[str, object]]) -> str:
    """Write rows for the cache."""
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":"))


def rows_from_text(text: str) -> list[Mapping[str, object]] | None:
    """Read rows from the cache; None if that is not what was put there."""
    try:
        rows = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return None
    return rows
