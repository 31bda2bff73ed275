"""The command: `python -m benchmarks secrets`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from benchmarks.results import circumstances
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed.shared import write
from pgrecall.admin.migrate import migrate

from .labels import labels
from .run import costs, library_finds, scan_finds, score

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from .labels import Label

__all__ = ["FORMAT", "KIND", "add_to"]

KIND = "secrets"
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""
SEED = 7


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "secrets", help="what the scan for secrets finds in labelled texts, and its cost"
    )
    parser.set_defaults(command=_secrets)
    parser.add_argument("--dsn", help="make the scratch database on this server")
    parser.add_argument("--library", metavar="PYTHON", help="an interpreter that has detect-secrets")
    parser.add_argument(
        "--mistakes", action="store_true", help="print those of the half that the rules were made with"
    )
    parser.add_argument("--no-costs", action="store_true", help="leave out what a memory costs")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")


def _secrets(options: argparse.Namespace) -> int:
    made = labels(SEED)
    console = Console()
    with scratch_database(options.dsn, default_cache(), keep=False, say=console.print) as dsn:
        migrate(dsn)
        answers = scan_finds(dsn, made)
        measured = [] if options.no_costs else costs(dsn, console.print)
    found = [any_found for any_found, _ in answers]
    removed = sum(gone for label, (_, gone) in zip(made, answers, strict=True) if label.kind)
    result: dict[str, Any] = {
        **circumstances(SEED, KIND, FORMAT),
        "scan": _by_half(made, found) | {"secrets_removed": removed},
        "costs": measured,
    }
    if options.library:
        library = library_finds(options.library, made)
        result["detect_secrets"] = _by_half(made, library["found"]) | {"us_per_text": library["us_per_text"]}
    for system in ("scan", "detect_secrets"):
        for half, scores in result.get(system, {}).items():
            if isinstance(scores, dict):
                console.print(
                    f"{system} {half}: precision {scores['precision']}, recall {scores['recall']} "
                    f"of {scores['positives']} and {scores['negatives']}",
                    highlight=False,
                )
    console.print(f"removed {removed}; {measured}", highlight=False)
    if options.mistakes:
        for label, hit in zip(made, found, strict=True):
            if not label.is_held_out and hit != (label.kind is not None):
                console.print(f"{label.kind}: {label.text!r}", markup=False, highlight=False)
    write(options.json, result)
    return 0


def _by_half(made: Sequence[Label], found: Sequence[bool]) -> dict[str, Any]:
    pairs = list(zip(made, found, strict=True))
    halves = {
        "made_with": [pair for pair in pairs if not pair[0].is_held_out],
        "held_out": [pair for pair in pairs if pair[0].is_held_out],
        "all": pairs,
    }
    return {
        name: score([label for label, _ in half], [hit for _, hit in half]) for name, half in halves.items()
    }
