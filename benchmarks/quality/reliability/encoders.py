"""What embeds memories and questions: the bundled model, and another one if it is installed."""

from __future__ import annotations

import importlib
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.quality.embeddings import Vector
from benchmarks.quality.resources import Unavailable
from pgrecall.query.embedding_models import DEFAULT_MODEL, KNOWN_MODELS
from pgrecall_embedder.jobs.embed.batching import plan
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from benchmarks.quality.embeddings import VectorCache

__all__ = ["ENCODERS", "Encoder"]

_DIMENSION: Final = KNOWN_MODELS[DEFAULT_MODEL].dimension


class Encoder:
    """An encoder behind a cache, with one thread.

    Args:
        name: Its name in the cache and in the results.
        compute: Embeds texts.
        cache: Where vectors are kept.
        say: Told of progress.
    """

    def __init__(
        self,
        name: str,
        compute: Callable[[Sequence[str]], list[Vector]],
        cache: VectorCache,
        say: Callable[[str], None],
    ) -> None:
        self.name = name
        self._compute = compute
        self._cache = cache
        self._say = say

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        """Embed texts: rows of length 1, as long as the bundled model's.

        A shorter vector ends in zeros: no cosine changes, and one database serves all encoders.
        """
        unique = list(dict.fromkeys(texts))
        known = self._cache.get(self.name, unique)
        missing = [text for text in unique if text not in known]
        for first in range(0, len(missing), 256):
            chunk = missing[first : first + 256]
            self._say(f"{self.name}: embedding {first + len(chunk)} of {len(missing)} new texts")
            made = dict(zip(chunk, map(_padded, self._compute(chunk)), strict=True))
            self._cache.put(self.name, made)
            known.update(made)
        return [known[text] for text in texts]


def _padded(vector: Vector) -> Vector:
    row = np.zeros(_DIMENSION, dtype=np.float32)
    row[: len(vector.numbers)] = vector.numbers / max(float(np.linalg.norm(vector.numbers)), 1e-9)
    return Vector(row, vector.is_unreadable)


def _bundled() -> Callable[[Sequence[str]], list[Vector]]:
    provider = load_provider(ModelSpec(1, DEFAULT_MODEL, _DIMENSION, "sentence-transformers", "", ""), 1)

    def compute(texts: Sequence[str]) -> list[Vector]:
        found: dict[int, Vector] = {}
        for batch in plan(provider, texts):
            rows = provider.embed_documents([texts[place] for place in batch])
            unreadable = rows.is_unreadable or [False] * len(batch)
            found.update(zip(batch, map(Vector, rows.vectors, unreadable), strict=True))
        return [found[place] for place in range(len(texts))]

    return compute


def _wordllama() -> Callable[[Sequence[str]], list[Vector]]:
    """Read the static word vectors of wordllama: a text is the mean of its tokens."""
    found = importlib.util.find_spec("wordllama")
    if found is None or found.origin is None:
        raise Unavailable("wordllama is not installed")
    tokenizers: Any = importlib.import_module("tokenizers")
    safetensors: Any = importlib.import_module("safetensors.numpy")
    folder = Path(found.origin).parent
    tokenizer = tokenizers.Tokenizer.from_file(
        str(folder / "tokenizers" / "l2_supercat_tokenizer_config.json")
    )
    [table] = safetensors.load_file(folder / "weights" / "l2_supercat_256.safetensors").values()
    table = table.astype(np.float32)

    def compute(texts: Sequence[str]) -> list[Vector]:
        ids = [tokenizer.encode(text, add_special_tokens=False).ids for text in texts]
        return [
            Vector(table[one].mean(axis=0) if one else np.zeros(table.shape[1], dtype=np.float32), not one)
            for one in ids
        ]

    return compute


ENCODERS: Final[dict[str, Callable[[], Callable[[Sequence[str]], list[Vector]]]]] = {
    "all-MiniLM-L6-v2": _bundled,
    "wordllama": _wordllama,
}
"""What loads each encoder, by name."""
