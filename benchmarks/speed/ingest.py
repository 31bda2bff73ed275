"""How fast memories are stored through the client, in a database that is made for it and dropped."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.speed.generator import Corpus, Memory
from benchmarks.speed.storage import create_database, drop_database
from pgrecall import Client
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["BATCH", "fields", "ingest"]

BATCH = 500
_NAME = "bench_ingest"


def ingest(server: str, rows: int, seed: int) -> dict[str, Any]:
    """Store memories by `Client.remember_many`, a batch a statement and a transaction.

    Args:
        server: Connection string of a role that may create databases.
        rows: How many memories, all for one namespace; the first batch comes on top and does not count.
        seed: Of the memories.

    Returns:
        Rows a second, and what they were measured with.
    """
    memories = _memories(Corpus(rows + BATCH, 1, seed))
    dsn = create_database(server, _NAME)
    try:
        migrate(dsn)
        with Client(dsn) as client:
            client.remember_many([next(memories) for _ in range(BATCH)], batch_size=BATCH)
            waiting = list(memories)
            begun = time.perf_counter()
            client.remember_many(waiting, batch_size=BATCH)
            elapsed = time.perf_counter() - begun
    finally:
        drop_database(server, _NAME)
    return {
        "rows": rows,
        "batch": BATCH,
        "seconds": round(elapsed, 2),
        "rows_per_second": round(rows / elapsed, 1),
    }


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
