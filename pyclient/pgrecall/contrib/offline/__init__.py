"""A copy of one namespace in a file, for recall by words and for writes while there is no server.

`OfflineClient` works on the file alone; `connect` takes the server, and the file while there is none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._async.client import AsyncOfflineClient
from ._async.fallback import PATIENCE, AsyncFallbackClient
from ._sync.client import OfflineClient
from ._sync.fallback import FallbackClient
from .models import OfflineStatus, Pulled, Pushed, QueuedWrite, Settled

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "AsyncFallbackClient",
    "AsyncOfflineClient",
    "FallbackClient",
    "OfflineClient",
    "OfflineStatus",
    "Pulled",
    "Pushed",
    "QueuedWrite",
    "Settled",
    "connect",
    "connect_async",
]


def connect(
    dsn: str | None = None, *, offline: str | Path, namespace: str | None = None, patience: float = PATIENCE
) -> FallbackClient:
    """Return a client of the server that falls back to the copy at `offline`; see `FallbackClient`."""
    return FallbackClient(offline, dsn, namespace=namespace, patience=patience)


def connect_async(
    dsn: str | None = None, *, offline: str | Path, namespace: str | None = None, patience: float = PATIENCE
) -> AsyncFallbackClient:
    """Return the asynchronous one; see `AsyncFallbackClient`."""
    return AsyncFallbackClient(offline, dsn, namespace=namespace, patience=patience)
