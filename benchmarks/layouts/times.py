"""The times of the work, and what follows from them."""

from __future__ import annotations

import time
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.layouts.prototypes import BASELINE

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from benchmarks.layouts.prototypes import Layout

__all__ = ["Times", "seconds"]


class Times:
    """The times of one part of the work: those of each turn, by layout, and of what was left to be done."""

    def __init__(self) -> None:
        self._turns: dict[str, list[float]] = {}
        self._counts: list[int] = []
        self._left: dict[str, float] = {}

    def add(self, count: int, turn: dict[str, float]) -> None:
        """Add a turn: how many memories it was about, and the seconds of each layout."""
        self._counts.append(count)
        for name, took in turn.items():
            self._turns.setdefault(name, []).append(took)

    def add_left(self, layout: Layout, took: float) -> None:
        """Add the seconds of what all turns together left to be done."""
        self._left[layout.name] = took

    def summary(self) -> dict[str, Any]:
        """Return, by layout, the seconds and what follows from them.

        `per_second` is that of the median turn. `speed` takes that of the baseline for 1: the median of
        the comparisons in each turn; `speed_settled` counts what was left to be done as well.
        """
        plain = self._turns[BASELINE.name]
        layouts = {}
        for name, turns in self._turns.items():
            left = self._left.get(name, 0.0)
            speed = median(one / other for one, other in zip(plain, turns, strict=True))
            layouts[name] = {
                "seconds": [round(one, 6) for one in turns],
                "left_seconds": round(left, 6),
                "per_second": round(
                    median(count / took for count, took in zip(self._counts, turns, strict=True)), 1
                ),
                "speed": round(speed, 3),
                "speed_settled": round(speed * sum(turns) / (sum(turns) + left), 3),
            }
        return {"memories": sum(self._counts), "layouts": layouts}


def seconds(connection: Connection[Any], work: Callable[[Connection[Any]], object]) -> float:
    """Return the time of some work."""
    begun = time.perf_counter()
    work(connection)
    return time.perf_counter() - begun
