"""The legs of a recall: what is known of each, and which take part. Whatever shows legs loops over these."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["BOOSTS", "DESCRIBED", "LEGS", "Leg", "LegDescription", "found_by", "legs_of", "ranks_of"]

Leg: TypeAlias = Literal["lexical", "dense", "graph"]
LEGS: Final[tuple[Leg, ...]] = get_args(Leg)
"""Every leg. Of each, a memory has a `…_rank`, and an explanation a `…_part` and a `…_weight` too."""


@dataclass(frozen=True, slots=True)
class LegDescription:
    """A leg, as clients show it.

    Attributes:
        searches: How it searches, in words for people and agents.
        score: The column with its own score of a memory.
        kind: What that score is, on the command line.
        measure: What it is measured in, on a page.
        needs: What a recall must have, or the leg takes no part; None if nothing.
    """

    searches: str
    score: str
    kind: str
    measure: str
    needs: Literal["words", "vector"] | None


DESCRIBED: Final[Mapping[Leg, LegDescription]] = MappingProxyType(
    {
        "lexical": LegDescription("by words", "lexical_score", "score", "BM25", needs="words"),
        "dense": LegDescription("by meaning", "similarity", "cosine", "cosine", needs="vector"),
        "graph": LegDescription("by related concepts", "graph_score", "score", "drawn", needs=None),
    }
)
"""Each leg, in the order of `LEGS`."""

BOOSTS: Final[Mapping[str, str]] = MappingProxyType(
    {"sparse": "sparse terms", "session": "neighbours", "phrase": "phrase", "time": "time"}
)
"""What adds to a score besides the legs, in words for people; an explanation has a `…_part` of each."""

_OF_STRATEGY: Final[Mapping[str, tuple[Leg, ...]]] = {
    "vector": ("dense",),
    "fulltext": ("lexical",),
    "prefilter": ("lexical", "dense"),
}


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
    has = {"words": bool(query.strip()), "vector": has_vector, None: True}
    return tuple(
        leg
        for leg in legs
        if has[DESCRIBED[leg].needs] and (legs is not LEGS or _is_on(settings.get(f"{leg}_weight")))
    )


def ranks_of(memory: object) -> dict[Leg, int | None]:
    """Return the place of a memory in the list of each leg, from 1; None where the leg did not find it.

    Args:
        memory: The memory, or its explanation: what has a `…_rank` of each leg.
    """
    return {leg: getattr(memory, f"{leg}_rank") for leg in LEGS}


def found_by(leg: Leg, rank: int, score: float | None) -> dict[str, Any]:
    """Return the columns of all legs for a memory that one leg found.

    Args:
        leg: The leg.
        rank: The place of the memory in its list, from 1.
        score: The leg's own score of it.
    """
    columns: dict[str, Any] = {name: None for one in LEGS for name in (f"{one}_rank", DESCRIBED[one].score)}
    return columns | {f"{leg}_rank": rank, DESCRIBED[leg].score: score}


def _is_on(weight: str | float | None) -> bool:
    try:
        return weight is None or float(weight) > 0
    except ValueError:
        return True
