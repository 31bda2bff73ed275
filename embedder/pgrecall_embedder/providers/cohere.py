"""Embeddings by Cohere: `POST {base}/embed`, version 2, told whether a text is a document or a query."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .remote import Limits, RemoteProvider, estimated_tokens

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["CohereProvider"]

# Cohere takes 96 texts and 128,000 tokens in one request.
_LIMITS = Limits(96, 40_000)
_CONTEXT_TOKENS = 128_000
_CONTEXT_TOKENS_OF_V3 = 512


class CohereProvider(RemoteProvider):
    """Cohere's embeddings. A text beyond the model's context is cut there; whether one is, is estimated."""

    default_url: ClassVar[str] = "https://api.cohere.com/v2"
    path: ClassVar[str] = "/embed"
    dimension_field: ClassVar[str] = "output_dimension"

    def _limits(self) -> Limits:
        return _LIMITS

    def _fields(self, texts: Sequence[str], *, is_query: bool) -> Mapping[str, object]:
        return {
            "model": self.name,
            "texts": list(texts),
            "input_type": "search_query" if is_query else "search_document",
            "embedding_types": ["float"],
            "truncate": "END",
            **self._asked_dimension(),
        }

    def _vectors(self, answer: object) -> object:
        if not isinstance(answer, dict):
            raise TypeError("no object")
        return answer["embeddings"]["float"]

    def _is_cut(self, text: str) -> bool:
        longest = _CONTEXT_TOKENS_OF_V3 if self.name.endswith("v3.0") else _CONTEXT_TOKENS
        return estimated_tokens(text) > longest
