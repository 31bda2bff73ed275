"""What each part of recall is worth, and what its settings do."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import compare
from benchmarks.quality.metrics import HEADLINE
from benchmarks.quality.run import FULL
from benchmarks.systems import make, resolve

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.metrics import PerQuery
    from benchmarks.quality.run import Run

__all__ = ["ABLATIONS", "SWEEPS", "TUNING_NOTE", "ablate", "halves", "same", "sweep"]

ABLATIONS: Mapping[str, tuple[str, str]] = {
    "A": ("full", FULL),
    "B": ("without graph", "recall:graph_weight=0"),
    "C": ("dense only", "dense"),
    "D": ("lexical only", "lexical"),
    "E": ("reciprocal ranks", "recall:fusion=rrf"),
    "F": ("reciprocal ranks, the best k found", "recall:fusion=rrf,rrf_k=5"),
    "G": ("without adjacency", "recall:session_share=0"),
    "H": ("without phrase bonus", "recall:phrase_bonus=0"),
    "I": ("without lexical coverage", "recall:lexical_coverage=0"),
    "J": ("with importance", "recall:importance_weight=0.3"),
    "K": ("with decay", "recall:half_life=30 days"),
    "L": ("with entity boost", "recall:entity_boost=1.5"),
    "M": ("with MMR", "recall:mmr_lambda=0.7"),
    "N": ("duplicates collapsed", "recall:collapse_duplicates=on"),
    "O": ("strategy auto", "recall:strategy=auto"),
    "P": ("strategy prefilter", "recall:strategy=prefilter"),
    "Q": ("profile voice", "recall:profile=voice"),
    "R": ("profile service", "recall:profile=service"),
    "S": ("expanded by other names", "recall:expand=aliases"),
}
"""By label: what is left out or put in, and the system that is `recall` with that change."""

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "cc_alpha": ("0.3", "0.4", "0.5", "0.55", "0.6", "0.7", "0.8"),
    "lexical_coverage": ("0", "0.3", "0.6", "0.75", "1"),
    "session_share": ("0", "0.2", "0.3", "0.4", "0.5"),
    "session_seeds": ("0", "5", "10", "20"),
    "phrase_bonus": ("0", "0.1", "0.3", "0.5"),
    "graph_weight": ("0", "0.7", "1", "1.4", "1.8"),
    "graph_mention": ("0", "0.2", "0.4", "0.6"),
    "graph_decay": ("0.5", "0.8", "0.9", "0.95", "1"),
    "graph_hops": ("0", "1", "2"),
    "rrf_k": ("1", "5", "10", "20", "60"),
    "leg_depth": ("20", "50", "100", "200"),
    "mmr_lambda": ("1", "0.9", "0.8", "0.7"),
    "importance_weight": ("0", "0.1", "0.3", "0.5"),
    "entity_boost": ("1", "1.25", "1.5", "2"),
}

BESIDE: Mapping[str, Mapping[str, str]] = {"rrf_k": {"fusion": "rrf"}}
"""What else is set while the values of an option are tried, because it does nothing otherwise."""

TUNING_NOTE = (
    "Each option alone, the others at their defaults. The best value is chosen on one half of the questions "
    "(seeded, half of each stratum); what it brings over the defaults is measured on the other half. Of the "
    "best values together, those were kept that still added something on the tuning half. Of rrf_k, which "
    "needs fusion=rrf, the best value is reported even where the defaults are better."
)


def ablate(run: Run, labels: str | None = None) -> list[dict[str, Any]]:
    """Run what `ABLATIONS` lists; return each one's difference to A, with its confidence interval.

    Args:
        run: The run.
        labels: Which of them, by their letters; None: all. A always runs, what is the default never.
    """
    chosen = {
        label: (title, system)
        for label, (title, system) in ABLATIONS.items()
        if system == FULL
        or ((labels is None or label in labels) and not _is_default(run, resolve(system)[1]))
    }
    for _, system in chosen.values():
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
        for label, (title, system) in chosen.items()
    ]


def same(value: str, other: str) -> bool:
    """Whether two values of a setting are the same: 0.50 and 0.5 are; text has to be written alike."""
    try:
        return float(value) == float(other)
    except ValueError:
        return value == other


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
        row["reported"] = [] if row["best"] is None else trial.reported(_settings(row))
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
        """Score every value on the tuning half.

        The best is None where the default is as good as any, unless something else had to be set beside it.
        """
        beside = dict(BESIDE.get(option, {}))
        values: list[dict[str, Any]] = []
        for value in SWEEPS[option]:
            settings = {**beside, option: value}
            if _is_default(self.run, settings):
                score = self.default_score(metric)
            else:
                score = _mean(self.values(settings, self.tuning)[metric])
            values.append({"value": value, metric: score})
        winner = max(values, key=lambda tried: float(tried[metric]))
        shown = beside or float(winner[metric]) > self.default_score(metric)
        return {
            "option": option,
            "beside": beside,
            "values": values,
            "best": winner["value"] if shown else None,
        }

    def together(self, rows: Sequence[Mapping[str, Any]], metric: str) -> dict[str, str]:
        """Take the best values together, the largest gain first, each only if it still adds something."""

        def gain(row: Mapping[str, Any]) -> float:
            return max(float(tried[metric]) for tried in row["values"])

        settings: dict[str, str] = {}
        score = self.default_score(metric)
        # What needs other settings beside it changes what the others do.
        alone = [row for row in rows if row["best"] is not None and not row["beside"]]
        for row in sorted(alone, key=gain, reverse=True):
            more = settings | _settings(row)
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


def _is_default(run: Run, settings: Mapping[str, str]) -> bool:
    """Whether all these settings, one at least, are in force anyway."""
    in_force = run.resources.loaded.description["settings"]
    return bool(settings) and all(same(value, in_force[name]) for name, value in settings.items())


def _settings(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the best settings of a row that has some."""
    return {**row["beside"], row["option"]: row["best"]}


def _name(settings: Mapping[str, str]) -> str:
    return f"{FULL}:" + ",".join(f"{name}={value}" for name, value in settings.items())


def _mean(values: NDArray[np.float64]) -> float:
    return round(float(values.mean()), 6)
