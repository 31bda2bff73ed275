"""Embedding models with known dimension and prompts, so that `migrate --model NAME` is enough."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pgrecall.errors import EmbeddingUnavailable

__all__ = ["DEFAULT_MODEL", "KNOWN_MODELS", "ModelSpec", "checked_name", "names_folder"]

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """An embedding model.

    Attributes:
        dimension: The default length of its vectors.
        query_prompt: The prefix for queries.
        document_prompt: The prefix for documents.
        provider: The provider that computes the embeddings.
        other_dimensions: Other supported lengths: shorter ones that its vectors can be truncated to
            (Matryoshka), and those that its service offers on request.
    """

    dimension: int
    query_prompt: str = ""
    document_prompt: str = ""
    provider: str = "sentence-transformers"
    other_dimensions: tuple[int, ...] = ()

    @property
    def dimensions(self) -> tuple[int, ...]:
        """All supported lengths, the default first."""
        return (self.dimension, *self.other_dimensions)


def _e5(dimension: int) -> ModelSpec:
    return ModelSpec(dimension, "query: ", "passage: ")


# Prompts and lengths are from the model cards and the documentation of the services. Voyage and Cohere take
# the kind of text as a parameter and need no prompt.
_SEARCH = "Represent this sentence for searching relevant passages: "
_BGE_ZH = "为这个句子生成表示以用于检索相关文章："
_NOMIC = ("search_query: ", "search_document: ")
_SHORTER = (512, 256, 128, 64)
_VOYAGE = ModelSpec(1024, provider="voyage", other_dimensions=(2048, 512, 256))

KNOWN_MODELS: dict[str, ModelSpec] = {
    DEFAULT_MODEL: ModelSpec(384),
    "sentence-transformers/all-MiniLM-L12-v2": ModelSpec(384),
    "sentence-transformers/all-mpnet-base-v2": ModelSpec(768),
    "sentence-transformers/multi-qa-MiniLM-L6-cos-v1": ModelSpec(384),
    "sentence-transformers/multi-qa-mpnet-base-cos-v1": ModelSpec(768),
    "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2": ModelSpec(384),
    "sentence-transformers/paraphrase-multilingual-mpnet-base-v2": ModelSpec(768),
    "BAAI/bge-small-en-v1.5": ModelSpec(384, _SEARCH),
    "BAAI/bge-base-en-v1.5": ModelSpec(768, _SEARCH),
    "BAAI/bge-large-en-v1.5": ModelSpec(1024, _SEARCH),
    "BAAI/bge-small-zh-v1.5": ModelSpec(512, _BGE_ZH),
    "BAAI/bge-base-zh-v1.5": ModelSpec(768, _BGE_ZH),
    "BAAI/bge-large-zh-v1.5": ModelSpec(1024, _BGE_ZH),
    "BAAI/bge-m3": ModelSpec(1024),
    "intfloat/e5-small-v2": _e5(384),
    "intfloat/e5-base-v2": _e5(768),
    "intfloat/e5-large-v2": _e5(1024),
    "intfloat/multilingual-e5-small": _e5(384),
    "intfloat/multilingual-e5-base": _e5(768),
    "intfloat/multilingual-e5-large": _e5(1024),
    "nomic-ai/nomic-embed-text-v1": ModelSpec(768, *_NOMIC),
    "nomic-ai/nomic-embed-text-v1.5": ModelSpec(768, *_NOMIC, other_dimensions=_SHORTER),
    "thenlper/gte-small": ModelSpec(384),
    "thenlper/gte-base": ModelSpec(768),
    "thenlper/gte-large": ModelSpec(1024),
    "mixedbread-ai/mxbai-embed-large-v1": ModelSpec(1024, _SEARCH, other_dimensions=_SHORTER),
    "text-embedding-3-small": ModelSpec(1536, provider="openai", other_dimensions=(1024, 768, 512, 256)),
    "text-embedding-3-large": ModelSpec(
        3072, provider="openai", other_dimensions=(2048, 1536, 1024, 768, 512, 256)
    ),
    "voyage-4-large": _VOYAGE,
    "voyage-4": _VOYAGE,
    "voyage-4-lite": _VOYAGE,
    "voyage-3-large": _VOYAGE,
    "voyage-3.5": _VOYAGE,
    "voyage-3.5-lite": _VOYAGE,
    "voyage-code-3": _VOYAGE,
    "embed-v4.0": ModelSpec(1536, provider="cohere", other_dimensions=(1024, 512, 256)),
    "embed-english-v3.0": ModelSpec(1024, provider="cohere"),
    "embed-multilingual-v3.0": ModelSpec(1024, provider="cohere"),
}


def names_folder(name: str) -> bool:
    """Tell whether a model's name is that of a folder: a full path, or one that begins with a dot."""
    return name.startswith(".") or Path(name).is_absolute()


def checked_name(name: str) -> str:
    """Return the name of a model for a library that looks for it in the current folder first.

    A cloned repository could hold a folder of that name, and its model, or its code, would be taken for the
    one that is meant.

    Raises:
        EmbeddingUnavailable: A name of the hub leads to something in the current folder.
    """
    # A name of one word is looked for there as well.
    if not names_folder(name) and any(os.path.lexists(p) for p in (name, f"sentence-transformers/{name}")):
        raise EmbeddingUnavailable(
            f"model {name} would be loaded from the current folder",
            hint="Start from another folder. Name a model in a folder by its full path.",
        )
    return name
