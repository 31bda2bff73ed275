"""The figures of README.md, between two comments there; all of them are of results files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from benchmarks.report import embedder
from benchmarks.report.markdown import file_link, of_kind, table
from benchmarks.report.runs import Column, columns, embedders

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from benchmarks.report.markdown import Results

__all__ = ["BEGIN", "END", "NoPlace", "figures", "put"]

BEGIN = "<!-- figures: written by `make bench-report` -->\n"
END = "<!-- /figures -->\n"

_FOLDER = "benchmarks/results"
_USUAL = (384, 100_000)
"""Dimension and size that are shown, if they were measured; else the largest of the smallest dimension."""
_RATIOS = {
    "recall / floor": "its time / that of its legs' bare queries together",
    "recall / baseline:naive": "its time / that of one hybrid SQL function of the usual kind",
    "recall / baseline:python": "its time / that of three queries that an application fuses",
}
_SYSTEMS = ("recall", "lexical", "dense", "bm25s", "supabase", "langchain")


class NoPlace(ValueError):  # noqa: N818
    """The page has no place for the figures."""


def put(page: str, block: str) -> str:
    """Return the page with the figures between its two comments.

    Raises:
        NoPlace: It has not exactly one pair of them.
    """
    pattern = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    written, count = pattern.subn(lambda _: f"{BEGIN}{block}{END}", page)
    if count != 1 or page.count(BEGIN) != 1:
        raise NoPlace(f"README.md needs one {BEGIN.strip()} and one {END.strip()} after it")
    return written


def figures(results: Results) -> str:
    """Render the figures."""
    quality = of_kind(results, "quality")
    rows = [*_embedder(results), *_daemon(results), *_speed(columns(results))]
    parts = []
    if rows:
        parts.append(table(("what", "figure", "from"), rows))
    if quality:
        parts += ["recall@10, and a link to the whole result:\n", _quality(quality)]
    return "\n".join(parts)


def _embedder(results: Results) -> Iterator[Sequence[str]]:
    for name, found in embedders(results):
        yield (
            f"embedder, {found['texts']} dialogue turns, {found['cores']} cores, the bundled model",
            f"{found['daemon_per_second']} texts/s, {found['ratio']} of the bare model in the same run",
            file_link(name, _FOLDER),
        )


def _daemon(results: Results) -> Iterator[Sequence[str]]:
    for name, found in of_kind(results, "daemon"):
        for what, figure in embedder.rows(found):
            yield what, figure, file_link(name, _FOLDER)


def _speed(shown: Sequence[Column]) -> Iterator[Sequence[str]]:
    if not shown:
        return
    smallest = [column for column in shown if column.dim == shown[0].dim]
    usual = [column for column in shown if (column.dim, column.rows) == _USUAL]
    column = (usual or smallest)[-1]
    source = file_link(column.file, _FOLDER)
    recall = column.at("rows")["recall"]
    yield (
        f"`recall`, {column.rows:,} memories of {column.dim} dimensions, "
        f"{column.found['machine']['cores']} cores",
        f"p50 {recall['p50']:.1f} ms, p95 {recall['p95']:.1f} ms",
        source,
    )
    for pair, title in _RATIOS.items():
        if pair in column.at("ratios"):
            ratio = column.at("ratios")[pair]
            yield title, f"p50 {ratio['p50']:.2f}, p95 {ratio['p95']:.2f}", source


def _quality(quality: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    names = [name for name in _SYSTEMS if any(name in found["systems"] for _, found in quality)]
    rows = [
        (
            file_link(name, _FOLDER, text=found["dataset"]),
            *(
                f"{found['systems'][system]['overall']['recall@10']:.3f}"
                if system in found["systems"]
                else ""
                for system in names
            ),
        )
        for name, found in quality
    ]
    return table(("data set", *(f"`{name}`" for name in names)), rows)
