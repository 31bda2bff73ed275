"""The queue of jobs of one kind, as one worker sees it: its identity, its connections, its leases."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any, Final, LiteralString

from .asking.llm_access import UsageLog

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_embedder.connection import Connection

__all__ = ["JobQueue"]

# Whoever has claimed nothing for so long, and still holds leases, is taken to be stuck: others get them.
_LONGEST_HOLD_SECONDS: Final = 3600.0


class JobQueue(UsageLog):
    """A queue whose claims are leases with tickets. Each kind of job adds its claim and its completion.

    Args:
        claims: The connection for claims.
        writes: The connection for everything else, so that claims never wait for an index.
        lease_seconds: How long a lease lasts, unless it is renewed.

    Attributes:
        worker: Who holds the leases.
        lease_seconds: The argument.
    """

    def __init__(self, claims: Connection, writes: Connection, lease_seconds: float) -> None:
        super().__init__(writes)
        self._claims = claims
        self.worker = uuid.uuid4()
        self.lease_seconds = lease_seconds
        self._may_hold = False
        self._claimed_at = 0.0

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

    async def keep_leases(self) -> None:
        """Renew the leases in hand until cancelled: no other worker begins what takes longer than one."""
        while True:
            await asyncio.sleep(self.lease_seconds / 3)
            if self._may_hold and time.monotonic() - self._claimed_at < _LONGEST_HOLD_SECONDS:
                self._may_hold = False  # unless a claim comes meanwhile
                [(held,)] = await self._claims.fetch(
                    "SELECT pgrecall.renew(%s, make_interval(secs => %s))", [self.worker, self.lease_seconds]
                )
                self._may_hold = self._may_hold or held > 0

    async def _claim(self, query: LiteralString, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run a statement that leases, and remember that its leases are to be renewed."""
        self._may_hold, self._claimed_at = True, time.monotonic()
        return await self._claims.fetch(query, values)
