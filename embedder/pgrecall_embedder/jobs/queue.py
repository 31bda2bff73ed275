"""The queue of jobs of one kind, as one worker sees it: its identity, its connections, its leases."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, ClassVar

from pgrecall_embedder.jobs.asking.llm_access import UsageLog

if TYPE_CHECKING:
    from typing import LiteralString

    from pgrecall_embedder.connection import Connection

__all__ = ["JobQueue"]


class JobQueue(UsageLog):
    """A queue whose claims are leases with tickets. Each kind of job adds its claim and its completion.

    Args:
        claims: The connection for claims and releases.
        writes: The connection for everything else.

    Attributes:
        worker: Who holds the leases.
    """

    _RELEASE: ClassVar[LiteralString]

    def __init__(self, claims: Connection, writes: Connection) -> None:
        super().__init__(writes)
        self._claims = claims
        self.worker = uuid.uuid4()

    @property
    def connections(self) -> int:
        """How often the connection for claims was opened. A change means that a claim may be lost."""
        return self._claims.connections

    async def release(self) -> int:
        """Give back all leases; returns how many there were."""
        [(released,)] = await self._claims.fetch(self._RELEASE, [self.worker])
        return int(released)
