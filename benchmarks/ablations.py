"""What each part of recall is worth, and what its settings do."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bootstrap import compare
from benchmarks.metrics import HEADLINE
from benchmarks.systems import make

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.datasets import Query
    from benchmarks.metrics import PerQuery
    from benchmarks.quality import Run

__all__ = ["ABLATIONS", "SWEEPS", "TUNING_NOTE", "ablate", "halves", "sweep"]

FULL = "recall"

ABLATIONS: Mapping[str, tuple[str, str]] = {
    "A": ("full", FULL),
    "B": ("without graph", "recall:graph_weight=0"),
    "C": ("dense only", "dense"),
    "D": ("lexical only", "lexical"),
}

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "lexical_weight": ("0.25", "0.5", "1", "1.5", "2", "3", "5"),
    "dense_weight": ("0", "0.1", "0.25", "0.5", "1", "2"),
    "graph_weight": ("0", "0.1", "0.2", "0.35", "0.5", "1"),
    "rrf_k": ("1", "5", "10", "20", "60", "120"),
    "phrase_bonus": ("0", "0.5", "1", "2"),
    "leg_depth": ("20", "50", "100", "200"),
    "graph_decay": ("0.25", "0.5", "0.75", "1"),
    "graph_hops": ("0", "1", "2"),
}

TUNING_NOTE = (
    "Each option alone, the others at their defaults. The best value is chosen on one half of the questions "
    "(seeded, half of each stratum); what it brings over the defaults is measured on the other half. Of the "
    "best values together, those were kept that still added something on the tuning half."
)


def ablate(run: Run) -> list[dict[str, Any]]:
    """Run A to D; return each one's difference to A, with its confidence interval."""
    for _, system in ABLATIONS.values():
        run.add(system)
    return [
        {
            "label": label,
            "title": title,
            "system": system,
            "against_full": []
            if system == FULL
            else [comparison.as_dict() for comparison in run.compare(system, FULL)],
        }
        for label, (title, system) in ABLATIONS.items()
    ]


def halves(queries: Sequence[Query], seed: int) -> tuple[list[int], list[int]]:
    """Divide the data set's own questions in two, every stratum evenly.

    Returns:
        Places in `queries`, in order: one list to tune on, one to report on.
    """
    strata: dict[str, list[int]] = {}
    for place, query in enumerate(queries):
        if not query.generated:
            strata.setdefault(query.stratum, []).append(place)
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    tuning: list[int] = []
    reporting: list[int] = []
    for stratum in sorted(strata):
        drawn = strata[stratum]
        chance.shuffle(drawn)
        # The odd one out goes to the half that is smaller so far.
        fewer, more = sorted((tuning, reporting), key=len)
        fewer.extend(drawn[0::2])
        more.extend(drawn[1::2])
    return sorted(tuning), sorted(reporting)


def sweep(run: Run, options: Sequence[str], metric: str) -> dict[str, Any] | None:
    """Try the values of some options.

    Args:
        run: The run; its seed divides the questions.
        options: Names in `SWEEPS`.
        metric: What the best value is chosen by.

    Returns:
        What the results file says of it; None if `recall` itself cannot run.
    """
    default = run.add(FULL)
    if default is None:
        return None
    trial = _Trial(run, default.values, *(np.array(half) for half in halves(run.queries, run.seed)))
    rows = [trial.tried(option, metric) for option in options]
    together = trial.together(rows, metric)
    for row in rows:
        row["reported"] = [] if row["best"] is None else trial.reported({row["option"]: row["best"]})
    return {
        "note": TUNING_NOTE,
        "metric": metric,
        "tuning_queries": len(trial.tuning),
        "reporting_queries": len(trial.reporting),
        "default": trial.default_score(metric),
        "options": rows,
        "together": {
            "settings": together,
            "reported": trial.reported(together) if len(together) > 1 else [],
        },
    }


@dataclass(frozen=True, slots=True)
class _Trial:
    run: Run
    default: PerQuery
    tuning: NDArray[np.int_]
    reporting: NDArray[np.int_]

    def tried(self, option: str, metric: str) -> dict[str, Any]:
        """Score every value on the tuning half; the best is None where the default is as good as any."""
        in_force = float(self.run.resources.loaded.description["settings"][option])
        values: list[dict[str, Any]] = []
        for value in SWEEPS[option]:
            if float(value) == in_force:
                score = self.default_score(metric)
            else:
                score = _mean(self.values({option: value}, self.tuning)[metric])
            values.append({"value": value, metric: score})
        winner = max(values, key=lambda tried: float(tried[metric]))
        better = float(winner[metric]) > self.default_score(metric)
        return {"option": option, "values": values, "best": winner["value"] if better else None}

    def together(self, rows: Sequence[Mapping[str, Any]], metric: str) -> dict[str, str]:
        """Take the best values together, the largest gain first, each only if it still adds something."""

        def gain(row: Mapping[str, Any]) -> float:
            return max(float(tried[metric]) for tried in row["values"])

        settings: dict[str, str] = {}
        score = self.default_score(metric)
        for row in sorted((row for row in rows if row["best"] is not None), key=gain, reverse=True):
            more = settings | {str(row["option"]): str(row["best"])}
            reached = gain(row) if not settings else _mean(self.values(more, self.tuning)[metric])
            if reached > score:
                settings, score = more, reached
        return settings

    def default_score(self, metric: str) -> float:
        return _mean(self.default[metric][self.tuning])

    def reported(self, settings: Mapping[str, str]) -> list[dict[str, Any]]:
        """Compare settings with the defaults on the half they were not chosen on."""
        values = self.values(settings, self.reporting)
        return [
            compare(
                (_name(settings), values[metric]),
                (FULL, self.default[metric][self.reporting]),
                metric,
                seed=self.run.seed,
                resamples=self.run.resamples,
            ).as_dict()
            for metric in HEADLINE
        ]

    def values(self, settings: Mapping[str, str], places: NDArray[np.int_]) -> PerQuery:
        name = _name(settings)
        queries = [self.run.queries[place] for place in places]
        return self.run.measure(name, make(name, self.run.resources), queries).values


def _name(settings: Mapping[str, str]) -> str:
    return f"{FULL}:" + ",".join(f"{name}={value}" for name, value in settings.items())


def _mean(values: NDArray[np.float64]) -> float:
    return round(float(values.mean()), 6)
