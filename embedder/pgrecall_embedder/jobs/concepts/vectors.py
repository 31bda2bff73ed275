"""Vectors of names and labels by the daemon's embedding model, beside its work on memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from pgrecall_embedder.jobs.embed.batching import Made, Rejected, embed
from pgrecall_embedder.retry import Backoff

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["ActiveModel", "Embed", "Named", "Vectors", "cosines"]


@dataclass(frozen=True, slots=True)
class ActiveModel:
    """The model whose embeddings recall reads.

    Attributes:
        generation: The number of its generation.
        provider: What embeds.
    """

    generation: int
    provider: EmbeddingProvider


@dataclass(frozen=True, slots=True)
class Named:
    """Embeddings of short texts.

    Attributes:
        generation: The generation they are of.
        vectors: For each text its vector in pgvector's text form, or why there is none.
    """

    generation: int
    vectors: list[str | Rejected]


Embed: TypeAlias = Callable[["Sequence[str]"], Awaitable["Named | None"]]
"""Embeds short texts in one batch; None: that cannot be done now."""


class Vectors:
    """A thread of its own for a model.

    Args:
        active: Says what the model is at the moment; None if there is none.
    """

    def __init__(self, active: Callable[[], ActiveModel | None]) -> None:
        self._active = active
        self._pause = Backoff()
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="names")

    async def embed(self, texts: Sequence[str]) -> Named | None:
        """Embed short texts in one batch.

        Args:
            texts: The texts.

        Returns:
            Their vectors; None if there is no model now, or it cannot be asked.
        """
        active = self._active()
        if active is None or self._pause.seconds_left:
            return None
        loop = asyncio.get_running_loop()
        embedded = await loop.run_in_executor(self._pool, embed, active.provider, texts)
        if embedded.pause is not None:
            self._pause.begin(embedded.pause.cause, embedded.pause.retry_after)
            return None
        self._pause.succeed()
        return Named(
            active.generation,
            [one.vector if isinstance(one, Made) else one for one in embedded.outcomes if one is not None],
        )

    def close(self) -> None:
        """End the thread, once it has done what it is at."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def cosines(vector: str, others: Sequence[str]) -> list[float]:
    """Return the cosine of a vector with each of some others.

    Args:
        vector: In pgvector's text form.
        others: As the first, none of them zero.
    """
    import numpy as np

    one = np.asarray(json.loads(vector))
    many = np.asarray([json.loads(other) for other in others])
    scale = np.linalg.norm(one) * np.linalg.norm(many, axis=1)
    return [float(value) for value in many @ one / scale]
