"""Precision and recall of decisions, with Wilson's intervals: most counts are small, and some are zero."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any, Final

from benchmarks.quality.curation.pairs import EXPECTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.quality.curation.pairs import Pair

__all__ = ["score", "wilson"]

_Z: Final = 1.959964


def wilson(right: int, of: int) -> tuple[float, float]:
    """Return the 95 % interval of a share.

    Args:
        right: How many.
        of: Of how many; more than none.
    """
    share, square = right / of, _Z * _Z / of
    middle = (share + square / 2) / (1 + square)
    half = _Z * sqrt(share * (1 - share) / of + square / (4 * of)) / (1 + square)
    return round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)


def score(pairs: Sequence[Pair], decisions: Sequence[str]) -> dict[str, Any]:
    """Compare decisions with labels.

    Args:
        pairs: The pairs.
        decisions: What was decided about each.
    """
    told = list(zip(pairs, decisions, strict=True))
    unrelated = [decision for pair, decision in told if pair.label == "unrelated"]
    changed = sum(decision != "ADD" for decision in unrelated)
    return {
        "confusion": {
            label: {
                decision: sum(pair.label == label and made == decision for pair, made in told)
                for decision in EXPECTED.values()
            }
            for label in EXPECTED
        },
        "decisions": {
            decision: {
                "precision": _share([pair.label == label for pair, made in told if made == decision]),
                "recall": _share([made == decision for pair, made in told if pair.label == label]),
            }
            for label, decision in EXPECTED.items()
        },
        "unrelated_changed": {
            "count": changed,
            "of": len(unrelated),
            "ci95": list(wilson(changed, len(unrelated))),
        },
    }


def _share(hits: Sequence[bool]) -> dict[str, Any] | None:
    if not hits:
        return None
    right = sum(hits)
    return {
        "right": right,
        "of": len(hits),
        "value": round(right / len(hits), 4),
        "ci95": list(wilson(right, len(hits))),
    }
