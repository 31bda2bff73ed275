"""Sizes, HNSW's settings and partitions: whole in docs/benchmarks.md, what an operator needs in the guide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.operations.command import FORMAT
from benchmarks.operations.sizing import KINDS
from benchmarks.report.aging import aging
from benchmarks.report.markdown import details, file_link, of_kind, revision, table
from benchmarks.report.plots import settings_plot
from benchmarks.report.scale import scale

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.report.markdown import Results
    from benchmarks.report.plots import Plot

__all__ = ["blocks", "render"]

_PLOT = "benchmarks/ef-search.png"
_KINDS = {
    "heap": "the table: text, words, embedding",
    "toast": "long texts, out of line (TOAST)",
    "hnsw": "HNSW index of the embeddings",
    "words": "GIN index of the words",
    "other indexes": "other indexes of the table",
    "postings": "postings and term statistics",
    "concepts": "concepts, aliases, mentions",
    "rest": "everything else",
}
_COSTS = {
    "remember_many": "`remember_many`, a batch of 500",
    "embeddings_written": "writing an embedding, the HNSW index in place",
    "hnsw_build": "building the HNSW index of the full table",
    "postings_rebuild": "rebuilding the postings (`rebuild_postings`)",
}
_LIVE = {
    "remember_many_per_second": "`remember_many`, memories/s",
    "claim_p50_ms": "`claim`, 64 memories, ms",
    "complete_p50_ms": "`complete`, 64 memories, ms",
}
_LOOKS = {
    "hnsw_build_seconds": "building all of HNSW, s",
    "copy_per_second": "COPY, memories/s",
    "planning_ms": "planning the dense query, ms",
    "first_recall_ms": "the first recall of a session, ms",
    "relation_locks": "relations that a recall locks",
    "backend_mb": "memory of a session after ten recalls, MB",
    "status_ms": "`recall_status`, ms",
    "largest_share": "share of the largest partition",
    "foreign_keys_lost": "foreign keys that cannot be kept",
}
_WAYS = ("index", "dense leg", "recall")
_NONE = "Not measured yet.\n"
_CURVE_NOTE = """\
`index` is the output of the HNSW index in its own order. `dense leg` is the leg's result: sorted again, and
exact if the index returned too few rows. Shares are of the exact 10 and 50 nearest; for recall, of the ten
that it returns with an exact dense leg. Times are p50 / p95 in milliseconds.
"""


def render(results: Results, plots: dict[str, Plot]) -> list[str]:
    """Render the section's parts for docs/benchmarks.md; none without results.

    Args:
        results: All results.
        plots: Gets the section's plot.

    Raises:
        ValueError: A file is of another format.
    """
    parts = []
    for name, found in _measured(results, "sizing"):
        parts += ["### Size of a memory\n", _sizing(found), _source(name, found)]
    for name, found in _measured(results, "aging"):
        parts += ["### After a long life\n", aging(found), _source(name, found)]
    for name, found in _measured(results, "ef-search"):
        plots[_PLOT] = _plot(found)
        parts += ["### HNSW settings\n", _CURVE_NOTE, f"![Quality and time by hnsw.ef_search]({_PLOT})\n"]
        parts += [_curves(found), _source(name, found)]
    for name, found in _measured(results, "partitioning"):
        parts += ["### Partitions\n", _partitions(found), _source(name, found)]
    for name, found in _measured(results, "scale"):
        parts += [f"### {found['rows']:,} memories on one machine\n", scale(found), _source(name, found)]
    return ["## Operations\n", *parts] if parts else []


def blocks(results: Results) -> dict[str, str]:
    """Render what the guide and the decision have places for, by name."""
    above = "../../benchmarks/results"  # the decision lies a folder deeper
    made = {
        "sizing": [
            f"{_sizing(found)}\n{_source(name, found)}" for name, found in _measured(results, "sizing")
        ],
        "ef-search": [
            f"{_brief(found)}\n{_source(name, found)}" for name, found in _measured(results, "ef-search")
        ],
        "partitioning": [
            f"{_partitions(found)}\n{_source(name, found, above)}"
            for name, found in _measured(results, "partitioning")
        ],
    }
    return {name: "\n".join(parts) or _NONE for name, parts in made.items()}


def _measured(results: Results, kind: str) -> list[tuple[str, Mapping[str, Any]]]:
    measured = of_kind(results, kind)
    for name, found in measured:
        if found.get("format") != FORMAT:
            raise ValueError(
                f"{name}.json has format {found.get('format')}, not {FORMAT}: run the benchmark again"
            )
    return measured


def _source(name: str, found: Mapping[str, Any], folder: str = "../benchmarks/results") -> str:
    machine, server = found["machine"], found["server"]
    return (
        f"From {file_link(name, folder)}: {machine['cpu']}, {machine['cores']} cores, load before "
        f"{machine['load_before']}, PostgreSQL {server['postgresql']}, pgvector {server['pgvector']}, "
        f"shared_buffers {server['settings']['shared_buffers']}, revision {revision(found['git'])}.\n"
    )


def _sizing(found: Mapping[str, Any]) -> str:
    sizes = found["sizes"]
    rows: list[Iterable[str]] = [
        ("**bytes per memory**", *(f"**{one['total_per_memory']:,.0f}**" for one in sizes)),
        *((_KINDS[kind], *(f"{one['bytes_per_memory'][kind]:,.0f}" for one in sizes)) for kind in KINDS),
        *(
            (f"{title}: ms, bytes of WAL per memory", *(_cost(one["costs"][name]) for one in sizes))
            for name, title in _COSTS.items()
        ),
        (
            "`maintenance_work_mem` to build HNSW in memory, MB",
            *(f"{one['build_memory_mb']}" for one in sizes),
        ),
    ]
    return table(("memories × dimensions", *(f"{one['memories']:,} × {one['dim']}" for one in sizes)), rows)


def _cost(cost: Mapping[str, float]) -> str:
    return f"{cost['ms_per_memory']:.2f}, {cost['wal_per_memory']:,.0f}"


def _brief(found: Mapping[str, Any]) -> str:
    """Render the dense leg and recall by ef_search, a row a value and corpus, and the filtered modes."""
    curves = table(
        ("memories", "`hnsw.ef_search`", "nearest 50", "dense leg, ms", "recall's ten", "recall, ms"),
        [
            (
                _title(name, corpus),
                str(one["ef_search"]),
                f"{one['dense leg']['recall@50']:.3f}",
                _times(one["dense leg"]),
                f"{one['recall']['same@10']:.3f}",
                _times(one["recall"]),
            )
            for name, corpus in found["corpora"].items()
            for one in corpus["curve"]
        ],
    )
    synthetic = found["corpora"]["synthetic"]
    modes = table(
        (
            "`hnsw.iterative_scan`",
            "`hnsw.ef_search`",
            "rows from the index, of 50",
            "nearest 50",
            "dense leg, ms",
        ),
        [
            (
                f"`{one['iterative_scan']}`",
                str(one["ef_search"]),
                f"{one['returned']:.1f}",
                f"{one['dense leg']['recall@50']:.3f}",
                _times(one["dense leg"]),
            )
            for one in synthetic["filtered"]
        ],
    )
    return (
        f"{curves}\n![Quality and time by hnsw.ef_search]({_PLOT})\n\nUnder {synthetic['filter']}:\n\n{modes}"
    )


def _title(name: str, corpus: Mapping[str, Any]) -> str:
    what = "synthetic" if name == "synthetic" else f"texts of {corpus['datasets'].replace('+', ', ')}"
    return f"{corpus['memories']:,} {what}"


def _times(one: Mapping[str, float]) -> str:
    return f"{one['p50']:.1f} / {one['p95']:.1f}"


def _curves(found: Mapping[str, Any]) -> str:
    build = found["build"]
    parts = [
        f"m = {build['m']}, ef_construction = {build['ef_construction']}, built in {build['seconds']:.1f} s "
        f"over {found['rows']:,} memories of {found['dim']} dimensions.\n"
    ]
    for name, corpus in found["corpora"].items():
        parts += [
            f"{_title(name, corpus)} memories, {corpus['questions']} questions:\n",
            _curve(corpus["curve"]),
        ]
        if "modes" in corpus:
            parts += ["Iterative scans, without a filter:\n", _curve(corpus["modes"])]
            parts += [f"Iterative scans, under {corpus['filter']}:\n", _curve(corpus["filtered"])]
    for other in found["builds"]:
        parts += [
            f"m = {other['m']}, ef_construction = {other['ef_construction']}: "
            f"built in {other['seconds']:.1f} s, {other['bytes_per_memory']:,.0f} bytes per memory:\n",
            _curve(other["curve"]),
        ]
    return details("Curves: ef_search, iterative scans, other parameters of the build", *parts)


def _curve(curve: Sequence[Mapping[str, Any]]) -> str:
    ways = [way for way in _WAYS if way in curve[0]]
    rows = [
        (
            f"{one['ef_search']}, `{one['iterative_scan']}`",
            f"{one['returned']:.1f}",
            *(_shares(one[way]) + "; " + _times(one[way]) for way in ways),
        )
        for one in curve
    ]
    return table(("ef_search, iterative_scan", "rows of 50", *(f"{way}: shares; ms" for way in ways)), rows)


def _shares(one: Mapping[str, float]) -> str:
    return " ".join(f"{value:.3f}" for part, value in one.items() if "@" in part)


def _partitions(found: Mapping[str, Any]) -> str:
    layouts = found["layouts"]
    every = list(layouts.values())
    spaces = found["namespaces"]
    rows: list[Iterable[str]] = [
        (f"{_of(name, spaces)}, ms", *(_times(one["times"][name]) for one in every))
        for name in every[0]["times"]
    ]
    rows += [
        (
            f"share of the nearest 50 that the index finds, {kind} namespace",
            *(
                f"{one['index_quality'][kind]['recall@50']:.3f}" if "index_quality" in one else ""
                for one in every
            ),
        )
        for kind in every[0]["index_quality"]
    ]
    rows += [
        (title, *(_number(one["live"][name]) if "live" in one else "" for one in every))
        for name, title in _LIVE.items()
    ]
    rows += [
        (title, *(_number(one[name]) if name in one else "" for one in every))
        for name, title in _LOOKS.items()
    ]
    rows.append(
        (
            "VACUUM after one in 50 was deleted: all tables, the longest, s",
            *(_vacuum(one["vacuum"]) if "vacuum" in one else "" for one in every),
        )
    )
    head = (
        f"{found['rows']:,} × {found['dim']}, {found['tenants']:,} namespaces",
        *(_layout(name) for name in layouts),
    )
    return table(head, rows)


def _number(value: float) -> str:
    """Write a number with as many places as it is worth."""
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _layout(name: str) -> str:
    count, _, rest = name.partition(",")
    return ("one table" if count == "0" else f"{count} partitions") + (f",{rest}" if rest else "")


def _vacuum(one: Mapping[str, float]) -> str:
    return f"{one['all_seconds']:.1f}, {one['longest_seconds']:.1f}"


def _of(name: str, spaces: Mapping[str, int]) -> str:
    """Name a way of asking, with how many memories its namespace has."""
    for kind, rows in spaces.items():
        name = name.replace(f"{kind} namespace", f"a namespace of {rows:,}")
    return name


def _plot(found: Mapping[str, Any]) -> Plot:
    """Plot shares and times by ef_search, for each corpus."""
    shares = (("dense leg", "recall@10"), ("dense leg", "recall@50"), ("recall", "same@10"))
    times = (("dense leg", "p95"), ("recall", "p95"))
    curves = {_title(name, corpus): corpus["curve"] for name, corpus in found["corpora"].items()}
    return settings_plot(
        "hnsw.ef_search",
        {
            panel: {
                title: {
                    f"{way}, {part}": [(one["ef_search"], one[way][part]) for one in curve]
                    for way, part in lines
                }
                for title, curve in curves.items()
            }
            for panel, lines in {"share of the exact answer": shares, "milliseconds": times}.items()
        },
    )
