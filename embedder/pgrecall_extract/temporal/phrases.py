"""Times that are said from the anchor on, in English words: "last week", "two months ago", "by Friday".

Confidence: "yesterday", "last week", "next Friday", "3 days ago" .9, "last May" and "the last 3 days" .85,
with a vague number ("a few weeks ago") .6; "in two weeks" .8, where the verb is no future one .6; a
weekday .75 where the tense of a verb tells which, else .6; "the weekend", "the end of the month" .5.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from .dates import month_number, written_small
from .part import Part, Reader, one
from .words import NUMBERS, SEASONS, WEEKDAYS, before, recurs, tense, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .calendar import Calendar, Period

__all__ = ["READERS"]

_ON: Final = re.compile(
    r"\b(?:on|by|until|till|since|from|before|after|through|for|between)\s{1,2}$", re.IGNORECASE
)
_SINCE: Final = re.compile(r"\bsince\s+$", re.IGNORECASE)
_NO_DAY: Final = re.compile(
    r"\b(?:black|good|easter|palm|ash|cyber|fat|holy|maundy|super|bowl|bloody|following|every|each|most|some|any|the|a)\s$",
    re.IGNORECASE,
)
_NAME_GOES_ON: Final = re.compile(r"\s(?!Morning|Afternoon|Evening|Night\b(?! [A-Z])|I\b)[A-Z][a-z]")
_PARTS_OF_MANY: Final = re.compile(r"\s(?:mornings|afternoons|evenings|nights)\b", re.IGNORECASE)
_HOW_LONG: Final = re.compile(
    r"\b(?:once|twice|times|can|could|takes?|first|only|most|best|worst|record|\w{3,8}est)\b[^.!?]{0,40}$",
    re.IGNORECASE,
)
_VAGUE: Final = frozenset(("few", "several", "couple", "dozen"))
_DAYWORDS: Final = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
_DIRECTIONS: Final = {
    "last": -1, "previous": -1, "past": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "upcoming": 1,
}  # fmt: skip
_PARTS: Final = ("morning", "afternoon", "evening", "night")
_WHICH: Final = {-1: "last", 0: "this", 1: "next"}


def _granularity(unit: str) -> str:
    """Return the granularity that a unit has: a weekend is days, a decade years."""
    return {"weekend": "day", "decade": "year"}.get(unit, unit)


def _number(tokens: list[str]) -> int:
    """Return the number among the words: the last, since "a few" and "a couple" begin with one."""
    return next(
        (NUMBERS[t] if t in NUMBERS else int(t)) for t in reversed(tokens) if t in NUMBERS or t.isdigit()
    )


def _unit(tokens: list[str]) -> str | None:
    units = ("minute", "hour", "day", "week", "weekend", "month", "quarter", "year", "decade")
    return next((t.removesuffix("s") for t in tokens if t.removesuffix("s") in units), None)


def _dayword(text: str, start: int, _content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    places = _DAYWORDS[tokens[-1]]
    day = calendar.unit("day", 2 * places if len(tokens) > 1 else places)
    if day and tokens == ["tonight"]:
        return one(text, start, calendar.part("tonight", day), "hour", 0.9)
    return one(text, start, day, "day", 0.9)


def _edge(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "the end of the month" as this month, "over the weekend" as the one that the tense tells."""
    if recurs(content, start):
        return []
    unit = _unit(words(text)) or "day"
    places = 0
    if unit == "weekend" and calendar.now.weekday() < 5:
        time = tense(content, start, start + len(text))
        just_over = text[:4].lower() == "over" and calendar.now.weekday() < 3
        places = -1 if time == "past" or (time is None and just_over) else 0
    return one(text, start, calendar.unit(unit, places), _granularity(unit), 0.5)


