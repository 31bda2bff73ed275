"""The command: `python -m benchmarks graph`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality.datasets import load_dataset
from benchmarks.quality.graph import in_database
from benchmarks.quality.graph.challenger import challenge
from benchmarks.quality.graph.console import print_report
from benchmarks.quality.graph.entering import CUTOFFS, entering
from benchmarks.quality.graph.far import far
from benchmarks.quality.graph.settings import VALUES, sweep_graph
from benchmarks.quality.graph.tracing import trace
from benchmarks.quality.metrics import HEADLINE
from benchmarks.quality.resources import Resources, Unavailable
from benchmarks.quality.run import FULL, Run
from benchmarks.results import circumstances, dataset_facts
from benchmarks.scratch import default_cache
from benchmarks.speed.shared import say, write
from benchmarks.systems import UnknownSetting

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

__all__ = ["FORMAT", "KIND", "PAIRS", "PLAIN", "add_to"]

KIND = "graph"
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

PLAIN = "recall:graph_weight=0"
_DENSE = "dense"
PAIRS = ((FULL, PLAIN), (FULL, _DENSE), (PLAIN, _DENSE))
"""What is compared: with the graph, without it, and the vector alone."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("graph", help="what the concept graph brings to recall, on labelled data")
    parser.set_defaults(command=_graph)
    parser.add_argument(
        "--sweep",
        default=",".join(VALUES),
        metavar="OPTIONS",
        help=f"which settings are tried ({', '.join(VALUES)}); none: `--sweep ''`",
    )
    _add_options(parser)
    ppr = commands.add_parser("ppr", help="graph_ppr() against the walk of the graph leg, on labelled data")
    ppr.set_defaults(command=_ppr)
    _add_options(ppr)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="corpus.jsonl, queries.jsonl, qrels.jsonl"
    )
    parser.add_argument(
        "--scope", default="pooled", metavar="SCOPE", help="pooled, or field:NAME: a namespace for each value"
    )
    parser.add_argument("--only", metavar="VALUES", help="only these namespaces, by commas")
    parser.add_argument(
        "--tune-for", default="recall@10", choices=HEADLINE, help="what a setting's best value is best at"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the halves and the intervals")
    parser.add_argument("--model", metavar="NAME", help="the embedding model; by default the bundled one")
    parser.add_argument(
        "--language",
        default="english",
        metavar="NAME",
        help="text-search configuration of memories and questions",
    )
    parser.add_argument(
        "--cache",
        type=Path,
        default=default_cache(),
        metavar="DIR",
        help="vectors, what was read, and the scratch server",
    )
    parser.add_argument("--keep", action="store_true", help="leave the scratch database at the end")


def _graph(options: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        DataError: The data set is not sound.
        Unavailable: There is no server or no model, or recall itself does not run.
        UnknownSetting: `--sweep` names something else than a setting of the graph leg.
    """
    swept = [name for name in options.sweep.split(",") if name]
    unknown = [name for name in swept if name not in VALUES]
    if unknown:
        raise UnknownSetting(f"no sweep of {', '.join(unknown)}; there are: {', '.join(VALUES)}")
    results = _run(options, KIND, lambda run: measure(run, options.tune_for, swept))
    print_report(results)
    write(options.json, results)
    return 0


def _ppr(options: argparse.Namespace) -> int:
    """Run the command.

    Raises:
        DataError: The data set is not sound.
        Unavailable: There is no server with plpython3u, or no model.
    """
    results = _run(options, in_database.KIND, lambda run: in_database.measure(run, options.tune_for))
    in_database.print_report(results)
    write(options.json, results)
    return 0


def _run(options: argparse.Namespace, kind: str, work: Callable[[Run], dict[str, Any]]) -> dict[str, Any]:
    dataset = load_dataset(options.data, options.scope)
    if options.only:
        dataset = dataset.restricted_to(options.only.split(","))
    results: dict[str, Any] = {
        **circumstances(options.seed, kind, FORMAT),
        **dataset_facts(dataset, options.language),
    }
    with Resources(
        dataset,
        options.cache,
        dsn=os.environ.get("PGRECALL_DSN") or None,
        model=options.model,
        language=options.language,
        keep=options.keep,
        say=say,
    ) as resources:
        results |= work(Run(resources, dataset.queries, options.seed, say))
        results |= resources.description
    return results


def measure(run: Run, metric: str, swept: Sequence[str]) -> dict[str, Any]:
    """Measure everything over one data set.

    Args:
        run: The run, before anything ran in it.
        metric: What the values of settings are chosen by.
        swept: The settings that are tried.

    Raises:
        Unavailable: One of the systems that are compared does not run.
    """
    for name in dict.fromkeys(name for pair in PAIRS for name in pair):
        if run.add(name) is None:
            raise Unavailable(f"{name} does not run: {run.not_run[name]}")
    say("asking again, to see which leg found what")
    traces = trace(run.resources, run.queries)
    return {
        "systems": {name: run.summary(name) for name in run.outcomes},
        "comparisons": [one for a, b in PAIRS for one in run.compare_by_stratum(a, b)],
        "entering": [
            entering(run.queries, traces, k, seed=run.seed, resamples=run.resamples) for k in CUTOFFS
        ],
        "far": far(run, FULL, PLAIN),
        "pagerank": challenge(run, traces, metric),
        "sweeps": sweep_graph(run, metric, swept),
    }
