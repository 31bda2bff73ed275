"""The settings of the graph leg, each tried alone: chosen on one half, reported on the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.ablations import halves, same
from benchmarks.quality.bootstrap import compare
from benchmarks.quality.metrics import HEADLINE
from benchmarks.quality.run import FULL
from benchmarks.systems import make

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.metrics import PerQuery
    from benchmarks.quality.run import Run

__all__ = ["NOTE", "PREFIX", "VALUES", "sweep_graph"]

PREFIX = "graph_"
VALUES: Mapping[str, tuple[str, ...]] = {
    "graph_weight": ("0", "0.35", "0.7", "1", "1.2", "1.4", "1.6", "1.8"),
    "graph_mention": ("0", "0.2", "0.3", "0.4", "0.5", "0.6"),
    "graph_decay": ("0.5", "0.8", "0.9", "0.95", "1"),
    "graph_seeds": ("0", "2", "5", "10"),
    "graph_hops": ("1", "2"),
    "graph_concepts": ("5", "10", "20"),
    "hub_max_mentions": ("20", "50", "100"),
    "graph_pool": ("1", "2", "5"),
}
"""What is tried of each setting, if this pgrecall has it; the value in force is tried in any case."""

NOTE = (
    "Each setting alone, the others as they are. The best value is chosen on the tuning half (seeded, half "
    "of each stratum); its difference to the value in force is of the other half, as the second figures are."
)


def sweep_graph(run: Run, metric: str, options: Sequence[str]) -> dict[str, Any]:
    """Try the values of settings of the graph leg.

    Args:
        run: The run; its seed divides the questions, and `recall` has run in it.
        metric: What the best value is chosen by.
        options: Names in `VALUES`.

    Returns:
        What the results file says of it. `not_tried` are the other settings of the graph leg.
    """
    in_force: Mapping[str, str] = run.resources.loaded.description["settings"]
    settings = sorted(name for name in in_force if name.startswith(PREFIX))
    tuning, reporting = (np.array(half) for half in halves(run.queries, run.seed))
    default = run.outcomes[FULL].values
    rows = []
    for name in settings:
        if name not in options:
            continue
        values: dict[str, PerQuery] = {in_force[name]: default}
        for value in VALUES[name]:
            if not same(value, in_force[name]):
                system = f"{FULL}:{name}={value}"
                values[value] = run.measure(system, make(system, run.resources), run.queries).values
        rows.append(_row(run, name, in_force[name], values, tuning, reporting, metric))
    return {
        "note": NOTE,
        "metric": metric,
        "tuning_queries": len(tuning),
        "reporting_queries": len(reporting),
        "options": rows,
        "not_tried": [name for name in settings if name not in options],
    }


def _row(
    run: Run,
    name: str,
    in_force: str,
    values: Mapping[str, PerQuery],
    tuning: NDArray[np.int_],
    reporting: NDArray[np.int_],
    metric: str,
) -> dict[str, Any]:
    # The value in force comes first: it stays where no other is better.
    best = max(values, key=lambda value: _mean(values[value][metric], tuning))
    return {
        "option": name,
        "in_force": in_force,
        "best": best,
        "values": [
            {
                "value": value,
                "tuning": {one: _mean(found[one], tuning) for one in HEADLINE},
                "reporting": {one: _mean(found[one], reporting) for one in HEADLINE},
            }
            for value, found in sorted(values.items(), key=lambda one: float(one[0]))
        ],
        "reported": []
        if best == in_force
        else [
            compare(
                (f"{FULL}:{name}={best}", values[best][one][reporting]),
                (FULL, values[in_force][one][reporting]),
                one,
                seed=run.seed,
                resamples=run.resamples,
            ).as_dict()
            for one in HEADLINE
        ],
    }


def _mean(values: NDArray[np.float64], places: NDArray[np.int_]) -> float:
    return round(float(values[places].mean()), 6)