def _beyond(text: str, start: int, _content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    period = calendar.unit(tokens[0], 2 if tokens[-1] == "next" else -2)
    return one(text, start, period, _granularity(tokens[0]), 0.85)


def _which(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read what "last", "past", "this" or "next" comes before."""
    tokens = words(text)
    tokens = tokens[1:] if tokens[1] in _DIRECTIONS or tokens[0] == "these" else tokens
    lead, rest, name = tokens[0], tokens[1:], tokens[-1]
    direction = _DIRECTIONS[lead]
    if recurs(content, start):
        return []
    unit = _unit(rest)
    if unit is not None:
        if len(rest) > 1:
            if direction == 1 and tense(content, start, len(content)) == "past":
                return []  # "he ruled for the next 24 years"
            vague = not _VAGUE.isdisjoint(rest)
            period = (
                calendar.rolling(unit, direction * _number(rest)) if direction and unit != "weekend" else None
            )
            return one(text, start, period, _granularity(unit), 0.6 if vague else 0.85)
        if unit in ("minute", "hour", "day"):
            return []
        period = (
            calendar.rolling(unit, -1)
            if lead == "past" and unit != "weekend"
            else calendar.unit(unit, direction)
        )
        return one(text, start, period, _granularity(unit), 0.9)
    if name in _DIRECTIONS or name in ("sun", "sat"):
        return []
    weekday = next((n for n, day in enumerate(WEEKDAYS) if day.startswith(name)), None)
    if weekday is not None:
        if name not in WEEKDAYS and text[text.lower().rfind(name)].islower():
            return []
        return one(text, start, calendar.weekday(_WHICH[direction], weekday), "day", 0.9)
    if name in _PARTS:
        day = calendar.unit("day", direction) if lead in ("last", "this") else None
        return one(text, start, calendar.part(name, day) if day else None, "hour", 0.9)
    which = _WHICH[direction]
    if name in SEASONS:
        if _NAME_GOES_ON.match(content, start + len(text)) and text[text.lower().rfind(name)].isupper():
            return []  # "the next Winter Olympics"
        return one(text, start, calendar.recurring(which, SEASONS[name], None, 3), "month", 0.85)
    if name.isdigit():
        return one(text, start, calendar.recurring(which, 3 * int(name) - 2, None, 3), "quarter", 0.85)
    month = month_number(name)
    if month is None or written_small(text, name):
        return []
    return one(text, start, calendar.recurring(which, month), "month", 0.85)


def _ago(text: str, start: int, _content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    unit, number = _unit(tokens), _number(tokens)
    if unit is None or (unit == "minute" and tokens[0] == "a"):
        return []
    if tokens[0] == "half":
        halves = {"year": ("month", 6), "hour": ("minute", 30)}
        if unit not in halves or tokens[1] not in ("a", "an"):
            return []
        unit, number = halves[unit]
    vague = not _VAGUE.isdisjoint(tokens)
    if "from" in tokens:
        return _ahead(text, start, unit, number, 0.6 if vague else 0.9, calendar)
    confidence = 0.6 if vague or tokens[-1] == "back" else 0.9
    return one(text, start, calendar.unit(unit, -number), _granularity(unit), confidence)


def _in(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "in two weeks" as what is to come; after a past verb it says how long something took."""
    tokens = words(text)[1:]
    unit, number = _unit(tokens), _number(tokens)
    single = tokens[0] in ("a", "an") and len(tokens) == 2
    if unit is None or (single and unit in ("minute", "day")) or _HOW_LONG.search(before(content, start)):
        return []
    if tense(content, start, len(content)) == "past" or recurs(content, start):
        return []
    sure = tense(content, start, start + len(text)) == "future" and _VAGUE.isdisjoint(tokens)
    return _ahead(text, start, unit, number, 0.8 if sure else 0.6, calendar)


def _ahead(
    text: str, start: int, unit: str, number: int, confidence: float, calendar: Calendar
) -> list[Part]:
    """Return the day that is some days or weeks ahead, or the calendar's hour, month, quarter or year."""
    if unit in ("week", "weekend"):
        unit, number = "day", 7 * number
    return one(text, start, calendar.unit(unit, number), _granularity(unit), confidence)


def _weekday(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "Friday": the last one where the verb is past, else the coming one; today is both."""
    tokens = words(text)
    weekday, end = WEEKDAYS.index(tokens[0]), start + len(text)
    if len(tokens) > 1:
        seen = calendar.at(calendar.now + timedelta(days=7 * _DIRECTIONS[tokens[-2]]))
        return one(text, start, seen.weekday("this", weekday), "day", 0.9)
    ahead = before(content, start)
    cued = _ON.search(ahead) is not None
    if (
        _PARTS_OF_MANY.match(content, end)
        or _NO_DAY.search(ahead)
        or recurs(content, start)
        or (not cued and _NAME_GOES_ON.match(content, end))
    ):
        return []

    def again(local: datetime, which: str) -> Period | None:
        return calendar.at(local).weekday(which, weekday)

    time = "past" if _SINCE.search(ahead) else tense(content, start, end)
    period = calendar.weekday("recent" if time == "past" else "coming", weekday)
    return one(text, start, period, "day", 0.75 if time else 0.6, again=again, tense=time)


READERS: Final[Mapping[str, Reader]] = {
    "dayword": _dayword,
    "edge": _edge,
    "beyond": _beyond,
    "which": _which,
    "ago": _ago,
    "in": _in,
    "weekday": _weekday,
}
"""A reader of each kind of stretch in `time_grammar.STRETCH` that is said from the anchor on."""
