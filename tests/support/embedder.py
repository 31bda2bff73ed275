"""What the tests of the embedder share: the real model, a recorder around it, and eyes on the queue."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logger import make_logger
from pgrecall_embedder.providers import ModelSpec, load_provider
from pgrecall_embedder.providers.base import DocumentVectors
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    import psycopg
    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider

SPEC = ModelSpec(1, DEFAULT_MODEL, 384, "sentence-transformers", "", "")
CANARY = "xyzzy-canary-4711"

# A daemon with a model that takes as long as its first argument says, in seconds a batch.
SLOW_DAEMON = """
import sys, time
import numpy as np
from pgrecall_embedder.cli import run
from pgrecall_embedder.providers.base import DocumentVectors

class Slow:
    name, dimension, token_budget, is_hosted = "slow", 384, 64, False
    def token_counts(self, texts): return [16] * len(texts)
    def embed_documents(self, texts):
        time.sleep(float(sys.argv[1]))
        return DocumentVectors(np.full((len(texts), 384), 384 ** -0.5, dtype=np.float32), [False] * len(texts))
    def close(self): pass

sys.exit(run(
    sys.argv[2], only="embedding", concurrency=1, lease_seconds=float(sys.argv[3]), log_json=True,
    factory=lambda model, threads: Slow(),
))
"""


@cache
def real_model() -> EmbeddingProvider:
    return load_provider(SPEC, 2)


class Recorder:
    """The real model, which notes what it is given and can be held, or broken by one text."""

    def __init__(self, poison: str | None = None) -> None:
        model = real_model()
        self.name = model.name
        self.dimension = model.dimension
        self.token_budget = model.token_budget
        self.is_hosted = False
        self.token_counts = model.token_counts
        self.embed_query = model.embed_query
        self.model = model
        self.poison = poison
        self.texts: list[str] = []
        self.entered = threading.Event()
        self.free = threading.Event()
        self.free.set()
        self.closed = False

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        self.texts += texts
        self.entered.set()
        assert self.free.wait(PATIENCE)
        if self.poison is not None and any(self.poison in text for text in texts):
            raise ValueError(f"cannot take {texts}")
        return self.model.embed_documents(texts)

    def close(self) -> None:
        self.closed = True

    def load(self, _model: ModelSpec, _threads: int) -> EmbeddingProvider:
        return self


class Constant:
    """A model that says the same of everything."""

    name, dimension, token_budget, is_hosted = "constant", 384, 4096, False

    def token_counts(self, texts: Sequence[str]) -> list[int]:
        return [max(1, len(text) // 4) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        return DocumentVectors(np.full((len(texts), 384), 384**-0.5, dtype=np.float32), [False] * len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = self.embed_documents([text]).vectors[0]
        return vector

    def close(self) -> None: ...

    def load(self, _model: object, _threads: int) -> Constant:
        return self


class Loader(Protocol):
    """Whatever has models."""

    def load(self, model: ModelSpec, threads: int, /) -> EmbeddingProvider: ...


def make_daemon(dsn: str, provider: Loader, **options: Any) -> Daemon:
    """A daemon; by default it only embeds."""
    return Daemon(
        dsn, log=make_logger(as_json=True), factory=provider.load, **{"only": "embedding"} | options
    )


def drain(dsn: str, provider: Loader) -> None:
    asyncio.run(make_daemon(dsn, provider, drain=True).run())


@asynccontextmanager
async def running(daemon: Daemon) -> AsyncIterator[None]:
    """The daemon at work; stopped at the end, and whatever it raised is raised."""
    task = asyncio.create_task(daemon.run())
    try:
        yield
    finally:
        daemon.stop()
        async with asyncio.timeout(PATIENCE):
            await task


def remember(conn: psycopg.Connection[Any], *contents: str) -> list[int]:
    memories = json.dumps([{"content": content} for content in contents])
    return [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [memories])]


def status(conn: psycopg.Connection[Any]) -> tuple[int, int, int, int]:
    query = "SELECT embedded, pending, in_progress, workers FROM recall_status()"
    [(embedded, pending, in_progress, workers)] = conn.execute(query).fetchall()
    return embedded, pending, in_progress, workers


def leases(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute(
        "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL AND worker_id IS NOT NULL"
    ).fetchone()
    assert row is not None
    return int(row[0])


def stored(conn: psycopg.Connection[Any], memory: int) -> NDArray[np.float32] | None:
    row = conn.execute("SELECT embedding::text FROM pgrecall.memories WHERE id = %s", [memory]).fetchone()
    assert row is not None
    return None if row[0] is None else np.array(json.loads(row[0]), dtype=np.float32)


def sentences(count: int) -> list[str]:
    return [f"Memory {number} is about the {'very ' * (number % 7)}long walk." for number in range(count)]


def start(dsn: str, seconds_a_batch: float, lease_seconds: float = 120.0) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SLOW_DAEMON, str(seconds_a_batch), dsn, str(lease_seconds)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
