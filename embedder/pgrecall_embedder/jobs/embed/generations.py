"""The generations that a daemon embeds: they are added, switched and dropped while it runs.

The active generation has priority; another one is built while its queue is empty. Each has its own model and
pipeline, so a failure of one does not stop the other.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from pgrecall.errors import EmbeddingUnavailable, PermissionDenied, PgrecallError
from pgrecall_embedder.jobs.concepts.vectors import ActiveModel
from pgrecall_embedder.jobs.queries.answering import QueryAnswerer
from pgrecall_embedder.logs import describe
from pgrecall_embedder.retry import Backoff

from .loading import load_in_thread
from .pipeline import Pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

    from pgrecall_embedder.connection import Connection
    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec, ProviderFactory

    from .pipeline import Work
    from .queue import Generation

__all__ = ["Generations"]

_LONGEST_LOAD_PAUSE: Final = 600.0
# Callers wait for a fraction of a second, so polling often for unannounced questions is not worthwhile.
_QUERY_POLL_SECONDS: Final = 30.0

_Key: TypeAlias = tuple[int, "ModelSpec"]


@dataclass(slots=True, eq=False)
class _Served:
    generation: Generation
    provider: EmbeddingProvider
    pipeline: Pipeline
    answerer: QueryAnswerer | None = None


class Generations:
    """Runs a pipeline per generation.

    Args:
        work: The state that the pipelines share.
        queries: The connection for the queries of clients.
        factory: Loads a model.
        first_load_pause: Seconds before the first retry of a model that cannot be loaded.
        changed: Called when a model is loaded, or another generation becomes active.
    """

    def __init__(
        self,
        work: Work,
        *,
        queries: Connection,
        factory: ProviderFactory,
        first_load_pause: float,
        changed: Callable[[], None],
    ) -> None:
        self._work = work
        self._queries = queries
        self._factory = factory
        self._first_load_pause = first_load_pause
        self._changed = changed
        self._wanted: dict[_Key, Generation] = {}
        self._served: dict[_Key, _Served] = {}
        self._loading: dict[_Key, asyncio.Task[None]] = {}
        self._refused: dict[_Key, tuple[Backoff, Exception]] = {}
        self._working: set[asyncio.Task[None]] = set()
        self._answering: set[asyncio.Task[None]] = set()
        self._tasks: asyncio.TaskGroup | None = None
        self._over = asyncio.Event()
        self._stopping = False
        self._is_deaf = False

    @property
    def ids(self) -> list[int]:
        """The generations whose model is loaded, the active one first."""
        return [served.generation.id for served in self._in_order()]

    @property
    def model(self) -> str:
        """The name of the active model; of another generation's if none is active."""
        return next((generation.model.name for generation in self._wanted.values()), "")

    @property
    def active(self) -> ActiveModel | None:
        """The model of the active generation; None until it is loaded."""
        for served in self._served.values():
            if served.generation.is_active:
                return ActiveModel(served.generation.id, served.provider)
        return None

    @property
    def is_idle(self) -> bool:
        """Whether the active generation has nothing to embed."""
        return all(served.pipeline.is_idle for served in self._served.values() if served.generation.is_active)

    @property
    def is_answering(self) -> bool:
        """Whether a client's query is being embedded."""
        return any(one.answerer is not None and one.answerer.is_answering for one in self._served.values())

    @property
    def pauses(self) -> list[dict[str, str]]:
        """The paused models, each with the cause and the end of its pause."""
        pauses = [(served.generation, served.pipeline.pause) for served in self._served.values()]
        pauses += [(self._wanted[key], one) for key, (one, _) in self._refused.items() if key in self._wanted]
        return [
            {"model": generation.model.name, "cause": pause.cause, "until": pause.until}
            for generation, pause in pauses
            if pause.seconds_left
        ]

    @property
    def query_poll_seconds(self) -> float:
        """The poll interval for queries; 0 if notifications arrive."""
        pauses = [one.answerer.poll_seconds for one in self._served.values() if one.answerer]
        return min(pauses, default=0.0) if self._is_deaf else 0.0

    def hear(self, *, is_deaf: bool) -> None:
        """Poll for queries if notifications do not arrive."""
        if self._is_deaf == is_deaf:
            return
        self._is_deaf = is_deaf
        for served in self._served.values():
            if served.answerer is not None:
                served.answerer.is_deaf = is_deaf
        self._changed()

    def wake(self) -> None:
        """Claim work now: a transaction committed."""
        for served in self._served.values():
            if served.pipeline.ahead is None:
                served.pipeline.wake()

    def wake_for_queries(self) -> None:
        """Claim queries now: one was queued."""
        for served in self._served.values():
            if served.answerer is not None:
                served.answerer.wake()

    async def embed_query(self, generation: int, model: str, query: str) -> str:
        """Embed a query. Returns the vector as text.

        Args:
            generation: The active generation, as the caller knows it.
            model: The name of its model.
            query: The query.

        Raises:
            EmbeddingUnavailable: Another generation is active, or its model is not loaded.
            Exception: The model failed. Its message may quote the query.
        """
        for served in self._served.values():
            if served.answerer is not None:
                if (served.generation.id, served.generation.model.name) != (generation, model):
                    raise EmbeddingUnavailable(
                        "the embedder works with another model, or for another database"
                    )
                return await served.answerer.embed(query)
        raise EmbeddingUnavailable("the embedder has not loaded its model yet")

    def stop(self) -> None:
        """Finish the claimed batches, and end `run`."""
        self._stopping = True
        for served in self._served.values():
            served.pipeline.stop()
        for loading in self._loading.values():
            loading.cancel()
        self._end_if_done()

    async def start(self) -> None:
        """Load the active generation's model, or else another one.

        Raises:
            EmbeddingUnavailable: The database has no model.
            Exception: No model can be loaded. This is the error of the first.
        """
        await self._look_up()
        if not self._wanted:
            raise EmbeddingUnavailable(
                "the database has no embedding model",
                hint="Choose one with `pgrecall migrate --model NAME`, or read only: --only extraction.",
            )
        for key, generation in self._wanted.items():
            try:
                await self._load(key, generation)
                break
            except Exception as error:  # noqa: BLE001 - a library may raise anything; told below
                self._refuse(key, error)
        if not self._served:
            raise self._first_refusal()
        for key, (_, why) in self._refused.items():
            self._tell(self._wanted[key], why)

    async def run(self) -> None:
        """Embed until stopped or, when draining, until the queues are empty.

        Raises:
            ExceptionGroup: A permanent failure.
        """
        async with asyncio.TaskGroup() as tasks:
            self._tasks = tasks
            for served in self._served.values():
                self._serve(served)
            self._follow()
            self._end_if_done()
            await self._over.wait()
            self._tasks = None
            for served in self._served.values():
                self._answer_by(served, is_active=False)
        if self._work.drain and not self._stopping and self._refused:
            raise self._first_refusal()

    def close(self) -> None:
        """Close the models."""
        for served in self._served.values():
            served.provider.close()

    async def look(self) -> None:
        """Read the generations from the database, and start and stop pipelines accordingly.

        Raises:
            PermissionDenied: A model is hosted, and this connection can read sensitive memories.
        """
        await self._look_up()
        if any(served.provider.is_hosted for served in self._served.values()):
            await self._check_confined()
        self._follow()

    async def _look_up(self) -> None:
        generations = await self._work.queue.generations()
        self._wanted = {(one.id, one.model): one for one in generations}

    def _follow(self) -> None:
        if self._tasks is None or self._stopping:
            return
        before = self.active
        for key in [key for key in self._served if key not in self._wanted]:
            # It writes its claimed batch, then closes the model.
            gone = self._served.pop(key)
            gone.pipeline.stop()
            self._answer_by(gone, is_active=False)
        for key in [key for key in self._loading if key not in self._wanted]:
            self._loading.pop(key).cancel()
        for key in [key for key in self._refused if key not in self._wanted]:
            del self._refused[key]
        for key, generation in self._wanted.items():
            if key in self._served:
                self._served[key].generation = generation
            elif key not in self._loading and not (self._work.drain and key in self._refused):
                loading = self._tasks.create_task(self._insist_on_loading(key, generation))
                self._loading[key] = loading
        self._line_up()
        if before != self.active:
            self._changed()

    def _answer_by(self, served: _Served, *, is_active: bool) -> None:
        """Answer queries with the active generation's model only."""
        if not is_active and served.answerer is not None:
            served.answerer.stop()
            served.answerer = None
        elif is_active and served.answerer is None and self._tasks is not None:
            served.answerer = QueryAnswerer(
                self._queries,
                served.provider,
                served.generation.id,
                log=self._work.log,
                poll_seconds=_QUERY_POLL_SECONDS,
                answered=self._work.metrics.query_answered,
                changed=self._changed,
            )
            served.answerer.is_deaf = self._is_deaf
            answering = self._tasks.create_task(served.answerer.run())
            self._answering.add(answering)
            answering.add_done_callback(self._answering.discard)

    def _in_order(self) -> list[_Served]:
        return sorted(self._served.values(), key=lambda served: not served.generation.is_active)

    def _line_up(self) -> None:
        ahead: Pipeline | None = None
        for served in self._in_order():
            served.pipeline.ahead, served.pipeline.behind = ahead, None
            if ahead is not None:
                ahead.behind = served.pipeline
            ahead = served.pipeline
            served.pipeline.wake()
            self._answer_by(served, is_active=served.generation.is_active)

    async def _insist_on_loading(self, key: _Key, generation: Generation) -> None:
        try:
            while True:
                if key in self._refused:
                    await asyncio.sleep(self._refused[key][0].seconds_left)
                try:
                    await self._load(key, generation)
                    break
                except Exception as error:  # noqa: BLE001 - a library may raise anything
                    self._refuse(key, error)
                    self._tell(generation, error)
                    if self._work.drain:
                        return
            if key in self._served:
                self._serve(self._served[key])
                self._line_up()
                self._changed()
        finally:
            if self._loading.get(key) is asyncio.current_task():
                del self._loading[key]
            self._end_if_done()

    def _refuse(self, key: _Key, error: Exception) -> None:
        pause, _ = self._refused.get(key, (Backoff(self._first_load_pause, _LONGEST_LOAD_PAUSE), error))
        pause.begin("not_loaded")
        self._refused[key] = pause, error

    def _first_refusal(self) -> Exception:
        return next(error for _, error in self._refused.values())

    def _tell(self, generation: Generation, error: Exception) -> None:
        self._work.log.error(
            "a model cannot be loaded",
            generation=generation.id,
            model=generation.model.name,
            error=error.message if isinstance(error, PgrecallError) else describe(error),
            hint=error.hint if isinstance(error, PgrecallError) else None,
        )

    async def _load(self, key: _Key, generation: Generation) -> None:
        """Load a generation's model. The generation may be dropped meanwhile."""
        model = generation.model
        started = time.monotonic()
        provider = await load_in_thread(self._factory, model, self._work.threads)
        try:
            if provider.is_hosted:
                await self._check_confined()
        except BaseException:
            provider.close()
            raise
        if key not in self._wanted:
            provider.close()
            return
        self._refused.pop(key, None)
        self._served[key] = _Served(
            self._wanted[key], provider, Pipeline(self._work, generation.id, provider, model)
        )
        self._work.log.info(
            "model loaded",
            model=model.name,
            dimension=model.dimension,
            generation=generation.id,
            threads=self._work.threads,
            seconds=round(time.monotonic() - started, 1),
        )

    async def _check_confined(self) -> None:
        if not await self._work.queue.is_confined():
            raise PermissionDenied(
                "this connection sees sensitive memories, and the model is on a server elsewhere",
                hint="Let the daemon log in as a member of pgrecall_embedder.",
            )

    def _serve(self, served: _Served) -> None:
        if self._tasks is None:
            raise AssertionError("it runs")
        working = self._tasks.create_task(self._work_for(served))
        self._working.add(working)
        working.add_done_callback(self._working.discard)

    async def _work_for(self, served: _Served) -> None:
        """Run a pipeline until it is drained, the daemon stops, or its generation is dropped."""
        number = served.generation.id
        await served.pipeline.run()
        if all(served is not one for one in self._served.values()):
            await self._work.queue.release(number)
            served.provider.close()
            self._work.log.info("generation dropped", generation=number)
        self._working.discard(asyncio.current_task())
        self._end_if_done()

    def _end_if_done(self) -> None:
        if (self._work.drain or self._stopping) and not self._working and not self._loading:
            self._over.set()
