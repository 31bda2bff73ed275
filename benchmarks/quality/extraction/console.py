"""What an extraction run prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["print_mistakes", "print_results"]

_BESIDE_A_TERMINAL = 120
_FIGURES = ("precision", "recall", "f1")
_COLUMNS = ("right", "found", "labelled", "precision", "recall", "F1")


def print_results(result: Mapping[str, Any]) -> None:
    """Print the tables of a results file, all texts and the reporting half."""
    console = _console()
    for system, parts in result["names"].items():
        console.print(_table(f"names by {system}", ("", *_COLUMNS), _name_rows(parts)))
        _print_empty(console, "name", parts["all"]["empty_texts"])
    parts = result["times"]
    console.print(
        _table(
            "times",
            ("", *_COLUMNS),
            (
                _row("all: period", parts["all"]["overall"]),
                _row("all: words", parts["all"]["words"]),
                _row("reporting half: period", parts["reporting_half"]["overall"]),
                _row("reporting half: words", parts["reporting_half"]["words"]),
            ),
        )
    )
    found = parts["all"]
    console.print(
        _table(
            "times by kind",
            ("kind", "labelled", "right", "words found"),
            (
                (kind, str(one["labelled"]), str(one["right"]), str(one["words"]))
                for kind, one in found["by_kind"].items()
            ),
        )
    )
    units = found["granularity"]
    console.print(f"granularity: {units['right']} of {units['of']} right periods", highlight=False)
    _print_empty(console, "time", found["empty_texts"])
    for system, reason in result["not_run"].items():
        console.print(f"not run: {system}: {reason}", markup=False)


def print_mistakes(title: str, mistakes: Sequence[tuple[str, str, str]]) -> None:
    """Print what was missed and what was wrong: id of the text, verdict, what."""
    _console().print(_table(title, ("text", "verdict", "what"), mistakes))


def _name_rows(parts: Mapping[str, Any]) -> Iterable[tuple[str, ...]]:
    yield _row("all", parts["all"]["overall"])
    yield _row("all, of any type", parts["all"]["any_type"])
    yield _row("reporting half", parts["reporting_half"]["overall"])
    yield _row("reporting half, of any type", parts["reporting_half"]["any_type"])
    for group in ("by_type", "by_domain"):
        for name, score in parts["all"][group].items():
            yield _row(name, score)


def _row(name: str, score: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        name,
        *(str(score[count]) for count in ("right", "found", "labelled")),
        *(_figure(score[figure]) for figure in _FIGURES),
    )


def _figure(figure: Mapping[str, Any] | None) -> str:
    if figure is None:
        return "-"
    low, high = figure["ci95"]
    return f"{figure['value']:.3f} [{low:.2f}, {high:.2f}]"


def _print_empty(console: Console, what: str, empty: Mapping[str, int]) -> None:
    console.print(
        f"something found in {empty['with_something_found']} of {empty['texts']} texts without a {what}",
        highlight=False,
    )


def _console() -> Console:
    console = Console()
    return console if console.is_terminal else Console(width=_BESIDE_A_TERMINAL)


def _table(title: str, columns: Iterable[str], rows: Iterable[Iterable[str]]) -> Table:
    table = Table(title=title, title_justify="left")
    for place, column in enumerate(columns):
        table.add_column(column, justify="left" if place == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*(text.replace("[", r"\[") for text in row))
    return table
