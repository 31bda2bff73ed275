"""What a run over the graph prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.quality.console import make_console, make_table, print_differences
from benchmarks.quality.metrics import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

__all__ = ["print_report"]


def print_report(results: Mapping[str, Any]) -> None:
    """Print the tables of a results file."""
    console = make_console()
    data, read = results["data"], results["extraction"]
    without = "" if read["spacy"] else " without spaCy"
    console.print(
        f"{results['dataset']} ({data['scope']}): {data['memories']} memories, {data['queries']} questions; "
        f"extractor {read['version']}{without}: {read['concepts']} concepts, "
        f"{read['mentions']} mentions, {read['relationships']} relationships",
        markup=False,
    )
    console.print(
        make_table(
            "systems",
            ("system", *HEADLINE, "p50 ms", "p95 ms"),
            (
                (
                    name,
                    *(f"{found['overall'][metric]:.3f}" for metric in HEADLINE),
                    *(f"{found['latency_ms'][point]:.1f}" for point in ("p50", "p95")),
                )
                for name, found in results["systems"].items()
            ),
        )
    )
    for stratum in dict.fromkeys(one["stratum"] for one in results["comparisons"]):
        found = [one for one in results["comparisons"] if one["stratum"] == stratum]
        print_differences(console, "overall" if stratum is None else f"stratum {stratum}", found)
    console.print(_entering(results["entering"]))
    beyond = results["far"]
    console.print(
        f"{beyond['memories']} relevant memories of {beyond['questions']} questions lie beyond dense rank "
        f"{beyond['beyond_rank']}",
        highlight=False,
    )
    print_differences(console, "on those questions", beyond["comparisons"])
    _print_pagerank(console, results["pagerank"])
    _print_sweeps(console, results["sweeps"])


def _entering(found: Iterable[Mapping[str, Any]]) -> Any:
    return make_table(
        "memories that only the graph found, among the best, and those that gave way",
        ("k", "in questions", "relevant in", "entered", "relevant", "gave way", "relevant", "net a question"),
        (
            (
                str(one["k"]),
                _share(one["share_entered"]),
                _share(one["share_relevant_entered"]),
                str(one["entered"]),
                _share(one["precision"]),
                str(one["pushed_out"]),
                _share(one["pushed_out_precision"]),
                f"{one['net']:+.3f} [{one['net_ci95'][0]:+.3f}, {one['net_ci95'][1]:+.3f}]",
            )
            for one in found
        ),
    )


def _print_pagerank(console: Console, found: Mapping[str, Any]) -> None:
    again = ", ".join(f"{share:.1%} {k}" for k, share in found["reproduced"].items())
    console.print(f"recall's order comes out of the fusion outside the database: {again}", highlight=False)
    for one in found["candidates"]:
        print_differences(console, f"{one['name']}, weight {found['weight']:g}", one["against_walk"])
        print_differences(
            console,
            f"{one['name']}, weight {one['best_weight']:g} (best on the tuning half), on the other half",
            one["best_against_walk"],
        )


def _print_sweeps(console: Console, sweeps: Mapping[str, Any]) -> None:
    metric = sweeps["metric"]
    console.print(
        make_table(
            f"{metric} on the tuning half ({sweeps['tuning_queries']} questions) and on the other",
            ("setting", "in force", "values", "best"),
            (
                (
                    row["option"],
                    row["in_force"],
                    "  ".join(
                        f"{one['value']}: {one['tuning'][metric]:.3f} {one['reporting'][metric]:.3f}"
                        for one in row["values"]
                    ),
                    row["best"],
                )
                for row in sweeps["options"]
            ),
        )
    )
    reported = [one for row in sweeps["options"] for one in row["reported"]]
    print_differences(console, f"on the other half ({sweeps['reporting_queries']} questions)", reported)
    if sweeps["not_tried"]:
        console.print(f"not tried: {', '.join(sweeps['not_tried'])}", markup=False)


def _share(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
