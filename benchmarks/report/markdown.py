"""Pieces of Markdown that the parts of the report share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Results", "details", "file_link", "of_kind", "option", "revision", "table"]

Results: TypeAlias = "Sequence[tuple[str, Mapping[str, Any]]]"
"""Each results file's name without its ending, and what it holds."""


def of_kind(results: Results, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the results of one kind, in order."""
    return [(name, found) for name, found in results if found.get("kind") == kind]


def table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Write a table. A column for which no row has a value was not measured and is left out."""
    lines = [list(columns), *map(list, rows)]
    shown = [
        place for place in range(len(lines[0])) if len(lines) == 1 or any(row[place] for row in lines[1:])
    ]
    names, *cells = (f"| {' | '.join(row[place] for place in shown)} |" for row in lines)
    return "\n".join([names, f"|{'---|' * len(shown)}", *cells]) + "\n"


def details(summary: str, *parts: str) -> str:
    """Write parts that are shown when asked for; the empty lines let what is inside be Markdown."""
    return "\n".join([f"<details><summary>{summary}</summary>\n", *parts, "</details>\n"])


def file_link(name: str, folder: str = "../benchmarks/results", *, text: str | None = None) -> str:
    """Link to a results file, from docs/ unless a folder is given, by its name unless there is a text."""
    return f"[{text or f'{name}.json'}]({folder}/{name}.json)"


def option(row: Mapping[str, Any]) -> str:
    """Name the option of a row of a sweep, with what is set beside it."""
    return ",".join([*(f"{name}={value}" for name, value in row.get("beside", {}).items()), row["option"]])


def revision(git: Mapping[str, Any]) -> str:
    """Name the revision that was measured."""
    return (git["revision"] or "unknown")[:12] + (" with changes" if git["modified"] else "")
