"""The queue of memories that are to be read: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall_embedder.jobs.queue import JobQueue
from pgrecall_extract.base import Document

from .frames import NO_ANCHOR
from .setup import setup_from

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pgrecall_embedder.connection import Connection

    from .setup import Setup

__all__ = ["Claimed", "ExtractionQueue"]


@dataclass(frozen=True, slots=True)
class Claimed:
    """A memory that this worker holds the lease of.

    Attributes:
        document: What is to be read.
        ticket: What the database wants back with what was read.
    """

    document: Document
    ticket: int


class ExtractionQueue(JobQueue):
    """The queue of one extraction job, used by one worker.

    Args:
        claims: The connection for claims and releases.
        writes: The connection for everything else.
        enricher: text or llm.
        lease: The duration of a lease, such as "5 minutes". Other workers skip leased memories.
    """

    _RELEASE = "SELECT pgrecall.release_extractions(%s)"

    def __init__(self, claims: Connection, writes: Connection, enricher: str, lease: str) -> None:
        super().__init__(claims, writes)
        self._enricher = enricher
        self._lease = lease

    async def setup(self, known: str | None = None) -> Setup | None:
        """Return the extraction settings and rules, or None if they have not changed.

        Args:
            known: The fingerprint of the current setup.
        """
        rows = await self._connection.fetch(
            "SELECT fingerprint, settings, rules FROM pgrecall.extraction_setup(%s)", [known]
        )
        return setup_from(*rows[0]) if rows else None

    async def claim(self, limit: int) -> list[Claimed]:
        """Lease up to `limit` memories, newest first."""
        rows = await self._claims.fetch(
            "SELECT memory_id, content, title, speaker, "
            "CASE WHEN anchor BETWEEN '0002-01-01 00:00Z' AND '9998-12-31 00:00Z' THEN anchor END, "
            "language, namespace_id, ticket FROM pgrecall.claim_extractions(%s, %s, %s, %s::interval)",
            [self.worker, self._enricher, limit, self._lease],
        )
        return [
            Claimed(
                Document(
                    memory, content, title, speaker, NO_ANCHOR if at is None else at, language, namespace
                ),
                ticket,
            )
            for memory, content, title, speaker, at, language, namespace, ticket in rows
        ]

    async def complete(self, version: str, read: Iterable[tuple[Claimed, str]]) -> int:
        """Store what was read, all or nothing; returns how many memories it landed on.

        The others were edited or taken away meanwhile; or they landed, and the answer to that was lost.

        Args:
            version: Of what read them.
            read: Memories, each with what was read in it: a JSON object with at least one name.
        """
        items = (
            f'{{"memory_id":{claimed.document.memory_id},"ticket":{claimed.ticket},{body[1:]}'
            for claimed, body in read
        )
        [(landed,)] = await self._connection.fetch(
            "SELECT pgrecall.complete_extractions(%s, %s, %s::jsonb)",
            [self._enricher, version, f"[{','.join(items)}]"],
        )
        return int(landed)

    async def fail(self, claimed: Claimed, error: str) -> None:
        """Report a memory that cannot be extracted. `error` must not quote its text."""
        await self._connection.fetch(
            "SELECT pgrecall.fail_extraction(%s, %s, %s, %s)",
            [self._enricher, claimed.document.memory_id, claimed.ticket, error],
        )

    async def cached_llm_answers(self, keys: Sequence[bytes]) -> list[tuple[bytes, str]]:
        """Return what a language model answered before, as JSON texts, by key."""
        rows = await self._connection.fetch(
            "SELECT key, answer::text FROM pgrecall.cached_llm_answers(%s::bytea[])", [list(keys)]
        )
        return [(key, answer) for key, answer in rows]

    async def cache_llm_answers(self, answers: Sequence[Mapping[str, Any]]) -> int:
        """Keep answers of a language model for memories that are still claimed; returns how many."""
        [(kept,)] = await self._connection.fetch(
            "SELECT pgrecall.cache_llm_answers(%s::jsonb)", [json.dumps(list(answers))]
        )
        return int(kept)

    async def label_for(self, namespace_id: int, label: str) -> str:
        """Return the label that stands for another; itself where nothing was decided."""
        [(found,)] = await self._connection.fetch(
            "SELECT pgrecall.canonical_label(%s::integer, %s)", [namespace_id, label]
        )
        return str(found)

    async def resolved_labels(self, namespace_id: int) -> list[str]:
        """Return the labels that were decided on for a namespace, the most frequent first."""
        rows = await self._connection.fetch(
            "SELECT label FROM pgrecall.resolved_labels(%s::integer)", [namespace_id]
        )
        return [label for (label,) in rows]

    async def set_label(
        self, namespace_id: int, alias: str, label: str, method: str, similarity: float | None
    ) -> None:
        """Have a label stand for another."""
        await self._connection.fetch(
            "SELECT pgrecall.set_relation_label(%s::integer, %s, %s, %s, %s::real)",
            [namespace_id, alias, label, method, similarity],
        )
