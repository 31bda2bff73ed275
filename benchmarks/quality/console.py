"""What a quality run prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks.quality.metrics import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["make_console", "make_table", "print_differences", "print_results", "verdict"]

_BESIDE_A_TERMINAL = 120


def verdict(comparison: Mapping[str, Any]) -> str:
    """Say whether a difference is one."""
    return f"p {comparison['p']:.4f}" if comparison["significant"] else "not significant"


def make_console() -> Console:
    """Return where results are printed: wide enough for tables where there is no terminal."""
    console = Console()
    return console if console.is_terminal else Console(width=_BESIDE_A_TERMINAL)


def print_results(results: Mapping[str, Any]) -> None:
    """Print the tables of a results file."""
    console = make_console()
    data = results["data"]
    title = (
        f"{results['dataset']} ({data['scope']}): {data['memories']} memories, {data['queries']} questions"
    )
    systems = results["systems"]
    console.print(
        make_table(
            title,
            ("system", *HEADLINE, "p50 ms", "p95 ms"),
            (
                (
                    name,
                    *(f"{found['overall'][metric]:.3f}" for metric in HEADLINE),
                    f"{found['latency_ms']['p50']:.1f}",
                    f"{found['latency_ms']['p95']:.1f}",
                )
                for name, found in systems.items()
            ),
        )
    )
    strata = data["strata"]
    if len(strata) > 1:
        console.print(
            make_table(
                "recall@10 by stratum",
                ("system", *(f"{name} ({count})" for name, count in strata.items())),
                (
                    (name, *(f"{found['strata'][stratum]['recall@10']:.3f}" for stratum in strata))
                    for name, found in systems.items()
                ),
            )
        )
    if "exact" in strata and "circularity" in results:
        console.print(results["circularity"])
    print_differences(console, "differences", results["comparisons"])
    for row in results.get("ablations", []):
        print_differences(console, f"{row['label']}: {row['title']}, against A", row["against_full"])
    if "sweeps" in results:
        _print_sweeps(console, results["sweeps"])
    for name, reason in results["not_run"].items():
        console.print(f"not run: {name}: {reason}", markup=False)


def print_differences(console: Console, title: str, comparisons: Iterable[Mapping[str, Any]]) -> None:
    """Print comparisons as results files have them; nothing if there are none."""
    rows = [
        (
            f"{one['a']} - {one['b']}",
            one["metric"],
            f"{one['delta']:+.3f}",
            f"[{one['ci95'][0]:+.3f}, {one['ci95'][1]:+.3f}]",
            verdict(one),
        )
        for one in comparisons
    ]
    if rows:
        console.print(make_table(title, ("systems", "metric", "difference", "95 % CI", ""), rows))


def _print_sweeps(console: Console, sweeps: Mapping[str, Any]) -> None:
    metric = sweeps["metric"]
    console.print(
        make_table(
            f"{metric} on the tuning half ({sweeps['tuning_queries']} questions), "
            f"where the defaults have {sweeps['default']:.3f}",
            ("option", "values", "best"),
            (
                (
                    row["option"],
                    "  ".join(f"{tried['value']}: {tried[metric]:.3f}" for tried in row["values"]),
                    row["best"] or "the default",
                )
                for row in sweeps["options"]
            ),
        )
    )
    reported = [one for row in sweeps["options"] for one in row["reported"]]
    print_differences(
        console,
        f"on the other half ({sweeps['reporting_queries']} questions)",
        [*reported, *sweeps["together"]["reported"]],
    )


def make_table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    """Make a table, the first column to the left and the others to the right."""
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    return table
