"""The metrics of the daemon."""

from __future__ import annotations

from typing import Protocol

__all__ = ["Metrics", "NoMetrics"]


class Metrics(Protocol):
    """Receives events in the daemon's main thread; never the text of a memory."""

    def embedded(self, memories: int) -> None:
        """Embeddings were stored."""
        ...

    def failed(self, cause: str) -> None:
        """A memory could not be embedded, for a cause in one word."""
        ...

    def stale(self, memories: int) -> None:
        """Embeddings were stale: their memories had changed."""
        ...

    def paused(self, model: str, cause: str, seconds: float) -> None:
        """A provider is paused."""
        ...

    def batch(self, seconds: float, texts: int) -> None:
        """A model has embedded one batch."""
        ...

    def query_answered(self, seconds: float) -> None:
        """The query of a client was embedded."""
        ...

    def waiting(self, generation: int, in_progress: int, retrying: int, failed: int) -> None:
        """The backlog of a generation, at each heartbeat."""
        ...


class NoMetrics:
    """Records nothing."""

    def embedded(self, memories: int) -> None:
        """Forget it."""

    def failed(self, cause: str) -> None:
        """Forget it."""

    def stale(self, memories: int) -> None:
        """Forget it."""

    def paused(self, model: str, cause: str, seconds: float) -> None:
        """Forget it."""

    def batch(self, seconds: float, texts: int) -> None:
        """Forget it."""

    def query_answered(self, seconds: float) -> None:
        """Forget it."""

    def waiting(self, generation: int, in_progress: int, retrying: int, failed: int) -> None:
        """Forget it."""
