"""Embedding providers by the name that `embedding_models.provider` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable

from .base import EmbeddingProvider, ModelSpec, ProviderFactory

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["EmbeddingProvider", "ModelSpec", "ProviderFactory", "load_provider"]


def _sentence_transformers(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .local import SentenceTransformersProvider

    return SentenceTransformersProvider(model, threads)


_FACTORIES: Mapping[str, ProviderFactory] = {"sentence-transformers": _sentence_transformers}


def load_provider(model: ModelSpec, threads: int) -> EmbeddingProvider:
    """Load a model; takes seconds.

    Args:
        model: What the database says of it.
        threads: How many threads will call the provider at the same time.

    Raises:
        EmbeddingUnavailable: There is no such provider, its library is missing, or it has no such model.
    """
    factory = _FACTORIES.get(model.provider)
    if factory is None:
        raise EmbeddingUnavailable(
            f"this version of pgrecall has no embedding provider {model.provider}",
            hint=f"Upgrade pgrecall on this machine; it has: {', '.join(sorted(_FACTORIES))}.",
        )
    return factory(model, threads)
