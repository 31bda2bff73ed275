"""Operator functions of the asynchronous client: status, failures, health, settings."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.arguments import drop_none
from pgrecall.models import Failure, Generation, HealthCheck, IndexStatus, SettingInForce, Status, Worker

if TYPE_CHECKING:
    from pgrecall.config.session_settings import RequestedSetting

    from .database import AsyncDatabase


class AsyncAdmin:
    """Status and settings of the database: `client.admin`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def status(self) -> Status:
        """Return the counts and versions of `recall_status()`."""
        rows = await self._database.rows("public.recall_status", {})
        return Status(**rows[0])

    async def generations(self) -> list[Generation]:
        """Return the progress of each generation of embeddings, active one first. Scans all memories."""
        rows = await self._database.rows("pgrecall.generation_progress", {})
        return [Generation(**row) for row in rows]

    async def workers(self) -> list[Worker]:
        """Return the embedder daemons with a heartbeat within the last day, live ones first."""
        rows = await self._database.rows("pgrecall.worker_status", {})
        return [Worker(**row) for row in rows]

    async def indexes(self) -> list[IndexStatus]:
        """Return the indexes of pgrecall's tables, largest first."""
        rows = await self._database.rows("pgrecall.index_status", {})
        return [IndexStatus(**row) for row in rows]

    async def failures(self, cause: str | None = None, *, k: int | None = None) -> list[Failure]:
        """Return the failed memories, newest failure first.

        Args:
            cause: Only failures with this cause.
            k: Maximum number of failures; None is 100.
        """
        rows = await self._database.rows("pgrecall.failures", drop_none(cause=cause, k=k))
        return [Failure(**row) for row in rows]

    async def retry_failures(self, cause: str | None = None, *, id: int | None = None) -> int:
        """Retry failed memories.

        Args:
            cause: Only failures with this cause.
            id: Only this memory.

        Returns:
            The number of memories to be retried.
        """
        return int(
            await self._database.value("pgrecall.retry_failures", drop_none(cause=cause, memory_id=id))
        )

    async def health(self) -> list[HealthCheck]:
        """Run the health checks of the database and return their results."""
        rows = await self._database.rows("pgrecall.health", {})
        return [HealthCheck(**row) for row in rows]

    async def analyze(self) -> None:
        """Refresh the planner's statistics, for example after a large import."""
        await self._database.rows("pgrecall.analyze", {})

    async def last_memory_id(self) -> int:
        """Return the highest memory id; 0 if there are no memories. Ids only increase."""
        return int(await self._database.value("pgrecall.last_memory_id", {}))

    async def settings_in_force(self) -> list[SettingInForce]:
        """Return every database setting as it applies to this client's calls, with its source."""
        rows = await self._database.rows("pgrecall.settings_list", {})
        return [
            SettingInForce(
                name=row["name"],
                value=row["value"],
                source=_source(row["source"], self._database.settings.get(row["name"])),
                default_value=row["default_value"],
                unit=row["unit"],
                description=row["description"],
            )
            for row in rows
        ]

    async def set_setting(self, name: str, value: str | float | None) -> None:
        """Store a setting for the whole database. Values of sessions, roles and clients override it.

        Args:
            name: Its short name, such as 'rrf_k'.
            value: The value; None restores the default.

        Raises:
            InvalidInput: No such setting, or a value that it does not accept.
        """
        await self._database.rows(
            "pgrecall.set_setting", {"name": name, "value": None if value is None else str(value)}
        )


def _source(source: str, requested: RequestedSetting | None) -> str:
    if source != "parameter":
        return source
    return "parameter (SET)" if requested is None else requested.source
