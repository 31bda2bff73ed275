"""Memories that come in as they do in life: from an application first, from an embedder later."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

from benchmarks.speed.ingest import fields
from benchmarks.speed.questions import vector_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from psycopg import Connection

    from benchmarks.speed.generator import Corpus

__all__ = ["embed", "prepared"]

_CLAIM = 64


def prepared(corpus: Corpus, namespace: str | None = None) -> tuple[list[dict[str, Any]], list[str]]:
    """Return memories as `Client.remember_many` takes them, and as many vectors.

    Args:
        corpus: Where they come from.
        namespace: Where they go; None: where the corpus has them.
    """
    chunks = [corpus.chunk(index) for index in range(corpus.chunks)]
    memories = [
        {
            **fields(memory),
            "external_id": f"live{memory.number}",
            "namespace": namespace or memory.namespace,
        }
        for chunk in chunks
        for memory in chunk.memories
    ]
    return memories, [vector_text(vector) for chunk in chunks for vector in chunk.vectors]


def embed(connection: Connection[Any], vectors: Sequence[str]) -> tuple[list[float], list[float]]:
    """Write embeddings of all that is pending, as an embedder does; whose they are does not matter here.

    Returns:
        The times of claiming and of completing a batch, in milliseconds.
    """
    worker = uuid.uuid4()
    left = iter(vectors)
    claiming: list[float] = []
    completing: list[float] = []
    while True:
        begun = time.perf_counter()
        claimed = connection.execute(
            "SELECT memory_id, content_hash FROM pgrecall.claim(%s, %s)", (worker, _CLAIM)
        ).fetchall()
        if not claimed:
            return claiming, completing
        claiming.append((time.perf_counter() - begun) * 1000)
        ids, digests = (list(one) for one in zip(*claimed, strict=True))
        begun = time.perf_counter()
        connection.execute(
            "SELECT pgrecall.complete(%s, %s, %s, %s)",
            (worker, ids, digests, [next(left) for _ in ids]),
        )
        completing.append((time.perf_counter() - begun) * 1000)
