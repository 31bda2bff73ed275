"""`pgrecall status`: what is stored, what waits, who works on it, how large it is."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from .common import AsJson, DataDir, Dsn, connection_string, print_json
from .search import age, clean

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from pgrecall.operations import Generation, IndexStatus, Status, Worker

SECTIONS = {
    "memories": (
        "namespaces", "memories", "sensitive", "memories_bytes", "analyzed_at", "pending_postings", "unread",
        "unread_failed", "oldest_unread", "unread_by_llm",
    ),
    "embeddings": (
        "model", "dimension", "generation", "embedded", "pending", "in_progress", "failed", "oldest_pending",
        "parked", "failures_by_cause", "truncated", "workers", "per_second", "eta", "dense_index_name",
        "dense_index_valid", "dense_index_bytes", "other_generation", "other_state", "other_model",
    ),
    "versions": ("schema_revision", "bundle_hash", "server_version", "pgvector_version"),
}  # fmt: skip
"""The attributes of `Status`, by what they are about."""

_LARGEST = 8
"""Indexes that are printed; --json has all."""


def status(as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Print what is stored, what waits and who works on it, sizes and versions."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = client.status()
        workers = client.workers()
        indexes = client.indexes()
        # Counting a second generation reads every memory once more.
        generations = [] if found.other_generation is None else client.generations()
    if as_json:
        lists = {
            "daemons": [row.as_dict() for row in workers],
            "generations": [row.as_dict() for row in generations],
            "indexes": [row.as_dict() for row in indexes],
        }
        print_json(found.as_dict() | lists)
        return
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_overview(found))
    if generations:
        console.print(_generations(generations))
    if workers:
        console.print(_workers(workers))
    console.print(_indexes(indexes))


def written(value: object) -> str:
    """Write a value for people: a span in its largest unit, a time in local time, '-' for nothing."""
    if value is None:
        return "-"
    if isinstance(value, timedelta):
        return age(value)
    if isinstance(value, datetime):
        return f"{value.astimezone():%Y-%m-%d %H:%M}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.1f}"
    if isinstance(value, dict):
        return ", ".join(f"{count} {name}" for name, count in sorted(value.items())) or "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    return clean(str(value))


def size(count: int | None) -> str:
    """Write a number of bytes in its largest unit."""
    if count is None:
        return "-"
    for unit, length in (("GiB", 2**30), ("MiB", 2**20), ("KiB", 2**10)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} B"


def _overview(found: "Status") -> "Table":
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for heading, names in SECTIONS.items():
        table.add_row(Text(heading, style="bold"))
        for name in names:
            value = getattr(found, name)
            text = size(value) if name.endswith("_bytes") else written(value)
            label = name.removesuffix("_bytes") + " size" if name.endswith("_bytes") else name
            table.add_row(f"  {label.replace('_', ' ')}", Text(text))
    return table


def _generations(rows: "Sequence[Generation]") -> "Table":
    names = ("generation", "state", "model", "embedded", "pending", "parked", "per_second", "eta")
    return _table("generations", names, ([getattr(row, name) for name in names] for row in rows))


def _workers(rows: "Sequence[Worker]") -> "Table":
    headings = ("embedder", "model", "generations", "embedded", "per second", "seen", "paused")
    return _table(
        "embedders",
        headings,
        (
            [
                f"{row.hostname}:{row.pid}",
                row.model,
                row.generations,
                row.embedded,
                row.per_second,
                row.last_seen,
                [f"{pause.get('model')}: {pause.get('cause')}" for pause in row.pauses],
            ]
            for row in rows
        ),
    )


def _indexes(rows: "Sequence[IndexStatus]") -> "Table":
    largest = [row for place, row in enumerate(rows) if place < _LARGEST or not row.is_valid]
    return _table(
        "largest indexes",
        ("index", "method", "size", "valid"),
        (
            [
                row.index_name,
                row.method,
                size(row.bytes),
                "is being built" if row.is_building else row.is_valid,
            ]
            for row in largest
        ),
    )


def _table(title: str, headings: "Iterable[str]", rows: "Iterable[Sequence[object]]") -> "Table":
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title=title, title_justify="left", title_style="bold")
    for heading in headings:
        table.add_column(heading.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(written(value)) for value in row))
    return table
