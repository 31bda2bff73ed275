"""The daemon's life: check the database, load the model, embed and read, report, leave nothing behind."""

from __future__ import annotations

import asyncio
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Literal, TypeAlias

import psycopg

from pgrecall.bundle import bundle_hash
from pgrecall.connecting import not_migrated, verify
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, SchemaMismatch, error_from

from .connection import Link, Patience
from .enriching import Enricher
from .logs import describe
from .pipeline import Pipeline
from .providers import load_provider
from .work_queue import WorkQueue, is_missing_schema

if TYPE_CHECKING:
    from structlog.typing import FilteringBoundLogger

    from .providers import EmbeddingProvider, ModelSpec, ProviderFactory

__all__ = ["Daemon", "Part"]

Part: TypeAlias = Literal["embedding", "extraction"]
"""What a daemon can be held to."""

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
        drain: Return when nothing is left to embed or to read.
        only: Only embed, or only read, which needs no model; None does both.
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
        only: Part | None = None,
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
        self._only = only
        self._threads = min(_MOST_THREADS, _cores()) if concurrency is None else concurrency
        self._poll_seconds = poll_seconds
        self._heartbeat_seconds = heartbeat_seconds
        self._factory = factory
        self._stopping = asyncio.Event()
        self._pipeline: Pipeline | None = None
        self._enricher: Enricher | None = None

    def stop(self) -> None:
        """Stop cleanly: finish what is in hand, write it back, release the rest."""
        self._stopping.set()
        if self._pipeline is not None:
            self._pipeline.stop()
        if self._enricher is not None:
            self._enricher.stop()

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
            provider = None
            if self._only == "extraction":
                model = None
            elif model is None:
                raise EmbeddingUnavailable(
                    "the database has no embedding model",
                    hint="Choose one with `pgrecall migrate --model NAME`, or read only: --only extraction.",
                )
            else:
                provider = await self._load(model)
            if self._stopping.is_set():
                return
            await self._work(queue, model, provider, patience, listening)
        finally:
            for link in links:
                await link.close()

    async def _check(self, claims: Link, queue: WorkQueue) -> ModelSpec | None:
        try:
            await claims.connect()
            installed = await queue.installation()
        except psycopg.Error as error:
            if is_missing_schema(error):
                raise not_migrated() from None
            raise error_from(error) from None
        verify(installed.bundle_hash)
        return installed.model

    async def _load(self, model: ModelSpec) -> EmbeddingProvider:
        started = time.monotonic()
        with ThreadPoolExecutor(1, thread_name_prefix="load") as loader:
            loop = asyncio.get_running_loop()
            provider = await loop.run_in_executor(loader, self._factory, model, self._threads)
        if provider.dimension != model.dimension:
            raise SchemaMismatch(
                f"model {model.name} gives {provider.dimension} dimensions, "
                f"the database stores {model.dimension}",
                hint="Choose a model of the database's dimension with `pgrecall migrate --model NAME`.",
            )
        self._log.info(
            "model loaded",
            model=model.name,
            dimension=model.dimension,
            threads=self._threads,
            seconds=round(time.monotonic() - started, 1),
        )
        return provider

    async def _work(
        self,
        queue: WorkQueue,
        model: ModelSpec | None,
        provider: EmbeddingProvider | None,
        patience: Patience,
        listening: Link,
    ) -> None:
        pipeline, enricher = self._parts(queue, provider, patience)
        await self._beat(queue, model)
        self._log.info("embedder started", worker=str(queue.worker), drain=self._drain)
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                background = [
                    tasks.create_task(self._report(queue, model)),
                    tasks.create_task(self._fold(queue)),
                ]
                if not self._drain:
                    background.append(tasks.create_task(self._listen(listening)))
                parts = [tasks.create_task(part.run()) for part in (pipeline, enricher) if part is not None]
                await asyncio.gather(*parts)
                for task in background:
                    task.cancel()
        finally:
            await self._leave(queue)
            self._log.info("embedder stopped", **self.sums(), seconds=round(time.monotonic() - started, 1))
        if self._drain and pipeline is not None and pipeline.totals.failed and not pipeline.totals.embedded:
            raise EmbeddingUnavailable(
                f"none of {pipeline.totals.failed} memories could be embedded",
                hint="The log above says why; it is the same for all if the model itself is broken.",
            )

    def _parts(
        self, queue: WorkQueue, provider: EmbeddingProvider | None, patience: Patience
    ) -> tuple[Pipeline | None, Enricher | None]:
        pipeline = enricher = None
        if provider is not None:
            pipeline = self._pipeline = Pipeline(
                queue,
                provider,
                threads=self._threads,
                drain=self._drain,
                poll_seconds=self._poll_seconds,
                log=self._log,
            )
        if self._only != "embedding":
            enricher = self._enricher = Enricher(
                self._dsn,
                patience,
                provider=provider,
                is_embedding=lambda: pipeline is not None and not pipeline.is_idle,
                drain=self._drain,
                poll_seconds=self._poll_seconds,
                refresh_seconds=self._heartbeat_seconds,
                log=self._log,
            )
        return pipeline, enricher

    def sums(self) -> dict[str, int]:
        """Return what was done so far, by the names it has in the log."""
        sums: dict[str, int] = {}
        if self._pipeline is not None:
            totals = self._pipeline.totals
            sums |= {"embedded": totals.embedded, "failed": totals.failed, "too_late": totals.stale}
        if self._enricher is not None:
            counts, by_model = self._enricher.counts, self._enricher.llm_counts
            sums |= {"read": counts.read, "unreadable": counts.failed, "read_too_late": counts.stale}
            if by_model.read or by_model.failed:
                sums |= {"read_by_llm": by_model.read, "unreadable_by_llm": by_model.failed}
        return sums

    async def _beat(self, queue: WorkQueue, model: ModelSpec | None) -> None:
        """Send a heartbeat; one that only reads is no embedder to those who count these."""
        if model is not None:
            embedded = 0 if self._pipeline is None else self._pipeline.totals.embedded
            await queue.heartbeat(bundle_hash(), model.name, embedded)

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

    async def _report(self, queue: WorkQueue, model: ModelSpec | None) -> None:
        """Send heartbeats, and stop the daemon if the database is migrated or gets another model."""
        before = self.sums()
        while True:
            await asyncio.sleep(self._heartbeat_seconds)
            installed = await queue.installation()
            verify(installed.bundle_hash)
            if model is not None and installed.model != model:
                raise SchemaMismatch(
                    "the database's embedding model was changed", hint="Start the embedder again."
                )
            await self._beat(queue, model)
            sums = self.sums()
            for name, event in (("embedded", "embedding"), ("read", "reading")):
                done = sums.get(name, 0)
                if done != before.get(name, 0):
                    rate = (done - before.get(name, 0)) / self._heartbeat_seconds
                    self._log.info(event, **{name: done}, per_second=round(rate, 1))
            before = sums

    async def _fold(self, queue: WorkQueue) -> None:
        """Keep the postings of the lexical leg up to date; writers do it too, so this may stop any time."""
        while True:
            while await queue.fold():
                pass
            await asyncio.sleep(_FOLD_SECONDS)

    async def _listen(self, link: Link) -> None:
        """Wake the parts on notifications; they are hints, so a server without LISTEN will do."""

        while True:
            try:
                async for _ in link.listen():
                    for part in (self._pipeline, self._enricher):
                        if part is not None:
                            part.wake()
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
