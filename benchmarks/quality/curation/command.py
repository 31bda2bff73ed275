"""The command: `python -m benchmarks curation`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from benchmarks.quality.curation.pairs import DEV, EXPECTED, TEST, load
from benchmarks.quality.curation.run import decide_pairs
from benchmarks.quality.curation.scoring import score
from benchmarks.results import circumstances
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed.shared import write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    from benchmarks.quality.curation.pairs import Pair
    from benchmarks.quality.curation.run import Decided

__all__ = ["FORMAT", "KIND", "add_to"]

KIND = "curation"
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

_BESIDE_A_TERMINAL = 120


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("curation", help="what curation by rules decides about labelled pairs")
    parser.set_defaults(command=_curation)
    parser.add_argument("--dev", action="store_true", help="the pairs that the rules were made with")
    parser.add_argument(
        "--mistakes", action="store_true", help="print what was decided wrongly; with --dev alone"
    )
    parser.add_argument("--dsn", help="make the scratch database on this server")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")


def _curation(options: argparse.Namespace) -> int:
    pairs = load(DEV if options.dev else TEST)
    console = Console()
    if not console.is_terminal:
        console = Console(width=_BESIDE_A_TERMINAL)
    with scratch_database(options.dsn, default_cache(), keep=False, say=console.print) as dsn:
        decided = decide_pairs(dsn, pairs)
    systems = {name: score(pairs, [one.decision for one in made]) for name, made in decided.items()}
    result = {
        **circumstances(0, KIND, FORMAT),
        "pairs": {label: sum(pair.label == label for pair in pairs) for label in EXPECTED},
        "systems": systems,
    }
    for name, scores in systems.items():
        _print(console, name, scores)
    if options.mistakes and options.dev:
        for name, made in decided.items():
            _print_mistakes(console, name, pairs, made)
    write(options.json, result)
    return 0


def _print(console: Console, name: str, scores: Mapping[str, Any]) -> None:
    table = Table(title=name, title_justify="left")
    for column in ("label", *EXPECTED.values(), "precision", "recall"):
        table.add_column(column, justify="left" if column == "label" else "right")
    for label, decision in EXPECTED.items():
        counts = scores["confusion"][label]
        shares = scores["decisions"][decision]
        table.add_row(
            label,
            *(str(counts[one]) for one in EXPECTED.values()),
            _figure(shares["precision"]),
            _figure(shares["recall"]),
        )
    console.print(table)
    changed = scores["unrelated_changed"]
    console.print(f"unrelated pairs changed: {changed['count']} of {changed['of']}", highlight=False)


def _print_mistakes(console: Console, name: str, pairs: Sequence[Pair], made: Sequence[Decided]) -> None:
    for pair, one in zip(pairs, made, strict=True):
        if one.decision != EXPECTED[pair.label]:
            told = {key: value for key, value in one.evidence.items() if value}
            console.print(
                f"{name}: {pair.id} {pair.label}: {one.decision} {told}", markup=False, highlight=False
            )


def _figure(share: Mapping[str, Any] | None) -> str:
    if share is None:
        return "-"
    low, high = share["ci95"]
    return f"{share['value']:.2f} [{low:.2f}, {high:.2f}]"
