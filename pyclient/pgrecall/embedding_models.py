"""Embedding models whose dimension and prompts are known, so that `migrate --model NAME` is enough."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["DEFAULT_MODEL", "KNOWN_MODELS", "ModelSpec"]

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """An embedding model: `dimension` of its vectors, texts put before a query and before a document."""

    dimension: int
    query_prompt: str = ""
    document_prompt: str = ""


# Prompts as their model cards give them.
_BGE_QUERY = "Represent this sentence for searching relevant passages: "
KNOWN_MODELS: dict[str, ModelSpec] = {
    DEFAULT_MODEL: ModelSpec(384),
    "sentence-transformers/all-mpnet-base-v2": ModelSpec(768),
    "BAAI/bge-small-en-v1.5": ModelSpec(384, _BGE_QUERY),
    "BAAI/bge-base-en-v1.5": ModelSpec(768, _BGE_QUERY),
    "BAAI/bge-large-en-v1.5": ModelSpec(1024, _BGE_QUERY),
    "BAAI/bge-m3": ModelSpec(1024),
    "intfloat/e5-small-v2": ModelSpec(384, "query: ", "passage: "),
    "intfloat/e5-large-v2": ModelSpec(1024, "query: ", "passage: "),
    "intfloat/multilingual-e5-small": ModelSpec(384, "query: ", "passage: "),
    "intfloat/multilingual-e5-large": ModelSpec(1024, "query: ", "passage: "),
    "nomic-ai/nomic-embed-text-v1.5": ModelSpec(768, "search_query: ", "search_document: "),
}
