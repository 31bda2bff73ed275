"""`python -m benchmarks report`: writes what is generated, or says what is not in date."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.report import operations, reliability
from benchmarks.report.page import render
from benchmarks.report.places import fill
from benchmarks.report.plots import shows
from benchmarks.report.readme import figures, put
from benchmarks.results import read

if TYPE_CHECKING:
    import argparse

    from benchmarks.report.plots import Plot

__all__ = ["add_to", "load", "main"]

ROOT = Path(__file__).parents[2]


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "report", help="docs/benchmarks.md and README's figures from benchmarks/results/*.json"
    )
    parser.set_defaults(command=_report)
    parser.add_argument("--check", action="store_true", help="only say whether they are in date")


def _report(options: argparse.Namespace) -> int:
    """Run the command: what `main` returns, or 2 if the results or README.md cannot be used."""
    try:
        return main(check=options.check)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


def main(root: Path | None = None, *, check: bool) -> int:
    """Write the report, its plots and the figures of other pages, or say whether they are in date.

    Args:
        root: The checkout; None: this one.
        check: Change nothing.

    Returns:
        0; 1 if `check` and something is not in date.

    Raises:
        NoPlace: README.md has no place for its figures.
        NoFigures: A page of docs/ has a place for figures that there are none for.
        ValueError: A results file is of another format.
    """
    root = root or ROOT
    results = load(root / "benchmarks" / "results")
    text, plots = render(results)
    docs, readme = root / "docs", root / "README.md"
    pages = {
        docs / "benchmarks.md": text,
        readme: put(readme.read_text(encoding="utf-8"), figures(results)),
    }
    blocks = operations.blocks(results) | reliability.blocks(results)
    for path in sorted(docs.rglob("*.md")):
        if path not in pages:
            pages[path] = fill(path.name, path.read_text(encoding="utf-8"), blocks)
    stale = [
        path for path, page in pages.items() if not path.is_file() or path.read_text(encoding="utf-8") != page
    ]
    drawn = {docs / name: plot for name, plot in plots.items()}
    left = [path for path in (docs / "benchmarks").glob("*.png") if path not in drawn]
    if check:
        stale += [path for path, plot in drawn.items() if shows(path) != plot.digest] + left
        for path in stale:
            print(f"not in date: {path.relative_to(root)}: make bench-report", file=sys.stderr)
        return 1 if stale else 0
    docs.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(pages[path], encoding="utf-8")
    _draw(drawn)
    for path in left:
        path.unlink()
    return 0


def load(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    """Read every results file of a folder, by name.

    Raises:
        ValueError: One is of a format that this version cannot read.
    """
    results: list[tuple[str, dict[str, Any]]] = []
    for path in sorted(folder.glob("*.json"), key=lambda path: path.stem):
        quality = read(path)
        found = json.loads(path.read_text(encoding="utf-8")) if quality is None else quality
        results.append((path.stem, found))
    return results


def _draw(plots: dict[Path, Plot]) -> None:
    for path, plot in plots.items():
        plot.write(path)
