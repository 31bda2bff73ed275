"""From claimed texts to vectors: batches by token budget, and a batch taken apart when one text breaks it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from .logs import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .providers import EmbeddingProvider

__all__ = ["Embedded", "Rejected", "by_token_budget", "embed", "plan"]

_T = TypeVar("_T")

MAX_TEXTS = 256


@dataclass(frozen=True, slots=True)
class Rejected:
    """A text that cannot be embedded; `error` says why without quoting it."""

    error: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """What became of the texts of one batch.

    Attributes:
        vectors: For each text its vector in pgvector's text form, or why there is none.
        seconds: How long the model was at it.
    """

    vectors: list[str | Rejected]
    seconds: float


def plan(provider: EmbeddingProvider, texts: Sequence[str]) -> list[list[int]]:
    """Divide texts into batches for one call of the provider each.

    Args:
        provider: Counts the tokens and says how many go into a batch.
        texts: The texts.

    Returns:
        Batches of positions in `texts`, every position once.
    """
    if len(texts) == 1:
        return [[0]]
    try:
        counts = provider.token_counts(texts)
    except Exception:  # noqa: BLE001 - whatever the text is that breaks it, `embed` finds out
        counts = [len(text) for text in texts]
    return by_token_budget(counts, provider.token_budget)


def by_token_budget(counts: Sequence[int], budget: int) -> list[list[int]]:
    """Divide items into batches of similar length: sorted, so that padding costs next to nothing.

    Args:
        counts: The length of each item.
        budget: The most that a batch may hold when every item is padded to its longest. An item longer than
            that gets a batch of its own.

    Returns:
        Batches of positions in `counts`, longest first.
    """
    batches: list[list[int]] = []
    room = 0
    for position in sorted(range(len(counts)), key=lambda position: -counts[position]):
        if room == 0:
            batches.append([])
            room = min(MAX_TEXTS, max(1, budget // max(1, counts[position])))
        batches[-1].append(position)
        room -= 1
    return batches


def embed(provider: EmbeddingProvider, texts: Sequence[str]) -> Embedded:
    """Embed one batch, halving it down to the texts that the provider cannot take."""
    started = time.monotonic()
    vectors = _embed(provider, texts)
    return Embedded(vectors, time.monotonic() - started)


def _embed(provider: EmbeddingProvider, texts: Sequence[str]) -> list[str | Rejected]:
    try:
        return _as_text(provider, texts)
    except Exception as error:  # noqa: BLE001 - a provider may raise anything; the row keeps what it was
        if len(texts) == 1:
            return [Rejected(describe(error))]
    middle = len(texts) // 2
    return _embed(provider, texts[:middle]) + _embed(provider, texts[middle:])


def _as_text(provider: EmbeddingProvider, texts: Sequence[str]) -> list[str | Rejected]:
    import numpy as np

    vectors = provider.embed_documents(texts)
    if vectors.shape != (len(texts), provider.dimension):
        raise ValueError("the model returned an array of another shape")
    usable = np.logical_and(np.isfinite(vectors).all(axis=1), vectors.any(axis=1))
    # Six digits keep a float32 well below the step of a halfvec, in half the bytes.
    form = f"[{','.join(['%.6g'] * provider.dimension)}]"
    return [
        form % tuple(vector) if fits else Rejected("the vector is zero or not finite")
        for vector, fits in zip(vectors.tolist(), usable.tolist(), strict=True)
    ]
