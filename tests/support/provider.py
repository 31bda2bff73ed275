"""What the tests of embedding providers share: a provider of a local server, and what it should answer."""

from __future__ import annotations

import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from pgrecall_embedder.providers import ModelSpec, ProviderPaused, load_provider
from support.provider_servers import vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pytest
    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider
    from support.provider_servers import Kind, ProviderServer

KEY = "sk-that-nobody-may-see"
SECRET = "Wuthering quokka heights"
MODELS: dict[Kind, str] = {
    "openai": "text-embedding-3-small",
    "tei": "BAAI/bge-m3",
    "voyage": "voyage-3.5",
    "cohere": "embed-v4.0",
}
KINDS = list(MODELS)
_PATIENCE = 60.0


@contextmanager
def provider_of(
    monkeypatch: pytest.MonkeyPatch,
    server: ProviderServer,
    *,
    name: str | None = None,
    dimension: int | None = None,
    prompts: tuple[str, str] = ("", ""),
    timeout: float = 30,
    threads: int = 2,
) -> Iterator[EmbeddingProvider]:
    """A provider of a server, with a key, for as many dimensions as the server gives."""
    kind = "openai" if server.kind == "tei" else server.kind
    prefix = f"PGRECALL_EMBEDDER_{kind.upper()}"
    monkeypatch.setenv(f"{prefix}_URL", server.url)
    monkeypatch.setenv(f"{prefix}_API_KEY", KEY)
    monkeypatch.setenv(f"{prefix}_TIMEOUT", f"{timeout:g}")
    model = MODELS[server.kind] if name is None else name
    size = server.dimension if dimension is None else dimension
    provider = load_provider(ModelSpec(1, model, size, kind, *prompts), threads)
    yield provider
    provider.close()


def until_answered(provider: EmbeddingProvider, text: str) -> NDArray[np.float32]:
    """Ask for a query's vector as often as it takes, as the daemon does."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            return provider.embed_query(text)
        except ProviderPaused:
            if time.monotonic() > end:
                raise


def expected(texts: Sequence[str], dimension: int = 8) -> NDArray[np.float32]:
    return np.array([vector_of(text, dimension) for text in texts], dtype=np.float32)


def sentences(count: int) -> list[str]:
    return [f"Memory {number} is about the {'very ' * (number % 7)}long walk." for number in range(count)]
