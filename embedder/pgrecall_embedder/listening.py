"""Turns the server's notifications into wake-ups, and polls where none arrive."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final, Protocol

import psycopg

from .connection import BehindPooler
from .logs import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from .connection import Connection
    from .jobs.embed.pipeline import Polling
    from .jobs.embed.queue import WorkQueue

__all__ = ["Listener"]

# Poll intervals without notifications: after work, and after a long time without any.
_BLIND_SECONDS = 1.0
_LONGEST_BLIND_SECONDS = 4.0
# The daemon notifies itself on this channel, and waits so long for the notification.
_PROOF: Final = "pgrecall_listening"
_PROOF_SECONDS = 5.0
_RECONNECT_SECONDS = 0.5


class _Hear(Protocol):
    def __call__(self, *, is_deaf: bool) -> None: ...


class Listener:
    """Listens for notifications.

    Notifications are hints: the daemon works without them, and polls more often.

    Args:
        listening: The connection to listen on.
        queue: Sends the notification that proves that they arrive.
        polling: The poll intervals; they shrink if no notification arrives.
        wake: Called with the channel of each notification; None stands for every channel.
        hear: Called with whether notifications fail to arrive.
        check_seconds: Seconds between two checks whether the server still sends notifications.
        log: The log.
    """

    def __init__(
        self,
        listening: Connection,
        queue: WorkQueue,
        polling: Polling,
        *,
        wake: Callable[[str | None], None],
        hear: _Hear,
        check_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        self._listening = listening
        self._queue = queue
        self._polling = polling
        self._wake = wake
        self._hear = hear
        self._check_seconds = check_seconds
        self._log = log

    async def run(self) -> None:
        """Wake jobs on notifications. Returns if the connection cannot receive any.

        LISTEN alone proves nothing: a pooler accepts it and drops the notifications, and the connection
        string may name another database. So the daemon notifies itself from another connection.
        """
        overdue: asyncio.TimerHandle | None = None
        while True:
            try:
                async for channel in self._listening.listen("pgrecall_embed", "pgrecall_query", _PROOF):
                    if overdue is not None:
                        overdue.cancel()
                        overdue = None
                    if channel is None:
                        loop = asyncio.get_running_loop()
                        overdue = loop.call_later(_PROOF_SECONDS, self._poll_blindly, None)
                        await self._queue.notify(_PROOF)
                    else:
                        self._hear(is_deaf=False)
                    if channel == _PROOF:
                        continue
                    self._wake(channel)
            except psycopg.OperationalError as error:
                self._log.warning("notifications stopped", error=describe(error))
                await asyncio.sleep(_RECONNECT_SECONDS)
            except (psycopg.Error, BehindPooler) as error:
                self._poll_blindly(error)
                return

    async def poll_while_server_is_silent(self) -> None:
        """Poll every second while nobody sends notifications, because the server's queue is nearly full."""
        sends = True
        while True:
            await asyncio.sleep(self._check_seconds if sends else _BLIND_SECONDS)
            sends = await self._queue.sends_notifications()
            if not sends:
                self._wake(None)

    def _poll_blindly(self, error: Exception | None) -> None:
        self._hear(is_deaf=True)
        self._polling.seconds = min(self._polling.seconds, _BLIND_SECONDS)
        self._polling.longest_seconds = min(self._polling.longest_seconds, _LONGEST_BLIND_SECONDS)
        self._log.warning(
            "no notifications from this server, polling",
            error="none arrives"
            if error is None
            else "a pooler is between"
            if isinstance(error, BehindPooler)
            else describe(error),
            hint="Name a direct connection with PGRECALL_EMBEDDER_LISTEN_DSN.",
        )
