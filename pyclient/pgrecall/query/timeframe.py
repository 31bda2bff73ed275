"""The time a recall is about: two moments, or a phrase such as "last week".

Phrases are read by the database (`parse_timeframe`). What it does not understand goes to dateparser, which
knows more forms and some 200 languages: an extra, `pip install 'pgrecall[nlp]'`, imported when the first such
phrase comes.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgrecall.arguments import as_datetime, as_str
from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    from psycopg.types.range import Range

Period = tuple[datetime | None, datetime | None]
"""From a moment on, and before another; None leaves that side open."""

Timeframe = str | Period
"""A phrase that speaks of a time, or the period itself."""

LONGEST_PHRASE = 200
"""Characters of a phrase; the database looks at no more either."""

_SETTINGS = {
    "PREFER_DATES_FROM": "past",
    "PREFER_DAY_OF_MONTH": "first",
    "PREFER_MONTH_OF_YEAR": "first",
    "RETURN_TIME_AS_PERIOD": True,
}


def phrase(timeframe: Timeframe) -> str | None:
    """Return a timeframe that is a phrase, checked; None for one that is a period.

    Raises:
        InvalidInput: It is longer than `LONGEST_PHRASE`, or holds what no text can.
    """
    if not isinstance(timeframe, str):
        return None
    if len(timeframe) > LONGEST_PHRASE:
        raise InvalidInput(f"timeframe has {len(timeframe)} characters; {LONGEST_PHRASE} is the limit")
    return as_str("timeframe", timeframe)


def format_period(timeframe: object) -> str:
    """Write a period as PostgreSQL reads a tstzrange.

    Args:
        timeframe: A pair of datetimes or None; one without a zone is UTC.

    Raises:
        InvalidInput: It is no such pair, or ends before it begins.
    """
    if not isinstance(timeframe, tuple | list) or len(timeframe) != 2:
        raise InvalidInput(
            f"timeframe must be text or a pair of datetimes, not {type(timeframe).__name__}",
            hint="Such as 'last week', or (datetime(2026, 5, 1), None).",
        )
    begins, ends = (None if side is None else as_datetime("timeframe", side) for side in timeframe)
    if begins is not None and ends is not None and begins > ends:
        raise InvalidInput("timeframe ends before it begins")
    return "[{},{})".format(*("" if side is None else side.isoformat() for side in (begins, ends)))


def format_range(found: Range[datetime]) -> str:
    """Write what the database understood a phrase to mean, for the recall that follows."""
    return format_period((found.lower, found.upper))


def parse_with_dateparser(text: str, now: datetime) -> str:
    """Read by dateparser what the database did not understand, and write it as a tstzrange.

    Args:
        text: The phrase.
        now: What "today" is, in the zone whose days count.

    Raises:
        InvalidInput: dateparser does not understand it either, or is not installed.
    """
    try:
        from dateparser.date import DateDataParser
    except ImportError:
        raise InvalidInput(
            f"timeframe {text!r} is not understood",
            hint="Say it as in 'last week' or '2026-05-01'; pip install 'pgrecall[nlp]' reads more.",
        ) from None
    # dateparser reckons in local time without a zone.
    settings = {**_SETTINGS, "RELATIVE_BASE": now.replace(tzinfo=None)}
    data = DateDataParser(settings=settings).get_date_data(text)
    if data.date_obj is None:
        raise InvalidInput(
            f"timeframe {text!r} is not understood",
            hint="Say it as in 'last week', 'in March 2026', 'since Monday' or '2026-05-01/2026-05-31'.",
        )
    moment: datetime = data.date_obj
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    try:
        return format_period(_period(moment, data.period))
    except (OverflowError, ValueError):
        raise InvalidInput(f"timeframe {text!r} is outside the years 1 to 9999") from None


def _period(moment: datetime, unit: str) -> Period:
    """Return the minute, day, week, month or year that holds a moment."""
    if unit == "time":
        minute = moment.replace(second=0, microsecond=0)
        return minute, minute + timedelta(minutes=1)
    begins = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "week":
        begins -= timedelta(days=begins.weekday())
        return begins, begins + timedelta(days=7)
    if unit == "month":
        begins = begins.replace(day=1)
        return begins, (begins + timedelta(days=31)).replace(day=1)
    if unit == "year":
        begins = begins.replace(month=1, day=1)
        return begins, begins.replace(year=begins.year + 1)
    return begins, begins + timedelta(days=1)
