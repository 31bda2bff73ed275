"""The legs of a recall: their names, and which take part. Whatever shows legs loops over these names."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BOOSTS", "LEGS", "SEARCHES", "Leg", "legs_of", "ranks_of"]

Leg: TypeAlias = Literal["lexical", "dense", "graph"]
LEGS: Final[tuple[Leg, ...]] = get_args(Leg)
"""Every leg. Of each, a memory has a `…_rank`, and an explanation a `…_part` and a `…_weight` too."""

SEARCHES: Final[Mapping[Leg, str]] = MappingProxyType(
    {"lexical": "by words", "dense": "by meaning", "graph": "by related concepts"}
)
"""How each leg searches, in words for people and agents."""

BOOSTS: Final[Mapping[str, str]] = MappingProxyType(
    {"session": "neighbours", "phrase": "phrase", "time": "time"}
)
"""What raises a score besides the legs, in words for people; an explanation has a `…_part` of each."""

_OF_STRATEGY = {"vector": ("dense",), "fulltext": ("lexical",), "prefilter": ("lexical", "dense")}


def legs_of(
    strategy: str | None, settings: Mapping[str, str | float], query: str, *, has_vector: bool
) -> tuple[str, ...]:
    """Return the legs that take part in a recall.

    Args:
        strategy: The strategy that the database chose; None if it found nothing, then that of the settings.
        settings: What the call and the client ask for, by short name.
        query: The query; an empty one has no words and names no concepts.
        has_vector: Whether the recall had a vector.
    """
    chosen = str(settings.get("strategy", "hybrid")) if strategy is None else strategy
    legs = _OF_STRATEGY.get(chosen, LEGS)
    if chosen == "prefilter" and not has_vector:
        legs = ("lexical",)
    return tuple(
        leg
        for leg in legs
        if (leg != "dense" or has_vector)
        and (leg != "lexical" or query.strip())
        and (legs is not LEGS or _is_on(settings.get(f"{leg}_weight")))
    )


def ranks_of(memory: object) -> dict[Leg, int | None]:
    """Return the place of a memory in the list of each leg, from 1; None where the leg did not find it.

    Args:
        memory: The memory, or its explanation: what has a `…_rank` of each leg.
    """
    return {leg: getattr(memory, f"{leg}_rank") for leg in LEGS}


def _is_on(weight: str | float | None) -> bool:
    try:
        return weight is None or float(weight) > 0
    except ValueError:
        return True
