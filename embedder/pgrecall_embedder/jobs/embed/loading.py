"""Loads an embedding model without blocking the event loop."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from pgrecall.errors import SchemaMismatch

if TYPE_CHECKING:
    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec, ProviderFactory

__all__ = ["load_in_thread"]


async def load_in_thread(factory: ProviderFactory, model: ModelSpec, threads: int) -> EmbeddingProvider:
    """Load a model in a thread of its own.

    Args:
        factory: Loads it.
        model: The model that the database names.
        threads: The number of embedding threads.

    Raises:
        SchemaMismatch: It has another dimension than the database.
        Exception: Any error of the model's library.
    """
    loader = ThreadPoolExecutor(1, thread_name_prefix="load")
    try:
        loop = asyncio.get_running_loop()
        provider = await loop.run_in_executor(loader, factory, model, threads)
    finally:
        loader.shutdown(wait=False)
    if provider.dimension != model.dimension:
        provider.close()
        raise SchemaMismatch(
            f"model {model.name} gives {provider.dimension} dimensions, "
            f"the database stores {model.dimension}",
            hint="Choose a model of the database's dimension with `pgrecall migrate --model NAME`.",
        )
    return provider
