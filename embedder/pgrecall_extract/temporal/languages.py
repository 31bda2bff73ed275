"""Times that are said in other languages than English, read by dateparser: `pip install 'pgrecall[nlp]'`.

dateparser takes milliseconds for a phrase and reads a date into almost anything. So it gets only stretches
that its own data say are one: a day or a year beside the name of a month ("5. Mai 2024", "marzo de 2021"),
a phrase such as "letzte Woche" or "il y a 3 jours", the name of a weekday. The kind of the stretch says how
precise it is.

Confidence: a date with its year .9, without .75; a phrase .8; a weekday, the most recent, .5.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from .part import Part, one
from .words import before

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .calendar import Calendar

__all__ = ["CODES", "foreign_parts", "foreign_year"]

CODES: Final = {
    "arabic": "ar", "armenian": "hy", "basque": "eu", "catalan": "ca", "danish": "da", "dutch": "nl",
    "finnish": "fi", "french": "fr", "german": "de", "greek": "el", "hindi": "hi", "hungarian": "hu",
    "indonesian": "id", "irish": "ga", "italian": "it", "lithuanian": "lt", "nepali": "ne", "norwegian": "nb",
    "portuguese": "pt", "romanian": "ro", "russian": "ru", "serbian": "sr", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "turkish": "tr", "yiddish": "yi",
}  # fmt: skip
"""dateparser's code of each PostgreSQL text-search configuration but English."""

_YEAR_CUES: Final = {
    "ca": "el|des de|fins|de|any", "da": "i|år|siden|til|fra",
    "de": "im jahre?|jahr|seit|bis|von|ab|vor|nach", "es": "en|desde|hasta|de|del|durante|año",
    "fr": "en|depuis|jusqu'en|de|dès|année", "id": "tahun|sejak|pada",
    "it": "nel|dal|del|fino al|anno", "nb": "i|år|siden|til|fra", "nl": "in|sinds|tot|van|jaar",
    "pt": "em|desde|até|de|ano", "ro": "în|din|până în|anul", "ru": "в|с|до|от|к|году",
    "sv": "år|sedan|till|från",
}  # fmt: skip
"""The words that make the number after them a year; in other languages brackets and ranges do."""

_MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november", "december",
)  # fmt: skip
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_UNITS: Final = ("hour", "day", "week", "month", "year")
_KEY: Final = re.compile(r"(?:(in) )?(\\1|\d) (\w+)(?: ago)?")
_NUMBER: Final = r"(\d++[.,]?\d*+)"
_OFTEN: Final = re.compile(
    r"\b(?:jede[nrsm]?|los|las|cada|chaque|tous les|le|ogni|todos os|todas as|elke|varje|hver|каждый|каждую)"
    r"\s$",
    re.IGNORECASE,
)
"""What makes a weekday one that comes again."""
_MORNING: Final = re.compile(r"\b(?:am|guten|heute|jeden|la|esta|de|god|van)\s$", re.IGNORECASE)
"""What makes a morning of the "morgen" or "mañana" that follows, which may also be tomorrow."""
_ONE_LETTER: Final = re.compile(r"(?:\s|\\s\*)[^\W\d_]$")
"""Ends a phrase with a unit of one letter: "vor 3 m"."""
_ORDINALS: Final = frozenset(("segunda", "terca", "terça", "quarta", "quinta", "sexta"))
"""Weekdays without "-feira" that mean "second" to "sixth" as often."""
_MOST_READ: Final = 60
"""Phrases of a text that dateparser is asked for."""
_HALF_YEAR: Final = timedelta(days=182)


def foreign_year(content: str, start: int, language: str) -> bool:
    """Return whether the words before a number of four digits make it a year in a language."""
    cues = _YEAR_CUES.get(CODES.get(language, ""))
    return (
        cues is not None
        and re.search(rf"\b(?:{cues})\s{{1,2}}$", before(content, start), re.IGNORECASE) is not None
    )


def foreign_parts(content: str, calendar: Calendar, language: str) -> list[Part]:
    """Find and read the times that are said in words; none of a language that dateparser does not know.

    Args:
        content: The text.
        calendar: Seen from when it was said.
        language: Name of a PostgreSQL text-search configuration.
    """
    code = CODES.get(language, "")
    pattern = _pattern(code)
    if pattern is None:
        return []
    parts: list[Part] = []
    for number, match in enumerate(pattern.finditer(content)):
        if number == _MOST_READ:
            break
        kind, ahead = match.lastgroup or "", before(content, match.start())
        if (kind == "weekday" and _OFTEN.search(ahead)) or (kind == "in_day" and _MORNING.search(ahead)):
            continue
        try:
            parts.extend(_read(match.group(), match.start(), kind, calendar, code))
        except (OverflowError, ValueError):
            continue  # no such moment in the years 1 to 9999
    return parts


