"""An embedder that only answers queries, in a thread of its own, with the real model or one that is held or fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import uuid
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from pgrecall.query.embedding import LocalEmbedder
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.connection import Connection
from pgrecall_embedder.jobs.queries.answering import QueryAnswerer
from pgrecall_embedder.logger import make_logger
from pgrecall_embedder.providers.base import DocumentVectors
from pgrecall_embedder.retry import RetryPolicy
from support.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray


@cache
def _real() -> LocalEmbedder:
    return LocalEmbedder(DEFAULT_MODEL)


def embedded(text: str) -> list[float]:
    """What the real model makes of a query."""
    return _real().embed_query(text, "")


class Model:
    """The real model, which notes what it is asked and can be held, or made to fail.

    Args:
        name: What it calls itself.
        dimension: The real vectors are cut to it.
    """

    token_budget = 512
    is_hosted = False

    def __init__(self, name: str = DEFAULT_MODEL, dimension: int = 384) -> None:
        self.name = name
        self.dimension = dimension
        self.queries: list[str] = []
        self.entered = threading.Event()
        self.free = threading.Event()
        self.free.set()
        self.failure: Exception | None = None

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        vectors = np.array([embedded(text)[: self.dimension] for text in texts], dtype=np.float32)
        return DocumentVectors(vectors, [False] * len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        self.queries.append(text)
        self.entered.set()
        assert self.free.wait(PATIENCE)
        if self.failure is not None:
            raise self.failure
        return np.array(embedded(text)[: self.dimension], dtype=np.float32)

    def close(self) -> None:
        """Nothing to close."""


@contextmanager
def answering(dsn: str, model: Model, generation: int = 1, *, listen: bool = True) -> Iterator[QueryAnswerer]:
    """Answer queries of one generation; whatever the answerer raises is raised at the end.

    Args:
        dsn: The database.
        model: Embeds.
        generation: Whose queries.
        listen: False leaves it to polling, twenty times a second.
    """
    embedded(" ")  # loading takes longer than anybody waits
    ready: threading.Event = threading.Event()
    found: list[QueryAnswerer] = []
    loops: list[asyncio.AbstractEventLoop] = []
    raised: list[BaseException] = []

    async def work() -> None:
        log = make_logger(as_json=True)
        connection = Connection(dsn, RetryPolicy(asyncio.Event(), None, log))
        answerer = QueryAnswerer(
            connection, model, generation, log=log, poll_seconds=PATIENCE if listen else 0.05
        )
        listening = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
        await listening.execute("LISTEN pgrecall_query")
        found.append(answerer)
        loops.append(asyncio.get_running_loop())
        ready.set()

        async def hear() -> None:
            async for _ in listening.notifies():
                answerer.wake()

        hearing = asyncio.create_task(hear()) if listen else None
        try:
            await answerer.run()
        finally:
            if hearing is not None:
                hearing.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await hearing
            await listening.close()
            await connection.close()

    def run() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:  # noqa: BLE001 - it is raised where the test waits
            raised.append(error)
            ready.set()

    thread = threading.Thread(target=run, name="answering")
    thread.start()
    worker = str(uuid.uuid4())
    try:
        assert ready.wait(PATIENCE)
        if raised:
            raise raised[0]
        with psycopg.connect(dsn, autocommit=True) as connection:
            beat(connection, worker, model.name, [generation])
        yield found[0]
    finally:
        if loops:
            loops[0].call_soon_threadsafe(found[0].stop)
        thread.join(PATIENCE)
        assert not thread.is_alive()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("SELECT pgrecall.retire(%s)", [worker])
    if raised:
        raise raised[0]


def beat(connection: psycopg.Connection[Any], worker: str, model: str, generations: list[int]) -> None:
    """Say that an embedder of these generations is alive."""
    connection.execute(
        "SELECT pgrecall.heartbeat(%s, 'here', 1, 'hash', %s, 0, %s)", [worker, model, generations]
    )


def embed_all(connection: psycopg.Connection[Any], model: Model, column: str = "embedding") -> None:
    """Give every memory its embedding, as an embedder would."""
    for number, content in connection.execute("SELECT id, content FROM pgrecall.memories").fetchall():
        vector = json.dumps(model.embed_documents([content]).vectors[0].tolist())
        connection.execute(
            f"UPDATE pgrecall.memories SET {column} = %s::halfvec WHERE id = %s".encode(), [vector, number]
        )
