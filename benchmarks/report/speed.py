"""How fast: ratios first, then absolute times, what was stored and how fast it was embedded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import details, file_link, revision, table
from benchmarks.report.plots import latency_plot
from benchmarks.report.runs import Column, columns, embedders

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.report.markdown import Results
    from benchmarks.report.plots import Plot

__all__ = ["render"]

_PLOT = "benchmarks/speed.png"
_PLOTTED = ("recall", "floor", "baseline:naive", "baseline:python")
_LEGEND = """\
`recall` is the function with its defaults, ten memories per call. `leg:…` is the query of one leg. `floor`
is the sum of the legs' bare queries, the minimum time of any fusion. `baseline:naive` is a typical hybrid
function (`ts_rank` over any of the words, vectors, reciprocal ranks). `baseline:python` sends three queries
and fuses them in the application. Questions have 8 words unless their name says otherwise.
"""
_GROUPS = {
    "Questions, by number of words and how common they are": ("recall:words=",),
    "Filters, by the share of the memories they leave": (
        "recall:namespace=",
        "recall:tag=",
        "recall:time=",
        "recall:category=",
        "recall:speaker=",
        "recall:session",
    ),
    "Pages of ten memories, newest first (`list_memories`)": ("list:",),
    "Several clients at once": ("recall:clients=",),
    "One concept in every memory and in every question": ("leg:graph,hub", "recall:hub"),
    "Every tenth memory is long, with four passages": ("recall:long=10%",),
    "Beside engines inside one process, which know no tenants, transactions or concepts": ("engines:",),
}
_OTHERS = "Connections and statements"
_OTHERS_NOTE = (
    "`recall:cold` connects first. `recall:first-call` excludes the time to connect, `recall:second-call` "
    "follows it. `recall:unprepared` sends the statement unprepared. For comparison, `recall` is warm and "
    "prepared.\n"
)


def render(results: Results, plots: dict[str, Plot]) -> list[str]:
    """Render the section's parts; none where there are no speed results.

    Args:
        results: All results.
        plots: Gets the section's plot, where a dimension was measured at more than one size.
    """
    shown = columns(results)
    drains = embedders(results)
    if not shown and not drains:
        return []
    parts = ["## Speed\n"]
    if shown:
        parts += [_sources(shown), "### Ratios\n", _ratios(shown), *_plot(shown, plots)]
        parts += ["### Times\n", _LEGEND, "Milliseconds per call, p50 / p95 / p99.\n"]
        parts += [_times(shown, "rows", _names(shown, "rows")), _extras(shown)]
        parts += ["### Storing\n", _storing(shown)]
    if drains:
        parts += ["### Embedding\n", _embedding(drains)]
    return parts


def _sources(shown: Sequence[Column]) -> str:
    lines = []
    for file in dict.fromkeys(column.file for column in shown):
        own = [column for column in shown if column.file == file]
        found, sizes = own[0].found, " and ".join(column.title for column in own)
        machine, server = found["machine"], found["server"]
        load = ", ".join(f"{column.at('details')['load_average'][0]:.1f}" for column in own)
        lines.append(
            f"- {sizes} (memories × dimensions): {machine['cpu']}, {machine['cores']} cores, "
            f"{machine['memory_mb'] / 1024:.1f} GiB, {machine['system']}, load average before each {load}; "
            f"PostgreSQL {server['postgresql']}, pgvector {server['pgvector']}, "
            f"shared_buffers {server['settings']['shared_buffers']}; {found['queries']} questions a system, "
            f"seed {found['seed']}, revision {revision(found['git'])}, {found['measured_at'][:10]}: "
            f"{file_link(file)}."
        )
    return "\n".join(lines) + "\n"


def _ratios(shown: Sequence[Column]) -> str:
    pairs = dict.fromkeys(pair for column in shown for pair in column.at("ratios"))
    rows = [
        (
            " / ".join(f"`{name}`" for name in pair.split(" / ")),
            *(_pair(column.at("ratios").get(pair)) for column in shown),
        )
        for pair in pairs
    ]
    note = "Time of the first divided by time of the second, p50 / p95: below 1, the first is faster.\n\n"
    return note + table(("", *_titles(shown)), rows)


def _pair(ratio: Mapping[str, float] | None) -> str:
    return "" if ratio is None else f"{ratio['p50']:.2f} / {ratio['p95']:.2f}"


def _plot(shown: Sequence[Column], plots: dict[str, Plot]) -> list[str]:
    by_dimension: dict[int, list[Column]] = {}
    for column in shown:
        by_dimension.setdefault(column.dim, []).append(column)
    lines = {
        str(dim): {
            name: [
                (column.rows, column.at("rows")[name]["p50"], column.at("rows")[name]["p95"])
                for column in own
                if name in column.at("rows")
            ]
            for name in _PLOTTED
        }
        for dim, own in by_dimension.items()
        if len(own) > 1
    }
    if not lines:
        return []
    plots[_PLOT] = latency_plot(lines)
    return [f"![Latency against the number of memories]({_PLOT})\n"]


def _titles(shown: Sequence[Column]) -> Iterable[str]:
    return (column.title for column in shown)


def _names(shown: Sequence[Column], part: str) -> list[str]:
    return list(dict.fromkeys(name for column in shown for name in column.at(part)))


def _times(shown: Sequence[Column], part: str, names: Iterable[str]) -> str:
    rows = [(f"`{name}`", *(_latency(column.at(part).get(name)) for column in shown)) for name in names]
    return table(("", *_titles(shown)), rows)


def _latency(found: Mapping[str, float] | None) -> str:
    return "" if found is None else " / ".join(f"{found[point]:.1f}" for point in ("p50", "p95", "p99"))


def _extras(shown: Sequence[Column]) -> str:
    left = _names(shown, "extras")
    parts = []
    for title, prefixes in _GROUPS.items():
        chosen = [name for name in left if name.startswith(prefixes)]
        left = [name for name in left if name not in chosen]
        if chosen:
            parts += [f"{title}:\n", _times(shown, "extras", chosen)]
    counts = dict.fromkeys(count for column in shown for count in column.at("details")["per_second"])
    rows = [
        (f"{count} at once", *(f"{column.at('details')['per_second'].get(count, '')}" for column in shown))
        for count in counts
    ]
    parts += ["Calls per second, all clients together:\n", table(("", *_titles(shown)), rows)]
    made = [column.at("details").get("plans", {}) for column in shown]
    if any(made):
        titles = {"first": "the first call", "second": "the second", "others": "998 more together"}
        rows = [(title, *(f"{one.get(name, '')}" for one in made)) for name, title in titles.items()]
        parts += [
            "Plans that the server makes for recall on a new connection:\n",
            table(("", *_titles(shown)), rows),
        ]
    parts += [f"{_OTHERS}:\n", _OTHERS_NOTE, _times(shown, "extras", left)]
    return details("Other questions, filters, clients, connections", *parts)


def _storing(shown: Sequence[Column]) -> str:
    found = [column.at("details") for column in shown]
    loads = [one["load"] for one in found]
    builds = [load["index_builds"] for load in loads]
    sizes = [one["bytes_per_memory"] for one in found]
    stored = (f"{column.found['ingest']['rows_per_second']:,.0f}" for column in shown)
    shares = [_share_of_plain(column.found["ingest"]) for column in shown]
    rows: list[Iterable[str]] = [
        ("`remember_many`, memories/s", *stored),
        *(
            [("its share of plain INSERTs into a table with the indexes of a hybrid query", *shares)]
            if any(shares)
            else []
        ),
        (
            "COPY with triggers and all indexes but HNSW, memories/s",
            *(f"{load['rows_per_second']:,.0f}" for load in loads),
        ),
        *(
            (f"building `{name}`, s", *(f"{build[name]:.1f}" if name in build else "" for build in builds))
            for name in _large(builds, 0.03)
        ),
        (
            "passages of long memories with their index, passages/s",
            *(f"{one['passages_per_second']:,.0f}" if "passages_per_second" in one else "" for one in found),
        ),
        ("bytes per memory, total", *(f"{sum(size.values()):,.0f}" for size in sizes)),
    ]
    relations = [
        (f"`{name}`", *(f"{size[name]:,.0f}" if name in size else "" for size in sizes))
        for name in _large(sizes, 0.01)
    ]
    titles = ("", *_titles(shown))
    return (
        table(titles, rows) + "\n" + details("Bytes per memory by table and index", table(titles, relations))
    )


def _share_of_plain(ingest: Mapping[str, float]) -> str:
    plain = ingest.get("plain_rows_per_second")
    return f"{ingest['rows_per_second'] / plain:.2f}" if plain else ""


def _large(columns: Iterable[Mapping[str, float]], share: float) -> dict[str, None]:
    """Return the names that have at least a share of some column: the others are not worth a row."""
    return dict.fromkeys(
        name for column in columns for name, value in column.items() if value >= share * sum(column.values())
    )


def _embedding(drains: Iterable[tuple[str, Mapping[str, Any]]]) -> str:
    rows = [
        (
            f"{found['texts']} texts, {found['model']}, {found['cores']} cores",
            f"{found['bare_per_second']}",
            f"{found['daemon_per_second']}",
            f"{found['ratio']}",
            file_link(name),
        )
        for name, found in drains
    ]
    note = (
        "Texts per second that `pgrecall embedder` claims, embeds and writes back, compared with the bare "
        "model on the same texts, in turns.\n\n"
    )
    return note + table(("", "bare model", "embedder", "ratio", "from"), rows)
