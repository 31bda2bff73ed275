"""The lexical-only older service: SQLite FTS5."""

from __future__ import annotations

import re
import sqlite3
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.quality.datasets import Dataset, Memory, Query

__all__ = ["SqliteFts5"]

_WORD = re.compile(r"\w+")
_SUBSTRING = 3
"""Shorter words are no substring to look for."""


class SqliteFts5:
    """Every word first, then some words, each by -0.7 bm25 + 0.3 importance; substrings if nothing matched.

    One table a namespace, so that a word's rarity is that of the namespace; English stems (`porter`).
    """

    def __init__(self) -> None:
        self._databases: dict[str, sqlite3.Connection] = {}

    def index(self, dataset: Dataset) -> None:
        """Fill a table in memory for each namespace."""
        self._databases = {name: _database(memories) for name, memories in dataset.by_namespace().items()}

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Search by every word, some words, substrings."""
        database = self._databases[query.namespace]
        words = list(dict.fromkeys(_WORD.findall(query.text)))
        quoted = [f'"{word}"' for word in words]
        found: dict[str, None] = {}
        for expression in (" ".join(quoted), " OR ".join(quoted)):
            if words and len(found) < k:
                found.update(dict.fromkeys(_matching(database, expression, k)))
        if not found:
            found.update(dict.fromkeys(_containing(database, words, k)))
        return list(found)[:k]


def _database(memories: list[Memory]) -> sqlite3.Connection:
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE memories USING fts5("
        "id UNINDEXED, importance UNINDEXED, content, tags, tokenize = 'porter unicode61')"
    )
    database.executemany(
        "INSERT INTO memories VALUES (?, ?, ?, ?)",
        [
            (
                memory.id,
                0.5 if memory.fields.importance is None else memory.fields.importance,
                memory.text,
                " ".join(memory.fields.tags or ()),
            )
            for memory in memories
        ],
    )
    return database


def _matching(database: sqlite3.Connection, expression: str, k: int) -> list[str]:
    rows = database.execute(
        "SELECT id FROM memories WHERE memories MATCH ? "
        "ORDER BY -bm25(memories) * 0.7 + importance * 0.3 DESC, rowid LIMIT ?",
        (expression, k),
    )
    return [str(id) for (id,) in rows]


def _containing(database: sqlite3.Connection, words: list[str], k: int) -> list[str]:
    patterns = [f"%{word}%" for word in words if len(word) >= _SUBSTRING]
    if not patterns:
        return []
    condition = " OR ".join(["content LIKE ?"] * len(patterns))
    rows = database.execute(
        f"SELECT id FROM memories WHERE {condition} ORDER BY importance DESC, rowid LIMIT ?", (*patterns, k)
    )
    return [str(id) for (id,) in rows]
