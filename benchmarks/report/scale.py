"""Millions of memories on one machine, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.report.markdown import table

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["scale"]


def scale(found: Mapping[str, Any]) -> str:
    """Render what each step of a run found, a line a step and way of asking."""
    steps = found["steps"]
    loaded, tenant, cold, updates = steps["loaded"], steps["tenant"], steps["cold"], steps["updates"]
    by_tenth = ", ".join(f"{rate:,.0f}" for rate in loaded["rows_per_second_by_tenth"])
    rows = [
        (
            f"loading by COPY in {loaded['sessions']} sessions, memories a second",
            f"{loaded['rows_per_second']:,.0f}; by tenth: {by_tenth}",
        ),
        ("building HNSW, s", f"{steps['build']['seconds']:,.0f}"),
        ("VACUUM ANALYZE, s", f"{steps['vacuum']['seconds']:,.0f}"),
        ("bytes a memory", f"{sum(steps['vacuum']['bytes_per_memory'].values()):,.0f}"),
        *(
            (f"recall, warm: {name}; p50 / p95, ms", _times(one))
            for name, one in steps["warm"]["recall"].items()
        ),
        ("recall after a restart: the first, ms", f"{cold['first_ms']:,.0f}"),
        ("the first 10 and 50; p50 / p95, ms", f"{_times(cold['first_10'])}; {_times(cold['first_50'])}"),
        (
            "one more namespace of 10,000: `remember_many`, embeddings, a second",
            f"{tenant['remember_many_per_second']:,.0f}, {tenant['embeddings_written_per_second']:,.0f}",
        ),
        ("recall beside it", _times(tenant["recall_beside"])),
        (f"{updates['updates']:,} updates, a second", f"{updates['updates_per_second']:,.0f}"),
        ("recall beside them", _times(updates["recall_beside_updates"])),
        ("VACUUM after them, s", f"{updates['vacuum_seconds']:,.0f}"),
        ("recall beside it", _times(updates["recall_beside_vacuum"])),
        (
            "`pg_dump`, s; bytes a memory",
            f"{steps['dump']['seconds']:,.0f}; {steps['dump']['bytes'] / found['rows']:,.0f}",
        ),
        ("recall beside it", _times(steps["dump"]["recall_beside"])),
        ("`rebuild_all_postings`, s", f"{steps['rebuild']['seconds']:,.0f}"),
        ("recall beside it", _times(steps["rebuild"]["recall_beside"])),
    ]
    loads = [one["load_before"] for one in steps.values()]
    note = f"Load average before the steps: {min(loads):.1f} to {max(loads):.1f}.\n"
    return f"{table(('', ''), rows)}\n{note}"


def _times(one: Mapping[str, float]) -> str:
    return f"{one['p50']:,.1f} / {one['p95']:,.1f}"
