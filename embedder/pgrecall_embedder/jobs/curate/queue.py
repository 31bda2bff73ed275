"""The queue of memories that are to be curated: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgrecall_embedder.jobs.queue import JobQueue

from .decision import question_from

if TYPE_CHECKING:
    from .decision import Decision, Question

__all__ = ["Claimed", "CurationQueue"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A memory that this worker holds the lease of.

    Attributes:
        memory_id: The memory.
        ticket: What the database wants back with the decision.
    """

    memory_id: int
    ticket: int


class CurationQueue(JobQueue):
    """The queue as one worker sees it."""

    async def claim(self, limit: int) -> list[Claimed]:
        """Lease up to `limit` memories, oldest first."""
        rows = await self._claim(
            "SELECT ticket, memory_id FROM pgrecall.claim_curations(%s, %s, make_interval(secs => %s))",
            [self.worker, limit, self.lease_seconds],
        )
        return sorted((Claimed(memory, ticket) for ticket, memory in rows), key=lambda one: one.memory_id)

    async def question(self, memory_id: int) -> Question | None:
        """Return a memory and the older ones near it; None if it is not there any more."""
        return question_from(
            await self._writes.fetch(
                "SELECT id, content, "
                "CASE WHEN anchor BETWEEN '0002-01-01 00:00Z' AND '9998-12-31 00:00Z' THEN anchor END, "
                "content_hash, cosine FROM pgrecall.curation_context(%s)",
                [memory_id],
            )
        )

    async def curate(self, claimed: Claimed) -> bool:
        """Have a memory curated by rules; returns whether it was decided about."""
        return await self._settle(claimed, None)

    async def apply(self, claimed: Claimed, question: Question, decided: Decision, decider: str) -> bool:
        """Do what a language model decided, if it still can be done; returns whether it was."""
        decision = {
            "decision": decided.decision,
            "other_id": None if decided.other is None else decided.other.memory_id,
            "decider": decider,
            "evidence": decided.evidence,
            "memory_hash": question.new.content_hash.hex(),
            "other_hash": "" if decided.other is None else decided.other.content_hash.hex(),
        }
        return await self._settle(claimed, json.dumps(decision))

    async def _settle(self, claimed: Claimed, decision: str | None) -> bool:
        [(number,)] = await self._writes.fetch(
            "SELECT pgrecall.curate_claimed(%s, %s, %s::jsonb)",
            [claimed.memory_id, claimed.ticket, decision],
        )
        return number is not None
