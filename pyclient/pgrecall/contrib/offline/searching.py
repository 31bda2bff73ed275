"""Recall by words in the file of an offline copy.

The order is that of the older lexical service: memories with every word of the query first, then those with
some of them where that gave too few, each by 0.7 BM25 + 0.3 importance; and where nothing matched, memories
that contain a word as part of another. A word counts the same in title, content, keywords, tags and category.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import json_text
from pgrecall.models import RecalledMemory
from pgrecall.query.legs import found_by

from .file import micros, moment, moment_or_none

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

__all__ = ["add_functions", "query_words", "search"]

ORIGINS = "web tool import agent user"
"""The origins of memories, the least trusted first."""

_SUBSTRING = 3
"""Shorter words are not searched as substrings, except in scripts without spaces."""

_COLUMNS = """
    m.id, m.external_id, m.title, m.content, m.category, m.tags, m.metadata, m.importance, m.speaker,
    m.session, m.source, m.occurred_at, m.created_at, m.is_sensitive, m.origin
"""
_MATCHING = f"""
    SELECT {_COLUMNS}, -bm25(words) AS lexical
    FROM words JOIN memories m ON m.id = words.rowid
    WHERE words MATCH :expression AND {{filter}}
    ORDER BY lexical * 0.7 + m.importance * 0.3 DESC, m.id LIMIT :k
"""
_CONTAINING = f"""
    SELECT {_COLUMNS}, NULL AS lexical
    FROM memories m
    WHERE contains_any(m.title, m.content, :parts) AND {{filter}}
    ORDER BY m.importance DESC, m.id LIMIT :k
