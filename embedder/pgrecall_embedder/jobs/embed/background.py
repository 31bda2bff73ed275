"""States a model's background: what its cosines between unrelated texts look like."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np

from pgrecall_embedder.logs import describe

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.providers import EmbeddingProvider

    from .queue import WorkQueue

__all__ = ["state_background"]


async def state_background(
    queue: WorkQueue,
    model_id: int,
    provider: EmbeddingProvider,
    pool: Executor,
    texts: Sequence[str],
    log: FilteringBoundLogger,
) -> None:
    """Embed unrelated texts if the database has no background of the model yet.

    Recall works without one, so a failure is logged, and the next start tries again.
    """
    try:
        if await queue.lacks_background(model_id):
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(pool, provider.embed_documents, texts)
            await queue.state_background(model_id, [_text(row) for row in np.asarray(made.vectors)])
    except Exception as error:  # noqa: BLE001 - a library may raise anything
        log.warning(
            "the model's background could not be measured", model=provider.name, error=describe(error)
        )


def _text(vector: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> str:
    return "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"
