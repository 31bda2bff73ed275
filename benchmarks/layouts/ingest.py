"""The ways in which memories get in and change, each with the same memories for every layout."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from benchmarks.speed.ingest import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from psycopg import Connection

    from benchmarks.speed.generator import Corpus, Memory

    Turn = Callable[[Connection[Any]], None]

__all__ = ["STAGES", "Work"]

STAGES = ("copy", "remember_many", "remember", "write_back", "revise", "forget")
"""The parts of the work, in the order in which they are done."""

_COPY = b"""
COPY pgrecall.memories (
    namespace_id, external_id, content, category, tags, importance, session, position, speaker, occurred_at,
    language, content_hash, search_vector
) FROM STDIN
"""
_REMEMBER_MANY = "SELECT count(*) FROM remember_many(%s::jsonb)"
_REMEMBER = """
SELECT remember(
    namespace => %(namespace)s, external_id => %(external_id)s, content => %(content)s,
    category => %(category)s, tags => %(tags)s, importance => %(importance)s, session => %(session)s,
    "position" => %(position)s, speaker => %(speaker)s, occurred_at => %(occurred_at)s
)
"""
_WRITE_BACK = """
UPDATE pgrecall.memories
SET embedding = array_fill(0.1::real, ARRAY[pgrecall.embedding_dimension()])::halfvec
WHERE id BETWEEN %s AND %s
"""
_REVISE = r"""
UPDATE pgrecall.memories SET content = regexp_replace(content, '\S+$', 'revised.') WHERE id BETWEEN %s AND %s
"""
_FORGET = "UPDATE pgrecall.memories SET deleted_at = now() WHERE id BETWEEN %s AND %s"

_PER_CALL = 1000
_PER_TURN = {"remember": 100, "write_back": 500, "revise": 100, "forget": 100}
"""Memories a turn; each turn is one statement, but for remember, which has one for each memory."""


@dataclass(frozen=True, slots=True)
class Work:
    """What is done, in turns, ready to be sent: making it takes no time when it counts.

    Attributes:
        turns: Of each of `STAGES`: what to do over an autocommit connection, and with how many memories.
    """

    turns: Mapping[str, Sequence[tuple[Turn, int]]]

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        more: Corpus,
        namespaces: Mapping[str, int],
        many: int,
        written_back: int,
        changed: int,
    ) -> Self:
        """Prepare the work.

        Args:
            corpus: What is copied, a chunk a turn.
            more: What is remembered.
            namespaces: Ids of the namespaces of both, by name.
            many: How many memories of `more` go in by remember_many; the others go in one by one.
            written_back: How many of the copied ones get an embedding.
            changed: How many of them get another text, and how many others are forgotten.
        """
        chunks = [corpus.chunk(index).memories for index in range(corpus.chunks)]
        others = [_fields(memory) for index in range(more.chunks) for memory in more.chunk(index).memories]
        called, singles = others[:many], others[many:]
        changed = min(changed, corpus.rows // 2)
        calls = [called[first : first + _PER_CALL] for first in range(0, many, _PER_CALL)]
        return cls(
            {
                "copy": [(partial(_copy, _lines(chunk, namespaces)), len(chunk)) for chunk in chunks],
                "remember_many": [(partial(_remember_many, json.dumps(call)), len(call)) for call in calls],
                "remember": [
                    (partial(_remember, singles[first : last + 1]), last + 1 - first)
                    for first, last in _ranges("remember", 0, len(singles))
                ],
                "write_back": _updates("write_back", _WRITE_BACK, 1, min(written_back, corpus.rows)),
                "revise": _updates("revise", _REVISE, 1, changed),
                "forget": _updates("forget", _FORGET, changed + 1, changed),
            }
        )


def _ranges(stage: str, first: int, count: int) -> list[tuple[int, int]]:
    """Return the first and the last number of each turn."""
    step, end = _PER_TURN[stage], first + count
    return [(start, min(start + step, end) - 1) for start in range(first, end, step)]


def _updates(stage: str, statement: str, first: int, count: int) -> list[tuple[Turn, int]]:
    return [
        (partial(_update, statement, start, last), last + 1 - start)
        for start, last in _ranges(stage, first, count)
    ]


def _copy(lines: bytes, connection: Connection[Any]) -> None:
    with connection.cursor().copy(_COPY) as copy:
        copy.write(lines)


def _remember_many(call: str, connection: Connection[Any]) -> None:
    connection.execute(_REMEMBER_MANY, (call,))


def _remember(singles: Sequence[Mapping[str, Any]], connection: Connection[Any]) -> None:
    for single in singles:
        connection.execute(_REMEMBER, single, prepare=True)


def _update(statement: str, first: int, last: int, connection: Connection[Any]) -> None:
    connection.execute(statement.encode(), (first, last))


def _lines(memories: Iterable[Memory], namespaces: Mapping[str, int]) -> bytes:
    return "".join(_line(memory, namespaces) for memory in memories).encode()


def _line(memory: Memory, namespaces: Mapping[str, int]) -> str:
    """Write a row as COPY reads it; nothing in a synthetic memory needs to be escaped."""
    values = (
        namespaces[memory.namespace],
        f"m{memory.number}",
        memory.content,
        memory.category,
        f"{{{','.join(memory.tags)}}}",
        memory.importance,
        memory.session,
        memory.position,
        memory.speaker,
        memory.occurred_at.isoformat(),
        "english",
        "",
        "",
    )
    return "\t".join(map(str, values)) + "\n"


def _fields(memory: Memory) -> dict[str, Any]:
    """Return a memory as the function remember_many reads it, with an id that COPY has not used."""
    return fields(memory) | {
        "namespace": memory.namespace,
        "external_id": f"n{memory.number}",
        "occurred_at": memory.occurred_at.isoformat(),
    }
