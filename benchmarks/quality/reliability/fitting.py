"""Would other coefficients of the confidence be better: fitted without a data set, tried on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.quality.reliability.scoring import resamples, shares

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.reliability.run import Observation

__all__ = ["refit"]

_NAMES: Final = ("base", "share", "evidence", "lead")
_SCALES: Final = np.array([1.5, 0.04, 6.7])
"""The coefficients in force with a vector: what parts are divided by."""
_ROUNDS: Final = 30
_RIDGE: Final = 1e-3


def refit(observations: Sequence[Observation], seed: int) -> dict[str, Any]:
    """Fit the coefficients on all data sets but one, and compare them there with those in force.

    Args:
        observations: Of questions with a vector, by all encoders.
        seed: Of the intervals.

    Returns:
        By data set the coefficients that were fitted without it, and by encoder their figures there beside
        those in force; then all held-out figures together.
    """
    answered = [one for one in observations if one.parts]
    features = np.array([[one.parts[name] for name in _NAMES[1:]] for one in answered]) / _SCALES
    offset = np.array([one.parts["contradiction"] for one in answered])
    right = np.array([one.is_right for one in answered])
    sets = np.array([one.dataset for one in answered])
    encoders = np.array([one.encoder for one in answered])
    fitted = np.zeros(len(answered))
    found: dict[str, Any] = {}
    for name in dict.fromkeys(sets.tolist()):
        held = sets == name
        coefficients = _fit(features[~held], offset[~held], right[~held])
        fitted[held] = _probability(features[held], offset[held], coefficients)
        found[name] = {
            "coefficients": {
                one: round(float(value), 3) for one, value in zip(_NAMES, coefficients, strict=True)
            },
            "encoders": {
                encoder: _compared(answered, fitted, held & (encoders == encoder), seed)
                for encoder in dict.fromkeys(encoders.tolist())
            },
        }
    every = {
        encoder: _compared(answered, fitted, encoders == encoder, seed)
        for encoder in dict.fromkeys(encoders.tolist())
    }
    return {"held_out": found, "all": every}


def _compared(
    observations: Sequence[Observation], fitted: NDArray[np.float64], where: NDArray[np.bool_], seed: int
) -> dict[str, Any]:
    chosen = [one for one, is_in in zip(observations, where, strict=True) if is_in]
    now = np.array([one.confidence for one in chosen])
    new = fitted[where]
    right = np.array([one.is_right for one in chosen])
    known = np.array([one.is_known for one in chosen])
    before, after = shares(now, right, known), shares(new, right, known)
    drawn = []
    for places in resamples(chosen, seed):
        one = shares(now[places], right[places], known[places])
        other = shares(new[places], right[places], known[places])
        drawn.append({name: other[name] - one[name] for name in one})
    result = {}
    for name in before:
        low, high = np.nanpercentile([one[name] for one in drawn], (2.5, 97.5))
        result[name] = {
            "in_force": round(before[name], 4),
            "fitted": round(after[name], 4),
            "delta": round(after[name] - before[name], 4),
            "ci95": [round(float(low), 4), round(float(high), 4)],
        }
    return result


def _fit(
    features: NDArray[np.float64], offset: NDArray[np.float64], right: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's method, with a little ridge."""
    design = np.column_stack([np.ones(len(features)), features])
    coefficients = np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        probability = 1 / (1 + np.exp(-(design @ coefficients + offset)))
        slope = design.T @ (right - probability) - _RIDGE * coefficients
        curvature = (design * (probability * (1 - probability))[:, None]).T @ design
        coefficients += np.linalg.solve(curvature + _RIDGE * np.eye(len(coefficients)), slope)
    return coefficients


def _probability(
    features: NDArray[np.float64], offset: NDArray[np.float64], coefficients: NDArray[np.float64]
) -> NDArray[np.float64]:
    probability: NDArray[np.float64] = 1 / (
        1 + np.exp(-(coefficients[0] + features @ coefficients[1:] + offset))
    )
    return probability
