"""Prometheus metrics of the client. No label or value contains text of a query or a memory.

Create one `ClientMetrics` per process, pass it to every client, and serve its registry as the application
serves its own::

    metrics = ClientMetrics()
    client = Client(metrics=metrics)
    prometheus_client.start_http_server(9000)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import PgrecallError

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

    from .models import RecallResult
    from .query.embedding import Source
    from .query.expansion import Outcome

__all__ = ["ClientMetrics"]

# From a recall by words on a small table to one that waited for a remote embedder.
_SECONDS = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
_SOURCES: tuple[Source, ...] = ("local", "daemon", "cache", "given", "none")


class ClientMetrics:
    """The client's counters; threads and tasks may share one.

    Args:
        registry: The registry; None takes prometheus_client's default.

    Raises:
        PgrecallError: prometheus_client is not installed.
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        try:
            from prometheus_client import REGISTRY, Counter, Histogram
        except ImportError:
            raise PgrecallError(
                "prometheus_client is not installed", hint="Install it with `pip install prometheus-client`."
            ) from None
        home = REGISTRY if registry is None else registry
        self._seconds = Histogram(
            "pgrecall_recall_seconds",
            "Duration of a recall in seconds, with embedding, without expansion and reranking.",
            ["strategy"],
            buckets=_SECONDS,
            registry=home,
        )
        self._recalls = Counter(
            "pgrecall_recalls", "Recalls by strategy and legs.", ["strategy", "legs"], registry=home
        )
        self._entity_matches = Counter(
            "pgrecall_entity_matches", "Recalled memories that the graph leg found.", registry=home
        )
        self._temporal_filters = Counter(
            "pgrecall_temporal_filters", "Recalls with a timeframe.", registry=home
        )
        self._embeddings = Counter(
            "pgrecall_query_embeddings", "Queries by where their vector came from.", ["source"], registry=home
        )
        for source in _SOURCES:
            self._embeddings.labels(source)  # a rate needs the zero before the first
        self._expansions = Counter(
            "pgrecall_expansions",
            "Queries to be expanded by a language model, by outcome.",
            ["outcome"],
            registry=home,
        )

    def recalled(self, result: RecallResult, seconds: float, *, is_dated: bool) -> None:
        """Count a recall.

        Args:
            result: Its result. The chosen strategy is an attribute of the memories, so it is unknown for an
                empty result.
            seconds: How long it took.
            is_dated: Whether it had a timeframe.
        """
        strategy = result[0].chosen_strategy if len(result) else "unknown"
        self._seconds.labels(strategy).observe(seconds)
        self._recalls.labels(strategy, "+".join(result.legs)).inc()
        self._entity_matches.inc(sum(memory.graph_rank is not None for memory in result))
        if is_dated:
            self._temporal_filters.inc()

    def embedded(self, source: Source) -> None:
        """Count a query by where its vector came from."""
        self._embeddings.labels(source).inc()

    def expanded(self, outcome: Outcome) -> None:
        """Count the expansion of a query by a language model by its outcome."""
        self._expansions.labels(outcome).inc()
