"""The daemon's life: check the database, load the model, work, report, leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg

from pgrecall.bundle import bundle_hash
from pgrecall.connecting import not_migrated, verify
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, SchemaMismatch, error_from

from .connection import Link, Patience
from .logs import describe
from .pipeline import Pipeline
from .providers import load_provider
from .work_queue import WorkQueue, is_missing_schema

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .providers import EmbeddingProvider, ModelSpec, ProviderFactory

__all__ = ["Daemon"]

_POLL_SECONDS = 5.0
_HEARTBEAT_SECONDS = 10.0
_LISTEN_PAUSE_SECONDS = 0.5
_FOLD_SECONDS = 5.0
# A daemon waits for its server for ever; whoever waits for a drain should hear of a server that stays away.
_DRAIN_PATIENCE_SECONDS = 120.0
# More threads than that gain nothing, and each has a tokenizer of its own.
_MOST_THREADS = 8


class Daemon:
    """One embedder.

    Args:
        dsn: Connection string of the database.
        drain: Return when nothing is left to embed.
        concurrency: Embedding threads; None: one a core, which is what measured best.
        log: Where to report.
        poll_seconds: How long to wait for a notification before looking for work anyway.
        heartbeat_seconds: How often to report to the database.
        factory: Loads the model.

    Raises:
        InvalidInput: `concurrency` is less than 1.
    """

    def __init__(
        self,
        dsn: str,
        *,
        log: FilteringBoundLogger,
        drain: bool = False,
        concurrency: int | None = None,
        poll_seconds: float = _POLL_SECONDS,
        heartbeat_seconds: float = _HEARTBEAT_SECONDS,
        factory: ProviderFactory = load_provider,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise InvalidInput("concurrency must be at least 1", hint="Leave it out for one thread a core.")
        self._dsn = dsn
        self._log = log
        self._drain = drain
        self._threads = min(_MOST_THREADS, _cores()) if concurrency is None else concurrency
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._factory = factory
        self._stopping = asyncio.Event()
        self._pipeline: Pipeline | None = None

    def stop(self) -> None:
        """Stop cleanly: finish what the model has in hand, write it back, release the rest."""
        self._stopping.set()
        if self._pipeline is not None:
            self._pipeline.stop()

    async def run(self) -> None:
        """Run until stopped or, when draining, until nothing is left.

        Raises:
            SchemaMismatch: The database does not fit this package, or its model not its column.
            EmbeddingUnavailable: The model cannot be loaded.
            ConnectionFailed: The server cannot be reached.
            ExceptionGroup: Something failed on the way.
        """
        patience = Patience(self._stopping, _DRAIN_PATIENCE_SECONDS if self._drain else None, self._log)
        links = [Link(self._dsn, patience) for _ in range(4)]
        claims, writes, upkeep, listening = links
        queue = WorkQueue(claims, writes, upkeep)
        try:
            model = await self._check(claims, queue)
            started = time.monotonic()
            provider = await self._load(model)
            if self._stopping.is_set():
                return
            self._log.info(
                "model loaded",
                model=model.name,
                dimension=model.dimension,
                threads=self._threads,
                seconds=round(time.monotonic() - started, 1),
            )
            await self._work(queue, model, provider, listening)
        finally:
            for link in links:
                await link.close()

    async def _check(self, claims: Link, queue: WorkQueue) -> ModelSpec:
        try:
            await claims.connect()
            installed = await queue.installation()
        except psycopg.Error as error:
            if is_missing_schema(error):
                raise not_migrated() from None
            raise error_from(error) from None
        verify(installed.bundle_hash)
        if installed.model is None:
            raise EmbeddingUnavailable(
                "the database has no embedding model", hint="Choose one with `pgrecall migrate --model NAME`."
            )
        return installed.model

    async def _load(self, model: ModelSpec) -> EmbeddingProvider:
        with ThreadPoolExecutor(1, thread_name_prefix="load") as loader:
            loop = asyncio.get_running_loop()
            provider = await loop.run_in_executor(loader, self._factory, model, self._threads)
        if provider.dimension != model.dimension:
            raise SchemaMismatch(
                f"model {model.name} gives {provider.dimension} dimensions, "
                f"the database stores {model.dimension}",
                hint="Choose a model of the database's dimension with `pgrecall migrate --model NAME`.",
            )
        return provider

    async def _work(
        self,
        queue: WorkQueue,
        model: ModelSpec,
        provider: EmbeddingProvider,
        listening: Link,
    ) -> None:
        pipeline = self._pipeline = Pipeline(
            queue,
            provider,
            threads=self._threads,
            drain=self._drain,
            poll_seconds=self._poll_seconds,
            log=self._log,
        )
        await queue.heartbeat(bundle_hash(), model.name, 0)
        self._log.info("embedder started", worker=str(queue.worker), drain=self._drain)
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                background = [
                    tasks.create_task(self._report(queue, model, pipeline)),
                    tasks.create_task(self._fold(queue)),
                ]
                if not self._drain:
                    background.append(tasks.create_task(self._listen(listening, pipeline)))
                await pipeline.run()
                for task in background:
                    task.cancel()
        finally:
            await self._leave(queue)
            self._log.info(
                "embedder stopped",
                embedded=pipeline.totals.embedded,
                failed=pipeline.totals.failed,
                too_late=pipeline.totals.stale,
                seconds=round(time.monotonic() - started, 1),
            )
        if self._drain and pipeline.totals.failed and not pipeline.totals.embedded:
            raise EmbeddingUnavailable(
                f"none of {pipeline.totals.failed} memories could be embedded",
                hint="The log above says why; it is the same for all if the model itself is broken.",
            )

    async def _leave(self, queue: WorkQueue) -> None:
        """Give back what is leased and sign off; without a server the leases run out by themselves."""
        self._stopping.set()
        try:
            released = await queue.release()
            await queue.retire()
        except psycopg.Error as error:
            self._log.warning(
                "leases could not be released; they expire by themselves", error=describe(error)
            )
            return
        if released:
            self._log.info("leases released", memories=released)

    async def _report(self, queue: WorkQueue, model: ModelSpec, pipeline: Pipeline) -> None:
        """Send heartbeats, and stop the daemon if the database is migrated or gets another model."""
        before = 0
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            installed = await queue.installation()
            verify(installed.bundle_hash)
            if installed.model != model:
                raise SchemaMismatch(
                    "the database's embedding model was changed", hint="Start the embedder again."
                )
            embedded = pipeline.totals.embedded
            await queue.heartbeat(bundle_hash(), model.name, embedded)
            if embedded != before:
                rate = (embedded - before) / self._heartbeat_seconds
                self._log.info("embedding", embedded=embedded, per_second=round(rate, 1))
                before = embedded

    async def _fold(self, queue: WorkQueue) -> None:
        """Keep the postings of the lexical leg up to date; writers do it too, so this may stop any time."""
        while True:
            while await queue.fold():
                pass
            await asyncio.sleep(_FOLD_SECONDS)

    async def _listen(self, link: Link, pipeline: Pipeline) -> None:
        """Wake the pipeline on notifications; they are hints, so a server without LISTEN will do."""

        while True:
            try:
                async for _ in link.listen():
                    pipeline.wake()
            except psycopg.OperationalError as error:
                self._log.warning("notifications stopped", error=describe(error))
                await asyncio.sleep(_LISTEN_PAUSE_SECONDS)
            except psycopg.Error as error:
                self._log.warning("no notifications from this server, polling", error=describe(error))
                return


def _cores() -> int:
    # Not every system can tell which of its cores this process may use.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return 1 if usable is None else usable
