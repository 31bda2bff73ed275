"""The years or dates right after a statement: "from 1994 to 1998", "since May 2021", "in 1999"."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

__all__ = ["period_after"]

_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if len(name) > 3 else name for name in _MONTHS)
_DATE = rf"(?:(?:\d{{1,2}} )?(?:{_MONTH})\.?(?: \d{{1,2}},)? )?\d{{4}}"
_PLACE_BETWEEN = r"(?:, [A-Z][\w .'-]{1,30}?)?,?"
_SPAN = re.compile(
    rf"{_PLACE_BETWEEN} (?:from|between) ({_DATE})"
    rf"(?: to | until | till | through | and | ?[–-]{{1,2}} ?)({_DATE})(?!\d)"
)
_SINCE = re.compile(rf"{_PLACE_BETWEEN} (?:since|from) ({_DATE})(?!\d)")
_UNTIL = re.compile(rf"{_PLACE_BETWEEN} (?:until|till) ({_DATE})(?!\d)")
_IN = re.compile(rf"{_PLACE_BETWEEN} (?:in|on|since) ({_DATE})(?!\d)")
_PARTS = re.compile(rf"(?:(\d{{1,2}}) )?(?:({_MONTH})\.?)?(?: ?(\d{{1,2}}),)? ?(\d{{4}})")


def period_after(
    text: str, end: int, zone: tzinfo | None, *, event: bool
) -> tuple[datetime | None, datetime | None, int]:
    """Return since when and until when a statement is true, and where its words end.

    "from 1994 to 1998" ends when 1998 does. "in 1999" counts for events alone, which are true ever since.

    Args:
        text: The text.
        end: Where the statement ends, in characters.
        zone: The time zone that years begin in.
        event: Whether the statement becomes true at a moment, as a marriage does.
    """
    span = _SPAN.match(text, end)
    if span is not None:
        first, last = _begin(span[1], zone), _end(span[2], zone)
        if first is not None and last is not None and first < last:
            return first, last, span.end()
        return None, None, end
    since = (_IN if event else _SINCE).match(text, end) or _SINCE.match(text, end)
    if since is not None:
        return _begin(since[1], zone), None, since.end()
    until = _UNTIL.match(text, end)
    if until is not None:
        return None, _end(until[1], zone), until.end()
    return None, None, end


def _parts(words: str) -> tuple[int, int | None, int | None] | None:
    """Return year, month and day of a date; None for what is not said."""
    match = _PARTS.fullmatch(words)
    if match is None:
        return None
    month = next((i for i, name in enumerate(_MONTHS, 1) if match[2] and name.startswith(match[2][:3])), None)
    day = match[1] or match[3]
    return int(match[4]), month, int(day) if day else None


def _begin(words: str, zone: tzinfo | None) -> datetime | None:
    parts = _parts(words)
    if parts is None:
        return None
    year, month, day = parts
    try:
        return datetime(year, month or 1, day or 1, tzinfo=zone)
    except ValueError:  # "31 June 1999", or the year 0
        return None


def _end(words: str, zone: tzinfo | None) -> datetime | None:
    """Return when the day, month or year that is named is over."""
    parts, begin = _parts(words), _begin(words, zone)
    if parts is None or begin is None:
        return None
    _, month, day = parts
    try:
        if day is not None:
            return begin + timedelta(days=1)
        if month is not None:
            return begin.replace(year=begin.year + month // 12, month=month % 12 + 1)
        return begin.replace(year=begin.year + 1)
    except (ValueError, OverflowError):  # after the year 9999
        return None
