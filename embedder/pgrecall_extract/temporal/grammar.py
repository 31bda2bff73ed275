"""The stretches of a text that may name a time, as regular expressions.

Every repetition in them is bounded, and so is every look around a stretch: a text is read in linear time.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["HINT", "NEUTRAL", "STRETCH"]

_M = (
    r"(?:jan(?:uary|\.)?|feb(?:ruary|\.)?|mar(?:ch|\.)?|apr(?:il|\.)?|may|june?|july?|aug(?:ust|\.)?"
    r"|sept?(?:ember|\.)?|oct(?:ober|\.)?|nov(?:ember|\.)?|dec(?:ember|\.)?)(?![a-z])"
)
_WD = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_WD_SHORT = r"(?:mon|tues?|wed|thu(?:rs?)?|fri|sat|sun)\.?"
_D = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_NTH = r"(?:[12]?(?:1st|2nd|3rd)|[12]?[4-9]th|1\dth|[123]0th|31st)"
_Y = r"[12]\d{3}(?!\d)"
_OF_YEAR = rf"(?:,? (?:of )?{_Y}|,? ['’]\d\d)"
_TO = r"(?: ?[-–—−] ?| (?:to|until|till|through|thru|and|&) (?:the )?)"
_N = (
    r"(?:\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a )?(?:few|dozen)|several|(?:a )?couple(?: of)?)"
)
_UNIT = r"(?:minute|hour|day|week(?:end)?|month|quarter|year|decade)"
_SEASON = r"(?:spring|summer|autumn|fall|winter)"
_WHICH = r"(?:last|past|previous|this|next|coming|upcoming|current)"
_PART = r"(?:morning|afternoon|evening|night)"
_CLOCK = (
    r"(?:\d{1,2}(?::[0-5]\d(?::[0-5]\d)?)? ?(?:am|pm|a\.m\.?|p\.m\.?|o['’]clock)"
    r"|(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?)"
)

_DAY = r"\d{4}-\d\d-\d\d"
_MOMENT = rf"{_DAY}(?:T| )\d\d:\d\d(?::\d\d(?:\.\d{{1,9}})?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d(?::?\d\d)?))?"

_NEUTRAL: Final = {
    "interval": rf"{_MOMENT}/{_MOMENT}|{_DAY}/{_DAY}",
    "iso": rf"(?:{_MOMENT}|\d{{4}}-\d\d(?:-\d\d)?)(?![\d-])",
    "isoweek": r"\d{4}-W\d\d",
    "numeric": r"(?:\d{4}/\d{1,2}/\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{4})(?!\d|[./-]\d)",
    "quarter": rf"q[1-4](?:,? (?:of )?{_Y})?|{_Y} ?q[1-4]"
    rf"|(?:first|second|third|fourth|1st|2nd|3rd|4th) quarter of {_Y}",
    "decade": r"(?:1\d|20)\d0s|(?:early|mid|late|the)(?: |-)(?:(?:early|mid|late)(?: |-))?['’]?[5-9]0s",
    "year": r"(?:19|20)\d\d(?: ?[-–—−] ?(?:(?:19|20)\d\d|\d\d)(?!\d))?",
}
_ENGLISH: Final = {
    "days": rf"(?:{_D}{_TO}{_D} (?:of )?{_M}"
    rf"|{_M} {_D}{_TO}{_D}(?![\d:]| ?[ap]\.?m\b| (?:of )?{_M})){_OF_YEAR}?",
    "date": rf"(?:(?:{_WD}|{_WD_SHORT}),? (?:the )?)?"
    rf"(?:{_M}(?: |-| the ){_D}(?![\d:.]\d|\d| ?[ap]\.?m\b)"
    rf"|(?<![\d.,:])(?:{_D} (?:of )?{_M}|{_D}[-/]{_M}(?=[-/])))"
    rf"(?:{_OF_YEAR}|[-/](?:{_Y}|\d\d(?!\d)))?",
    "monthyear": rf"{_M}(?:,? (?:of )?{_Y}|,? ['’]\d\d)",
    "season": rf"{_SEASON},? (?:of )?{_Y}",
    "dayword": r"day (?:before yesterday|after tomorrow)|yesterday|today|tomorrow|tonight",
    "edge": r"end of (?:the |this )?(?:week|month|quarter|year)(?! of)"
    r"|(?:over|on|at|during|for|by|in) the weekend(?! of)",
    "beyond": r"(?:week(?:end)?|month|quarter|year) (?:before last|after next)",
    "which": rf"(?:this |these )?{_WHICH} (?:{_N} {_UNIT}s?|{_UNIT}(?! of\b)|{_WD}|{_WD_SHORT}"
    rf"|(?:{_M}|{_SEASON}|q[1-4])(?!,? (?:of )?\d)|{_PART})",
    "ago": rf"(?<!,)(?:half )?{_N} {_UNIT}s? (?:ago|back(?! (?:to|at|in|on|home|from|and)\b)"
    r"|from (?:now|today))",
    "in": rf"in (?:just |about |around |another |only )?{_N} (?:minute|hour|day|week|month|year)s?"
    r"(?!['’]s? (?!time))",
    "nth": rf"{_WD},? (?:the )?{_NTH}|(?:on|by|until|since) the {_NTH}"
    r"(?= ?(?:[.,;:!?)]|$)| (?:and|at|after|before|so|but|because|when|with)\b)",
    "weekday": rf"{_WD}(?: (?:of )?(?:last|this|next) week)?",
    "clock": rf"{_CLOCK}(?: ?[-–—−] ?{_CLOCK})?(?![\d:])"
    r"|\d{1,2} ?[-–] ?\d{1,2}(?::[0-5]\d)? ?[ap]m|noon|midnight",
    "part": _PART,
    "month": _M,
}


def _compiled(kinds: dict[str, str]) -> re.Pattern[str]:
    """Put expressions together, each a group of its name; a space in them is one or two of any kind."""
    spaced = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in kinds.items())
    spaced = spaced.replace(" ?", r"[\s\xa0]?").replace(" ", r"[\s\xa0]{1,2}")
    # Only ASCII letters and digits within: else a long s is an s, and other scripts' digits are digits.
    ahead = r"(?<![\w$€£#@/\\.])(?:(?<!-)|(?<=\bmid-)|(?<=\blate-)|(?<=\bearly-))"
    return re.compile(rf"{ahead}(?a:{spaced})(?![\w@\\])(?![./]\d)", re.IGNORECASE)


NEUTRAL: Final = _compiled(_NEUTRAL)
"""Stretches that look like a time in any language."""

STRETCH: Final = _compiled(
    {**{kind: _NEUTRAL[kind] for kind in ("interval", "iso", "isoweek")}, **_ENGLISH, **_NEUTRAL}
)
"""Stretches that look like a time in English; the name of the group says which kind."""

HINT: Final = re.compile(
    r"\d|day|week|month|year|night|noon|morning|evening|hour|minute|quarter|decade|tomorrow"
    r"|spring|summer|autumn|fall|winter|o['’]clock|\b(?:mon|tue|wed|thu|fri|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)",
    re.IGNORECASE,
)
"""Every text matches it in which STRETCH finds something; most texts without a time do not."""