"""

# As _pgrecall.matches_filter() on the server.
_ALIVE = "NOT m.is_forgotten AND (m.expires_at IS NULL OR m.expires_at > :now)"
_CURRENT = "(m.superseded_by IS NULL OR m.superseded_at > :as_of)"
_FILTERS = {
    "as_of": "m.created_at <= :as_of",
    "categories": "m.category IN (SELECT e.value FROM json_each(:categories) e)",
    "tags_any": "EXISTS (SELECT 1 FROM json_each(m.tags) t, json_each(:tags_any) e WHERE t.value = e.value)",
    "tags_all": "NOT EXISTS (SELECT 1 FROM json_each(:tags_all) e "
    "WHERE e.value NOT IN (SELECT t.value FROM json_each(m.tags) t))",
    "metadata_contains": "json_contains(m.metadata, :metadata_contains)",
    "sessions": "m.session IN (SELECT e.value FROM json_each(:sessions) e)",
    "speakers": "m.speaker IN (SELECT e.value FROM json_each(:speakers) e)",
    "sources": "m.source IN (SELECT e.value FROM json_each(:sources) e)",
    "external_id_prefix": "substr(m.external_id, 1, length(:external_id_prefix)) = :external_id_prefix",
    "since": "COALESCE(m.occurred_at, m.created_at) >= :since",
    "until": "COALESCE(m.occurred_at, m.created_at) < :until",
    "min_trust": f"instr('{ORIGINS}', m.origin) >= instr('{ORIGINS}', :min_trust)",
}
CONDITIONS = frozenset({*_FILTERS, "include_superseded", "include_sensitive"})
"""The conditions of a `Filter` that a copy can answer."""


@dataclass(frozen=True, slots=True)
class _Found:
    row: sqlite3.Row
    lexical: float | None


def search(
    connection: sqlite3.Connection,
    query: str,
    k: int,
    filters: Mapping[str, Any],
) -> list[RecalledMemory]:
    """Return the best memories of a copy.

    Args:
        connection: A connection with the functions of `add_functions`.
        query: Any text; nothing in it is read as an operator.
        k: How many at most.
        filters: The conditions of a `Filter` by name, checked; of those in `CONDITIONS`.
    """
    words = query_words(query)
    condition, values = _condition(filters)
    found: dict[int, _Found] = {}
    if words:
        quoted = [f'"{word}"' for word in words]
        for operator in (" ", " OR "):
            if len(found) < k:
                given: dict[str, Any] = {"expression": operator.join(quoted), "k": k}
                for found_row in _rows(connection, _MATCHING.format(filter=condition), values | given):
                    found.setdefault(found_row.row["id"], found_row)
        parts = [word for word in words if len(word) >= _SUBSTRING or _is_unspaced(word)]
        if not found and parts:
            given = {"parts": json_text([part.casefold() for part in parts]), "k": k}
            for found_row in _rows(connection, _CONTAINING.format(filter=condition), values | given):
                found[found_row.row["id"]] = found_row
    return [_recalled(one, rank) for rank, one in enumerate(list(found.values())[:k], 1)]


def query_words(query: str) -> list[str]:
    """Return the words of a query, each once: runs of letters, digits and marks, which need no quoting."""
    plain = "".join(char if _is_word(char) else " " for char in query)
    return [word for word in dict.fromkeys(plain.split()) if any(map(str.isalnum, word))]


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_" or unicodedata.category(char).startswith("M")


def _is_unspaced(word: str) -> bool:
    return all(unicodedata.category(char) == "Lo" for char in word)


def _condition(filters: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    conditions, values = [_ALIVE], dict(filters)
    values.setdefault("as_of", None)
    values["now"] = datetime.now(UTC)
    if not values.pop("include_superseded", False):
        conditions.append(_CURRENT)
    if not values.pop("include_sensitive", True):
        conditions.append("NOT m.is_sensitive")
    # An empty value is no condition, as on the server.
    conditions += [one for name, one in _FILTERS.items() if values.get(name) not in (None, [], (), {}, "")]
    return " AND ".join(conditions), {name: _bound(value) for name, value in values.items()}


def _bound(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json_text(value)
    return micros(value) if hasattr(value, "tzinfo") else value


def _rows(connection: sqlite3.Connection, statement: str, values: Mapping[str, Any]) -> list[_Found]:
    import sqlite3

    cursor = connection.cursor()
    cursor.row_factory = sqlite3.Row
    return [_Found(row, row["lexical"]) for row in cursor.execute(statement, values)]


def _recalled(found: _Found, rank: int) -> RecalledMemory:
    row = found.row
    return RecalledMemory(
        id=row["id"],
        external_id=row["external_id"],
        title=row["title"],
        content=row["content"],
        score=0.7 * (found.lexical or 0.0) + 0.3 * row["importance"],
        **found_by("lexical", rank, found.lexical),
        category=row["category"],
        tags=tuple(json.loads(row["tags"])),
        metadata=json.loads(row["metadata"]),
        importance=row["importance"],
        speaker=row["speaker"],
        session=row["session"],
        source=row["source"],
        occurred_at=moment_or_none(row["occurred_at"]),
        created_at=moment(row["created_at"]),
        is_sensitive=bool(row["is_sensitive"]),
        chosen_strategy="fulltext",
        duplicates=(),
        origin=row["origin"],
    )


def add_functions(connection: sqlite3.Connection) -> None:
    """Give a connection what the statements here call."""
    connection.create_function("json_contains", 2, _json_contains, deterministic=True)
    connection.create_function("contains_any", 3, _contains_any, deterministic=True)


def _contains_any(title: str | None, content: str, parts: str) -> bool:
    text = f"{title or ''}\n{content}".casefold()
    return any(part in text for part in json.loads(parts))


def _json_contains(value: str, part: str) -> bool:
    return _contains(json.loads(value), json.loads(part), is_top=True)


def _contains(value: Any, part: Any, *, is_top: bool = False) -> bool:
    """Whether JSON contains other JSON, as PostgreSQL's jsonb @> has it."""
    if isinstance(part, dict):
        return isinstance(value, dict) and all(
            key in value and _contains(value[key], item) for key, item in part.items()
        )
    if isinstance(part, list):
        return isinstance(value, list) and all(any(_contains(one, item) for one in value) for item in part)
    if is_top and isinstance(value, list):
        return any(_contains(one, part) for one in value)
    if isinstance(value, bool) or isinstance(part, bool):
        return value is part
    return bool(value == part)
