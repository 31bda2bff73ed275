"""Embeds the queries of clients without a model.

A client waits a fraction of a second for each. So queries have priority over all other work. Each is answered
as soon as it is embedded, and never retried.
"""

from __future__ import annotations

import asyncio
import math
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.query.unreadable import UnreadableText
from pgrecall_embedder.logs import describe
from pgrecall_embedder.providers.errors import ProviderPaused
from pgrecall_embedder.worker import Job, Step, WorkerLoop

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["QueryAnswerer"]

_CLAIM = "SELECT id, query FROM pgrecall.claim_query_embeddings(%s, 1)"
_ANSWER = "SELECT pgrecall.complete_query_embeddings(ARRAY[%s::bigint], ARRAY[%s::text], ARRAY[%s::text])"

# Poll interval without notifications. A client that asked once will ask again soon.
_DEAF_SECONDS: Final = 1.0
_ATTENTIVE_SECONDS: Final = 0.05
_ATTENTIVE_FOR_SECONDS: Final = 60.0

# A local model shares the cores; a hosted one embeds several queries at once.
_LOCAL_THREADS = 1
_HOSTED_THREADS = 4


class QueryAnswerer(Job):
    """Embeds the queries that wait for a vector of one generation.

    Args:
        connection: The connection. No other task with slow statements may share it.
        provider: The model of the generation.
        generation: The generation's id.
        log: Receives failures. It never receives the text of a query.
        poll_seconds: Seconds to wait for `wake` before polling.
        answered: Called after each query with the seconds that the model took.
        changed: Called when the poll interval changes.
    """

    def __init__(
        self,
        connection: Connection,
        provider: EmbeddingProvider,
        generation: int,
        *,
        log: FilteringBoundLogger,
        poll_seconds: float = 5.0,
        answered: Callable[[float], None] | None = None,
        changed: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(poll_seconds)
        self._listening_seconds = poll_seconds
        self._is_deaf = False
        self._asked_at = -math.inf
        self._changed = changed
        self._connection = connection
        self._provider = provider
        self._generation = generation
        self._log = log
        self._answered = answered
        self._loops = [
            WorkerLoop(self) for _ in range(_HOSTED_THREADS if provider.is_hosted else _LOCAL_THREADS)
        ]
        self._waiting = 0
        self._threads: ThreadPoolExecutor | None = None

    @property
    def is_answering(self) -> bool:
        """Whether a query waits for the model. Other work should yield the cores."""
        return self._waiting > 0

    @property
    def is_deaf(self) -> bool:
        """Whether notifications do not arrive. The poll interval then shrinks after each query."""
        return self._is_deaf

    @is_deaf.setter
    def is_deaf(self, value: bool) -> None:
        self._is_deaf = value
        self._adapt()
        self.wake()

    def _adapt(self) -> None:
        """Set the poll interval from the queries of the last minute."""
        seconds = self._listening_seconds
        if self._is_deaf:
            was_asked = time.monotonic() - self._asked_at < _ATTENTIVE_FOR_SECONDS
            seconds = _ATTENTIVE_SECONDS if was_asked else _DEAF_SECONDS
        if seconds != self.poll_seconds:
            self.poll_seconds = seconds
            if self._changed is not None:
                self._changed()

    def wake(self) -> None:
        """Claim queries now: one was queued."""
        for loop in self._loops:
            loop.wake()

    def stop(self) -> None:
        """Answer the claimed queries, claim no more, and end `run`."""
        for loop in self._loops:
            loop.stop()

    async def run(self) -> None:
        """Answer until stopped.

        Raises:
            ExceptionGroup: The database refused a call.
        """
        with ThreadPoolExecutor(len(self._loops), thread_name_prefix="query") as threads:
            self._threads = threads
            try:
                async with asyncio.TaskGroup() as tasks:
                    for loop in self._loops:
                        tasks.create_task(loop.run())
            finally:
                self._threads = None

    async def embed(self, query: str) -> str:
        """Embed a query of the socket, after those that are claimed.

        A caller may cancel it until the model has begun.

        Raises:
            EmbeddingUnavailable: The answerer has stopped.
            Exception: The model failed. Its message may quote the query.
        """
        if self._threads is None or self._loops[0].stopping.is_set():
            raise EmbeddingUnavailable("the embedder is stopping")
        started = time.monotonic()
        self._waiting += 1
        try:
            vector = await asyncio.get_running_loop().run_in_executor(self._threads, self._embed, query)
        finally:
            self._waiting -= 1
        if self._answered is not None:
            self._answered(time.monotonic() - started)
        return vector

    async def step(self) -> Step:
        """Claim a query and answer it."""
        claimed = await self._connection.fetch(_CLAIM, [self._generation])
        if claimed:
            self._asked_at = time.monotonic()
        self._adapt()
        if not claimed:
            return Step.IDLE
        if self._threads is None:
            raise AssertionError("its threads run")
        self._waiting += 1
        try:
            [(number, query)] = claimed
            await self._answer(number, query, self._threads)
        finally:
            self._waiting -= 1
        return Step.WORKED

    async def _answer(self, number: int, query: str, threads: ThreadPoolExecutor) -> None:
        started = time.monotonic()
        vector = error = None
        try:
            vector = await asyncio.get_running_loop().run_in_executor(threads, self._embed, query)
        except (ProviderPaused, UnreadableText) as told:
            error = str(told)
        except Exception as failure:  # noqa: BLE001 - a provider may raise anything, and say the query
            error = describe(failure)
        seconds = time.monotonic() - started
        await self._connection.fetch(_ANSWER, [number, vector, error])
        if error is not None:
            self._log.warning("query cannot be embedded", error=error)
        elif self._answered is not None:
            self._answered(seconds)

    def _embed(self, query: str) -> str:
        import numpy as np

        vector = self._provider.embed_query(query)
        if vector.shape != (self._provider.dimension,):
            raise ValueError("the model returned an array of another shape")
        if not np.isfinite(vector).all() or not vector.any():
            raise ValueError("the vector is zero or not finite")
        # Six digits keep a float32 well below the step of a halfvec, in half the bytes.
        return f"[{','.join(['%.6g'] * len(vector))}]" % tuple(vector.tolist())
