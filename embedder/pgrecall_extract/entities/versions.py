"""Names that go on after their last capital: versions, models, and diseases and theorems with a name."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from pgrecall_extract.words import CALENDAR, COMMON, word_set

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_extract.base import Mention

__all__ = ["with_products", "with_versions"]

_EXTENSIBLE: Final = frozenset({"phrase", "spacy", "listed", "identifier", "version"})
_VERSIONED: Final = frozenset({"TECHNOLOGY", "CONCEPT", "ORG"})
_UNIT = (
    r"(?! ?(?:%|°|percent|per cent|million|billion|trillion|thousand|hundred|km|kg|mg|g|m|cm|mm|miles?"
    r"|meters?"
    r"|metres?|feet|inch(?:es)?|hours?|minutes?|seconds?|days?|weeks?|months?|years?|points?|stars?|litres?"
    r"|liters?|out of|times|goals?|runs?|euros?|dollars?|pounds?|people|[FA]M|[MG]Hz|[MGT]B|[ap]\.?m\b))"
)
_DOTTED = re.compile(
    r" (?:version )?(?:[vV]\d{1,4}(?:\.\d{1,5}){0,3}|\d{1,4}(?:\.(?:\d{1,5}|x)){1,3})"
    r"(?:-?(?:rc|beta|alpha)\d{0,2})?(?![\w%]|[.,:/-]\d)" + _UNIT
)
_WHOLE = re.compile(
    r" (?!(?:1[5-9]|20)\d\d\b)\d{1,4}[a-zA-Z]{0,2}(?![\w%]|[.,:/-]\d)" + _UNIT + r"(?=$|[.,;:!?)\]\"”'’\n]"
    r"| (?:and|or|with|on|in|for|from|to|is|was|has|had|that|which|at|as|but|by|because|when|if|after|before"
    r"|instead|runs|broke|crashed|arrived|works|came|supports|needs|screen)\b)"
)
_SUFFIX = re.compile(
    r"(?:['’]s)? (?:disease|syndrome|theorem|lemma|conjecture|equations?|inequality|paradox|hypothesis"
    r"|principle|algorithm)\b(?! of\b)"
)
_NO_MODELS: Final = (
    COMMON
    | CALENDAR
    | word_set("""
    act apollo administrative article avenue boulevard chapter figure gate grade highway interstate john
    luke mark matthew page phase platform proclamation psalm resolution revision road room route row
    rule section street table terminal track verse volume world zone
""")
)
_MOST_EXTENSION = 40
_OWNED = re.compile(r"\b(?:[Aa]n?|[Mm]y|[Oo]ur|[Yy]our|his|her|their|new|old|used)(?: [a-z]+)? $")


def with_versions(text: str, mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions, each to the end of its version or model ("PostgreSQL 17.2", "Forerunner 255").

    Args:
        text: The text.
        mentions: Mentions with spans, none overlapping another, in the order of the text.
    """
    extended = []
    for number, mention in enumerate(mentions):
        end = _end(text, mention)
        following = mentions[number + 1].start if number + 1 < len(mentions) else None
        if end is None or mention.start is None or (following is not None and following < end):
            extended.append(mention)
            continue
        name = text[mention.start : end]
        if any(map(str.isdigit, text[mention.end : end])):
            dotted = "." in name or re.search(r" [vV]\d", name)
            known = mention.type == "TECHNOLOGY" or dotted or _OWNED.search(text[: mention.start][-24:])
            type_ = "TECHNOLOGY" if known else mention.type
            longer = replace(mention, name=name, end=end, type=type_, source="version")
        else:
            longer = replace(mention, name=name, end=end, type="CONCEPT", confidence=0.85)
        extended.append(longer)
    return extended


def with_products(mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions, with the bare product beside one that has a release in its name.

    The next release is the same tool, and what is known about it should be found by its name. A model is told
    whole only: the next one is another device.

    Args:
        mentions: Mentions with spans.
    """
    told = []
    for mention in mentions:
        told.append(mention)
        release = _RELEASE.search(mention.name) if mention.source == "version" else None
        if release is not None and mention.start is not None:
            bare = mention.name[: release.start()]
            told.append(replace(mention, name=bare, end=mention.start + len(bare)))
    return told


_RELEASE = re.compile(r" (?:version )?(?:[vV]\d[\w.-]*|\d+\.[\w.-]+)$")


def _end(text: str, mention: Mention) -> int | None:
    """Return where a name with what belongs to it ends; None if nothing does."""
    if mention.end is None or mention.source not in _EXTENSIBLE or text[mention.end : mention.end + 1] == "":
        return None
    stop = mention.end + _MOST_EXTENSION
    if mention.source in {"phrase", "spacy"} and (suffix := _SUFFIX.match(text, mention.end, stop)):
        return suffix.end()
    if mention.type not in _VERSIONED:
        return None
    last = mention.name.rpartition(" ")[2].lower()
    if mention.source != "listed" and (last in _NO_MODELS or last.endswith(".")):
        return None
    match = _DOTTED.match(text, mention.end, stop)
    if match is None and mention.type != "ORG":
        match = _WHOLE.match(text, mention.end, stop)
    return None if match is None else match.end()
