"""`python -m benchmarks quality`: the command's options and its course."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality.ablations import ABLATIONS, SWEEPS, ablate, sweep
from benchmarks.quality.console import print_results
from benchmarks.quality.datasets import load_dataset
from benchmarks.quality.exact import CIRCULARITY, exact_queries
from benchmarks.quality.expansion import expanded_questions, resolve_names
from benchmarks.quality.metrics import DEPTH, HEADLINE
from benchmarks.quality.resources import Resources
from benchmarks.quality.run import Run
from benchmarks.results import KIND, circumstances, dataset_facts, write
from benchmarks.scratch import default_cache
from benchmarks.systems import BUILTIN, UnknownSetting, resolve, split_names

if TYPE_CHECKING:
    import argparse

__all__ = ["add_to"]

_SEED = 42


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    quality = commands.add_parser("quality", help="retrieval quality over a data set with relevance labels")
    quality.set_defaults(command=_quality)
    quality.add_argument(
        "--data", type=Path, required=True, metavar="DIR", help="corpus.jsonl, queries.jsonl, qrels.jsonl"
    )
    quality.add_argument(
        "--scope", default="pooled", metavar="SCOPE", help="pooled, or field:NAME: a namespace for each value"
    )
    quality.add_argument(
        "--systems",
        default="lexical,dense,recall",
        metavar="NAMES",
        help=f"any of {', '.join(BUILTIN)}, recall:OPTION=VALUE,…, module:Class",
    )
    quality.add_argument(
        "--compare",
        nargs=2,
        action="append",
        metavar=("A", "B"),
        help="test the difference of A and B (repeatable); by default recall and each other system",
    )
    quality.add_argument(
        "--ablate",
        nargs="?",
        const="".join(ABLATIONS),
        metavar="LABELS",
        help="parts of recall left out or put in, settings tried; LABELS: only these parts ("
        + ", ".join(f"{label}: {title}" for label, (title, _) in ABLATIONS.items())
        + ")",
    )
    quality.add_argument(
        "--sweep",
        default=",".join(SWEEPS),
        metavar="OPTIONS",
        help=f"which settings --ablate tries ({', '.join(SWEEPS)}); none: `--sweep ''`",
    )
    quality.add_argument(
        "--tune-for", default="recall@10", choices=HEADLINE, help="what a sweep's best is best at"
    )
    quality.add_argument(
        "--exact", type=int, default=0, metavar="N", help="add N questions made of the memories"
    )
    quality.add_argument(
        "--abstentions",
        type=int,
        default=0,
        metavar="N",
        help="questions without an answer that the data set leaves out and its publishers count as found: "
        "the report also counts them so",
    )
    quality.add_argument("--only", metavar="VALUES", help="only these namespaces, by commas")
    quality.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    quality.add_argument(
        "--rankings", type=int, default=DEPTH, metavar="N", help="places of each ranking that FILE holds"
    )
    quality.add_argument("--seed", type=int, default=_SEED, metavar="N")
    quality.add_argument("--model", metavar="NAME", help="the embedding model; by default the bundled one")
    quality.add_argument(
        "--language",
        default="english",
        metavar="NAME",
        help="text-search configuration of memories and questions",
    )
    quality.add_argument(
        "--sparse", metavar="NAME", help="a sparse model that reads the memories; by default none"
    )
    quality.add_argument(
        "--resolve",
        action="store_true",
        help="first take concepts for one whose names are alike by their letters, as the daemon does",
    )
    quality.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="vectors and the scratch server"
    )
    quality.add_argument("--keep", action="store_true", help="leave the scratch database at the end")


def _quality(options: argparse.Namespace) -> int:
    dataset = load_dataset(options.data, options.scope)
    if options.only:
        dataset = dataset.restricted_to(options.only.split(","))
    if options.exact:
        dataset = dataset.with_queries(exact_queries(dataset, options.exact, options.seed))
    names = split_names(options.systems)
    pairs = [tuple(pair) for pair in options.compare or []]
    asked = list(dict.fromkeys([*names, *(name for pair in pairs for name in pair)]))
    swept = [name for name in options.sweep.split(",") if name] if options.ablate else []
    unknown = [name for name in swept if name not in SWEEPS]
    if unknown:
        raise UnknownSetting(f"no sweep of {', '.join(unknown)}; there are: {', '.join(SWEEPS)}")
    unknown = [label for label in options.ablate or "" if label not in ABLATIONS]
    if unknown:
        raise UnknownSetting(f"no part {', '.join(unknown)} to ablate; there are: {', '.join(ABLATIONS)}")
    parts = [ABLATIONS[label][1] for label in options.ablate or ""]
    wanted = [option for name in asked + parts for option in resolve(name)[1] if "." not in option] + swept
    results: dict[str, Any] = {
        **circumstances(options.seed, "sparse" if options.sparse else KIND),
        **dataset_facts(dataset, options.language),
    }
    if options.abstentions:
        results["data"]["abstentions"] = options.abstentions
    if options.exact:
        results["circularity"] = CIRCULARITY
    with Resources(
        dataset,
        options.cache,
        dsn=os.environ.get("PGRECALL_DSN") or None,
        model=options.model,
        language=options.language,
        sparse=options.sparse,
        keep=options.keep,
        say=_say,
    ) as resources:
        # Before anything is measured: after an hour it would be too late.
        missing = [name for name in wanted if name not in resources.loaded.description["settings"]]
        if missing:
            raise UnknownSetting(f"pgrecall has no setting {', '.join(missing)}")
        if options.resolve:
            results["resolved"] = resolve_names(resources)
        run = Run(resources, dataset.queries, options.seed, _say)
        for name in asked:
            run.add(name)
        ablations = ablate(run, options.ablate) if options.ablate else []
        sweeps = sweep(run, swept, options.tune_for) if swept else None
        if "expand" in wanted:
            results["expansion"] = expanded_questions(resources, dataset.queries)
        results |= resources.description
    if not pairs:
        pairs = [("recall", name) for name in names if name != "recall"]
    results["systems"] = {name: run.summary(name) for name in run.outcomes}
    results["not_run"] = run.not_run
    results["comparisons"] = [one.as_dict() for a, b in pairs for one in run.compare(a, b)]
    results["against_legs"] = run.against_legs()
    if options.ablate:
        results["ablations"] = ablations
    if sweeps is not None:
        results["sweeps"] = sweeps
    results["rankings"] = {
        name: {id: ids[: options.rankings] for id, ids in outcome.rankings.items()}
        for name, outcome in run.outcomes.items()
        if name in asked
    }
    print_results(results)
    if options.json is not None:
        write(options.json, results)
        _say(f"written: {options.json}")
    return 1 if run.failed else 0


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
