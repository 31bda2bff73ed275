"""Curation for the asynchronous client: finds and supersedes repeated, refined and outdated memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.arguments import as_str, checked_arguments, json_object
from pgrecall.models import Curation, Duplicate, PreviewedCuration

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pgrecall.models import CurationDecision

    from .database import AsyncDatabase


class AsyncCurator:
    """Duplicates, and decisions about memories that contradict or refine older ones: `client.curation`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def preview(
        self, namespace: str | None = None, *, since: datetime | None = None, max_memories: int | None = None
    ) -> list[PreviewedCuration]:
        """Return what curation by rules would do with undecided memories.

        Args:
            namespace: The namespace; None is the client's.
            since: Only memories stored from this time on.
            max_memories: Maximum number of memories, oldest first; None is 1000.

        Raises:
            UnknownNamespace: There is no such namespace.
        """
        arguments = checked_arguments(
            namespace=await self._database.namespace(namespace), since=since, max_memories=max_memories
        )
        rows = await self._database.rows("pgrecall.preview_curation", arguments)
        return [PreviewedCuration.of(row) for row in rows]

    async def uncurated(
        self, namespace: str | None = None, *, since: datetime | None = None, max_memories: int | None = None
    ) -> list[int]:
        """Return the ids of undecided memories; see `preview`."""
        arguments = checked_arguments(
            namespace=await self._database.namespace(namespace), since=since, max_memories=max_memories
        )
        rows = await self._database.rows("pgrecall.uncurated_memories", arguments)
        return [next(iter(row.values())) for row in rows]

    async def curate(self, id: int) -> int | None:
        """Decide about one memory by rules, and apply the decision.

        Returns:
            The number of the decision, for `undo`; None if there is nothing to decide.

        Raises:
            PermissionDenied: The memory may only be read.
        """
        number = await self._database.value("pgrecall.curate", checked_arguments(memory_id=id))
        return None if number is None else int(number)

    async def question(self, id: int) -> list[dict[str, Any]]:
        """Return a memory and the older ones near it, for a decision that is not made by rules.

        Never returns sensitive memories. Returns nothing if the memory does not exist.

        Returns:
            The memory first, each with id, content, anchor, content_hash and cosine.
        """
        rows = await self._database.rows("pgrecall.curation_context", checked_arguments(memory_id=id))
        return [dict(row) for row in rows]

    async def apply(
        self,
        id: int,
        other_id: int | None,
        decision: CurationDecision,
        *,
        decider: str,
        evidence: Mapping[str, Any],
        memory_hash: bytes,
        other_hash: bytes | None,
    ) -> int | None:
        """Apply a decision about a memory, unless either memory has changed since.

        Args:
            id: The memory.
            other_id: The older memory of the decision; None only with ADD.
            decision: The decision.
            decider: What made the decision.
            evidence: Numbers to store with the decision, no text.
            memory_hash: The content_hash of the memory when the decision was made.
            other_hash: The content_hash of the other memory.

        Returns:
            The number of the decision, for `undo`; None if nothing was done.

        Raises:
            PermissionDenied: The memory may only be read.
        """
        arguments = {
            **checked_arguments(memory_id=id),
            "other_id": other_id,
            "decision": decision,
            "decider": as_str("decider", decider),
            "evidence": json_object("evidence", evidence),
            "memory_hash": memory_hash,
            "other_hash": other_hash,
        }
        number = await self._database.value("pgrecall.apply_curation", arguments)
        return None if number is None else int(number)

    async def undo(self, id: int) -> bool:
        """Undo a decision; the pair is not decided about again.

        Args:
            id: The number of the decision.

        Returns:
            True if there was anything to undo.

        Raises:
            NotFound: There is no such decision.
            PgrecallError: 55000 if the memory has changed since.
        """
        return bool(await self._database.value("public.undo_curation", checked_arguments(id=id)))

    async def log(
        self, namespace: str | None = None, *, changes: bool | None = None, k: int | None = None
    ) -> list[Curation]:
        """Return decisions, newest first.

        Args:
            namespace: The namespace; None is the client's.
            changes: False also returns decisions that changed nothing.
            k: Maximum number of decisions; None is 100.

        Raises:
            UnknownNamespace: There is no such namespace.
        """
        rows = await self._database.rows(
            "pgrecall.curation_log",
            checked_arguments(namespace=await self._database.namespace(namespace), changes=changes, k=k),
        )
        return [Curation.of(row) for row in rows]

    async def duplicates(
        self,
        namespace: str | None = None,
        *,
        similarity: float | None = None,
        max_memories: int | None = None,
    ) -> list[Duplicate]:
        """Return duplicates and near-duplicates, cluster by cluster, largest first.

        Args:
            namespace: The namespace; None is the client's.
            similarity: Minimum cosine similarity; None is the setting duplicate_similarity.
            max_memories: Maximum number of memories to compare, newest first; None is 10000.

        Raises:
            UnknownNamespace: There is no such namespace.
            InvalidInput: `similarity` is not between 0 and 1.
        """
        arguments = checked_arguments(
            namespace=await self._database.namespace(namespace),
            similarity=similarity,
            max_memories=max_memories,
        )
        rows = await self._database.rows("pgrecall.duplicates", arguments)
        return [Duplicate.of(row) for row in rows]
