"""The daemon's background jobs: extraction, sparse terms, concept upkeep and curation."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import psycopg

from pgrecall.installing import install_command
from pgrecall_embedder.logs import describe

from .concepts.asking import NameChoices
from .concepts.upkeep import ConceptJob
from .concepts.vectors import Vectors
from .curate import CurationQueue, Curator
from .extract.llm import LlmExtractionJob
from .extract.queue import ExtractionQueue
from .extract.reader import Reader
from .extract.text import TextExtractionJob
from .notes import NoteJob, NoteQueue
from .reading import Counts
from .sparse import SparseJob, SparseQueue

if TYPE_CHECKING:
    from collections.abc import Callable

    from structlog.typing import FilteringBoundLogger

    from pgrecall_embedder.connection import Connection

    from .concepts.vectors import ActiveModel
    from .extract.frames import Ready
    from .queue import JobQueue
    from .setup import Setup

__all__ = ["BackgroundJobs"]

# Nothing says that the last memory is embedded, or that one was read: while draining, they are looked for
# often.
_DRAIN_SECONDS = 0.2


class BackgroundJobs:
    """Runs everything but embedding for one database: extraction, sparse terms, concept upkeep and curation.

    Args:
        claims: The connection for claims.
        writes: The connection for results.
        upkeep: The connection for low-priority work.
        active: Returns the model that embeds concept names and labels. None disables those embeddings.
        is_embedding: Tells whether memories wait for an embedding. Concept upkeep pauses meanwhile.
        drain: Return when the queues are empty instead of waiting for more work.
        lease_seconds: How long a lease lasts, unless it is renewed.
        poll_seconds: Seconds to wait for a notification before polling.
        refresh_seconds: Seconds between checks for changed settings and rules.
        log: The logger.
    """

    def __init__(
        self,
        claims: Connection,
        writes: Connection,
        upkeep: Connection,
        *,
        active: Callable[[], ActiveModel | None] | None,
        is_embedding: Callable[[], bool],
        drain: bool,
        lease_seconds: float,
        poll_seconds: float,
        refresh_seconds: float,
        log: FilteringBoundLogger,
    ) -> None:
        self._claims, self._writes, self._upkeep = claims, writes, upkeep
        self._vectors = None if active is None else Vectors(active)
        self._is_embedding = is_embedding
        self._drain = drain
        self._lease_seconds = lease_seconds
        self._poll_seconds = poll_seconds
        self._refresh_seconds = refresh_seconds
        self._log = log
        self._text: TextExtractionJob | None = None
        self._llm: LlmExtractionJob | None = None
        self._notes: NoteJob | None = None
        self._sparse: SparseJob | None = None
        self._concepts: ConceptJob | None = None
        self._curator: Curator | None = None
        self._stopping = False
        self._has_noted = asyncio.Event()
        self._has_told_missing = False

    @property
    def counts(self) -> Counts:
        """What was read without a language model."""
        return Counts() if self._text is None else self._text.counts

    @property
    def llm_counts(self) -> Counts:
        """What a language model read."""
        return Counts() if self._llm is None else self._llm.counts

    @property
    def note_counts(self) -> Counts:
        """The messages that notes were made of."""
        return Counts() if self._notes is None else self._notes.counts

    @property
    def sparse_counts(self) -> Counts:
        """What a sparse model read."""
        return Counts() if self._sparse is None else self._sparse.counts

    @property
    def curated(self) -> int:
        """How many memories were curated."""
        return 0 if self._curator is None else self._curator.counts.curated

    @property
    def is_noting(self) -> bool:
        """Whether notes may still be added, so that a drain of embeddings has to wait."""
        return not self._has_noted.is_set()

    def wake(self) -> None:
        """Look for work now: something was committed."""
        for part in (self._text, self._sparse, self._curator):
            if part is not None:
                part.wake()

    def stop(self) -> None:
        """Finish what is being read, write it back, and return."""
        self._stopping = True
        for part in (self._text, self._llm, self._notes, self._sparse, self._concepts, self._curator):
            if part is not None:
                part.stop()

    async def run(self) -> None:
        """Work until stopped or, when draining, until the queues are empty.

        Raises:
            psycopg.Error: The server rejected a statement, or was unavailable for too long.
            ExceptionGroup: A job failed.
        """
        queues = (
            ExtractionQueue(self._claims, self._writes, "text", self._lease_seconds),
            ExtractionQueue(self._claims, self._writes, "llm", self._lease_seconds),
        )
        notes = NoteQueue(self._claims, self._writes, self._lease_seconds)
        sparse = SparseQueue(self._claims, self._writes, self._lease_seconds)
        curations = CurationQueue(self._claims, self._writes, self._lease_seconds)
        reader: Reader | None = None
        try:
            setup = await queues[0].setup()
            if setup is None:
                raise AssertionError("a setup differs from none")
            reader = Reader(setup, self._announce)
            await self._work(queues, setup, reader, notes, sparse, curations)
        finally:
            if reader is not None:
                await reader.close()
            if self._vectors is not None:
                self._vectors.close()
            await self._leave((*queues, notes, sparse, curations))

    async def _work(
        self,
        queues: tuple[ExtractionQueue, ExtractionQueue],
        setup: Setup,
        reader: Reader,
        note_queue: NoteQueue,
        sparse_queue: SparseQueue,
        curations: CurationQueue,
    ) -> None:
        embed = None if self._vectors is None else self._vectors.embed
        has_read, has_ended = asyncio.Event(), asyncio.Event()
        text = self._text = TextExtractionJob(
            queues[0], reader, drain=self._drain, poll_seconds=self._poll_seconds, log=self._log
        )
        llm = self._llm = LlmExtractionJob(
            queues[1],
            setup,
            embed,
            drain=self._drain,
            is_last=has_ended.is_set,
            poll_seconds=self._poll_seconds,
            log=self._log,
        )
        notes = self._notes = NoteJob(
            note_queue,
            setup,
            drain=self._drain,
            is_last=has_read.is_set,
            poll_seconds=self._poll_seconds,
            log=self._log,
        )
        sparse = self._sparse = SparseJob(
            sparse_queue,
            setup,
            drain=self._drain,
            is_last=has_ended.is_set,
            poll_seconds=_DRAIN_SECONDS if self._drain else self._poll_seconds,
            log=self._log,
        )
        concepts = self._concepts = ConceptJob(
            self._upkeep,
            embed,
            NameChoices(self._upkeep, setup, self._log),
            is_idle=lambda: (has_ended.is_set() or text.is_idle) and not self._is_embedding(),
            poll_seconds=self._poll_seconds,
        )
        curator = self._curator = Curator(
            curations,
            setup,
            drain=self._drain,
            is_last=lambda: has_ended.is_set() and not self._is_embedding(),
            poll_seconds=_DRAIN_SECONDS if self._drain else self._poll_seconds,
            log=self._log,
        )
        if self._stopping:
            return
        async with asyncio.TaskGroup() as tasks:
            refreshing = tasks.create_task(
                self._refresh(queues[0], setup.fingerprint, reader, (llm, notes, sparse, concepts, curator))
            )
            keeping_leases = [
                tasks.create_task(queue.keep_leases())
                for queue in (*queues, note_queue, sparse_queue, curations)
            ]
            asking = tasks.create_task(llm.run())
            noting = tasks.create_task(notes.run())
            weighing = tasks.create_task(sparse.run())
            keeping = tasks.create_task(concepts.run())
            curating = tasks.create_task(curator.run())
            await text.run()
            has_read.set()
            notes.wake()
            await noting
            self._has_noted.set()
            if notes.counts.read and not self._stopping:
                await self._read_notes(queues[0], reader)
            has_ended.set()
            for job in (llm, sparse, curator):
                job.wake()
            await asking
            await weighing
            await curating
            concepts.finish()
            await keeping
            for endless in (refreshing, *keeping_leases):
                endless.cancel()

    async def _read_notes(self, queue: ExtractionQueue, reader: Reader) -> None:
        """Extract from the notes that a drain has made. Notes yield no further notes."""
        before = self.counts
        text = self._text = TextExtractionJob(
            queue, reader, drain=self._drain, poll_seconds=self._poll_seconds, log=self._log
        )
        text.counts = before
        await text.run()

    async def _refresh(
        self,
        queue: ExtractionQueue,
        fingerprint: str,
        reader: Reader,
        others: tuple[LlmExtractionJob, NoteJob, SparseJob, ConceptJob, Curator],
    ) -> None:
        """Reload changed settings and rules. They apply to the memories extracted from then on."""
        while True:
            await asyncio.sleep(self._refresh_seconds)
            setup = await queue.setup(fingerprint)
            if setup is not None:
                fingerprint = setup.fingerprint
                reader.change(setup)
                for other in others:
                    other.change(setup)
                self._log.info("extraction settings changed")

    def _announce(self, ready: Ready) -> None:
        """Log missing libraries once, and invalid settings after every change."""
        for problem in ready.problems:
            self._log.warning("extraction is incomplete", problem=problem)
        if ready.missing and not self._has_told_missing:
            self._has_told_missing = True
            self._log.info(
                "extraction runs without optional libraries",
                missing=", ".join(ready.missing),
                hint=f"Run: {install_command('nlp')}.",
            )
        self._log.info("extraction ready", version=ready.version)

    async def _leave(self, queues: tuple[JobQueue, ...]) -> None:
        """Release all leases. Without a server, they expire."""
        self._stopping = True
        try:
            for queue in queues:
                if queue.connections:
                    await queue.release()
        except psycopg.Error as error:
            self._log.warning(
                "extraction leases could not be released; they expire by themselves", error=describe(error)
            )
