"""What the tests of `pgrecall import KIND` share: an older service's file, and a run over a source."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from pgrecall.contrib.importers import ORIGIN, ImportFromReport, Rejected, Verification, import_from, verify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from psycopg import Connection

    from pgrecall import Client
    from pgrecall.contrib.importers import Source

COLUMNS = (
    "id", "content", "category", "tags", "expanded_keywords", "importance", "is_sensitive", "deleted_at",
    "created_at", "updated_at",
)  # fmt: skip


def older_file(file: Path, records: Sequence[Mapping[str, Any]], columns: Sequence[str] = COLUMNS) -> Path:
    """Write an older service's file; a record has what it names, and NULL for the rest."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("DROP TABLE IF EXISTS memories")
        # Without types: SQLite lets any of them in, and so did older versions.
        connection.execute(f"CREATE TABLE memories ({', '.join(columns)})")
        for record in records:
            connection.execute(
                f"INSERT INTO memories VALUES ({', '.join('?' * len(columns))})",
                [record.get(column) for column in columns],
            )
        connection.commit()
    return file


def unlistable(folder: Path) -> Path:
    """Make folders below a folder down to one that nobody can list: its path is longer than the system takes.

    Permissions would not do: root may read everything.
    """
    name = "d" * 255
    place = os.open(folder, os.O_RDONLY)
    deepest = folder
    while len(str(deepest)) < 4096:
        os.mkdir(name, dir_fd=place)
        deeper = os.open(name, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place, deepest = deeper, deepest / name
    os.close(place)
    return deepest


def note(number: int, **fields: Any) -> dict[str, Any]:
    """A record that is in order."""
    return {
        "id": number,
        "content": f"fact number {number}",
        "is_sensitive": 0,
        "created_at": "2025-01-02 03:04:05",
        "updated_at": "2025-02-03T04:05:06Z",
        **fields,
    }


def run(
    client: Client, opened: AbstractContextManager[Source], **options: Any
) -> tuple[ImportFromReport, Verification, list[Rejected]]:
    """Adopt a source, and compare."""
    rejected: list[Rejected] = []
    with opened as source:
        report = import_from(client, source, reject=rejected.append, **options)
        options.pop("dry_run", None)
        compared = verify(client, source, report, found=rejected.append, **options)
    return report, compared, rejected


def stored_memories(conn: Connection[Any], namespace: str = "default") -> dict[str, dict[str, Any]]:
    """Every memory of a namespace by its external id; where it is from stands apart from its metadata."""
    found = conn.cursor(row_factory=dict_row).execute(
        """
        SELECT m.*, m.embedding::text AS embedding
        FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id WHERE n.name = %s ORDER BY m.id
        """,
        (namespace,),
    )
    return {row["external_id"]: row | {"origin": row["metadata"].pop(ORIGIN, None)} for row in found}


def outcome(report: ImportFromReport) -> tuple[int, int, int, int]:
    """What was stored, updated, present, rejected."""
    return report.stored, report.updated, report.present, report.rejected
