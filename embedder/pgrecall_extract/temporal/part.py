"""A time in a text before its neighbours are known."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .calendar import Calendar, Period

if TYPE_CHECKING:
    from datetime import datetime

__all__ = ["Part", "Reader", "one"]


@dataclass(frozen=True, slots=True)
class Part:
    """A time in a text, before its neighbours are known.

    Attributes:
        start: First character.
        end: One past the last character.
        period: What it names; local time.
        granularity: As in TemporalReference.
        confidence: From 0 to 1.
        weak: No time by itself, only beside another: "May" in "from March to May".
        again: The period of the same name that is "last" before, "next" after or "coming" from a local time
            on; None for a time that is said with its year.
        clock: Minutes since midnight, from and to, of a time of day that is said without a day.
        word: morning, afternoon, evening or night, of a part of a day that is said without a day.
        tense: "past" or "future", where it decided.
        source: As in TemporalReference.
    """

    start: int
    end: int
    period: Period
    granularity: str
    confidence: float
    weak: bool = False
    again: Callable[[datetime, str], Period | None] | None = None
    clock: tuple[int, int] | None = None
    word: str | None = None
    tense: str | None = None
    source: str = "pattern"


def one(
    text: str, start: int, period: Period | None, granularity: str, confidence: float, **more: Any
) -> list[Part]:
    """Return a stretch's only part; none where the calendar has no such period."""
    return [] if period is None else [Part(start, start + len(text), period, granularity, confidence, **more)]


Reader = Callable[[str, int, str, Calendar], list[Part]]
"""Reads a stretch: its text, where it starts, the content, the calendar seen from the anchor."""
