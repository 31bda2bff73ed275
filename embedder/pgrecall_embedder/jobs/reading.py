"""The queue of memories that are to be read, by whatever reads them; setup, claims and failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgrecall_extract.base import NO_ANCHOR, Document

from .queue import JobQueue
from .setup import setup_from

if TYPE_CHECKING:
    from pgrecall_embedder.connection import Connection

    from .setup import Setup

__all__ = ["Claimed", "Counts", "ReadingQueue"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A memory that this worker holds the lease of.

    Attributes:
        document: What is to be read.
        ticket: What the database wants back with what was read.
    """

    document: Document
    ticket: int


@dataclass(slots=True)
class Counts:
    """Counters of an extraction job since its start.

    Attributes:
        read: Memories whose reading was stored.
        stale: Readings that came too late: the memory had been edited or taken away.
        failed: Memories that could not be read.
    """

    read: int = 0
    stale: int = 0
    failed: int = 0

    @property
    def done(self) -> int:
        """Memories whose claims have ended: stored, or reported as failed."""
        return self.read + self.failed


class ReadingQueue(JobQueue):
    """The queue of one kind of reading, used by one worker.

    Args:
        claims: The connection for claims.
        writes: The connection for everything else.
        enricher: text, llm, notes or sparse.
        lease_seconds: How long a lease lasts, unless it is renewed. Other workers skip leased memories.
    """

    def __init__(self, claims: Connection, writes: Connection, enricher: str, lease_seconds: float) -> None:
        super().__init__(claims, writes, lease_seconds)
        self._enricher = enricher

    async def setup(self, known: str | None = None) -> Setup | None:
        """Return the extraction settings and rules, or None if they have not changed.

        Args:
            known: The fingerprint of the current setup.
        """
        rows = await self._writes.fetch(
            "SELECT fingerprint, settings, rules FROM pgrecall.extraction_setup(%s)", [known]
        )
        return setup_from(*rows[0]) if rows else None

    async def claim(self, limit: int) -> list[Claimed]:
        """Lease up to `limit` memories, newest first."""
        rows = await self._claim(
            "SELECT ticket, memory_id, content, title, speaker, "
            "CASE WHEN anchor BETWEEN '0002-01-01 00:00Z' AND '9998-12-31 00:00Z' THEN anchor END, "
            "language, namespace_id "
            "FROM pgrecall.claim_extractions(%s, %s, %s, make_interval(secs => %s))",
            [self.worker, self._enricher, limit, self.lease_seconds],
        )
        return [
            Claimed(
                Document(
                    memory, content, title, speaker, NO_ANCHOR if at is None else at, language, namespace
                ),
                ticket,
            )
            for ticket, memory, content, title, speaker, at, language, namespace in rows
        ]

    async def fail(self, claimed: Claimed, error: str) -> None:
        """Report a memory that cannot be read. `error` must not quote its text."""
        await self._writes.fetch(
            "SELECT pgrecall.fail_extraction(%s, %s, %s, %s)",
            [self._enricher, claimed.document.memory_id, claimed.ticket, error],
        )
