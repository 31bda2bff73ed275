"""Synthetic mentions, as many and as unevenly spread as an extractor finds in real texts.

What pgrecall's extractor reads without spaCy, and what is made here for 100,000 memories
("memories of the concept of 50, 75, 90 %": so many mentions have a concept of up to so many memories):

|                                          | musique        | locomo         | here           |
|------------------------------------------|----------------|----------------|----------------|
| memories                                 | 5,966          | 5,882          | 100,000        |
| names a memory, mean                     | 8.9            | 1.5            | 9.4            |
| 10, 50, 90, 99 % of memories have up to  | 4, 8, 15, 28   | 1, 1, 2, 3     | 5, 8, 16, 26   |
| mentions of what a memory is about       | 13.6 %         | 0.3 %          | 11 %           |
| concepts a memory                        | 5.7            | 0.06           | 6.1            |
| concepts of one memory                   | 84 %           | 58 %           | 87 %           |
| memories of the concept of 50, 75, 90 %  | 1, 5, 28       | 398, 452, 1371 | 1, 5, 39       |
| concepts of most memories                | 11, 2.6, 2.4 % | 23, 9, 8 %     | 4, 2.8, 2.1 %  |

Locomo's are the speakers, in 60 to 80 % of the turns of their conversation. The paragraphs of musique give a
walk more to do and are imitated: a memory has a title of its own; of its other names two fifths are of it
alone, the rest follow Zipf's law. A name in every memory is measured by itself (hub.py). Tags come on top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.speed.words import names

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

    from benchmarks.speed.generator import Chunk, Corpus

__all__ = ["mentions", "store_mentions"]

_MEDIAN, _SPREAD, _MOST = 8.0, 0.5, 40
"""Names a memory: log-normal."""
_OWN = 0.4
"""The share of names, besides the title, that no other memory has."""
_EXPONENT = 0.7
_SHARED = 2
"""Names to draw the others from, by memory."""

_STAGE = """
CREATE TEMPORARY TABLE said (namespace_id integer, external_id text, name text, is_about boolean);
"""
_COPY = b"COPY said (namespace_id, external_id, name, is_about) FROM STDIN"
_STORE = (
    'ALTER TABLE said ADD COLUMN alias text COLLATE "C"',
    "UPDATE said SET alias = pgrecall.normalize_name(name)",
    "INSERT INTO pgrecall.concepts (namespace_id, key, name) "
    "SELECT s.namespace_id, s.alias, min(s.name) FROM said s WHERE NOT EXISTS ("
    "SELECT FROM pgrecall.concept_aliases a WHERE a.namespace_id = s.namespace_id AND a.alias = s.alias"
    ") GROUP BY s.namespace_id, s.alias",
    "INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name) "
    "SELECT c.namespace_id, c.key, c.id, c.name FROM pgrecall.concepts c ON CONFLICT DO NOTHING",
    "INSERT INTO pgrecall.mentions "
    "(namespace_id, concept_id, memory_id, alias_id, source, confidence, is_about) "
    "SELECT s.namespace_id, a.concept_id, m.id, a.id, 'phrase', 0.8, bool_or(s.is_about) "
    "FROM said s "
    "JOIN pgrecall.memories m ON m.namespace_id = s.namespace_id AND m.external_id = s.external_id "
    "JOIN pgrecall.concept_aliases a ON a.namespace_id = s.namespace_id AND a.alias = s.alias "
    "GROUP BY s.namespace_id, a.concept_id, m.id, a.id ORDER BY m.id",
    "DELETE FROM pgrecall.jobs WHERE kind = 'text'",
    "INSERT INTO pgrecall.extractions (memory_id, enricher, version) "
    "SELECT m.id, 'text', 'synthetic' FROM pgrecall.memories m ON CONFLICT DO NOTHING",
    "DROP TABLE said",
)
"""What pgrecall.complete_extractions leaves behind, without its checks."""


def mentions(corpus: Corpus, index: int, chunk: Chunk) -> Iterator[tuple[str, str, str, bool]]:
    """Make the mentions of a chunk's memories.

    Args:
        corpus: The corpus.
        index: Which chunk of it.
        chunk: That chunk.

    Yields:
        Namespace, external id, name, and whether the memory is about it; a name may come twice.
    """
    rng = corpus.random(3, index)
    count = len(chunk.memories)
    amounts = np.round(_MEDIAN * np.exp(_SPREAD * rng.standard_normal(count))).astype(np.int64)
    others = np.clip(amounts, 1, _MOST) - 1
    own = rng.binomial(others, _OWN)
    shared = names(_SHARED * corpus.rows)
    weights = np.arange(1, len(shared) + 1, dtype=np.float64) ** -_EXPONENT
    cumulative = np.cumsum(weights / weights.sum())
    drawn = np.searchsorted(cumulative, rng.random(int((others - own).sum()))).tolist()
    first = 0
    for memory, alone, all_others in zip(chunk.memories, own.tolist(), others.tolist(), strict=True):
        last = first + all_others - alone
        place = memory.namespace, f"m{memory.number}"
        yield *place, f"title {memory.number}", True
        for number in range(alone):
            yield *place, f"own {memory.number} {number}", False
        for rank in drawn[first:last]:
            yield *place, shared[min(rank, len(shared) - 1)], False
        for name in memory.named:
            yield *place, name, False
        first = last


def store_mentions(connection: Connection[Any], corpus: Corpus, namespaces: dict[str, int]) -> None:
    """Write the mentions of every memory, as if all had been extracted.

    Args:
        connection: To the database, in autocommit mode, with the memories in it.
        corpus: What they are.
        namespaces: Ids of the namespaces by name.
    """
    connection.execute(_STAGE)
    with connection.cursor().copy(_COPY) as copy:
        for index in range(corpus.chunks):
            for namespace, id, name, about in mentions(corpus, index, corpus.chunk(index)):
                copy.write_row((namespaces[namespace], id, name, about))
    connection.execute("ANALYZE said")
    for statement in _STORE:
        connection.execute(statement.encode())
