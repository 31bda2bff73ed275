"""Scores the confidence: its calibration error, and how often it says yes, with and without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.reliability.run import Observation

__all__ = ["Shares", "area_under_curve", "calibration_error", "resamples", "scores", "shares", "tabulate"]

RESAMPLES: Final = 500
THRESHOLD: Final = 0.5
_BINS: Final = 10

Shares = dict[str, float]


def shares(confidence: NDArray[np.float64], right: NDArray[np.bool_], known: NDArray[np.bool_]) -> Shares:
    """Return the figures of some questions.

    Besides the calibration error, the shares whose first memory has a confidence above one half:
    `answered_above` of questions with their evidence in the namespace, `right_above` of those whose first
    memory answers them, `unanswered_above` of questions without their evidence. `auroc_known` says how well
    the confidence tells questions with their evidence from others, `auroc_right` first memories that answer.
    """
    above = confidence > THRESHOLD
    return {
        "calibration_error": calibration_error(confidence, right),
        "answered_above": _mean(above[known]),
        "right_above": _mean(above[right]),
        "unanswered_above": _mean(above[~known]),
        "auroc_known": area_under_curve(confidence, known),
        "auroc_right": area_under_curve(confidence, right),
    }


def scores(observations: Sequence[Observation], seed: int) -> dict[str, Any]:
    """Return the figures of some questions, with 95 % intervals over the questions."""
    confidence = np.array([one.confidence for one in observations])
    right = np.array([one.is_right for one in observations])
    known = np.array([one.is_known for one in observations])
    value = shares(confidence, right, known)
    drawn = [
        shares(confidence[places], right[places], known[places]) for places in resamples(observations, seed)
    ]
    return {
        "asked": len(observations),
        "first_is_right": round(_mean(right[known]), 4),
        **{name: _stated(value[name], [one[name] for one in drawn]) for name in value},
    }


def resamples(observations: Sequence[Observation], seed: int) -> list[NDArray[np.int64]]:
    """Draw questions with replacement, each with all its namespaces; return places of observations."""
    keys = np.array([f"{one.dataset} {one.question}" for one in observations])
    _, numbers = np.unique(keys, return_inverse=True)
    places = np.argsort(numbers, kind="stable")
    groups = np.split(places, np.cumsum(np.bincount(numbers))[:-1])
    chance = np.random.default_rng(seed)
    return [
        np.concatenate([groups[one] for one in chance.integers(0, len(groups), len(groups))])
        for _ in range(RESAMPLES)
    ]


def tabulate(
    observations: Sequence[Observation], key: Callable[[Observation], str], seed: int
) -> dict[str, dict[str, Any]]:
    """Return the figures by a key, in the order of its first appearance."""
    return {
        name: scores([one for one in observations if key(one) == name], seed)
        for name in dict.fromkeys(key(one) for one in observations)
    }


def area_under_curve(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: how often a positive scores above a negative, ties as a half.

    Args:
        scores: Shape (n,).
        labels: Shape (n,); True for a positive. NaN if all are alike.
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives = int(labels.sum())
    pairs = positives * (len(labels) - positives)
    return float((ranks[labels].sum() - positives * (positives + 1) / 2) / pairs) if pairs else float("nan")


def calibration_error(confidences: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins (Naeini, Cooper, Hauskrecht, 2015).

    Args:
        confidences: Shape (n,), 0 to 1.
        labels: Shape (n,); True where the memory answered the query.
    """
    bins = np.minimum((confidences * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(confidences[bins == one].mean() - labels[bins == one].mean()) * (bins == one).mean()
        for one in np.unique(bins)
    ]
    return float(sum(gaps))


def _stated(value: float, drawn: Sequence[float]) -> dict[str, Any]:
    """State a figure with the basic bootstrap's interval.

    It corrects that a resampled calibration error is too large: bins get noisier.
    """
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    ends = [round(float(np.clip(end, 0, 1)), 4) for end in (2 * value - high, 2 * value - low)]
    return {"value": round(value, 4), "ci95": ends}


def _mean(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if len(values) else float("nan")
