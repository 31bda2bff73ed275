"""Persons that a recogniser takes for firms or towns: "Olu Bello works at Deloitte".

Firms work with and for others as people do, and services work at shops ("Apple Pay works at Lidl"). So the
name must look like a person's, and what is said of it must be what people do. After a known given name a
weaker sign is enough.
"""

from __future__ import annotations

import re
from typing import Final

from pgrecall_extract.words import COMMON, ORG_WORDS, PLACE_FIRST, PLACE_LAST

from .surnames import FIRST_NAMES, OCCUPATION
from .world import ORGANISATIONS, PLACES

__all__ = ["is_person"]

_NO_PERSON: Final = COMMON | ORGANISATIONS | ORG_WORDS | PLACES | PLACE_FIRST | PLACE_LAST
_FORMS: Final = (
    r",?(?: (?:now|also|currently|still|just|recently|finally|no longer))?(?: (?:has|had))?"
    r"(?: (?:just|recently|finally))?"
)
# What only persons do.
_SURELY: Final = re.compile(
    rf"{_FORMS} (?:(?:works?|worked|is working|used to work|doesn['’]t work|stopped working)"
    r" (?:as an? [a-z][a-z ]{1,30}? (?:at|for)|at) (?:the )?[A-Z]"
    rf"|(?:is|was) an? {OCCUPATION} at (?:the )?[A-Z]"
    r"|(?:is|was|got) divorced\b|divorced [A-Z]"
    r"|(?:was|got|has been|been) (?:(?:fired|let go|hired) (?:from|at)"
    r"|(?:sacked|laid off|made redundant) (?:from|by|at)) (?:the )?[A-Z]"
    r"|(?:quit|left|lost) (?:his|her|their) job)"
)
# What firms do as well.
_LIKELY: Final = re.compile(
    rf"{_FORMS} (?:(?:works?|worked|is working|used to work|doesn['’]t work) for"
    r"|(?:moved|relocated) (?:back )?(?:to|out of|away from|from)|joined|left|quit|resigned from"
    r"|(?:was|got|has been|been) (?:fired|let go|hired) by)"
    r" (?:the )?[A-Z]"
)


def is_person(name: str, after: str) -> bool:
    """Return whether a name of several words looks like a person's and does what persons do.

    Args:
        name: The name, of letters alone.
        after: The text behind it.
    """
    words = name.lower().split()
    if len(words) < 2 or name.lower() in PLACES | ORGANISATIONS or name.isupper():
        return False
    if words[0] in FIRST_NAMES and words[-1] not in ORG_WORDS:
        return bool(_SURELY.match(after) or _LIKELY.match(after))
    return _NO_PERSON.isdisjoint(words) and _SURELY.match(after) is not None
