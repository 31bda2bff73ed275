"""The daemon: checks the database, runs the jobs, sends heartbeats, releases its leases."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

import psycopg

from pgrecall.admin.bundle import bundle_hash, not_migrated, verify
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, ReadOnlyServer, error_from

from .connection import Connection
from .cores import usable_cores
from .jobs.background import BackgroundJobs
from .jobs.embed.generations import Generations
from .jobs.embed.pipeline import Polling, Work
from .jobs.embed.queue import WorkQueue, is_missing_schema
from .jobs.queries.socket import QuerySocket
from .jobs.upkeep import UpkeepJob
from .listening import Listener
from .logs import describe
from .metrics import NoMetrics
from .providers import load_provider
from .retry import RetryPolicy
from .waiting import wait_at_most

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from structlog.typing import FilteringBoundLogger

    from .jobs.queries.socket import Asked
    from .metrics import Metrics
    from .providers import ProviderFactory

__all__ = ["LEASE_SECONDS", "SOCKET_MODE", "Daemon", "Part"]

Part: TypeAlias = Literal["embedding", "extraction"]
"""The only job that a daemon runs."""

LEASE_SECONDS: Final = 120.0
"""Default length of a lease. What takes longer is renewed."""
_LONGEST_LEASE_SECONDS: Final = 86400.0

SOCKET_MODE: Final = 0o660
"""Default mode of the socket: this user and its group may connect."""

# NOTIFY starts work at once. Polling catches lost notifications; an idle daemon sends less than one query a
# second.
_POLL_SECONDS = 5.0
_IDLE_FACTOR: Final = 3.0
_HEARTBEAT_SECONDS = 10.0
_NOTICE_PAUSE_SECONDS = 1.0
# A daemon retries forever. A drain gives up after this time.
_DRAIN_PATIENCE_SECONDS = 120.0
# Retries are at most a quarter of that apart.
_DISK_FULL_SECONDS = 60.0
# More threads are not faster, and each has its own tokenizer.
_MOST_THREADS = 8


class Daemon:
    """One embedder process.

    Args:
        dsn: Connection string of the database.
        listen_dsn: A direct connection for notifications, if `dsn` leads to a pooler; None takes `dsn`.
        drain: Return when the queues are empty.
        only: Run only this job; extraction needs no model. None runs both.
        concurrency: Embedding threads; None starts one per core, at most 8.
        log: The log.
        metrics: The metrics.
        lease_seconds: How long a lease lasts, unless it is renewed.
        poll_seconds: Poll interval if no notification arrives. It grows to three times that while the queue
            is empty.
        heartbeat_seconds: Interval of the heartbeat.
        factory: Loads a model.
        background_texts: What is embedded to measure the background of a model that has none; empty: nothing.
        socket_path: The socket for queries of the SQL functions in Python; None opens none.
        socket_mode: The permissions of that socket.

    Raises:
        InvalidInput: `concurrency` is less than 1, or `lease_seconds` are not in 0 to 86,400, a day.
    """

    def __init__(
        self,
        dsn: str,
        *,
        log: FilteringBoundLogger,
        listen_dsn: str | None = None,
        drain: bool = False,
        only: Part | None = None,
        concurrency: int | None = None,
        metrics: Metrics | None = None,
        lease_seconds: float = LEASE_SECONDS,
        poll_seconds: float = _POLL_SECONDS,
        heartbeat_seconds: float = _HEARTBEAT_SECONDS,
        factory: ProviderFactory = load_provider,
        background_texts: Sequence[str] = (),
        socket_path: Path | None = None,
        socket_mode: int = SOCKET_MODE,
    ) -> None:
        if concurrency is not None and concurrency < 1:
            raise InvalidInput("concurrency must be at least 1", hint="Leave it out for one thread a core.")
        if not 0 < lease_seconds <= _LONGEST_LEASE_SECONDS:
            raise InvalidInput(
                f"a lease cannot last {lease_seconds:g} seconds",
                hint=f"{LEASE_SECONDS:.0f} will do, as a daemon renews it; a day is the most.",
            )
        self._log = log
        self._drain = drain
        self._only = only
        self._threads = min(_MOST_THREADS, usable_cores()) if concurrency is None else concurrency
        self._metrics: Metrics = NoMetrics() if metrics is None else metrics
        self._polling = Polling(poll_seconds, _IDLE_FACTOR * poll_seconds)
        self._heartbeat_seconds = heartbeat_seconds
        self._factory = factory
        self._stopping = asyncio.Event()
        self._noticed = asyncio.Event()
        self._due = asyncio.Event()
        self._retry_policy = retry_policy = RetryPolicy(
            self._stopping, _DRAIN_PATIENCE_SECONDS if drain else None, log
        )
        self._claims, self._writes, self._upkeep, self._queries = (
            Connection(dsn, retry_policy) for _ in range(4)
        )
        self._listening = Connection(dsn if listen_dsn is None else listen_dsn, retry_policy)
        self._connections = (self._claims, self._writes, self._upkeep, self._queries, self._listening)
        self._queue = WorkQueue(self._claims, self._writes, self._upkeep, lease_seconds)
        self._work = Work(
            self._queue,
            threads=self._threads,
            drain=drain,
            polling=self._polling,
            metrics=self._metrics,
            log=log,
            is_held=lambda: self._generations is not None and self._generations.is_answering,
            is_fed=lambda: self._background is not None and self._background.is_noting,
            outdated=self._due.set,
            background_texts=background_texts,
        )
        self._generations: Generations | None = None
        self._background: BackgroundJobs | None = None
        self._socket: QuerySocket | None = None
        if socket_path is not None and only != "extraction" and not drain:
            self._socket = QuerySocket(socket_path, socket_mode, answer=self._embed_query, log=log)

    def stop(self) -> None:
        """Stop cleanly: finish the claimed batch, write it back, release the other leases."""
        self._stopping.set()
        for part in (self._generations, self._background):
            if part is not None:
                part.stop()

    async def run(self) -> None:
        """Run until stopped or, when draining, until the queues are empty.

        Raises:
            SchemaMismatch: The database does not serve the contract of this package, or its model has another
                dimension than its column.
            EmbeddingUnavailable: No model can be loaded.
            ConnectionFailed: The server cannot be reached.
            ReadOnlyServer: The server is a standby.
            ExceptionGroup: A job failed.
        """
        try:
            await self._check()
            if self._only != "extraction":
                generations = Generations(
                    self._work,
                    queries=self._queries,
                    factory=self._factory,
                    first_load_pause=self._heartbeat_seconds,
                    changed=self._due.set,
                )
                await generations.start()
                self._generations = generations
            if not self._stopping.is_set():
                await self._run_parts()
        finally:
            if self._generations is not None:
                self._generations.close()
            for connection in self._connections:
                await connection.close()

    async def _check(self) -> None:
        try:
            await self._claims.connect()
            # Asked, as a pooler goes on to report what the server was before a failover.
            [(is_standby,)] = await self._claims.fetch("SELECT pg_is_in_recovery()")
            if is_standby:
                raise ReadOnlyServer(
                    "this server is a standby, and an embedder writes",
                    hint="Connect it to the primary. With target_session_attrs=read-write the connection "
                    "string may name all servers, and the primary among them is found.",
                )
            verify(*await self._queue.contract())
        except psycopg.Error as error:
            if is_missing_schema(error):
                raise not_migrated(is_older=error.sqlstate == "42883") from None
            raise error_from(error) from None

    async def _run_parts(self) -> None:
        if self._only != "embedding":
            generations = self._generations
            self._background = BackgroundJobs(
                self._claims,
                self._writes,
                self._upkeep,
                active=None if generations is None else lambda: generations.active,
                is_embedding=lambda: generations is not None and not generations.is_idle,
                drain=self._drain,
                lease_seconds=self._queue.lease_seconds,
                poll_seconds=self._polling.longest_seconds,
                refresh_seconds=self._heartbeat_seconds,
                log=self._log,
            )
        await self._beat(0.0)
        self._log.info("embedder started", worker=str(self._queue.worker), drain=self._drain)
        listener = Listener(
            self._listening,
            self._queue,
            self._polling,
            wake=self._wake,
            hear=self._hear,
            check_seconds=self._heartbeat_seconds,
            log=self._log,
        )
        upkeep = UpkeepJob(self._queue, trims=self._generations is not None, log=self._log)
        started = time.monotonic()
        try:
            async with asyncio.TaskGroup() as tasks:
                background = [
                    tasks.create_task(work)
                    for work in (
                        self._report(),
                        self._queue.keep_leases(),
                        upkeep.run(),
                        listener.run(),
                        listener.poll_while_server_is_silent(),
                        self._notice(),
                    )
                ]
                if self._socket is not None:
                    background.append(tasks.create_task(self._socket.serve()))
                parts = [
                    tasks.create_task(part.run())
                    for part in (self._generations, self._background)
                    if part is not None
                ]
                await asyncio.gather(*parts)
                for task in background:
                    task.cancel()
        finally:
            await self._leave()
            self._log.info("embedder stopped", **self.sums(), seconds=round(time.monotonic() - started, 1))
        if self._drain and self._work.failed and not self._work.embedded:
            raise EmbeddingUnavailable(
                f"none of {self._work.failed} memories could be embedded",
                hint="The log above says why; it is the same for all if the model itself is broken.",
            )

    def sums(self) -> dict[str, int]:
        """Return the totals since the start, by their names in the log."""
        sums: dict[str, int] = {}
        if self._generations is not None:
            work = self._work
            sums |= {"embedded": work.embedded, "failed": work.failed, "stale": work.stale}
        if self._background is not None:
            counts, by_model = self._background.counts, self._background.llm_counts
            sums |= {"read": counts.read, "read_failed": counts.failed, "read_stale": counts.stale}
            if self._background.curated:
                sums["curated"] = self._background.curated
            if by_model.read or by_model.failed:
                sums |= {"read_by_llm": by_model.read, "llm_failed": by_model.failed}
            noted = self._background.note_counts
            if noted.read or noted.failed:
                sums |= {"read_for_notes": noted.read, "notes_failed": noted.failed}
            weighed = self._background.sparse_counts
            if weighed.read or weighed.failed:
                sums |= {"read_sparse": weighed.read, "sparse_failed": weighed.failed}
        return sums

    async def _beat(self, per_second: float) -> None:
        """Send a heartbeat. A daemon that only extracts sends none: it does not count as an embedder."""
        if self._generations is not None:
            await self._queue.heartbeat(
                bundle_hash(),
                self._generations.model,
                self._work.embedded,
                self._generations.ids,
                per_second,
                [*self._generations.pauses, *self._refusals()],
                self._generations.query_poll_seconds,
            )
            for generation in self._generations.ids:
                waiting = await self._queue.waiting(generation)
                self._metrics.waiting(generation, waiting.in_progress, waiting.retrying, waiting.failed)

    def _refusals(self) -> list[dict[str, str]]:
        """Return a full disk as a pause, for `pgrecall doctor`."""
        seen = self._retry_policy.disk_full_at
        if seen is None or time.monotonic() - seen > _DISK_FULL_SECONDS:
            return []
        return [{"model": "database", "cause": "disk_full", "until": "there is room"}]

    async def _leave(self) -> None:
        """Release all leases and sign off. Without a server, the leases expire."""
        self._stopping.set()
        try:
            released = await self._queue.release()
            await self._queue.retire()
        except psycopg.Error as error:
            self._log.warning(
                "leases could not be released; they expire by themselves", error=describe(error)
            )
            return
        if released:
            self._log.info("leases released", memories=released)

    async def _report(self) -> None:
        """Send heartbeats. Stop the daemon if the database no longer serves its contract."""
        before, reported_at = self.sums(), time.monotonic()
        while True:
            await wait_at_most(self._heartbeat_seconds, self._due)
            self._due.clear()
            verify(*await self._queue.contract())
            if self._generations is not None:
                await self._generations.look()
            sums, now = self.sums(), time.monotonic()
            rates = {name: (sums[name] - before.get(name, 0)) / (now - reported_at) for name in sums}
            await self._beat(rates.get("embedded", 0.0))
            for name, event in (("embedded", "embedding"), ("read", "reading")):
                if rates.get(name):
                    self._log.info(event, **{name: sums[name]}, per_second=round(rates[name], 1))
            before, reported_at = sums, now

    def _wake(self, channel: str | None) -> None:
        """Wake the jobs that a channel announces work for; None wakes all."""
        if channel != "pgrecall_embed" and self._generations is not None:
            self._generations.wake_for_queries()
        if channel != "pgrecall_query":
            self._noticed.set()
            for part in (self._generations, self._background):
                if part is not None:
                    part.wake()

    def _hear(self, *, is_deaf: bool) -> None:
        if self._generations is not None:
            self._generations.hear(is_deaf=is_deaf)

    async def _embed_query(self, asked: Asked) -> str:
        generation, model, query, _ = asked
        if self._generations is None:
            raise EmbeddingUnavailable("the embedder does not embed")
        return await self._generations.embed_query(generation, model, query)

    async def _notice(self) -> None:
        """Reload the list of generations after notifications, at most once a second."""
        while self._generations is not None:
            await self._noticed.wait()
            self._noticed.clear()
            await self._generations.look()
            await asyncio.sleep(_NOTICE_PAUSE_SECONDS)
