"""Sentences of a text, roughly: enough to know what opens one and what belongs together."""

from __future__ import annotations

import re

from .words import ABBREVIATIONS

__all__ = ["UPPER", "sentence_spans"]

UPPER = "".join(chr(code) for code in range(0x530) if chr(code).isupper())
"""The capital letters of the Latin, Greek and Cyrillic scripts."""

_END = re.compile(r"[.!?…][\"”’')\]]{0,3}(?=\s)|\n|[。！？]")
_LAST_WORD = re.compile(r"([\w.]{0,12})\.$")
_INITIAL = re.compile(rf"(?:[{UPPER}]\.)*[{UPPER}]")


def sentence_spans(text: str, start: int = 0) -> list[tuple[int, int]]:
    """Return begin and end of every sentence that is not empty; a line ends a sentence.

    Args:
        text: Any text.
        start: Where to begin, in characters.
    """
    spans = []
    for match in _END.finditer(text, start):
        if match[0] == "." and not _ends(text, match.end()):
            continue
        if text[start : match.end()].strip():
            spans.append((start, match.end()))
        start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return [(begin + _blank(text[begin:end]), end) for begin, end in spans]


def _blank(sentence: str) -> int:
    return len(sentence) - len(sentence.lstrip())


def _ends(text: str, end: int) -> bool:
    """Return whether a full stop ends a sentence: not after an abbreviation, nor before a small letter."""
    following = text[end : end + 3].lstrip()
    if following[:1].islower():
        return False
    word = _LAST_WORD.search(text[max(0, end - 14) : end])
    if word is None or not word[1]:
        return True
    return not (_INITIAL.fullmatch(word[1]) and word[1] != "I") and word[1].lower() not in ABBREVIATIONS
