"""Millions of memories on one machine, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Rows = list[tuple[str, str]]

__all__ = ["RENDERED", "scale"]


def scale(found: Mapping[str, Any]) -> str:
    """Render what each step of a run found, a line a step and way of asking."""
    steps = found["steps"]
    rows = [row for name, render in RENDERED.items() if name in steps for row in render(steps[name], found)]
    loads = [one["load_before"] for one in steps.values()]
    note = f"Load average before the steps: {min(loads):.1f} to {max(loads):.1f}.\n"
    return f"{table(('', ''), rows)}\n{note}"


def _loaded(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    by_tenth = ", ".join(f"{rate:,.0f}" for rate in one["rows_per_second_by_tenth"])
    said = f"{one['rows_per_second']:,.0f}; by tenth: {by_tenth}"
    return [(f"loading by COPY in {one['sessions']} sessions, memories a second", said)]


def _build(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    return [("building HNSW, s", f"{one['seconds']:,.0f}")]


def _vacuum(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    return [
        ("VACUUM ANALYZE, s", f"{one['seconds']:,.0f}"),
        ("bytes a memory", f"{sum(one['bytes_per_memory'].values()):,.0f}"),
    ]


def _flush(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    if not one["memories"]:
        return []
    return [
        (f"{one['memories']:,} memories that loading left into the postings, s", f"{one['seconds']:,.0f}")
    ]


def _tenant(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    rates = f"{one['remember_many_per_second']:,.0f}, {one['embeddings_written_per_second']:,.0f}"
    return [
        ("one more namespace of 10,000: `remember_many`, embeddings, a second", rates),
        ("recall beside it", _times(one["recall_beside"])),
    ]


def _cold(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    return [
        ("recall after a restart: the first, ms", f"{one['first_ms']:,.0f}"),
        ("the first 10 and 50; p50 / p95, ms", f"{_times(one['first_10'])}; {_times(one['first_50'])}"),
    ]


def _warm(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    # They came soon after the restart of the step before: what a question reads is not all in memory yet.
    label = "recall soon after a restart"
    return [(f"{label}: {name}; p50 / p95, ms", _times(times)) for name, times in one["recall"].items()]


def _updates(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    return [
        (f"{one['updates']:,} updates, a second", f"{one['updates_per_second']:,.0f}"),
        ("recall beside them", _times(one["recall_beside_updates"])),
        ("VACUUM after them, s", f"{one['vacuum_seconds']:,.0f}"),
        ("recall beside it", _times(one["recall_beside_vacuum"])),
    ]


def _dump(one: Mapping[str, Any], found: Mapping[str, Any]) -> Rows:
    return [
        ("`pg_dump`, s; bytes a memory", f"{one['seconds']:,.0f}; {one['bytes'] / found['rows']:,.0f}"),
        ("recall beside it", _times(one["recall_beside"])),
    ]


def _restore(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    took = f"{one['seconds']:,.0f}; {one['migrate_seconds']:,.0f}"
    return [("`pg_restore` with two jobs and `pgrecall migrate`, s; of it the latter", took)]


def _rebuild(one: Mapping[str, Any], _: Mapping[str, Any]) -> Rows:
    return [
        ("`rebuild_all_postings`, s", f"{one['seconds']:,.0f}"),
        ("recall beside it", _times(one["recall_beside"])),
    ]


RENDERED: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Rows]] = {
    "loaded": _loaded,
    "build": _build,
    "vacuum": _vacuum,
    "flush": _flush,
    "warm": _warm,
    "cold": _cold,
    "tenant": _tenant,
    "updates": _updates,
    "dump": _dump,
    "restore": _restore,
    "rebuild": _rebuild,
}
"""The lines of each step, in the order of the table."""


def _times(one: Mapping[str, float]) -> str:
    return f"{one['p50']:,.1f} / {one['p95']:,.1f}"
