"""Which mentions stay where several enrichers found the same words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .base import Mention

__all__ = ["resolve", "unique"]

_EXPLICIT: Final = frozenset({"path", "url", "issue", "handle"})
_SURE: Final = 0.95
_PHRASE: Final = 0.7
"""The most that a phrase without a type is worth."""
_LONGEST_NAME: Final = 200


def resolve(
    text: str, mentions: Iterable[Mention], secrets: Sequence[tuple[int, int]], minimum: float
) -> list[Mention]:
    """Return mentions that do not overlap, in the order of the text.

    A namespace's own rules and spellings that leave no doubt come first, then the longest, then what knows
    its type, then the most confident. A repository stays beside its issue.

    Args:
        text: The text.
        mentions: Mentions with spans in it.
        secrets: Stretches that no name may touch.
        minimum: The least confidence, from 0 to 1.
    """
    taken = bytearray(len(text))
    for begin, end in secrets:
        taken[begin:end] = b"\x01" * (end - begin)
    kept: list[Mention] = []
    for mention in sorted(mentions, key=_rank):
        first, last = mention.start, mention.end
        if first is None or last is None or mention.confidence < minimum or len(mention.name) > _LONGEST_NAME:
            continue
        if any(taken[first:last]) and not _beside(mention, kept):
            continue
        taken[first:last] = b"\x01" * (last - first)
        kept.append(mention)
    return sorted(kept, key=lambda mention: (mention.start or 0, -(mention.end or 0)))


def unique(mentions: Sequence[Mention], most: int) -> tuple[Mention, ...]:
    """Return each name once, with its most confident mention, and no more than so many.

    Upper and lower case make no difference. The name keeps a type that any of its mentions knows, and is what
    the memory is about if any of them is.

    Args:
        mentions: The mentions, what stands first first.
        most: How many to keep: what the memory is about and the most confident.
    """
    groups: dict[str, list[Mention]] = {}
    for mention in mentions:
        groups.setdefault(mention.name.casefold(), []).append(mention)
    merged = []
    for group in groups.values():
        best = max(group, key=lambda mention: mention.confidence)
        typed = max(group, key=lambda mention: (mention.type != "CONCEPT", mention.confidence))
        type_ = best.type if best.source in {"listed", "pattern"} else typed.type
        is_about = any(mention.is_about for mention in group)
        same = (type_, is_about) == (best.type, best.is_about)
        merged.append(best if same else replace(best, type=type_, is_about=is_about))
    if len(merged) > most:
        order = {id(mention): number for number, mention in enumerate(merged)}
        merged.sort(key=lambda mention: (not mention.is_about, -mention.confidence))
        merged = sorted(merged[:most], key=lambda mention: order[id(mention)])
    return tuple(merged)


def _rank(mention: Mention) -> tuple[bool, int, bool, float, int]:
    explicit = mention.source in _EXPLICIT or (
        mention.source in {"listed", "pattern"} and mention.confidence >= _SURE
    )
    # Of the same words, lists and spellings know the type better than a model does, and a model better than
    # a phrase of unknown words.
    known = mention.source != "spacy" and (mention.type != "CONCEPT" or mention.confidence > _PHRASE)
    return (not explicit, -len(mention.name), not known, -mention.confidence, mention.start or 0)


def _beside(mention: Mention, kept: Sequence[Mention]) -> bool:
    """Return whether a mention is the repository of an issue that is kept."""
    return (
        mention.source == "issue"
        and mention.type == "PROJECT"
        and any(other.start == mention.start and other.source == "issue" for other in kept)
    )
