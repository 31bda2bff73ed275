"""The report of a run, as it is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.speed.console import surroundings, table

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["render"]


def render(result: Mapping[str, Any]) -> str:
    """Return the report of a results file."""
    parts = [
        "\n".join(f"{name}: {title}" for name, title in result["layouts"].items()),
        _work(result),
        _sizes(result["bytes_per_memory"]),
        _queries(
            "milliseconds a question, and agreement of its first 10 with exhaustive BM25", result["queries"]
        ),
        _queries("the same after the single calls, with nothing settled since", result["queries_unsettled"]),
        "agreement after all changes: "
        + ", ".join(f"{name} {share:.3f}" for name, share in result["agreement_changed"].items()),
        surroundings(result, f"{result['rows']:,} memories, medians of all turns"),
    ]
    return "\n\n".join(parts)


def _work(result: Mapping[str, Any]) -> str:
    stages = result["work"]
    head = ("memories a second", *(f"{stage} ({one['memories']:,})" for stage, one in stages.items()))
    rows = [
        (name, *(_speed(stage["layouts"][name]) for stage in stages.values())) for name in result["layouts"]
    ]
    note = (
        "In brackets the share of the baseline's speed, then that share with what was left to be done\n"
        "in the background. The memories come without embeddings; write_back gives them some, without HNSW."
    )
    return f"{table(head, rows)}\n{note}"


def _speed(one: Mapping[str, Any]) -> str:
    return f"{one['per_second']:,.0f} ({one['speed']:.2f}, {one['speed_settled']:.2f})"


def _sizes(sizes: Mapping[str, Any]) -> str:
    stored = sizes["table"]
    rows = [
        (
            name,
            f"{one['total']:,.0f}",
            f"{one['growth']:.2f}",
            f"{one['embedded_growth']:.2f}",
        )
        for name, one in sizes["layouts"].items()
    ]
    note = (
        f"Table {stored['heap']:,.0f} (with embeddings {stored['embedded_heap']:,.0f}), "
        f"GIN {stored['gin']:,.0f}, other indexes but HNSW {stored['other_indexes']:,.0f}. "
        "Growth: how much larger table and GIN become."
    )
    parts = [
        f"{name}: " + ", ".join(f"{part} {size:,.0f}" for part, size in one["parts"].items())
        for name, one in sizes["layouts"].items()
    ]
    by_layout = table(("bytes a memory", "total", "growth", "embedded"), rows)
    return "\n".join([by_layout, note, *parts])


def _queries(title: str, kinds: Mapping[str, Any]) -> str:
    rows = []
    for kind, found in kinds.items():
        for budget, layouts in found.items():
            named = {"": layouts} if "p50" in layouts else layouts
            for name, one in named.items():
                rows.append(
                    (
                        f"{kind}, {budget}" + (f", {name}" if name else ""),
                        f"{one['p50']:.1f}",
                        f"{one['p95']:.1f}",
                        f"{one['p99']:.1f}",
                        str(one["n"]),
                        f"{one['agreement']:.3f}" if "agreement" in one else "",
                    )
                )
    return f"{title}\n{table(('', 'p50', 'p95', 'p99', 'calls', 'agreement'), rows)}"
