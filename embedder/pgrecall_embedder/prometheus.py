"""The daemon's Prometheus metrics. No label holds the text of a memory, a query or a key."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from pgrecall.errors import ConnectionFailed, PgrecallError

if TYPE_CHECKING:
    from wsgiref.simple_server import WSGIServer

__all__ = ["PrometheusMetrics"]

# From a small model on a fast machine to a slow hosted model.
_BATCH_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_QUERY_SECONDS = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


class PrometheusMetrics:
    """The counters of one daemon, in a registry of their own.

    Attributes:
        registry: Where they are registered.

    Raises:
        PgrecallError: prometheus_client is not installed.
    """

    def __init__(self) -> None:
        try:
            from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
        except ImportError:
            raise PgrecallError(
                "prometheus_client is not installed", hint="Install it with `pip install prometheus-client`."
            ) from None
        self.registry = home = CollectorRegistry()
        ProcessCollector(registry=home)
        self._embedded = Counter("pgrecall_embedder_embedded", "Embeddings stored.", registry=home)
        self._failed = Counter(
            "pgrecall_embedder_failed",
            "Attempts that failed for the memory's own sake, by cause.",
            ["cause"],
            registry=home,
        )
        self._stale = Counter(
            "pgrecall_embedder_stale",
            "Embeddings that came too late: the memory had been edited or taken away.",
            registry=home,
        )
        self._texts = Counter("pgrecall_embedder_texts", "Texts given to the model.", registry=home)
        self._batch_seconds = Histogram(
            "pgrecall_embedder_batch_seconds",
            "Seconds a batch took in the model.",
            buckets=_BATCH_SECONDS,
            registry=home,
        )
        self._query_seconds = Histogram(
            "pgrecall_embedder_query_seconds",
            "Seconds from taking up queries to their embeddings.",
            buckets=_QUERY_SECONDS,
            registry=home,
        )
        self._pauses = Counter(
            "pgrecall_embedder_pauses",
            "Pauses of a provider that cannot be asked.",
            ["model", "cause"],
            registry=home,
        )
        self._paused = Gauge(
            "pgrecall_embedder_paused",
            "1 while a provider is not asked.",
            ["model", "cause"],
            registry=home,
        )
        self._queue = Gauge(
            "pgrecall_embedder_queue",
            "Memories of a generation that cannot be claimed, at the last heartbeat: in_progress, retrying "
            "(another attempt is due later), failed (no longer retried).",
            ["generation", "state"],
            registry=home,
        )
        self._until: dict[tuple[str, str], float] = {}
        self._server: WSGIServer | None = None

    def embedded(self, memories: int) -> None:
        """Count embeddings that were stored."""
        self._embedded.inc(memories)

    def failed(self, cause: str) -> None:
        """Count an attempt that failed; `cause` is one word."""
        self._failed.labels(cause).inc()

    def stale(self, memories: int) -> None:
        """Count stale embeddings."""
        self._stale.inc(memories)

    def paused(self, model: str, cause: str, seconds: float) -> None:
        """Count a pause, and set the gauge until it ends."""
        self._pauses.labels(model, cause).inc()
        pause = model, cause
        self._until[pause] = time.monotonic() + seconds
        self._paused.labels(*pause).set_function(lambda: float(time.monotonic() < self._until[pause]))

    def batch(self, seconds: float, texts: int) -> None:
        """Observe a batch of that many texts."""
        self._batch_seconds.observe(seconds)
        self._texts.inc(texts)

    def query_answered(self, seconds: float) -> None:
        """Observe how long a query waited for its embedding."""
        self._query_seconds.observe(seconds)

    def waiting(self, generation: int, in_progress: int, retrying: int, failed: int) -> None:
        """Set the gauges of a generation's backlog, from `pgrecall.embedding_backlog()`."""
        for state, count in (("in_progress", in_progress), ("retrying", retrying), ("failed", failed)):
            self._queue.labels(str(generation), state).set(count)

    def serve(self, port: int, address: str = "127.0.0.1") -> int:
        """Answer GET /metrics until `close`; anyone who reaches the port may read them.

        Args:
            port: Where; 0 takes one that is free.
            address: The network interface to listen on.

        Returns:
            The port.

        Raises:
            ConnectionFailed: The port is taken, or the address is not this machine's.
        """
        from prometheus_client import start_http_server

        try:
            self._server, _ = start_http_server(port, addr=address, registry=self.registry)
        except (OSError, OverflowError) as error:
            raise ConnectionFailed(
                f"metrics cannot be served at {address}:{port}: {error}",
                hint="Choose another port with --metrics-port.",
            ) from None
        return self._server.server_port

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None
