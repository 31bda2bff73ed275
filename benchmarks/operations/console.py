"""What the commands print: the tables of the results files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.operations.sizing import KINDS
from benchmarks.speed.console import surroundings, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["aging", "ef_search", "scale", "sizing"]


def sizing(result: Mapping[str, Any]) -> str:
    """Render what a memory takes."""
    sizes = result["sizes"]
    head = ("", *(f"{one['memories']:,} × {one['dim']}" for one in sizes))
    kinds = [("bytes a memory", *(f"{one['total_per_memory']:,.0f}" for one in sizes))]
    kinds += [(kind, *(f"{one['bytes_per_memory'][kind]:,.0f}" for one in sizes)) for kind in KINDS]
    names = list(sizes[0]["costs"])
    costs = [
        (f"{name}: ms, bytes of WAL a memory", *(_cost(one["costs"][name]) for one in sizes))
        for name in names
    ]
    return f"{table(head, [*kinds, *costs])}\n\n{surroundings(result, f'{len(sizes)} sizes')}"


def _cost(cost: Mapping[str, float]) -> str:
    return f"{cost['ms_per_memory']:.2f} {cost['wal_per_memory']:,.0f}"


def aging(result: Mapping[str, Any]) -> str:
    """Render the stages of a namespace's life."""
    stages = result["stages"]
    rows = [
        (f"{name}, MB", *(f"{one['megabytes'][name]:,.1f}" for one in stages.values()))
        for name in stages["young"]["megabytes"]
    ]
    rows += [
        (f"{way}, p50 ms", *(f"{one['p50_ms'][way]:.1f}" for one in stages.values()))
        for way in stages["young"]["p50_ms"]
    ]
    rows += [("words: overlap with exact", *(f"{one['overlap_with_exact']:.3f}" for one in stages.values()))]
    changed = ", ".join(f"{way} {share:.1%}" for way, share in result["answers_changed_by_renewal"].items())
    about = f"{result['memories']:,} memories, {result['changes']:,} changes"
    return "\n\n".join(
        [table(("", *stages), rows), f"answers changed by renewal: {changed}", surroundings(result, about)]
    )


def scale(result: Mapping[str, Any]) -> str:
    """Render what each step found."""
    rows = [
        (name, ", ".join(f"{key} {value}" for key, value in found.items() if key != "bytes_per_memory"))
        for name, found in result["steps"].items()
    ]
    about = f"{result['rows']:,} memories"
    return f"{table(('', ''), rows)}\n\n{surroundings(result, about)}"


def ef_search(result: Mapping[str, Any]) -> str:
    """Render the curves."""
    parts = [
        f"{name}, {part}, {corpus['memories']:,} memories\n{_curve(corpus[part])}"
        for name, corpus in result["corpora"].items()
        for part in ("curve", "modes", "filtered")
        if part in corpus
    ]
    for build in result["builds"]:
        built = f"m {build['m']}, ef_construction {build['ef_construction']}: {build['seconds']} s"
        parts += [f"{built}, {build['bytes_per_memory']:,.0f} bytes a memory\n{_curve(build['curve'])}"]
    return "\n\n".join([*parts, surroundings(result, f"dimension {result['dim']}")])


def _curve(curve: Sequence[Mapping[str, Any]]) -> str:
    ways = [way for way in ("index", "dense leg", "recall") if way in curve[0]]
    return table(
        (
            "ef_search",
            "iterative_scan",
            "index used",
            "returned",
            *(f"{way}: same, p50, p95" for way in ways),
        ),
        (
            (
                str(one["ef_search"]),
                one["iterative_scan"],
                "yes" if one["uses_index"] else "no",
                f"{one['returned']:.1f}",
                *(_way(one[way]) for way in ways),
            )
            for one in curve
        ),
    )


def _way(found: Mapping[str, float]) -> str:
    shares = [f"{value:.3f}" for name, value in found.items() if "@" in name]
    return " ".join([*shares, f"{found['p50']:.1f}", f"{found['p95']:.1f}"])
