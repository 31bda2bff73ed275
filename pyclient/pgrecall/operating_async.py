"""What the asynchronous client tells whoever runs the database."""

from __future__ import annotations

from .arguments import given
from .operations import Failure, Generation, HealthCheck, IndexStatus, Status, Worker
from .session_async import AsyncSession


class AsyncOperating(AsyncSession):
    """Status, findings, and what can be done about memories that could not be embedded."""

    async def status(self) -> Status:
        """Return the counts and versions of `recall_status()`."""
        rows = await self._rows("public.recall_status", {})
        return Status(**rows[0])

    async def generations(self) -> list[Generation]:
        """Return how far each generation of embeddings is, the active one first; it reads all memories."""
        rows = await self._rows("pgrecall.generation_progress", {})
        return [Generation(**row) for row in rows]

    async def workers(self) -> list[Worker]:
        """Return the embedder daemons that gave a sign of life within the last day, those alive first."""
        rows = await self._rows("pgrecall.worker_status", {})
        return [Worker(**row) for row in rows]

    async def indexes(self) -> list[IndexStatus]:
        """Return the indexes of pgrecall's tables, the largest first."""
        rows = await self._rows("pgrecall.index_status", {})
        return [IndexStatus(**row) for row in rows]

    async def failures(self, cause: str | None = None, *, k: int | None = None) -> list[Failure]:
        """Return the memories that are not tried any more, those given up last first.

        Args:
            cause: Only those of this cause.
            k: How many at most; None is 100.
        """
        rows = await self._rows("pgrecall.failures", given(cause=cause, k=k))
        return [Failure(**row) for row in rows]

    async def retry_failures(self, cause: str | None = None, *, id: int | None = None) -> int:
        """Have memories tried again that were given up.

        Args:
            cause: Only those of this cause.
            id: Only this memory.

        Returns:
            How many there are.
        """
        return int(await self._value("pgrecall.retry_failures", given(cause=cause, memory_id=id)))

    async def health(self) -> list[HealthCheck]:
        """Return what the database finds when it examines itself."""
        rows = await self._rows("pgrecall.health", {})
        return [HealthCheck(**row) for row in rows]

    async def analyze(self) -> None:
        """Refresh the planner's statistics, as after a large import."""
        await self._rows("pgrecall.analyze", {})

    async def last_memory_id(self) -> int:
        """Return the highest id of any memory; 0 if there is none. Ids only grow."""
        return int(await self._value("pgrecall.last_memory_id", {}))