def _read(text: str, start: int, kind: str, calendar: Calendar, code: str) -> list[Part]:
    """Let dateparser read a stretch of a kind; None is understood of some that its data promise."""
    unit = kind.split("_")[-1]
    dated = kind in ("date_day", "date_month")
    whole = re.search(r"\d{4}", text) is not None
    moment = _moment(text, code, calendar.now + _HALF_YEAR if dated and not whole else calendar.now)
    if moment is None:
        return []
    if dated:
        period = calendar.dated(moment.year, moment.month, moment.day if unit == "day" else None)
        if not re.search(rf"(?<!\d)0?{moment.day}(?!\d)", text) and unit == "day":
            return []  # of a day that the month lacks, dateparser makes another
        return one(text, start, period, unit, 0.9 if whole else 0.75, source="dateparser")
    if unit == "weekday":
        return one(text, start, calendar.at(moment).unit("day", 0), "day", 0.5, source="dateparser")
    if kind == "in_week" and any(character.isdigit() for character in text):
        unit = "day"  # "in 2 weeks" is an appointment
    return one(text, start, calendar.at(moment).unit(unit, 0), unit, 0.8, source="dateparser")


def _moment(text: str, code: str, base: datetime) -> datetime | None:
    """Return what dateparser understands, in local time."""
    from dateparser.date import DateDataParser

    settings = {
        "RELATIVE_BASE": base,
        "PREFER_DATES_FROM": "past",
        "PREFER_DAY_OF_MONTH": "first",
        "RETURN_AS_TIMEZONE_AWARE": False,
    }
    found = DateDataParser(languages=[code], settings=settings).get_date_data(text).date_obj
    return found.replace(tzinfo=None) if isinstance(found, datetime) else None


@lru_cache(maxsize=len(CODES) + 1)
def _pattern(code: str) -> re.Pattern[str] | None:
    """Return what a language's times look like, by dateparser's data; None where there are none.

    The groups of the pattern: date_day, date_month, weekday, and for phrases ago_ or in_ and the unit.
    """
    if code not in CODES.values():
        return None
    try:
        import_module("dateparser.date")
        info: dict[str, Any] = import_module(f"dateparser.data.date_translation_data.{code}").info
    except ImportError:
        return None
    months = _either(name for month in _MONTHS for name in info[month] if len(name) > 2 or not name.isascii())
    year = r"\d{4}"
    groups = {
        "date_day": rf"\d{{1,2}}(?:\.|º|°|er|a|-?го)? ?(?:de |d['’]|di )?(?:{months})"
        rf"(?:\.?,? (?:de |del )?{year})?|{year}\.? (?:{months})\.? \d{{1,2}}",
        "date_month": rf"(?:{months})\.? (?:de |del )?{year}",
        **_phrases(info),
        "weekday": _either(
            name for day in _WEEKDAYS for name in info[day] if len(name) > 4 and name.lower() not in _ORDINALS
        ),
    }
    whole = "|".join(f"(?P<{name}>{pattern})" for name, pattern in groups.items() if pattern)
    spaced = whole.replace(" ?", r"\s?").replace(" ", r"\s{1,2}")
    return re.compile(rf"(?<![\w.-])(?:{spaced})(?!\w)", re.IGNORECASE)


def _phrases(info: dict[str, Any]) -> dict[str, str]:
    """Return the expressions for "yesterday", "3 days ago" and the like, by direction and unit."""
    numbers = _either(
        word
        for entry in info.get("simplifications", ())
        for word, digits in entry.items()
        if word.isalpha() and digits.isdigit()
    )
    number = rf"(?:\d{{1,3}}|{numbers})" if numbers else r"\d{1,3}"
    found: dict[str, list[str]] = {}
    for key, phrases in {**info.get("relative-type-regex", {}), **info.get("relative-type", {})}.items():
        read = _KEY.fullmatch(key)
        if read is None or read[3] not in _UNITS or (read[3] == "hour" and read[2] != r"\1"):
            continue
        for phrase in phrases:
            if len(phrase) < 3 or _ONE_LETTER.search(phrase):
                continue
            said = (
                phrase.replace(_NUMBER, number).replace(r"\s*", " ?").replace(r"\s+", " ")
                if _NUMBER in phrase
                else re.escape(phrase).replace(r"\ ", " ")
            )
            found.setdefault(f"{'in' if read[1] else 'ago'}_{read[3]}", []).append(said)
    return {name: "|".join(sorted(said, key=len, reverse=True)) for name, said in found.items()}


def _either(names: Iterable[str]) -> str:
    """Return an expression for any of some names, the longest first."""
    escaped = {re.escape(name).replace(r"\ ", " ") for name in names}
    return "|".join(sorted(escaped, key=lambda name: (-len(name), name)))
