"""The times that a text speaks of, seen from when it was said.

Own patterns find the stretches and own arithmetic resolves them: dates, weekdays, months, seasons,
quarters, years and decades, "last week", "two months ago", "in two weeks", times of day, parts of a day,
and ranges of all these. What a text in another language than English says goes to dateparser, where it is
installed (`temporal.languages`).

The rules for ambiguous texts. They are those of the SQL function `parse_timeframe` except for those
with a star:

- days are those of the anchor's time zone; a day at which the clocks change has 23 or 25 hours;
- "last week" is the calendar's, from Monday on; "two weeks ago" a week, "3 days ago" a day, "in two weeks"
  a day*;
- "the last 3 days" and "the past week" end at the anchor;
- a day or month without a year is the nearest to the anchor: the latest that begins no more than 182 days
  ahead;
- a weekday goes by the tense*: the last one where the nearest verb is past, else the coming one; today if
  today is one;
- "tonight" ends at midnight*, "last night" at 6 in the morning; a morning is 6 to 12, an afternoon to 18;
- a season is three whole months of the northern half of the world, a winter begins in December;
- of a range the end is included as a whole; a time of day ends where it is;
- a weekend is days, a season months, a decade years in their granularity.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from pgrecall_extract.base import TemporalReference

from . import dates, hours, numbers, phrases
from .calendar import Calendar
from .grammar import HINT, NEUTRAL, STRETCH
from .languages import foreign_parts, foreign_year
from .words import before

if TYPE_CHECKING:
    from .part import Part

__all__ = ["LONGEST_CONTENT", "MOST_REFERENCES", "temporal_references"]

MOST_REFERENCES: Final = 20
"""References of a text: its first ones."""
LONGEST_CONTENT: Final = 20_000
"""Characters that are looked at."""

_ENGLISH: Final = ("english", "simple")
_READERS: Final = {
    **numbers.READERS,
    **dates.READERS,
    **phrases.READERS,
    **hours.READERS,
}
_MOST_PARTS: Final = 8 * MOST_REFERENCES
"""Strong parts after which the search ends; joining and checking leaves fewer of them."""
_TO: Final = re.compile(
    r"\s{0,2}(?:[-–—−]{1,2}|(?:to|until|till|through|thru)\s)\s?(?:the\s|about\s|around\s)?", re.IGNORECASE
)
_AND: Final = re.compile(r"\s{1,2}(?:and|&)\s{1,2}(?:the\s{1,2})?", re.IGNORECASE)
_LIST: Final = re.compile(r"\s?(?:,|and|or|&|,\s?and|,\s?or)\s{1,2}", re.IGNORECASE)
_OF: Final = re.compile(r"\s{1,2}(?:of\s{1,2})?", re.IGNORECASE)
_WEEK_OF: Final = re.compile(r"\bweek\s(?:of|beginning|starting)\s(?:the\s|on\s)?$", re.IGNORECASE)
_BETWEEN: Final = re.compile(r"\bbetween\s{1,2}(?:the\s{1,2})?$", re.IGNORECASE)
_BESIDE: Final = re.compile(
    r"\s{0,2}(?:,\s{0,2})?(?:(?:at|around|about|by|from|on|of|in)\s{1,2})?(?:the\s{1,2})?(?:@\s?)?",
    re.IGNORECASE,
)
_DAY: Final = (timedelta(hours=20), timedelta(hours=28))


def temporal_references(
    content: str, anchor: datetime, language: str = "english"
) -> tuple[TemporalReference, ...]:
    """Find the times that a text speaks of.

    Args:
        content: The text; of a longer one the first LONGEST_CONTENT characters are looked at.
        anchor: When it was said, with a time zone: its days, weeks and years count.
        language: Name of a PostgreSQL text-search configuration. English and "simple" are read by own
            patterns; of another, what is written in numbers is, and the rest by dateparser where it is
            installed.

    Returns:
        At most MOST_REFERENCES bounded periods in their order in the text, none overlapping another.

    Raises:
        ValueError: The anchor has no time zone.
    """
    if anchor.tzinfo is None:
        raise ValueError("anchor must have a time zone")
    seen = content[:LONGEST_CONTENT]
    english = language in _ENGLISH
    if english and HINT.search(seen) is None:
        return ()
    if not 2 <= anchor.year <= 9990:
        return ()  # there may be no moment to reckon with
    calendar = Calendar(anchor)
    parts = _parts(STRETCH if english else NEUTRAL, seen, calendar)
    if not english:
        said = (
            replace(part, weak=False)
            if part.weak and part.granularity == "year" and foreign_year(seen, part.start, language)
            else part
            for part in parts
        )
        parts = _without_overlaps([*foreign_parts(seen, calendar, language), *said])
    references = []
    for part in _joined(parts, seen, calendar):
        reference = None if part.weak else _reference(part, calendar)
        if reference is not None:
            references.append(reference)
            if len(references) == MOST_REFERENCES:
                break
    return tuple(references)


def _parts(pattern: re.Pattern[str], content: str, calendar: Calendar) -> list[Part]:
    """Find and read the stretches that look like a time."""
    parts: list[Part] = []
    strong = 0
    for match in pattern.finditer(content):
        try:
            found = _READERS[match.lastgroup or ""](match.group(), match.start(), content, calendar)
        except (OverflowError, ValueError):
            continue  # no such moment in the years 1 to 9999
        parts.extend(found)
        strong += sum(not part.weak for part in found)
        if strong >= _MOST_PARTS:
            break
    return parts


def _without_overlaps(parts: list[Part]) -> list[Part]:
    """Order parts by their place; of two that overlap keep the longer."""
    kept: list[Part] = []
    for part in sorted(parts, key=lambda part: (part.start, -part.end)):
        if not kept or part.start >= kept[-1].end:
            kept.append(part)
        elif part.end - part.start > kept[-1].end - kept[-1].start:
            kept[-1] = part
    return kept


def _joined(parts: list[Part], content: str, calendar: Calendar) -> list[Part]:
    """Put together what stands side by side: ranges, days and their hours, lists of years."""
    for join in (_clock_range, _hours_of_day, _day_of_week, _of_year, _range, _year_list):
        joined: list[Part] = []
        for part in parts:
            both = None
            if joined and part.start - joined[-1].end < 16:
                try:
                    both = join(joined[-1], part, content, calendar)
                except (OverflowError, ValueError):
                    both = None
            if both is None:
                joined.append(part)
            else:
                joined[-1:] = both
        parts = joined
    apart: list[Part] = []
    for part in parts:
        found = _week_of(part, content)
        if apart and apart[-1].end > found.start:  # "this week, the week of 3 May" may be one
            found = replace(found, start=apart.pop().start)
        apart.append(found)
    return apart


def _week_of(part: Part, content: str) -> Part:
    """Read "the week of 3 May" as the week that the day is in."""
    lead = _WEEK_OF.search(before(content, part.start)) if _is_day(part) else None
    if lead is None:
        return part
    monday = part.period[0] - timedelta(days=part.period[0].weekday())
    start = part.start - len(lead.group())
    return replace(part, start=start, period=(monday, monday + timedelta(days=7)), granularity="week")


def _gap(pattern: re.Pattern[str], first: Part, last: Part, content: str) -> bool:
    return pattern.fullmatch(content, first.end, last.start) is not None


def _spans(first: Part, last: Part, content: str) -> bool:
    """Return whether two parts are written as the ends of a range."""
    return _gap(_TO, first, last, content) or (
        _gap(_AND, first, last, content) and _BETWEEN.search(before(content, first.start)) is not None
    )


def _is_day(part: Part) -> bool:
    return part.granularity == "day" and _DAY[0] < part.period[1] - part.period[0] < _DAY[1]


def _clock_range(first: Part, last: Part, content: str, _calendar: Calendar) -> list[Part] | None:
    """Join "3pm to 5pm", which ends at 5."""
    if first.clock is None or last.clock is None or not _spans(first, last, content):
        return None
    begins, ends = first.clock[0], last.clock[0]
    if begins >= ends:
        ends += 24 * 60  # "from 10pm to 2am"
    period = (first.period[0], first.period[0] + timedelta(minutes=ends - begins))
    granularity = "minute" if "minute" in (first.granularity, last.granularity) else "hour"
    weak = first.weak and last.weak
    return [
        replace(first, end=last.end, period=period, granularity=granularity, clock=(begins, ends), weak=weak)
    ]


def _hours_of_day(first: Part, last: Part, content: str, calendar: Calendar) -> list[Part] | None:
    """Join a day and a time or part of it: "tomorrow at 5 pm", "5 pm on Friday", "Friday evening"."""
    if last.clock is not None and first.granularity == "hour" and not first.weak and first.clock is None:
        return _hours_of_part(first, last, content)
    day, hours = (first, last) if _is_day(first) else (last, first)
    if (
        not _is_day(day)
        or (hours.clock is None and hours.word is None)
        or not _gap(_BESIDE, first, last, content)
    ):
        return None
    if hours.word is not None:
        period = calendar.part(hours.word, day.period)
    elif hours.clock is not None:
        begins, ends = (day.period[0] + timedelta(minutes=minutes) for minutes in hours.clock)
        period = begins, ends
    confidence = min(day.confidence, 0.9)
    return [
        replace(
            day,
            start=first.start,
            end=last.end,
            period=period,
            granularity=hours.granularity,
            confidence=confidence,
            again=None,
        )
    ]


def _hours_of_part(part: Part, hours: Part, content: str) -> list[Part] | None:
    """Join "last night at 11:30", which is the half past eleven that the night has."""
    if hours.clock is None or not _gap(_BESIDE, part, hours, content):
        return None
    midnight = part.period[0].replace(hour=0, minute=0)
    for later in (0, 12, 24):
        begins, ends = (midnight + timedelta(hours=later, minutes=minutes) for minutes in hours.clock)
        if part.period[0] <= begins < part.period[1]:
            return [replace(part, end=hours.end, period=(begins, ends), granularity=hours.granularity)]
    return None


def _day_of_week(first: Part, last: Part, content: str, _calendar: Calendar) -> list[Part] | None:
    """Join "next week on Friday", whose Friday is that of the week."""
    if (
        first.granularity != "week"
        or last.again is None
        or not _is_day(last)
        or not _gap(_BESIDE, first, last, content)
    ):
        return None
    day = last.again(first.period[0], "coming") if last.tense is not None or last.confidence == 0.6 else None
    return (
        None if day is None else [replace(last, start=first.start, period=day, again=None, confidence=0.85)]
    )


def _of_year(first: Part, last: Part, content: str, _calendar: Calendar) -> list[Part] | None:
    """Join "August last year", "3 May of last year"."""
    begins, ends = last.period
    if first.again is None or last.granularity != "year" or last.weak or not _gap(_OF, first, last, content):
        return None
    if (
        first.granularity not in ("day", "month")
        or first.tense is not None
        or begins.month != 1
        or begins.year + 1 != ends.year
    ):
        return None
    period = first.again(begins - timedelta(seconds=1), "next")
    if period is None or period[0] >= ends:
        return None
    return [replace(first, end=last.end, period=period, again=None, weak=False, confidence=last.confidence)]


def _range(first: Part, last: Part, content: str, _calendar: Calendar) -> list[Part] | None:
    """Join "from March to May 2024": the end is included, and one end's year or week settles the other's."""
    if first.clock or last.clock or first.word or last.word or not _spans(first, last, content):
        return None
    if last.weak and last.granularity == "year" and _is_day(first) and "-" in content[first.end : last.start]:
        return None  # "2023-05-08 - 2024 review"
    begins, ends = first.period, last.period
    if first.again and last.again and first.tense == "past":
        begins = first.again(ends[0], "last") or begins
    elif last.again:
        ends = last.again(begins[0], "next") or ends
    elif first.again:
        begins = first.again(ends[0], "last") or begins
    moment = last.granularity in ("hour", "minute")
    until = ends[0] if moment else ends[1]
    if begins[0] >= until or (first.weak and last.weak and not _are_months(first, last, content)):
        return None
    granularity = first.granularity if moment or first.granularity == last.granularity else last.granularity
    return [
        replace(
            first,
            end=last.end,
            period=(begins[0], until),
            granularity=granularity,
            confidence=min(first.confidence, last.confidence),
            weak=False,
            again=None,
        )
    ]


def _are_months(first: Part, last: Part, content: str) -> bool:
    """Return whether both are months with a capital: "April to June" are, each alone may be a name."""
    return all(
        part.granularity == "month" and part.again is not None and content[part.start].isupper()
        for part in (first, last)
    )


def _year_list(first: Part, last: Part, content: str, _calendar: Calendar) -> list[Part] | None:
    """Take the second of "in 1999 and 2003" for a year like the first."""
    if first.weak or not last.weak or (first.granularity, last.granularity) != ("year", "year"):
        return None
    return [first, replace(last, weak=False, confidence=0.7)] if _gap(_LIST, first, last, content) else None


def _reference(part: Part, calendar: Calendar) -> TemporalReference | None:
    """Make a reference of a part; None where its period is empty or beyond what a database keeps."""
    try:
        period = calendar.aware(part.period)
    except (OverflowError, ValueError):
        return None
    if period is None or not _FIRST <= period[0] < period[1] <= _LAST:
        return None
    return TemporalReference(part.start, part.end, *period, part.granularity, part.confidence, part.source)


_FIRST: Final = datetime(1, 1, 2, tzinfo=UTC)
_LAST: Final = datetime(9999, 12, 30, tzinfo=UTC)
