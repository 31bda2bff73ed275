"""The report of a run, as it is printed: ratios first, absolute numbers second."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["RATIOS", "ratios", "render", "surroundings", "table"]

RATIOS = (
    ("recall", "floor"),
    ("recall", "baseline:naive"),
    ("recall", "baseline:python"),
    ("leg:lexical", "recall"),
    ("leg:dense", "recall"),
    ("leg:graph", "recall"),
)


def ratios(systems: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
    """Return time of the one through time of the other, for the pairs of `RATIOS`, at p50 and p95."""
    return {
        f"{one} / {other}": {
            point: round(systems[one][point] / systems[other][point], 3) for point in ("p50", "p95")
        }
        for one, other in RATIOS
    }


def render(result: Mapping[str, Any]) -> str:
    """Return the report of a results file."""
    sizes = list(result["rows"])
    parts = [
        "Ratios of times (p50, p95): below 1, the first is the faster\n"
        + table(
            ("", *(f"{int(size):,} rows" for size in sizes)),
            (
                (pair, *(_pair(result["ratios"][size][pair]) for size in sizes))
                for pair in result["ratios"][sizes[0]]
            ),
        ),
        *(_size(size, result) for size in sizes),
        _around(result),
    ]
    return "\n\n".join(parts)


def _size(size: str, result: Mapping[str, Any]) -> str:
    details = result["details"][size]
    load = details["load"]
    largest = list(details["bytes_per_memory"].items())[:6]
    systems = {**result["rows"][size], **result["extras"][size]}
    lines = [
        f"{int(size):,} rows: milliseconds a call",
        table(
            ("", "p50", "p95", "p99", "calls"),
            (
                (name, *(f"{one[point]:.1f}" for point in ("p50", "p95", "p99")), str(one["n"]))
                for name, one in systems.items()
            ),
        ),
        "",
        "calls a second: "
        + ", ".join(f"{clients} clients {per}" for clients, per in details["per_second"].items()),
        f"load: COPY {load['rows_per_second']:,.0f} rows/s, VACUUM ANALYZE {load['vacuum']:.1f} s",
        "seconds to build an index: "
        + ", ".join(f"{name} {seconds:.1f}" for name, seconds in load["index_builds"].items()),
        f"bytes a memory: {sum(details['bytes_per_memory'].values()):,.0f}, of them "
        + ", ".join(f"{name} {size:,.0f}" for name, size in largest),
        "indexes that recall should have used and did not: "
        + (", ".join(details["indexes"]["unused"]) or "none"),
    ]
    return "\n".join(lines)


def _around(result: Mapping[str, Any]) -> str:
    stored = result["ingest"]
    lines = [
        f"remember_many: {stored['rows_per_second']:,.0f} rows/s in batches of {stored['batch']}",
        surroundings(result, f"dimension {result['dim']}, {result['queries']} questions"),
    ]
    return "\n".join(lines)


def surroundings(result: Mapping[str, Any], measured: str) -> str:
    """Return where and with what a results file was made; `measured` says of how much."""
    machine, server = result["machine"], result["server"]
    settings = ", ".join(f"{name} {value}" for name, value in server["settings"].items())
    return (
        f"machine: {machine['cpu']}, {machine['cores']} cores, {machine['memory_mb'] / 1024:.1f} GB, "
        f"load before {machine['load_before']}\n"
        f"server: PostgreSQL {server['postgresql']}, pgvector {server['pgvector']} ({settings})\n"
        f"{measured}, seed {result['seed']}, "
        f"revision {result['git']['revision']}{' (modified)' if result['git']['modified'] else ''}"
    )


def _pair(ratio: Mapping[str, float]) -> str:
    return f"{ratio['p50']:.2f} {ratio['p95']:.2f}"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return rows under their heads, the first column to the left and the others to the right."""
    lines = [tuple(head), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
