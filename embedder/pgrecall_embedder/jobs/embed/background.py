"""States a model's background: what its cosines between unrelated texts look like."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from pgrecall_embedder.logs import describe

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from pgrecall_embedder.providers import EmbeddingProvider

    from .pipeline import Work

__all__ = ["state_background"]


async def state_background(work: Work, model_id: int, provider: EmbeddingProvider, pool: Executor) -> None:
    """Embed the daemon's background texts if the database has no background of the model yet.

    Recall works without one, so a failure is logged, and the next start tries again.
    """
    try:
        if await work.queue.lacks_background(model_id):
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(pool, provider.embed_documents, work.background_texts)
            await work.queue.state_background(model_id, [_text(row) for row in np.asarray(made.vectors)])
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        work.log.warning(
            "the model's background could not be measured", model=provider.name, error=describe(error)
        )


def _text(vector: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> str:
    return "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"
