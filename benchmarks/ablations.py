"""What each part of recall is worth, and what its settings do."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.bootstrap import compare
from benchmarks.metrics import HEADLINE, evaluate, means
from benchmarks.systems import make

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.datasets import Query
    from benchmarks.quality import Run

__all__ = ["ABLATIONS", "SWEEPS", "TUNING_NOTE", "ablate", "halves", "sweep"]

ABLATIONS: Mapping[str, tuple[str, str]] = {
    "A": ("full", "recall"),
    "B": ("without graph", "recall:graph_weight=0"),
    "C": ("dense only", "dense"),
    "D": ("lexical only", "lexical"),
}

SWEEPS: Mapping[str, tuple[str, ...]] = {
    "lexical_weight": ("0.25", "0.5", "1", "1.5", "2", "3", "5"),
    "dense_weight": ("0", "0.1", "0.25", "0.5", "1", "2"),
    "graph_weight": ("0", "0.1", "0.2", "0.35", "0.5", "1"),
    "rrf_k": ("1", "5", "10", "20", "60", "120"),
    "leg_depth": ("20", "50", "100", "200"),
    "graph_decay": ("0.25", "0.5", "0.75", "1"),
    "graph_hops": ("0", "1", "2"),
}

TUNING_NOTE = (
    "Each option alone, the others at their defaults. The best value is chosen on one half of the questions (seeded, "
    "half of each stratum), and what it brings over the defaults is measured on the other half."
)


@dataclass(frozen=True, slots=True)
class _Halves:
    tuning: list[Query]
    reporting: list[Query]


def ablate(run: Run) -> list[dict[str, Any]]:
    """Run A to D; return each one's difference to A, with its confidence interval."""
    rows = []
    full = ABLATIONS["A"][1]
    for label, (title, system) in ABLATIONS.items():
        run.add(system)
        rows.append(
            {
                "label": label,
                "title": title,
                "system": system,
                "against_full": []
                if system == full
                else [comparison.as_dict() for comparison in run.compare(system, full)],
            }
        )
    return rows


def halves(queries: Sequence[Query], seed: int) -> tuple[list[Query], list[Query]]:
    """Divide the data set's own questions in two, every stratum evenly."""
    strata: dict[str, list[Query]] = {}
    for query in queries:
        if not query.generated:
            strata.setdefault(query.stratum, []).append(query)
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    divided = _Halves([], [])
    for stratum in sorted(strata):
        drawn = strata[stratum]
        chance.shuffle(drawn)
        # The odd one out goes to the smaller half, so that many small strata do not tip the balance.
        small, large = sorted((divided.tuning, divided.reporting), key=len)
        small.extend(drawn[0::2])
        large.extend(drawn[1::2])
    return divided.tuning, divided.reporting


def sweep(run: Run, options: Sequence[str], metric: str) -> dict[str, Any]:
    """Try the values of some options.

    Args:
        run: The run; its seed divides the questions.
        options: Names in `SWEEPS`.
        metric: What the best value is chosen by.

    Returns:
        What the results file says of it.
    """
    tuning, reporting = halves(run.queries, run.seed)
    rows: list[dict[str, Any]] = []
    best: dict[str, str] = {}
    default_tuned = _score(run, {}, tuning, metric)
    for option in options:
        values = [
            {"value": value, metric: _score(run, {option: value}, tuning, metric)} for value in SWEEPS[option]
        ]
        winner = max(values, key=lambda tried: tried[metric])
        # The defaults stay unless something is really better on the tuning half.
        chosen = str(winner["value"]) if winner[metric] > default_tuned else None
        if chosen is not None:
            best[option] = chosen
        rows.append({"option": option, "values": values, "best": chosen})
    for row in rows:
        row["reported"] = [] if row["best"] is None else _reported(run, {row["option"]: row["best"]}, reporting)
    return {
        "note": TUNING_NOTE,
        "metric": metric,
        "tuning_queries": len(tuning),
        "reporting_queries": len(reporting),
        "default": default_tuned,
        "options": rows,
        "together": {"settings": best, "reported": _reported(run, best, reporting) if best else []},
    }


def _name(settings: Mapping[str, str]) -> str:
    options = ",".join(f"{name}={value}" for name, value in settings.items())
    return f"recall:{options}" if options else "recall"


def _score(run: Run, settings: Mapping[str, str], queries: Sequence[Query], metric: str) -> float:
    name = _name(settings)
    outcome = run.measure(name, make(name, run.resources), queries)
    return means(outcome.values)[metric]


def _reported(run: Run, settings: Mapping[str, str], queries: Sequence[Query]) -> list[dict[str, Any]]:
    name = _name(settings)
    outcomes = [run.measure(each, make(each, run.resources), queries) for each in (name, "recall")]
    tuned, default = (evaluate(queries, outcome.rankings) for outcome in outcomes)
    return [
        compare(
            (name, tuned[metric]), ("recall", default[metric]), metric, seed=run.seed, resamples=run.resamples
        ).as_dict()
        for metric in HEADLINE
    ]
