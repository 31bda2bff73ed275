"""How fast memories are stored through the client, in a database that is made for it and dropped.

Beside it, in turns: the same memories by INSERT into a table of an application's own, with the indexes that a
hybrid query needs.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.speed.generator import Corpus, Memory
from benchmarks.speed.storage import create_database, drop_database
from pgrecall import Client
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BATCH", "fields", "ingest"]

BATCH = 500
_NAME = "bench_ingest"

_PLAIN = """
CREATE TABLE plain (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, external_id text UNIQUE, content text NOT NULL,
    category text, tags text[], importance real, session text, position integer, speaker text,
    occurred_at timestamptz,
    search_vector tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED
);
CREATE INDEX ON plain USING gin (search_vector);
CREATE INDEX ON plain USING gin (tags);
CREATE INDEX ON plain (session, position);
CREATE INDEX ON plain (occurred_at);
"""
_INSERT = """
INSERT INTO plain (external_id, content, category, tags, importance, session, position, speaker, occurred_at)
VALUES (%(external_id)s, %(content)s, %(category)s, %(tags)s, %(importance)s, %(session)s, %(position)s,
        %(speaker)s, %(occurred_at)s)
"""


def ingest(server: str, rows: int, seed: int) -> dict[str, Any]:
    """Store memories by `Client.remember_many`, a batch a statement and a transaction.

    Args:
        server: Connection string of a role that may create databases.
        rows: How many memories, all for one namespace; the first batch comes on top and does not count.
        seed: Of the memories.

    Returns:
        Rows a second, those of the plain INSERT, and what they were measured with.
    """
    memories = _memories(Corpus(rows + BATCH, 1, seed))
    dsn = create_database(server, _NAME)
    try:
        migrate(dsn)
        with Client(dsn) as client, psycopg.connect(dsn) as connection:
            connection.execute(_PLAIN)
            elapsed = inserted = 0.0
            for number, batch in enumerate(_batches(memories)):
                begun = time.perf_counter()
                client.remember_many(batch, batch_size=BATCH)
                stored = time.perf_counter()
                connection.cursor().executemany(_INSERT, batch)
                connection.commit()
                if number > 0:
                    elapsed += stored - begun
                    inserted += time.perf_counter() - stored
    finally:
        drop_database(server, _NAME)
    return {
        "rows": rows,
        "batch": BATCH,
        "seconds": round(elapsed, 2),
        "rows_per_second": round(rows / elapsed, 1),
        "plain_rows_per_second": round(rows / inserted, 1),
    }


def _batches(memories: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    while batch := list(islice(memories, BATCH)):
        yield batch


def _memories(corpus: Corpus) -> Iterator[dict[str, Any]]:
    for index in range(corpus.chunks):
        for memory in corpus.chunk(index).memories:
            yield fields(memory)


def fields(memory: Memory) -> dict[str, Any]:
    """Return a memory as `Client.remember_many` takes it."""
    return {
        "external_id": f"m{memory.number}",
        "content": memory.content,
        "category": memory.category,
        "tags": list(memory.tags),
        "importance": memory.importance,
        "session": memory.session,
        "position": memory.position,
        "speaker": memory.speaker,
        "occurred_at": memory.occurred_at,
    }
