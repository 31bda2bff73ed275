"""The queue of memories without an embedding: calls of the database's functions, nothing else."""

from __future__ import annotations

import os
import socket
import uuid
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psycopg import errors

from .providers import ModelSpec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .connection import Link

__all__ = ["Claimed", "Installation", "WorkQueue", "is_missing_schema"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A memory that this worker holds the lease of; its text never shows in a representation."""

    memory_id: int
    content_hash: bytes = field(repr=False)
    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Installation:
    """What the database was set up for: the hash of its code, and its model (None if it has none)."""

    bundle_hash: str | None
    model: ModelSpec | None


class WorkQueue:
    """The queue as one worker sees it.

    Args:
        claims: The connection that claims.
        writes: The connection that writes back, so that claiming never waits for the index.
        upkeep: The connection that folds postings, so that neither waits for that.
    """

    def __init__(self, claims: Link, writes: Link, upkeep: Link) -> None:
        self._claims = claims
        self._writes = writes
        self._upkeep = upkeep
        self.worker = uuid.uuid4()

    @property
    def generation(self) -> int:
        """Changes when the answer to a claim may have been lost with its connection."""
        return self._claims.generation

    async def installation(self) -> Installation:
        """Ask what is installed.

        Raises:
            psycopg.Error: The database holds no pgrecall, or the role may not ask.
        """
        [(bundle_hash,)] = await self._claims.fetch("SELECT pgrecall.bundle_hash()")
        rows = await self._claims.fetch(
            "SELECT id, name, dimension, provider, document_prompt FROM pgrecall.active_model()"
        )
        return Installation(bundle_hash, ModelSpec(*rows[0]) if rows else None)

    async def claim(self, limit: int) -> list[Claimed]:
        """Lease up to `limit` memories, newest first."""
        rows = await self._claims.fetch(
            "SELECT memory_id, content_hash, content FROM pgrecall.claim(%s, %s)", [self.worker, limit]
        )
        return [Claimed(*row) for row in rows]

    async def complete(self, memories: Sequence[Claimed], vectors: Sequence[str]) -> int:
        """Write vectors back; returns how many landed. The others were edited or taken away meanwhile."""
        ids = [memory.memory_id for memory in memories]
        hashes = [memory.content_hash for memory in memories]
        [(landed,)] = await self._writes.fetch(
            "SELECT pgrecall.complete(%s, %s::bigint[], %s::bytea[], %s::text[])",
            [self.worker, ids, hashes, list(vectors)],
        )
        return int(landed)

    async def fail(self, memory: Claimed, error: str) -> None:
        """Report a memory that cannot be embedded; `error` must not quote it."""
        await self._writes.fetch("SELECT pgrecall.fail(%s, %s, %s)", [self.worker, memory.memory_id, error])

    async def release(self) -> int:
        """Give back all leases; returns how many there were."""
        [(released,)] = await self._writes.fetch("SELECT pgrecall.release(%s)", [self.worker])
        return int(released)

    async def heartbeat(self, bundle_hash: str, model: str, embedded: int) -> None:
        """Say that this worker is alive and how many embeddings it has stored."""
        await self._claims.fetch(
            "SELECT pgrecall.heartbeat(%s, %s, %s, %s, %s, %s)",
            [self.worker, socket.gethostname(), os.getpid(), bundle_hash, model, embedded],
        )

    async def fold(self) -> int:
        """Bring the postings of one namespace up to date; returns how many memories had changed."""
        [(folded,)] = await self._upkeep.fetch("SELECT pgrecall.fold_postings()")
        return int(folded)

    async def retire(self) -> None:
        """Take this worker off the list."""
        await self._writes.fetch("SELECT pgrecall.retire(%s)", [self.worker])


def is_missing_schema(error: BaseException) -> bool:
    """Whether an error says that the database holds no pgrecall."""
    return isinstance(error, errors.UndefinedFunction | errors.InvalidSchemaName | errors.UndefinedTable)
