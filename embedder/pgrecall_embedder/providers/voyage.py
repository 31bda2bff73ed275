"""Embeddings by Voyage AI: `POST {base}/embeddings`, told whether a text is a document or a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .openai import in_order
from .remote import Limits, RemoteProvider, estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["VoyageProvider"]

# Voyage takes 1,000 texts, and of its largest models 120,000 tokens, in one request.
_LIMITS = Limits(1000, 40_000)
_CONTEXT_TOKENS = 32_000


class VoyageProvider(RemoteProvider):
    """Voyage AI's embeddings. A text beyond 32,000 tokens is cut there; whether one is, is estimated."""

    default_url: ClassVar[str] = "https://api.voyageai.com/v1"
    path: ClassVar[str] = "/embeddings"
    dimension_field: ClassVar[str] = "output_dimension"

    def _limits(self) -> Limits:
        return _LIMITS

    def _fields(self, texts: Sequence[str], *, is_query: bool) -> Mapping[str, object]:
        return {
            "model": self.name,
            "input": list(texts),
            "input_type": "query" if is_query else "document",
            "truncation": True,
            **self._asked_dimension(),
        }

    def _vectors(self, answer: object) -> object:
        return in_order(answer)

    def _is_cut(self, text: str) -> bool:
        return estimated_tokens(text) > _CONTEXT_TOKENS
