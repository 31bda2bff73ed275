"""What the database says of itself: status, embedders, generations, indexes, failures, findings."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal

from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

# As new as that, what waits is what writers have just written.
_FRESH = timedelta(seconds=30)
_FRESH_SHARE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class Status(Row):
    """The row of `recall_status()`.

    Attributes:
        schema_revision: The migration the database is at.
        bundle_hash: The hash of the installed SQL code.
        model: The active embedding model; None if none has been chosen.
        dimension: The length of its vectors.
        namespaces: Number of namespaces.
        memories: Number of memories that are not forgotten.
        sensitive: How many of them are never embedded.
        embedded: How many have an embedding of the active model.
        pending: How many should have one and do not, those in progress, retrying and failed ones included.
        in_progress: How many a worker holds right now.
        retrying: How many wait for another attempt after an error.
        oldest_pending: How long the oldest one that has not failed has been waiting; None if nothing waits.
        workers: Number of embedder daemons alive.
        dense_index_valid: True if the vector index can be used.
        dense_index_name: Its name; None if it is missing.
        server_version: PostgreSQL's version.
        pgvector_version: pgvector's version.
        pending_extractions: How many memories wait for the extraction of names, times and facts, retrying and
            failed ones included.
        retrying_extractions: How many of them wait for another attempt after an error.
        failed_extractions: How many of them are no longer retried.
        oldest_pending_extraction: How long the oldest has been waiting; None if nothing waits.
        pending_llm_extractions: How many wait for the language model, if it is enabled.
        pending_postings: How many are not in the postings yet; recall finds them, at more cost.
        failed: How many memories are no longer retried.
        failures_by_cause: The number of failed memories by cause.
        truncated: How many are embedded by their beginning only, since the model reads no more.
        per_second: Embeddings a second, of all daemons together at their last heartbeat.
        eta: Estimated time for the pending memories that have not failed; None without a rate.
        generation: The generation of embeddings that recall reads.
        other_generation: One that is being built, or the one before; None if there is no other.
        other_state: 'building' or 'retired'.
        other_model: Its model.
        dense_index_bytes: The size of the vector index; None if it is missing.
        memories_bytes: The size of the table of memories, without its indexes. None, as dense_index_bytes is,
            if the role does not see every namespace.
        analyzed_at: When the planner's statistics of memories were refreshed; None if that is not known.
        due: How many memories are to be forgotten or erased by the daemon, since they expired.
        jobs: By kind of job (embedding, text, llm, notes, curation): how many are pending, in_progress,
            retrying and failed, and for how many seconds the oldest has been waiting that has not failed.
    """

    schema_revision: str | None
    bundle_hash: str | None
    model: str | None
    dimension: int
    namespaces: int
    memories: int
    sensitive: int
    embedded: int
    pending: int
    in_progress: int
    retrying: int
    oldest_pending: timedelta | None
    workers: int
    dense_index_valid: bool
    dense_index_name: str | None
    server_version: str
    pgvector_version: str
    pending_extractions: int
    retrying_extractions: int
    failed_extractions: int
    oldest_pending_extraction: timedelta | None
    pending_llm_extractions: int
    pending_postings: int
    failed: int
    failures_by_cause: dict[str, int]
    truncated: int
    per_second: float
    eta: timedelta | None
    generation: int
    other_generation: int | None
    other_state: Literal["building", "retired"] | None
    other_model: str | None
    dense_index_bytes: int | None
    memories_bytes: int | None
    analyzed_at: datetime | None
    due: int
    jobs: dict[str, dict[str, int | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Generation(Row):
    """One row of `pgrecall.generation_progress()`: the embeddings of one model.

    Attributes:
        generation: Its number.
        state: 'active' is what recall reads; 'building' is to take its place; 'retired' was before it.
        model: The embedding model; None if none has been chosen.
        dimension: The length of its vectors.
        provider: What computes them.
        embedded: How many memories have one.
        pending: How many should have one and do not, those in progress, retrying and failed ones included.
        in_progress: How many a worker holds right now.
        retrying: How many wait for another attempt.
        failed: How many are no longer retried.
        truncated: How many are embedded by their beginning only.
        oldest_pending: How long the oldest one that has not failed has been waiting; None if nothing waits.
        per_second: What its daemons did at their last heartbeat; None if there is none.
        eta: How long the rest will take at that rate.
    """

    generation: int
    state: Literal["active", "building", "retired"]
    model: str | None
    dimension: int
    provider: str | None
    embedded: int
    pending: int
    in_progress: int
    retrying: int
    failed: int
    truncated: int
    oldest_pending: timedelta | None
    per_second: float | None
    eta: timedelta | None

    @property
    def waiting(self) -> int:
        """How many are still to be embedded."""
        return self.pending - self.failed

    @property
    def claimable(self) -> int:
        """How many nobody has in hand and nothing holds up."""
        return self.waiting - self.in_progress - self.retrying

    @property
    def is_caught_up(self) -> bool:
        """True if nothing waits but what writers have just written."""
        if self.waiting <= 0:
            return True
        is_fresh = self.oldest_pending is not None and self.oldest_pending < _FRESH
        return is_fresh and self.waiting <= _FRESH_SHARE * self.embedded


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker(Row):
    """One row of `pgrecall.worker_status()`: an embedder daemon.

    Attributes:
        worker: What it calls itself.
        hostname: The machine it runs on.
        pid: Its process there.
        role_name: The role it works as.
        model: Its model.
        generations: The generations it embeds.
        embedded: Embeddings stored since it started.
        per_second: Embeddings a second, at its last heartbeat.
        pauses: Providers it does not ask now, each with model, cause and until.
        running: How long it has been running.
        last_seen: How long ago its last heartbeat was.
        is_alive: True if that was less than 30 seconds ago.
        is_current: True if it runs the SQL code that is installed.
        is_confined: True if row-level security keeps sensitive memories from it.
        poll_seconds: Seconds between two looks for questions; 0 if notifications reach it.
    """

    worker: UUID
    hostname: str
    pid: int
    role_name: str
    model: str
    generations: list[int]
    embedded: int
    per_second: float
    pauses: list[Mapping[str, Any]]
    running: timedelta
    last_seen: timedelta
    is_alive: bool
    is_current: bool
    is_confined: bool
    poll_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(Row):
    """One row of `pgrecall.failures()`: a memory that is no longer retried.

    Attributes:
        memory_id: The memory.
        namespace: Where it is.
        generation: The generation of embeddings it lacks one of; None if it is a job of another kind.
        model: That generation's model.
        cause: One word to count by.
        error: What went wrong the last time; never what the memory says.
        attempts: How often it was tried.
        failed_at: When it was given up.
        kind: embedding, text (extraction), llm (extraction by a language model), notes or curation.
    """

    memory_id: int
    namespace: str
    generation: int | None
    model: str | None
    cause: str
    error: str
    attempts: int
    failed_at: datetime
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexStatus(Row):
    """One row of `pgrecall.index_status()`.

    Attributes:
        index_name: Its name.
        table_name: The table it is of.
        method: How it is built, such as 'btree', 'gin' or 'hnsw'.
        bytes: Its size.
        is_valid: True if it can be used.
        is_building: True if it is being built now.
    """

    index_name: str
    table_name: str
    method: str
    bytes: int
    is_valid: bool
    is_building: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthCheck(Row):
    """One finding of `pgrecall.health()`.

    Attributes:
        check_name: What was examined.
        status: How it stands; 'info' is worth knowing and needs nothing done.
        detail: What was found.
        remedy: What to run; None where nothing need be done.
    """

    check_name: str
    status: Literal["ok", "info", "warn", "fail"]
    detail: str
    remedy: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure(Row):
    """The receipt of an erasure: numbers, no content.

    Attributes:
        receipt: Its number in `pgrecall.erasures`; None of a dry run.
        namespace_id: The namespace.
        memory_id: The memory; None where the whole namespace went.
        role: Who asked for it.
        erased_at: When.
        counts: How many rows of each table went.
    """

    receipt: int | None
    namespace_id: int
    memory_id: int | None
    role: str
    erased_at: datetime
    counts: Mapping[str, int]
