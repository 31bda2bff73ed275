# ruff: noqa: N818 - the names say what happened, as in pgrecall.errors.
"""Embeds claimed texts in batches by token budget, and bisects a batch that fails."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import TYPE_CHECKING, Final, TypeAlias

from pgrecall.query.unreadable import UNREADABLE
from pgrecall_embedder.logs import describe
from pgrecall_embedder.providers.errors import ProviderPaused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = [
    "PROBE",
    "Embedded",
    "Made",
    "Outcome",
    "Rejected",
    "by_token_budget",
    "embed",
    "embed_memories",
    "plan",
]

MAX_TEXTS: Final = 256
PROBE: Final = "The quick brown fox jumps over the lazy dog."
"""The text that a provider must embed after a failure, before a memory is blamed."""


@dataclass(frozen=True, slots=True)
class Made:
    """The embedding of a text.

    Attributes:
        vector: In pgvector's text form.
        is_truncated: Whether the model has read only the beginning.
        passages: Vectors of its passages in the same form; None for one that the model cannot embed.
    """

    vector: str = field(repr=False)
    is_truncated: bool
    passages: tuple[str | None, ...] = field(repr=False, default=())


@dataclass(frozen=True, slots=True)
class Rejected:
    """A text that cannot be embedded.

    Attributes:
        error: Why, without quoting it.
        cause: The same in one word.
    """

    error: str
    cause: str


Outcome: TypeAlias = Made | Rejected | None
"""The result of a text; None: not tried, or the provider failed."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """The result of one batch.

    Attributes:
        outcomes: For each text.
        pause: Why the provider is paused; some outcomes are None then.
        is_alive: Whether the provider embedded anything before that.
        seconds: Seconds that the model computed.
    """

    outcomes: list[Outcome]
    pause: ProviderPaused | None
    is_alive: bool
    seconds: float


class WrongDimension(ValueError):
    """The model returned an array of another shape."""


class NotFinite(ValueError):
    """A vector is zero, or not finite."""


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
    """Embed one batch; bisect it down to the texts that the provider refuses.

    A text is blamed only if the provider embeds another one right afterwards.
    """
    started = time.monotonic()
    outcomes: list[Outcome] = [None] * len(texts)
    pause: ProviderPaused | None = None
    is_alive = False
    parts = [(0, len(texts))]
    while parts:
        start, end = parts.pop()
        try:
            outcomes[start:end] = _made(provider, texts[start:end])
            is_alive = True
        except Exception as error:  # noqa: BLE001 - a provider may raise anything; the row keeps what it was
            pause = error if isinstance(error, ProviderPaused) else _probe(provider)
            if pause is not None:
                break
            is_alive = True
            if end - start == 1:
                outcomes[start] = Rejected(describe(error), _cause(error))
            else:
                middle = (start + end) // 2
                parts += [(middle, end), (start, middle)]
    return Embedded(outcomes, pause, is_alive, time.monotonic() - started)


def embed_memories(
    provider: EmbeddingProvider, texts: Sequence[str], passages: Sequence[Sequence[str]]
) -> Embedded:
    """Embed one batch of memories with their passages.

    If the provider fails on the passages, the memory counts as not embedded, and the next attempt embeds all
    of it.

    Args:
        provider: The model.
        texts: A text for each memory.
        passages: For each memory the texts of its passages, none for a short one.
    """
    result = embed(provider, texts)
    places = [
        (memory, number)
        for memory, outcome in enumerate(result.outcomes)
        if isinstance(outcome, Made)
        for number in range(len(passages[memory]))
    ]
    if not places:
        return result
    found: dict[tuple[int, int], Outcome] = {}
    pause, seconds = result.pause, result.seconds
    flat = [passages[memory][number] for memory, number in places]
    for batch in plan(provider, flat):
        if pause is not None:
            break
        part = embed(provider, [flat[position] for position in batch])
        pause = part.pause
        seconds += part.seconds
        found.update({places[position]: one for position, one in zip(batch, part.outcomes, strict=True)})
    outcomes = list(result.outcomes)
    for memory, outcome in enumerate(outcomes):
        if isinstance(outcome, Made) and passages[memory]:
            made = [found.get((memory, number)) for number in range(len(passages[memory]))]
            vectors = tuple(one.vector if isinstance(one, Made) else None for one in made)
            outcomes[memory] = None if None in made else replace(outcome, passages=vectors)
    return Embedded(outcomes, pause, result.is_alive, seconds)


def _probe(provider: EmbeddingProvider) -> ProviderPaused | None:
    """Return why the provider refuses every text; None if it embeds one."""
    try:
        _made(provider, [PROBE])
    except ProviderPaused as pause:
        return pause
    except Exception as error:  # noqa: BLE001 - no memory caused it
        return ProviderPaused("outage", f"it embeds nothing: {describe(error)}")
    return None


def _made(provider: EmbeddingProvider, texts: Sequence[str]) -> list[Outcome]:
    import numpy as np

    made = provider.embed_documents(texts)
    if made.vectors.shape != (len(texts), provider.dimension) or len(made.is_truncated) != len(texts):
        raise WrongDimension
    with np.errstate(over="ignore", under="ignore"):
        stored = made.vectors.astype(np.float16)
    if not (np.isfinite(stored).all() and stored.any(axis=1).all()):
        raise NotFinite
    # Six digits keep a float32 well below the step of a halfvec, in half the bytes.
    form = f"[{','.join(['%.6g'] * provider.dimension)}]"
    return [
        Rejected(UNREADABLE, "unreadable")
        if is_unreadable
        else Made(form % tuple(vector), bool(is_truncated))
        for vector, is_truncated, is_unreadable in zip(
            made.vectors.tolist(),
            made.is_truncated,
            made.is_unreadable or repeat(False, len(texts)),
            strict=True,
        )
    ]


def _cause(error: Exception) -> str:
    """Return an error's class in snake case."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(error).__name__).lower()
