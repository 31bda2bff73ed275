"""Embeddings of memories and questions, computed once and kept on disk by model and content."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.quality.four_bits import E5_SMALL, FourBits, has_four_bits
from pgrecall_embedder.jobs.embed.batching import plan
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["Embedder", "Model", "Vector", "VectorCache"]

_CHUNK = 1024
"""Texts embedded between two writes to the cache: what an interrupted run loses at the most."""
_LOCK_SECONDS = 60


@dataclass(frozen=True, slots=True)
class Model:
    """The database's active model, as `pgrecall.active_model()` gives it."""

    id: int
    name: str
    dimension: int
    provider: str
    query_prompt: str
    document_prompt: str


@dataclass(frozen=True, slots=True)
class Vector:
    """What a model makes of a text.

    Attributes:
        numbers: A vector of length 1.
        is_unreadable: Whether the model does not know the language: pgrecall stores no such vector.
    """

    numbers: NDArray[np.float32]
    is_unreadable: bool


class VectorCache:
    """Vectors by model and hash of the text, prompt included, in one SQLite file.

    Args:
        path: The file; it and its folder are made if they are missing.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with closing(self._connect()) as connection, connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS embedded (model text, hash blob, vector blob NOT NULL, "
                "is_unreadable integer NOT NULL, PRIMARY KEY (model, hash)) WITHOUT ROWID"
            )

    def get(self, model: str, texts: Sequence[str]) -> dict[str, Vector]:
        """Return the vectors that are there, by text."""
        found = {}
        with closing(self._connect()) as connection:
            for text in texts:
                row = connection.execute(
                    "SELECT vector, is_unreadable FROM embedded WHERE model = ? AND hash = ?",
                    (model, _hash(text)),
                ).fetchone()
                if row is not None:
                    found[text] = Vector(np.frombuffer(row[0], dtype=np.float32), bool(row[1]))
        return found

    def put(self, model: str, vectors: dict[str, Vector]) -> None:
        """Keep vectors, by text."""
        with closing(self._connect()) as connection, connection:
            connection.executemany(
                "INSERT OR REPLACE INTO embedded VALUES (?, ?, ?, ?)",
                [
                    (model, _hash(text), vector.numbers.astype(np.float32).tobytes(), vector.is_unreadable)
                    for text, vector in vectors.items()
                ],
            )

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=_LOCK_SECONDS)


class Embedder:
    """The database's model, loaded when the first text is not in the cache.

    Args:
        model: The active model.
        cache: Where vectors are kept.
        say: Told of progress.
    """

    def __init__(self, model: Model, cache: VectorCache, say: Callable[[str], None]) -> None:
        self.model = model
        self._cache = cache
        self._say = say
        self._threads = os.cpu_count() or 1
        self._loaded: dict[str, EmbeddingProvider] = {}

    def documents(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as memories."""
        return self._embed(texts, self.model.document_prompt)

    def queries(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts as questions."""
        return self._embed(texts, self.model.query_prompt)

    def _embed(self, texts: Sequence[str], prompt: str) -> list[Vector]:
        name = self.model.name
        keys = [prompt + text for text in texts]
        known = self._cache.get(name, list(dict.fromkeys(keys)))
        missing = [key for key in dict.fromkeys(keys) if key not in known]
        for start in range(0, len(missing), _CHUNK):
            chunk = missing[start : start + _CHUNK]
            self._say(f"embedding {start + len(chunk)} of {len(missing)} new texts")
            computed = dict(
                zip(chunk, self._compute([key[len(prompt) :] for key in chunk], prompt), strict=True)
            )
            self._cache.put(name, computed)
            known.update(computed)
        return [known[key] for key in keys]

    def _compute(self, texts: Sequence[str], prompt: str) -> list[Vector]:
        provider = self._provider(prompt)
        vectors = [Vector(np.zeros(0, dtype=np.float32), is_unreadable=True)] * len(texts)
        batches = plan(provider, texts)
        with ThreadPoolExecutor(self._threads) as pool:
            done = pool.map(
                lambda batch: provider.embed_documents([texts[place] for place in batch]), batches
            )
            for batch, rows in zip(batches, done, strict=True):
                unreadable = rows.is_unreadable or [False] * len(batch)
                for place, row, is_unreadable in zip(batch, rows.vectors, unreadable, strict=True):
                    vectors[place] = Vector(row, is_unreadable)
        return vectors

    def _provider(self, prompt: str) -> EmbeddingProvider:
        if prompt not in self._loaded:
            model = self.model
            spec = ModelSpec(model.id, model.name, model.dimension, model.provider, prompt, "")
            self._loaded[prompt] = (
                FourBits(spec)
                if model.name == E5_SMALL and has_four_bits()
                else load_provider(spec, self._threads)
            )
        return self._loaded[prompt]


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
