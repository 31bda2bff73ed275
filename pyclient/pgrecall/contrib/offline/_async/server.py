"""What an offline client asks of the server."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import checked_arguments
from pgrecall.contrib.offline.models import Source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence
    from datetime import datetime

    from pgrecall._async.database import AsyncDatabase


class AsyncServer:
    """What a copy reads from the server's database and writes to it."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def close(self) -> None:
        """Close every connection."""
        await self._database.close()

    async def source(self, namespace: str | None) -> Source:
        """Say which database and namespace this is; None is the client's own namespace."""
        rows = await self._database.rows(
            "pgrecall.sync_source", checked_arguments(namespace=await self._database.namespace(namespace))
        )
        return Source.of(rows[0])

    async def digests(self, namespace: str, include_sensitive: bool) -> dict[int, str]:
        """Return a digest for each bucket of ids."""
        rows = await self._database.rows(
            "pgrecall.sync_digests",
            checked_arguments(namespace=namespace, include_sensitive=include_sensitive),
        )
        return {row["bucket"]: row["digest"] for row in rows}

    async def versions(
        self, buckets: Sequence[int], namespace: str, include_sensitive: bool
    ) -> dict[int, str]:
        """Return the memories of some buckets with what tells their states apart."""
        arguments = checked_arguments(namespace=namespace, include_sensitive=include_sensitive)
        rows = await self._database.rows("pgrecall.sync_versions", {"buckets": list(buckets), **arguments})
        return {row["id"]: row["version"] for row in rows}

    async def copies(
        self, ids: Sequence[int], namespace: str, include_sensitive: bool
    ) -> list[Mapping[str, Any]]:
        """Return some memories with all their fields."""
        arguments = checked_arguments(ids=ids, namespace=namespace, include_sensitive=include_sensitive)
        return list(await self._database.rows("pgrecall.sync_memories", arguments))

    @asynccontextmanager
    async def sent(self, write: Mapping[str, Any], namespace: str) -> AsyncIterator[Mapping[str, Any]]:
        """Send a write; it is committed at the end of the `with`, unless that raises `psycopg.Rollback`."""
        arguments = {"write": dict(write), **checked_arguments(namespace=namespace)}
        async with self._database.connection() as connection, connection.transaction():
            rows = await self._database.rows_on(connection, "pgrecall.sync_push", arguments)
            yield rows[0]

    async def is_committed(
        self, transaction: str, changed: tuple[int, datetime], namespace: str
    ) -> tuple[bool | None, bool]:
        """Return whether what a transaction changed is there, and whether the server can tell."""
        memory_id, written_at = changed
        rows = await self._database.rows(
            "pgrecall.is_committed",
            {
                "transaction": transaction,
                "written_at": written_at,
                **checked_arguments(memory_id=memory_id, namespace=namespace),
            },
        )
        return rows[0]["committed"], rows[0]["known"]
