"""The timeframe of a recall: two points in time, or a phrase such as "last week".

The database parses phrases (`parse_timeframe`). The fallback is dateparser, which knows more forms and some
200 languages. It is an extra, `pip install 'pgrecall[nlp]'`, imported at first use.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from pgrecall.arguments import as_datetime, as_str
from pgrecall.errors import InvalidInput
from pgrecall.installing import install_command

if TYPE_CHECKING:
    from psycopg.types.range import Range

    from pgrecall.filters import Period, Timeframe

LONGEST_PHRASE = 200
"""Maximum length of a phrase in characters, the same as in the database."""

# The database has read the numbers that are one date. dateparser reads 3/4 as a day, and versions as times.
_NUMBERS = re.compile(r"(?<![\d./-])\d{1,2}[/-]\d{1,2}(?!\d)|^\W*[a-z]?[\d.]+\W*$", re.IGNORECASE)
_SETTINGS = {
    "PREFER_DATES_FROM": "past",
    "PREFER_DAY_OF_MONTH": "first",
    "PREFER_MONTH_OF_YEAR": "first",
    "RETURN_TIME_AS_PERIOD": True,
}


def phrase(timeframe: Timeframe) -> str | None:
    """Return the phrase of a timeframe, checked; None for a period.

    Raises:
        InvalidInput: It is longer than `LONGEST_PHRASE`, or contains an invalid character.
    """
    if not isinstance(timeframe, str):
        return None
    if len(timeframe) > LONGEST_PHRASE:
        raise InvalidInput(f"timeframe has {len(timeframe)} characters; {LONGEST_PHRASE} is the limit")
    return as_str("timeframe", timeframe)


def format_period(timeframe: object) -> str:
    """Format a period as a tstzrange.

    Args:
        timeframe: A pair of datetimes or None; one without a zone is UTC.

    Raises:
        InvalidInput: It is not such a pair, or ends before it begins.
    """
    if not isinstance(timeframe, tuple | list) or len(timeframe) != 2:
        raise InvalidInput(
            f"timeframe must be text or a pair of datetimes, not {type(timeframe).__name__}",
            hint="Pass 'last week' or (datetime(2026, 5, 1), None), for example.",
        )
    begins, ends = (None if side is None else as_datetime("timeframe", side) for side in timeframe)
    if begins is not None and ends is not None and begins > ends:
        raise InvalidInput("timeframe ends before it begins")
    return "[{},{})".format(*("" if side is None else side.isoformat() for side in (begins, ends)))


def format_range(found: Range[datetime]) -> str:
    """Format the period that the database parsed from a phrase, for the recall that follows."""
    return format_period((found.lower, found.upper))


def parse_with_dateparser(text: str, now: datetime) -> str:
    """Parse a phrase with dateparser, and format it as a tstzrange.

    Args:
        text: The phrase.
        now: The current time, in the time zone that days refer to.

    Raises:
        InvalidInput: dateparser cannot parse it, or is not installed.
    """
    if _NUMBERS.search(text):
        raise InvalidInput(
            f"timeframe {text!r} is not understood: it may be two days, or none",
            hint="Write the month as a word, or 2026-05-01.",
        )
    try:
        from dateparser.date import DateDataParser
    except ImportError:
        raise InvalidInput(
            f"timeframe {text!r} is not understood",
            hint=f"Write 'last week' or '2026-05-01', for example; {install_command('nlp')} parses more.",
        ) from None
    # dateparser computes in local time without a zone.
    settings = {**_SETTINGS, "RELATIVE_BASE": now.replace(tzinfo=None)}
    data = DateDataParser(settings=settings).get_date_data(text)
    if data.date_obj is None:
        raise InvalidInput(
            f"timeframe {text!r} is not understood",
            hint="Write 'last week', 'in March 2026', 'since Monday' or '2026-05-01/2026-05-31'.",
        )
    moment: datetime = data.date_obj
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
    try:
        return format_period(_period(moment, data.period))
    except (OverflowError, ValueError):
        raise InvalidInput(f"timeframe {text!r} is outside the years 1 to 9999") from None


def _period(moment: datetime, unit: str) -> Period:
    """Return the minute, day, week, month or year that contains a point in time."""
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
