"""Scores the confidence: its calibration error, and how often it says yes, with and without an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.quality.abstention import calibration_error

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.reliability.run import Observation

__all__ = ["Shares", "resamples", "scores", "shares", "tabulate"]

RESAMPLES: Final = 500
THRESHOLD: Final = 0.5

Shares = dict[str, float]


def shares(confidence: NDArray[np.float64], right: NDArray[np.bool_], known: NDArray[np.bool_]) -> Shares:
    """Return the figures of some questions.

    Besides the calibration error, the shares whose first memory has a confidence above one half:
    `answered_above` of questions with their evidence in the namespace, `right_above` of those whose first
    memory answers them, `unanswered_above` of questions without their evidence.
    """
    above = confidence > THRESHOLD
    return {
        "calibration_error": calibration_error(confidence, right),
        "answered_above": _mean(above[known]),
        "right_above": _mean(above[right]),
        "unanswered_above": _mean(above[~known]),
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


def _stated(value: float, drawn: Sequence[float]) -> dict[str, Any]:
    """State a figure with the basic bootstrap's interval.

    It corrects that a resampled calibration error is too large: bins get noisier.
    """
    low, high = np.nanpercentile(drawn, (2.5, 97.5))
    ends = [round(float(np.clip(end, 0, 1)), 4) for end in (2 * value - high, 2 * value - low)]
    return {"value": round(value, 4), "ci95": ends}


def _mean(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if len(values) else float("nan")
