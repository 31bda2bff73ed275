"""The queue of memories that get sparse terms: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from pgrecall_embedder.jobs.reading import ReadingQueue

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.jobs.reading import Claimed

__all__ = ["SparseQueue"]


class SparseQueue(ReadingQueue):
    """The queue of memories that get sparse terms, used by one worker.

    Args:
        claims: The connection for claims and releases.
        writes: The connection for everything else.
        lease_seconds: How long a lease lasts, unless it is renewed.
    """

    def __init__(self, claims: Connection, writes: Connection, lease_seconds: float) -> None:
        super().__init__(claims, writes, "sparse", lease_seconds)

    async def complete_sparse(self, version: str, read: Sequence[tuple[Claimed, Mapping[str, float]]]) -> int:
        """Store the terms of memories, all or nothing; returns how many memories they landed on.

        The others were edited or taken away meanwhile; or they landed, and the answer to that was lost.

        Args:
            version: The model that read them.
            read: Memories, each with its terms and their weights; none for a text that the model cannot read.
        """
        items = [
            {"memory_id": claimed.document.memory_id, "ticket": claimed.ticket, "terms": terms}
            for claimed, terms in read
        ]
        [(landed,)] = await self._writes.fetch(
            "SELECT pgrecall.complete_sparse(%s, %s::jsonb)", [version, json.dumps(items)]
        )
        return int(landed)
