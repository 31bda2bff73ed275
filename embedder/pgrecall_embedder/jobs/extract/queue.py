"""The queue of memories that are to be read: calls of the database's functions, nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pgrecall_embedder.jobs.reading import ReadingQueue

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pgrecall_embedder.jobs.reading import Claimed

__all__ = ["ExtractionQueue"]


class ExtractionQueue(ReadingQueue):
    """The queue of one extraction job: what it stores, and the labels and answers that are kept."""

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
        [(landed,)] = await self._writes.fetch(
            "SELECT pgrecall.complete_extractions(%s, %s, %s::jsonb)",
            [self._enricher, version, f"[{','.join(items)}]"],
        )
        return int(landed)

    async def cached_llm_answers(self, keys: Sequence[bytes]) -> list[tuple[bytes, str]]:
        """Return what a language model answered before, as JSON texts, by key."""
        rows = await self._writes.fetch(
            "SELECT key, answer::text FROM pgrecall.cached_llm_answers(%s::bytea[])", [list(keys)]
        )
        return [(key, answer) for key, answer in rows]

    async def cache_llm_answers(self, answers: Sequence[Mapping[str, Any]]) -> int:
        """Keep answers of a language model for memories that are still claimed; returns how many."""
        [(kept,)] = await self._writes.fetch(
            "SELECT pgrecall.cache_llm_answers(%s::jsonb)", [json.dumps(list(answers))]
        )
        return int(kept)

    async def label_for(self, namespace_id: int, label: str) -> str:
        """Return the label that stands for another; itself where nothing was decided."""
        [(found,)] = await self._writes.fetch(
            "SELECT pgrecall.canonical_label(%s::integer, %s)", [namespace_id, label]
        )
        return str(found)

    async def resolved_labels(self, namespace_id: int) -> list[str]:
        """Return the labels that were decided on for a namespace, the most frequent first."""
        rows = await self._writes.fetch(
            "SELECT label FROM pgrecall.resolved_labels(%s::integer)", [namespace_id]
        )
        return [label for (label,) in rows]

    async def set_label(
        self, namespace_id: int, alias: str, label: str, method: str, similarity: float | None
    ) -> None:
        """Have a label stand for another."""
        await self._writes.fetch(
            "SELECT pgrecall.set_relation_label(%s::integer, %s, %s, %s, %s::real)",
            [namespace_id, alias, label, method, similarity],
        )
