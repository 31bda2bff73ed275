"""Memories with chosen vectors, and recalls with settings of one call."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from psycopg import sql
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from support.memories import call

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

LEGS_ALONE = {
    "lexical_coverage": 0.5,
    "phrase_bonus": 0,
    "session_share": 0,
    "graph_weight": 0,
    "entity_boost": 1,
    "other_speaker_factor": 1,
    "newer_first": False,
}
"""Settings under which a score is what the lexical and the dense leg make of it."""


def vector(*head: float) -> str:
    """A vector of 384 dimensions, zero after these."""
    return str([*head, *[0.0] * (384 - len(head))])


def at(cosine: float) -> str:
    """A vector with this cosine to NORTH."""
    return vector(cosine, math.sqrt(1 - cosine**2))


NORTH = vector(1)


def remember(conn: Connection[Any], content: str, embedding: str | None = None, **options: object) -> int:
    number = int(call(conn, "remember", content, **options))
    if embedding is not None:
        conn.execute("UPDATE pgrecall.memories SET embedding = %s WHERE id = %s", (embedding, number))
    return number


def recalled(
    conn: Connection[Any], query: str | None, query_vec: str | None = None, *,
    settings: Mapping[str, object] | None = None, **options: object,
) -> list[dict[str, Any]]:  # fmt: skip
    """What recall() returns; `settings` and options without a value are left out."""
    values = {"query": query, "query_vec": query_vec, **options}
    if settings is not None:
        values["settings"] = Jsonb(dict(settings))
    given = [sql.SQL("{} => {}").format(sql.Identifier(name), sql.Placeholder(name)) for name in values]
    text = sql.SQL("SELECT * FROM recall({})").format(sql.SQL(", ").join(given))
    return conn.cursor(row_factory=dict_row).execute(text, values).fetchall()


def ranking(
    conn: Connection[Any], query: str | None, query_vec: str | None = None, **settings: object
) -> list[dict[str, Any]]:
    """What recall() returns by the two legs alone, with these settings of the call (and reference_time, namespace)."""
    given = LEGS_ALONE | settings
    options = {name: given.pop(name) for name in ("reference_time", "namespace") if name in given}
    return recalled(conn, query, query_vec, settings=given, **options)


def ids(found: Sequence[Mapping[str, Any]]) -> list[int]:
    return [row["id"] for row in found]


def scores(found: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    return {row["id"]: row["score"] for row in found}
