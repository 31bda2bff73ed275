"""A copy of a namespace, and what it must be."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row

from pgrecall.contrib.offline.file import micros

if TYPE_CHECKING:
    from pathlib import Path

    from psycopg import Connection

TIMES = ("occurred_at", "created_at", "updated_at", "valid_from", "valid_to", "superseded_at", "expires_at")


def on_server(
    conn: Connection[Any], namespace: str = "default", *, sensitive: bool = False
) -> list[dict[str, Any]]:
    """What of a namespace belongs into a copy."""
    query = """
        SELECT m.id, m.external_id, m.title, m.content, m.category, m.tags, m.expanded_keywords, m.importance, m.metadata,
               m.source, m.session, m.speaker, m.position, m.language, m.is_sensitive, m.occurred_at, m.created_at,
               m.updated_at, m.valid_from, m.valid_to, m.superseded_by, m.superseded_at, m.expires_at,
               m.origin
        FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id
        WHERE n.name = %s AND m.deleted_at IS NULL AND (%s OR NOT m.is_sensitive) ORDER BY m.id
    """
    found = conn.cursor(row_factory=dict_row).execute(query, (namespace, sensitive)).fetchall()
    for row in found:
        for name in TIMES:
            row[name] = None if row[name] is None else micros(row[name])
    return found


def in_copy(path: Path) -> list[dict[str, Any]]:
    """What a copy has, forgotten memories too."""
    with sqlite3.connect(path) as connection:
        connection.row_factory = sqlite3.Row
        rows = [dict(row) for row in connection.execute("SELECT * FROM memories ORDER BY id")]
    connection.close()
    for row in rows:
        for name in ("version", "base", "is_forgotten"):
            del row[name]
        for name in ("tags", "expanded_keywords", "metadata"):
            row[name] = json.loads(row[name])
        row["is_sensitive"] = bool(row["is_sensitive"])
    return rows


def bytes_of(path: Path) -> bytes:
    """All that is in the file and those beside it."""
    return b"".join(each.read_bytes() for each in sorted(path.parent.glob(f"{path.name}*")))


def contents(found: Any) -> list[str]:
    """The texts of a result."""
    return [memory.content for memory in found]


def alive(conn: Connection[Any]) -> list[str]:
    """The texts that hold, the oldest first."""
    query = (
        "SELECT content FROM pgrecall.memories WHERE deleted_at IS NULL AND superseded_by IS NULL ORDER BY id"
    )
    return [text for (text,) in conn.execute(query)]
