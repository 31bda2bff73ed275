"""Vectors of names and labels by the daemon's embedding model, beside its work on memories."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

from pgrecall_embedder.batching import Rejected, embed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["Embed", "Vectors", "cosines"]

Embed: TypeAlias = Callable[["Sequence[str]"], Awaitable["list[str | Rejected]"]]


class Vectors:
    """A thread of its own for a model.

    Args:
        provider: The model.
    """

    def __init__(self, provider: EmbeddingProvider) -> None:
        self._provider = provider
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="names")

    async def embed(self, texts: Sequence[str]) -> list[str | Rejected]:
        """Embed short texts in one batch.

        Args:
            texts: The texts.

        Returns:
            For each its vector in pgvector's text form, or why there is none.
        """
        loop = asyncio.get_running_loop()
        return (await loop.run_in_executor(self._pool, embed, self._provider, texts)).vectors

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
