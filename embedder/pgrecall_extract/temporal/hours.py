"""Times of day: "at 5 pm", "10:30", "3-5pm", "noon", and the parts of a day beside one. Confidence .6."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from .part import Part, Reader, one
from .words import before, recurs

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .calendar import Calendar

__all__ = ["READERS"]

_AT: Final = re.compile(
    r"\b(?:at|around|about|by|until|till|from|since|before|after|between)\s{1,2}$", re.IGNORECASE
)
_NAMED_CLOCK: Final = {"noon": (720, 780), "midnight": (1440, 1500)}
_TIME: Final = re.compile(r"(\d{1,2})(?::(\d\d)(?::\d\d)?)?\s{0,2}([ap])?", re.IGNORECASE)


def _minutes(written: str, half: str | None) -> tuple[int, bool, str | None] | None:
    """Return the minutes since midnight, whether they are said, "a" or "p"; None where no clock shows it."""
    found = _TIME.match(written.strip())
    if found is None:
        return None
    hour, half = int(found[1]), (found[3] or half or "").lower()
    if hour > 23 or (half and not 1 <= hour <= 12):
        return None
    hour = hour % 12 + (12 if half == "p" else 0) if half else hour
    return hour * 60 + int(found[2] or 0), found[2] is not None, half or None


def _clock(text: str, start: int, content: str, calendar: Calendar) -> list[Part]:
    """Read a time of day: today's, unless a day is said beside it."""
    cued = _AT.search(before(content, start)) is not None
    said = False
    if text.lower() in _NAMED_CLOCK:
        clock = _NAMED_CLOCK[text.lower()]
        weak = not cued
    else:
        sides = re.split(r"[-–—−]", text)
        last = _minutes(sides[-1], None)
        if last is None:
            return []
        clock = (last[0], last[0] + (1 if last[1] else 60))
        said = last[1]
        if len(sides) > 1:
            first = _minutes(sides[0], last[2])
            if first and first[0] >= last[0] and last[2] == "p":
                first = _minutes(sides[0], "a")  # "11-1pm"
            if first is None or first[0] >= last[0]:
                return []
            clock, said = (first[0], last[0]), first[1] or last[1]
        weak = not cued and last[2] is None
    today = calendar.unit("day", 0)
    if today is None or recurs(content, start):
        return []
    period = (today[0] + timedelta(minutes=clock[0]), today[0] + timedelta(minutes=clock[1]))
    return one(text, start, period, "minute" if said else "hour", 0.6, weak=weak, clock=clock)


def _part(text: str, start: int, _content: str, calendar: Calendar) -> list[Part]:
    day = calendar.unit("day", 0)
    word = text.lower()
    return one(text, start, calendar.part(word, day) if day else None, "hour", 0.9, weak=True, word=word)


READERS: Final[Mapping[str, Reader]] = {"clock": _clock, "part": _part}
"""A reader of each kind of stretch in `time_grammar.STRETCH` that is a time of day."""
