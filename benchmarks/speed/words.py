"""Made-up words that English stemming leaves apart, and the small words between them."""

from __future__ import annotations

from functools import cache

__all__ = ["FILLERS", "names", "vocabulary"]

FILLERS = (
    "the", "and", "of", "to", "in", "that", "was", "for", "on", "with", "as", "by",
    "at", "from", "but", "not", "his", "her", "they", "we", "when", "which", "their", "had",
)  # fmt: skip
"""All of them stop words of English: they take room in the text and none in the index."""

_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "t", "v", "z")
_VOWELS = ("a", "o", "u")
_SYLLABLES = tuple(onset + vowel for onset in _ONSETS for vowel in _VOWELS)
_SCATTER = 7_919
"""A prime that does not divide the number of words of a length: steps of it visit each of them once."""


@cache
def vocabulary(count: int) -> tuple[str, ...]:
    """Return different words of three syllables or more, in an order that hides how they are made."""
    return tuple(_word(number, "k") for number in range(count))


@cache
def names(count: int) -> tuple[str, ...]:
    """Return different capitalised names, none of them a word of the vocabulary."""
    return tuple(_word(number, "x").capitalize() for number in range(count))


def _word(number: int, end: str) -> str:
    length, first = 3, 0
    while number - first >= (size := len(_SYLLABLES) ** length):
        first += size
        length += 1
    rest = (number - first) * _SCATTER % size
    syllables = []
    for _ in range(length):
        rest, digit = divmod(rest, len(_SYLLABLES))
        syllables.append(_SYLLABLES[digit])
    return "".join(syllables) + end
