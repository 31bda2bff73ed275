"""Confidence intervals by resampling the questions."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

__all__ = ["RESAMPLES", "Comparison", "compare", "interval"]

RESAMPLES = 10_000
_CHUNK = 2_000_000
"""How many questions are drawn at once: 16 MB of places."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The difference of two systems in one metric, over the same questions.

    Attributes:
        a: The one system.
        b: The other.
        metric: The metric.
        delta: Mean of a minus mean of b.
        ci95: The 95 % confidence interval of delta (percentiles of the paired bootstrap).
        p: Two-sided: how often a difference at least as large comes from questions resampled around none.
    """

    a: str
    b: str
    metric: str
    delta: float
    ci95: tuple[float, float]
    p: float

    @property
    def significant(self) -> bool:
        """False if the confidence interval contains 0."""
        low, high = self.ci95
        return low > 0 or high < 0

    def as_dict(self) -> dict[str, Any]:
        """Return what the results file holds."""
        return {**asdict(self), "ci95": list(self.ci95), "significant": self.significant}


def compare(
    a: tuple[str, NDArray[np.float64]],
    b: tuple[str, NDArray[np.float64]],
    metric: str,
    *,
    seed: int,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare two systems by a paired bootstrap.

    Args:
        a: Name and values, one a question.
        b: Name and values of the same questions.
        metric: What the values are.
        seed: The same seed draws the same questions.
        resamples: How many times to draw.

    Raises:
        ValueError: They do not have the same number of values, or none.
    """
    if len(a[1]) != len(b[1]):
        raise ValueError(f"{len(a[1])} and {len(b[1])} values cannot be paired")
    differences = a[1] - b[1]
    drawn = _resampled_means(differences, seed, resamples)
    delta = float(differences.mean())
    # A hair of tolerance: sums of the same numbers in another order differ in the last bit.
    extreme = int(np.count_nonzero(np.abs(drawn - delta) >= abs(delta) - 1e-12))
    low, high = np.percentile(drawn, (2.5, 97.5))
    return Comparison(
        a[0],
        b[0],
        metric,
        round(delta, 6),
        (round(float(low), 6), round(float(high), 6)),
        round((extreme + 1) / (resamples + 1), 5),
    )


def interval(values: NDArray[np.float64], *, seed: int, resamples: int = RESAMPLES) -> tuple[float, float]:
    """Return the 95 % confidence interval of a mean."""
    low, high = np.percentile(_resampled_means(values, seed, resamples), (2.5, 97.5))
    return round(float(low), 6), round(float(high), 6)


def _resampled_means(values: NDArray[np.float64], seed: int, resamples: int) -> NDArray[np.float64]:
    if not len(values):
        raise ValueError("there is nothing to resample")
    chance = np.random.default_rng(seed)
    size = len(values)
    step = max(1, _CHUNK // size)
    chunks = [
        values[chance.integers(0, size, (min(step, resamples - start), size))].mean(axis=1)
        for start in range(0, resamples, step)
    ]
    return np.concatenate(chunks)
