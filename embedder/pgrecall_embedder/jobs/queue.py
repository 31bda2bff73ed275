"""The queue of jobs of one kind, as one worker sees it: its identity, its connections, its leases."""

from __future__ import annotations

import asyncio
import time
import uuid
from typing import TYPE_CHECKING, Any, Final, LiteralString

from .asking.llm_access import UsageLog

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pgrecall_embedder.connection import Connection

__all__ = ["JobQueue"]

# Whoever has had something in hand for so long is taken to be stuck: others get it.
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
        self._in_hand: dict[int, float] = {}  # tickets, and when their lease began on the monotonic clock

    @property
    def connections(self) -> int:
        """How often the connection for claims was opened. A change means that a claim may be lost."""
        return self._claims.connections

    async def release(self, generation: int | None = None) -> int:
        """Release all leases, or those of one generation. Returns their number."""
        if generation is None:
            self._in_hand.clear()
        [(released,)] = await self._writes.fetch(
            "SELECT pgrecall.release(%s, %s::integer)", [self.worker, generation]
        )
        return int(released)

    async def settle(self, tickets: Iterable[int], *, is_complete: bool = True) -> None:
        """Let go of what was worked on: its leases are not renewed any more.

        Args:
            tickets: The tickets of what was in hand.
            is_complete: Whether each was stored or reported as failed. What was not is postponed: other
                workers may claim it some seconds later.
        """
        settled = list(tickets)
        for ticket in settled:
            self._in_hand.pop(ticket, None)
        if not is_complete:
            await self._writes.fetch("SELECT pgrecall.postpone(%s, %s::bigint[])", [self.worker, settled])

    async def keep_leases(self) -> None:
        """Renew the leases in hand until cancelled: no other worker begins what takes longer than one."""
        while True:
            await asyncio.sleep(self.lease_seconds / 3)
            oldest = time.monotonic() - _LONGEST_HOLD_SECONDS
            self._in_hand = {ticket: began for ticket, began in self._in_hand.items() if began > oldest}
            if self._in_hand:
                await self._claims.fetch(
                    "SELECT pgrecall.renew(%s, %s::bigint[], make_interval(secs => %s))",
                    [self.worker, list(self._in_hand), self.lease_seconds],
                )

    async def _claim(self, query: LiteralString, values: Sequence[object]) -> list[tuple[Any, ...]]:
        """Run a statement that leases and returns tickets in its first column, and take them in hand."""
        began = time.monotonic()
        rows = await self._claims.fetch(query, values)
        self._in_hand.update((row[0], began) for row in rows)
        return rows
