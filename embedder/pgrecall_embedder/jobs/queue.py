"""The queue of jobs of one kind, as one worker sees it: its identity, its connections, its leases."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from .asking.llm_access import UsageLog

if TYPE_CHECKING:
    from pgrecall_embedder.connection import Connection

__all__ = ["JobQueue"]


class JobQueue(UsageLog):
    """A queue whose claims are leases with tickets. Each kind of job adds its claim and its completion.

    Args:
        claims: The connection for claims.
        writes: The connection for everything else, so that claims never wait for an index.

    Attributes:
        worker: Who holds the leases.
    """

    def __init__(self, claims: Connection, writes: Connection) -> None:
        super().__init__(writes)
        self._claims = claims
        self.worker = uuid.uuid4()

    @property
    def connections(self) -> int:
        """How often the connection for claims was opened. A change means that a claim may be lost."""
        return self._claims.connections

    async def release(self, generation: int | None = None) -> int:
        """Release all leases, or those of one generation. Returns their number."""
        [(released,)] = await self._writes.fetch(
            "SELECT pgrecall.release(%s, %s::integer)", [self.worker, generation]
        )
        return int(released)
