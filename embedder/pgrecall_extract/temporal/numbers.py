"""Times that are written in numbers, in any language: 2024-03-05, 5.3.2024, Q3 2024, the 1990s, 1994–1998.

Confidence: a date .95, a month .9; a quarter with its year .95, without .7; a decade .85, "the 90s" .5; a
year after "in", "since" and the like .8, in brackets .75, in a range .75.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Final

from .part import Part, Reader, one
from .words import before, words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .calendar import Calendar, Period

__all__ = ["READERS", "full_year"]

_ISO: Final = re.compile(
    r"(\d{4})-(\d\d)(?:-(\d\d)(?:[T\s](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?\s{0,2}(Z|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?"
)
_YEAR_CUE: Final = re.compile(
    r"\b(?:in|during|since|by|until|till|from|of|between|the year)"
    r"(?:\s+(?:the|year|early|mid|late|about|around)){0,2}[\s-]{1,2}$",
    re.IGNORECASE,
)
_RISE: Final = re.compile(
    r"\b(?:increas|gr[eo]w|r[io]se|f[ae]ll|drop|reduc|decreas|up|down|exceed|multipl|divid)\w*\s+by\s+$",
    re.IGNORECASE,
)
_BRACKET: Final = re.compile(r"[(\[](?:born|b\.|died|d\.|c\.|ca\.|since|est\.)?\s?$", re.IGNORECASE)
_PAGES: Final = re.compile(r"\b(?:pp?|pages?|nos?|numbers?|lines?)\b\.?\s*$", re.IGNORECASE)
_COUNTED: Final = re.compile(
    r"\s?%|,\d{3}|[\s-](?:people|men|women|children|years?|days?|hours?|dollars?|euros?|pounds?|km|miles?|met(?:er|re)s?|m|ft"
    r"|feet|words?|bytes?|calories|users?|times|points?|votes?|copies|seats?|tons?|kg|rpm|mph|mhz)\b",
    re.IGNORECASE,
)
_MANY: Final = re.compile(r"\s[a-z]{2,}(?:[^aius\W]|ie)s\b")
_TO_NUMBER: Final = re.compile(r"\s?(?:-|–|−|to)\s?(?!(?:19|20)?\d\d\b)\d")
_SEASONAL: Final = re.compile(r"\s(?:season|school|academic|campaign|fiscal)", re.IGNORECASE)
_QUARTER_CUE: Final = re.compile(
    r"\b(?:in|during|since|by|until|till|from|of|for|before|after|end|this)\s(?:early\s|late\s|the\s)?$",
    re.IGNORECASE,
)
_ORDINALS: Final = {"first": 1, "second": 2, "third": 3, "fourth": 4}


def full_year(digits: str) -> int:
    """Return the year that two or four digits name; two mean 1970 to 2069."""
    number = int(digits)
    return number if len(digits) > 2 else number + (2000 if number < 70 else 1900)


def _iso(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    found = _ISO.fullmatch(text.upper())
    if found is None:
        return []
    year, month = int(found[1]), int(found[2])
    if found[3] is None:
        # "2010-11" is November; but a season's "2010-11", and "1994-98", are years
        if month > 12 or _SEASONAL.match(content, start + len(text)):
            return _year(text, start, content, calendar)
        return one(text, start, calendar.dated(year, month), "month", 0.9)
    date = calendar.dated(year, month, int(found[3]) or 32)
    if date is None or found[4] is None:
        return one(text, start, date, "day", 0.95)
    hour, minute, second = int(found[4]), int(found[5]), int(found[6] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return []
    moment = date[0].replace(hour=hour, minute=minute, second=second)
    if found[7] is not None:
        offset = _offset(found[7])
        if offset is None:
            return []
        moment = calendar.local(moment.replace(tzinfo=offset))
    length = timedelta(seconds=1) if found[6] else timedelta(minutes=1)
    return one(text, start, (moment, moment + length), "minute", 0.95)


def _offset(written: str) -> timezone | None:
    """Return the offset of "Z", "+02", "-0330" or "+05:30"; None where no zone has it."""
    if written[0] not in "+-":
        return UTC
    hours, minutes = int(written[1:3]), int(written[3:].lstrip(":") or 0)
    sign = -1 if written[0] == "-" else 1
    return timezone(sign * timedelta(hours=hours, minutes=minutes)) if hours < 24 and minutes < 60 else None


def _interval(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read "2024-03-01/2024-03-31"; the end is included, a time of day ends where it is."""
    parts = [part for side in text.split("/") for part in _iso(side, start, content, calendar)]
    if len(parts) < 2:
        return []
    begins, ends = parts[0].period[0], parts[1].period[0 if parts[1].granularity == "minute" else 1]
    return one(text, start, (begins, ends), parts[1].granularity, 0.95) if begins < ends else []


