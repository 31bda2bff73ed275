"""`pgrecall status`: what is stored, what waits, who works on it, how large it is."""

from typing import TYPE_CHECKING

from pgrecall.formatting import SECTIONS, format_bytes, format_value

from .common import AsJson, DataDir, Dsn, connection_string, print_json, terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.table import Table

    from pgrecall.models import Generation, IndexStatus, Status, Worker

_LARGEST = 8
"""Indexes that are printed; --json has all."""


def status(as_json: AsJson = False, dsn: Dsn = None, data_dir: DataDir = None) -> None:
    """Print what is stored, what waits and who works on it, sizes and versions."""
    from pgrecall import Client

    with Client(connection_string(dsn, data_dir), pool_max=1) as client:
        found = client.admin.status()
        workers = client.admin.workers()
        indexes = client.admin.indexes()
        # Counting a second generation reads every memory once more.
        generations = [] if found.other_generation is None else client.admin.generations()
    if as_json:
        lists = {
            "daemons": [row.as_dict() for row in workers],
            "generations": [row.as_dict() for row in generations],
            "indexes": [row.as_dict() for row in indexes],
        }
        print_json(found.as_dict() | lists)
        return

    console = terminal(highlight=False)
    console.print(_overview(found))
    if generations:
        console.print(_generations(generations))
    if workers:
        console.print(_workers(workers))
    console.print(_indexes(indexes))


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
            text = format_bytes(value) if name.endswith("_bytes") else format_value(value)
            label = name.removesuffix("_bytes") + " size" if name.endswith("_bytes") else name
            table.add_row(f"  {label.replace('_', ' ')}", Text(text))
    return table


def _generations(rows: "Sequence[Generation]") -> "Table":
    names = ("generation", "state", "model", "embedded", "pending", "failed", "per_second", "eta")
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
                format_bytes(row.bytes),
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
        table.add_row(*(Text(format_value(value)) for value in row))
    return table
