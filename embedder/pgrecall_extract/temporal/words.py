"""The English words of time, and what the words around a time tell: that it recurs, a verb's tense."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["MONTHS", "NUMBERS", "SEASONS", "WEEKDAYS", "before", "recurs", "tense", "words"]

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
"""The first month of each, in the northern half of the world; a season has three."""
NUMBERS: Final = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "couple": 2, "few": 3, "several": 5, "dozen": 12,
}  # fmt: skip

_WORD: Final = re.compile(r"\d+|[a-z]+")
_BEFORE: Final = 40
"""Characters looked at before a stretch for the words that lead to it."""
_SENTENCE: Final = 120
"""Characters looked at on either side of a stretch for a verb."""
_SENTENCE_END: Final = re.compile(r"[.!?](?=\s)|\n")
_RECURS: Final = re.compile(
    r"\b(?:every|each|most|any|per|annual|daily|weekly|usually|always|day\sof)\s(?:\w+\s){0,3}$",
    re.IGNORECASE,
)

_PAST: Final = frozenset((
    "was", "were", "had", "did", "went", "came", "saw", "got", "made", "took", "gave", "found", "told",
    "said", "met", "left", "kept", "began", "bought", "brought", "built", "ate", "drank", "drove", "felt",
    "flew", "forgot", "heard", "held", "knew", "lost", "paid", "ran", "sat", "sent", "slept", "spent",
    "spoke", "stood", "taught", "thought", "won", "wrote", "wore", "woke", "threw", "swam", "sang", "sold",
    "rode", "read", "put", "led", "hit", "grew", "fell", "fought", "caught", "broke", "became", "cut",
    "didn", "wasn", "weren", "couldn", "wouldn",
))  # fmt: skip
_FUTURE: Final = frozenset((
    "will", "ll", "won", "shall", "going", "gonna", "plan", "plans", "planning", "want", "wants", "hope",
    "hopes", "hoping", "should", "must", "need", "needs", "can", "cannot", "let", "lets", "may", "might",
    "is", "are", "m", "re", "am", "have", "has", "see", "due", "deadline",
))  # fmt: skip
_BE: Final = frozenset((
    "is", "are", "am", "m", "re", "be", "being", "gets",
))  # fmt: skip
_INTEND: Final = frozenset((
    "decided", "planned", "agreed", "promised", "wanted", "hoped", "offered", "invited", "asked",
))  # fmt: skip
_SET: Final = frozenset(("scheduled", "rescheduled", "postponed", "delayed", "booked", "planned", "due"))
"""A meeting that was "postponed to Friday" is still to come."""
_MOVED: Final = frozenset(("moved", "pushed", "shifted", "put"))
_NO_VERB: Final = frozenset((
    "need", "bed", "red", "wed", "shed", "speed", "feed", "hundred", "indeed", "kindred", "sacred",
    "united", "excited", "embed", "exceed", "proceed", "succeed", "breed", "seed", "weed", "fred", "ted",
    "naked", "wicked",
))  # fmt: skip
_VERB_WORD: Final = re.compile(r"[a-z]+")


def words(stretch: str) -> list[str]:
    """Return the words and the numbers of a stretch, in small letters: "May 3rd" is may, 3, rd."""
    return _WORD.findall(stretch.lower())


def before(content: str, start: int) -> str:
    """Return what comes right before a stretch, as it is written."""
    return content[max(0, start - _BEFORE) : start]


def recurs(content: str, start: int) -> bool:
    """Return whether what follows is said to come again and again: "every Friday", "each year in May"."""
    return _RECURS.search(before(content, start)) is not None


def tense(content: str, start: int, end: int) -> str | None:
    """Return "past" or "future", the tense of the verb nearest to a stretch in its sentence, or None.

    The verb before it decides, else the first one after it. The present counts as
    future: "I am there on Friday".
    """
    left = _SENTENCE_END.split(content[max(0, start - _SENTENCE) : start])[-1]
    right = _SENTENCE_END.split(content[end : end + _SENTENCE], maxsplit=1)[0]
    return _tense(_VERB_WORD.findall(left.lower()), nearest_last=True) or _tense(
        _VERB_WORD.findall(right.lower())
    )


def _tense(among: list[str], *, nearest_last: bool = False) -> str | None:
    places = range(len(among) - 1, -1, -1) if nearest_last else range(len(among))
    for place in places:
        word = among[place]
        ahead = among[place - 1] if place else ""
        follows = among[place + 1] if place + 1 < len(among) else ""
        if word in _PAST and not (word == "got" and ahead in ("ve", "have", "has", "s")):
            return "past"
        if word in _SET or (word in _MOVED and follows in ("to", "until", "till", "back")):
            return "future"
        if word.endswith("ed") and len(word) > 3 and word not in _NO_VERB:
            return "future" if ahead in _BE or (word in _INTEND and follows == "to") else "past"
        if word in _FUTURE:
            return "future"
    return None
