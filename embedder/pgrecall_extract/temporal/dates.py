"""Dates that are said in English words: "3 May", "from 3 to 7 May", "May 2024", "in December", "on the 15th".

Confidence: a date, month or season with its year .95, .95 and .9; a day without a year .85, a month without
    one .7; "on the 15th" .5.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from .numbers import full_year
from .part import Part, Reader, one
from .words import MONTHS, SEASONS, WEEKDAYS, before, recurs, words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from .calendar import Calendar, Period

__all__ = ["READERS", "month_number", "written_small"]

_IN: Final = re.compile(
    r"\b(?:(?:in|during|since|until|till|through|throughout)(?:\s+the)?|early|mid|late"
    r"|(?:end|middle|start|beginning|week|weekend|month|half) of)[\s-]{1,2}$",
    re.IGNORECASE,
)
_IN_SMALL: Final = re.compile(r"\b(?:in|during|since)\s$", re.IGNORECASE)
_NEAR: Final = re.compile(r"\b(?:by|from|of|before|after|around|for|between)\s{1,2}$", re.IGNORECASE)
_FALL: Final = re.compile(r"\b(?:the|in|by|since|until|early|mid|late)[\s-]$", re.IGNORECASE)
_ORDINAL: Final = re.compile(r"\d(?:st|nd|rd|th)\b|\bof\b", re.IGNORECASE)
_AND: Final = re.compile(r"\s+(?:and|&)\s+(?:the\s+)?", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\bbetween\s+(?:the\s+)?$", re.IGNORECASE)
_SHORT_YEAR: Final = re.compile(r"(?:['’]|\d[-/][a-z]{3,9}[-/])\d\d$", re.IGNORECASE)
_NAMES_AND_VERBS: Final = frozenset(("may", "mar", "march", "jan"))
"""Only a month where they are written with a capital, or something else tells."""
_PEOPLE: Final = frozenset(("april", "may", "june", "august", "march", "jan", "mar"))


def month_number(word: str) -> int | None:
    """Return the number of a month by its name; None for another word."""
    return MONTHS.index(word[:3]) + 1 if word[:3] in MONTHS else None


def written_small(text: str, word: str) -> bool:
    """Return whether a word of a stretch that may be a verb or a noun is written small."""
    place = text.lower().find(word)
    return word in _NAMES_AND_VERBS and text[place].islower()


def _split_date(text: str) -> tuple[list[int], int, int | None, bool]:
    """Return the days, the month, the year and whether the month's name is surely one, of a date."""
    tokens = words(text)
    name = next(t for t in tokens if t[:3] in MONTHS and t not in ("monday", "mon"))
    numbers = [t for t in tokens if t.isdigit()]
    month = month_number(name) or 0
    years = [full_year(t) for t in numbers if len(t) == 4]
    if not years and _SHORT_YEAR.search(text):
        years = [full_year(numbers.pop())]
    days = [int(t) for t in numbers if len(t) < 3]
    sure = not written_small(text, name) or bool(years) or _ORDINAL.search(text) is not None
    return days, month, years[0] if years else None, sure


def _day_part(
    text: str, start: int, day: int, month: int, year: int | None, calendar: Calendar
) -> list[Part]:
    if year is not None:
        return one(text, start, calendar.dated(year, month, day), "day", 0.95)

    def again(local: datetime, which: str) -> Period | None:
        return calendar.at(local).recurring(which, month, day)

    return one(text, start, calendar.nearest(month, day, 1), "day", 0.85, again=again)


def _date(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    days, month, year, sure = _split_date(text)
    if not sure or (year is None and recurs(content, start)):
        return []
    return _day_part(text, start, days[0], month, year, calendar)


def _days(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "3 to 7 May" or "May 3-7, 2024" as a range; "May 3 and 7", except after "between", as two days."""
    days, month, year, sure = _split_date(text)
    if not sure:
        return []
    said = year is not None
    nearest = calendar.nearest(month, days[0], 1)
    if year is None and nearest is not None:  # the first day settles the year of both
        year = nearest[0].year
    parts = [found for day in days[:2] for found in _day_part(text, start, day, month, year, calendar)]
    if len(parts) < 2:
        return []
    first, last = (replace(part, confidence=0.95 if said else 0.85) for part in parts)
    listed = _AND.search(text)
    if listed and not _BETWEEN.search(before(content, start)):
        return [replace(first, end=start + listed.start()), replace(last, start=start + listed.end())]
    period = (first.period[0], last.period[1])
    return one(text, start, period, "day", last.confidence) if period[0] < last.period[0] else []


def _monthyear(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    if written_small(text, tokens[0]) and not _IN.search(before(content, start)):
        return []
    year = full_year(next(t for t in tokens if t.isdigit()))
    return one(text, start, calendar.dated(year, month_number(tokens[0]) or 0), "month", 0.95)


def _season(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    if text.startswith("fall") and not _FALL.search(before(content, start)):
        return []
    period = calendar.dated(int(tokens[-1]), SEASONS[tokens[0]], None, 3)
    return one(text, start, period, "month", 0.9)


def _nth(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "on the 15th" as the nearest, "Friday the 13th" as the nearest that is one."""
    tokens = words(text)
    weekday = WEEKDAYS.index(tokens[0]) if tokens[0] in WEEKDAYS else None
    if recurs(content, start):
        return []
    day, now = next(int(token) for token in tokens if token.isdigit()), calendar.now
    months = (calendar.unit("month", places) for places in range(-14, 15))
    found = [calendar.dated(month[0].year, month[0].month, day) for month in months if month]
    days = [period for period in found if period and weekday in (None, period[0].weekday())]
    nearest = min(days, key=lambda period: abs(period[0] - now)) if days else None
    place = 0 if weekday is not None else next(n for n, letter in enumerate(text) if letter.isdigit())
    return one(text[place:], start + place, nearest, "day", 0.5 if weekday is None else 0.75)


def _month(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "December": by itself only after a word that makes it a time."""
    name, ahead = words(text)[0], before(content, start)
    month = month_number(name)
    if month is None or recurs(content, start):
        return []
    cued = _IN.search(ahead) is not None
    near = _NEAR.search(ahead) is not None and text[0].isupper() and name not in _PEOPLE
    small = text[0].islower() and (len(name) == 3 or name == "march") and not _IN_SMALL.search(ahead)

    def again(local: datetime, which: str) -> Period | None:
        return calendar.at(local).recurring(which, month)

    weak = small or not (cued or near)
    return one(text, start, calendar.nearest(month, None, 1), "month", 0.7, again=again, weak=weak)


READERS: Final[Mapping[str, Reader]] = {
    "days": _days,
    "date": _date,
    "monthyear": _monthyear,
    "season": _season,
    "nth": _nth,
    "month": _month,
}
"""A reader of each kind of stretch in `time_grammar.STRETCH` that is a date in words."""
