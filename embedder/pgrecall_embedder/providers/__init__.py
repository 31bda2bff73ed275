"""Embedding providers by the name that `embedding_models.provider` holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable

from .base import DocumentVectors, EmbeddingProvider, ModelSpec, ProviderFactory
from .errors import InputRefused, ProviderPaused, VectorsUnusable

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "DocumentVectors",
    "EmbeddingProvider",
    "InputRefused",
    "ModelSpec",
    "ProviderFactory",
    "ProviderPaused",
    "VectorsUnusable",
    "load_provider",
]


def _sentence_transformers(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .local import SentenceTransformersProvider

    return SentenceTransformersProvider(model, threads)


def _openai(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .openai import OpenAIProvider

    return OpenAIProvider(model, threads)


def _voyage(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .voyage import VoyageProvider

    return VoyageProvider(model, threads)


def _cohere(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .cohere import CohereProvider

    return CohereProvider(model, threads)


def _onnx(model: ModelSpec, threads: int) -> EmbeddingProvider:
    from .onnx import OnnxProvider

    return OnnxProvider(model, threads)


# Of these there may be several servers, each with a name of its own behind a colon.
_REMOTE: Mapping[str, ProviderFactory] = {"cohere": _cohere, "openai": _openai, "voyage": _voyage}
_FACTORIES: Mapping[str, ProviderFactory] = {
    "onnx": _onnx,
    "sentence-transformers": _sentence_transformers,
    **_REMOTE,
}


def load_provider(model: ModelSpec, threads: int) -> EmbeddingProvider:
    """Load a model; takes seconds. One behind an address is not asked yet.

    Args:
        model: What the database says of it.
        threads: How many threads will call the provider at the same time.

    Raises:
        EmbeddingUnavailable: There is no such provider, its library is missing, or it has no such model; of
            one behind an address, a setting is missing or wrong.
    """
    kind, colon, server = model.provider.partition(":")
    factory = _FACTORIES.get(kind) if not colon else _REMOTE.get(kind) if server else None
    if factory is None:
        raise EmbeddingUnavailable(
            f"this version of pgrecall has no embedding provider {model.provider}",
            hint=f"Upgrade pgrecall on this machine; it has: {', '.join(sorted(_FACTORIES))}.",
        )
    return factory(model, threads)
