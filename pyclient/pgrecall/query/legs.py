"""Which legs of a recall take part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["legs_of"]

_OF_STRATEGY = {"vector": ("dense",), "fulltext": ("lexical",), "prefilter": ("lexical", "dense")}
_ALL = ("lexical", "dense", "graph")


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
    legs = _OF_STRATEGY.get(chosen, _ALL)
    if chosen == "prefilter" and not has_vector:
        legs = ("lexical",)
    return tuple(
        leg
        for leg in legs
        if (leg != "dense" or has_vector)
        and (leg != "lexical" or query.strip())
        and (legs is not _ALL or _is_on(settings.get(f"{leg}_weight")))
    )


def _is_on(weight: str | float | None) -> bool:
    try:
        return weight is None or float(weight) > 0
    except ValueError:
        return True
