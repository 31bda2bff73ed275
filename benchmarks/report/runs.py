"""The speed results as columns: for each size and dimension the newest measurement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import of_kind
from benchmarks.speed.command import FORMAT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.report.markdown import Results

__all__ = ["Column", "columns", "embedders"]


@dataclass(frozen=True, slots=True)
class Column:
    """One size in one results file.

    Attributes:
        file: The file's name without its ending.
        rows: The number of memories.
        found: What the file holds, of all its sizes.
    """

    file: str
    rows: int
    found: Mapping[str, Any]

    @property
    def title(self) -> str:
        """Memories and dimensions."""
        return f"{self.rows:,} × {self.dim}"

    @property
    def dim(self) -> int:
        """Dimensions of the embeddings."""
        return int(self.found["dim"])

    def at(self, part: str) -> Mapping[str, Any]:
        """Return what a part of the file, such as `rows` or `extras`, says of this size."""
        found: Mapping[str, Any] = self.found[part][str(self.rows)]
        return found


def columns(results: Results) -> list[Column]:
    """Return the columns by dimension and size; where two files have the same, the later measurement.

    Raises:
        ValueError: A file is of another format.
    """
    chosen: dict[tuple[int, int], Column] = {}
    for name, found in sorted(of_kind(results, "speed"), key=lambda one: str(one[1].get("measured_at"))):
        if found.get("format") != FORMAT:
            raise ValueError(
                f"{name}.json has format {found.get('format')}, not {FORMAT}: run the benchmark again"
            )
        for rows in found["rows"]:
            chosen[int(found["dim"]), int(rows)] = Column(name, int(rows), found)
    return [chosen[key] for key in sorted(chosen)]


def embedders(results: Results) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the results of benchmarks/operations/embedder_throughput.py, which name no kind."""
    return [(name, found) for name, found in results if "daemon_per_second" in found]