def _isoweek(text: str, start: int, _content: str, _calendar: Calendar) -> list[Part]:
    try:
        monday = datetime.fromisocalendar(int(text[:4]), int(text[-2:]), 1)
    except ValueError:
        return []
    return one(text, start, (monday, monday + timedelta(days=7)), "week", 0.95)


def _numeric(text: str, start: int, _content: str, calendar: Calendar) -> list[Part]:
    """Read 2024/3/5, 5.3.2024 (the day first), and 25/3/2024 or 3/25/2024: only one can be a month."""
    first, second, third = (int(number) for number in re.split(r"[./]", text))
    if first > 31:
        return one(text, start, calendar.dated(first, second, third or 32), "day", 0.95)
    if "/" in text:
        if first <= 12 and second <= 12 and first != second:
            return []
        if second > 12:
            first, second = second, first
    return one(text, start, calendar.dated(third, second, first or 32), "day", 0.95)


def _quarter(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    tokens = words(text)
    year = next((int(word) for word in tokens if len(word) == 4 and word.isdigit()), None)
    named = next((_ORDINALS[word] for word in tokens if word in _ORDINALS), None)
    number = named or int(next(word for word in tokens if word in ("1", "2", "3", "4")))
    month = 3 * number - 2
    if year is not None:
        return one(text, start, calendar.dated(year, month, None, 3), "quarter", 0.95)

    def again(local: datetime, which: str) -> Period | None:
        return calendar.at(local).recurring(which, month, None, 3)

    near = calendar.nearest(month, None, 3)
    weak = _QUARTER_CUE.search(before(content, start)) is None
    return one(text, start, near, "quarter", 0.7, again=again, weak=weak)


def _decade(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    digits = next(word for word in words(text) if word.isdigit())
    if len(digits) == 4:
        return one(text, start, calendar.dated(int(digits), 1, None, 120), "year", 0.85)
    if before(content, start).rstrip().lower().endswith(("his", "her", "their", "my", "your", "its", "our")):
        return []  # "her late 70s" is an age
    return one(text, start, calendar.dated(1900 + int(digits), 1, None, 120), "year", 0.5)


def _year(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read a year, or a range of years; by itself, without a word that makes it one, it is weak."""
    first, last = text[:4], re.sub(r"[\s–—−-]", "", text[4:])
    begins = calendar.dated(int(first), 1, None, 12)
    if begins is None or not "1900" <= first <= "2099":
        return []
    after, ahead = content[start + len(text) : start + len(text) + 24], before(content, start)
    if _COUNTED.match(after) or _PAGES.search(ahead):
        return []
    if last:
        ends = calendar.dated(int(last if len(last) == 4 else first[:2] + last), 1, None, 12)
        if ends is None or ends[0] <= begins[0]:
            return []
        return one(text, start, (begins[0], ends[1]), "year", 0.75)
    if _BRACKET.search(ahead) and not _MANY.match(after):
        return one(text, start, begins, "year", 0.75)
    cued = _YEAR_CUE.search(ahead) and not _RISE.search(ahead) and not _TO_NUMBER.match(after)
    if cued and _MANY.match(after) and re.search(r"\b(?:of|by|from|until)\s+$", ahead, re.IGNORECASE):
        return []  # "of 2000 soldiers"
    return one(text, start, begins, "year", 0.8, weak=not cued)


READERS: Final[Mapping[str, Reader]] = {
    "interval": _interval,
    "iso": _iso,
    "isoweek": _isoweek,
    "numeric": _numeric,
    "quarter": _quarter,
    "decade": _decade,
    "year": _year,
}
"""A reader of each kind of stretch in `time_grammar.NEUTRAL`."""
