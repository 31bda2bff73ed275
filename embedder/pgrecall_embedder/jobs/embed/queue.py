"""The queue of memories without an embedding: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from psycopg import errors

from pgrecall.errors import PgrecallError
from pgrecall_embedder.jobs.queue import JobQueue
from pgrecall_embedder.providers import ModelSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pgrecall_embedder.connection import Connection

    from .batching import Made

__all__ = ["Claimed", "Generation", "Waiting", "WorkQueue", "is_missing_schema"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A memory that this worker has leased. Its representation omits the text.

    Attributes:
        memory_id: Its id.
        content_hash: The hash of its text.
        text: What to embed.
        ticket: Proof of the claim.
        passages: If it is long, the texts to embed beside it.
    """

    memory_id: int
    content_hash: bytes = field(repr=False)
    text: str = field(repr=False)
    ticket: int = field(repr=False)
    passages: tuple[str, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class Generation:
    """Embeddings of one model.

    Attributes:
        id: Its number.
        is_active: Whether recall reads it; if not, it is being built.
        model: What embeds for it.
    """

    id: int
    is_active: bool
    model: ModelSpec


@dataclass(frozen=True, slots=True)
class Waiting:
    """The part of a backlog that cannot be claimed now.

    Attributes:
        in_progress: Leased memories.
        retrying: Memories that wait for a retry.
        failed: Parked memories, which are not retried.
    """

    in_progress: int
    retrying: int
    failed: int


class WorkQueue(JobQueue):
    """The queue as one worker sees it.

    Args:
        claims: The connection that claims.
        writes: The connection that writes back, so that claims never wait for the index.
        upkeep: The connection of upkeep, so that neither waits for it.
        lease_seconds: How long a lease lasts, unless it is renewed.
    """

    def __init__(
        self, claims: Connection, writes: Connection, upkeep: Connection, lease_seconds: float
    ) -> None:
        super().__init__(claims, writes, lease_seconds)
        self._upkeep = upkeep

    async def contract(self) -> tuple[int, int]:
        """Return the oldest and the newest contract that the database serves.

        Raises:
            psycopg.Error: The database holds no pgrecall, or the role may not ask.
        """
        [(oldest, newest)] = await self._claims.fetch("SELECT oldest, newest FROM pgrecall.contract()")
        return int(oldest), int(newest)

    async def generations(self) -> list[Generation]:
        """Return the generations to embed, the active one first."""
        rows = await self._claims.fetch(
            "SELECT generation, state = 'active', model_id, model, dimension, provider, document_prompt, "
            "query_prompt FROM pgrecall.embedded_generations()"
        )
        return [Generation(number, is_active, ModelSpec(*model)) for number, is_active, *model in rows]

    async def lacks_background(self, model: int) -> bool:
        """Whether no embedder has stated the background of this model."""
        rows = await self._claims.fetch("SELECT pgrecall.lacks_background(%s)", [model])
        return bool(rows[0][0])

    async def state_background(self, model: int, vectors: Sequence[str]) -> None:
        """State the background of a model by its embeddings of unrelated texts."""
        await self._writes.fetch("SELECT pgrecall.state_background(%s, %s::text[])", [model, list(vectors)])

    async def is_confined(self) -> bool:
        """Whether row-level security hides sensitive memories from this worker."""
        [(confined,)] = await self._claims.fetch(
            "SELECT row_security_active('pgrecall.memories') AND NOT pg_has_role('pgrecall_reader', 'USAGE')"
        )
        return bool(confined)

    async def claim(self, generation: int, limit: int) -> list[Claimed]:
        """Lease up to `limit` memories, newest first.

        Raises:
            PgrecallError: The queue returned a sensitive memory.
        """
        rows = await self._claim(
            "SELECT ticket, memory_id, content_hash, content, passages, is_sensitive "
            "FROM pgrecall.claim(%s, %s, make_interval(secs => %s), %s)",
            [self.worker, limit, self.lease_seconds, generation],
        )
        if any(is_sensitive is not False for *_, is_sensitive in rows):
            raise PgrecallError(
                "the queue gave out a sensitive memory; nothing was sent to a model",
                hint="Run `pgrecall migrate`: the function pgrecall.claim is not as it was installed.",
            )
        return [
            Claimed(memory_id, content_hash, text, ticket, tuple(passages or ()))
            for ticket, memory_id, content_hash, text, passages, _ in rows
        ]

    async def complete(
        self,
        generation: int,
        memories: Sequence[Claimed],
        made: Sequence[Made],
    ) -> int:
        """Store vectors. Returns the number stored; the others are stale or their lease was lost."""
        ids = [memory.memory_id for memory in memories]
        tickets = [memory.ticket for memory in memories]
        hashes = [memory.content_hash for memory in memories]
        [(landed,)] = await self._writes.fetch(
            "SELECT pgrecall.complete_claimed("
            "%s, %s::bigint[], %s::bigint[], %s::bytea[], %s::text[], %s, %s::boolean[], %s::jsonb)",
            [
                self.worker,
                ids,
                tickets,
                hashes,
                [one.vector for one in made],
                generation,
                [one.is_truncated for one in made],
                json.dumps([one.passages or None for one in made])
                if any(one.passages for one in made)
                else None,
            ],
        )
        return int(landed)

    async def fail(self, generation: int, memory: Claimed, error: str, cause: str) -> None:
        """Report a memory that cannot be embedded; `error` must not quote it."""
        await self._writes.fetch(
            "SELECT pgrecall.fail(%s, %s, %s, %s, %s)",
            [self.worker, memory.memory_id, error, cause, generation],
        )

    async def waiting(self, generation: int) -> Waiting:
        """Return the part of a generation's backlog that cannot be claimed now."""
        rows = await self._claims.fetch(
            "SELECT in_progress, retrying, failed FROM pgrecall.embedding_backlog(%s)", [generation]
        )
        return Waiting(*rows[0])

    async def heartbeat(
        self,
        bundle_hash: str,
        model: str,
        embedded: int,
        generations: Sequence[int],
        per_second: float,
        pauses: Sequence[Mapping[str, str]],
        poll_seconds: float,
    ) -> None:
        """Send a heartbeat: what this worker embeds, how much, and how often it polls for queries."""
        await self._claims.fetch(
            "SELECT pgrecall.heartbeat(%s, %s, %s, %s, %s, %s, %s::integer[], %s::real, %s::jsonb, %s::real)",
            [
                self.worker,
                socket.gethostname(),
                os.getpid(),
                bundle_hash,
                model,
                embedded,
                list(generations),
                per_second,
                json.dumps(pauses),
                poll_seconds,
            ],
        )

    async def sends_notifications(self) -> bool:
        """Whether writers send notifications. They stop while the server's queue is nearly full."""
        [(sends,)] = await self._claims.fetch("SELECT pgrecall.sends_notifications()")
        return bool(sends)

    async def notify(self, channel: str) -> None:
        """Send a notification on a channel."""
        await self._upkeep.fetch("SELECT pg_notify(%s, '')", [channel])

    async def purge_query_embeddings(self) -> int:
        """Delete old embeddings of queries. Returns their number."""
        [(gone,)] = await self._upkeep.fetch("SELECT pgrecall.purge_query_embeddings()")
        return int(gone)

    async def flush_postings(self) -> int:
        """Flush the pending postings of one namespace; returns how many memories had changed."""
        [(flushed,)] = await self._upkeep.fetch("SELECT pgrecall.flush_pending_postings()")
        return int(flushed)

    async def compact_postings(self) -> int:
        """Compact a part of the postings. Returns the terms or memories visited; 0 if nothing is left."""
        [(looked_at,)] = await self._upkeep.fetch("SELECT pgrecall.compact_postings()")
        return int(looked_at)

    async def refresh_pages(self) -> int:
        """Fill the pages of one namespace that are behind. Returns how many."""
        [(filled,)] = await self._upkeep.fetch("SELECT pgrecall.refresh_pages()")
        return int(filled)

    async def expire(self, limit: int) -> tuple[int, int]:
        """Forget or erase expired memories. Returns both numbers."""
        [(forgotten, erased)] = await self._upkeep.fetch(
            "SELECT * FROM pgrecall.expire_memories(%s)", [limit]
        )
        return int(forgotten), int(erased)

    async def retire(self) -> None:
        """Remove this worker from the list of workers."""
        await self._writes.fetch("SELECT pgrecall.retire(%s)", [self.worker])


def is_missing_schema(error: BaseException) -> bool:
    """Whether an error means that pgrecall is not installed."""
    return isinstance(error, errors.UndefinedFunction | errors.InvalidSchemaName | errors.UndefinedTable)
