"""Rows of a source into memories, in batches; then the source once more, against what is stored."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pgrecall.jsonl.bisect import bisect

from .rows import Packed, Rejected, packed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pgrecall._sync.client import Client
    from pgrecall.errors import PgrecallError

    from .rows import Source

__all__ = ["ImportFromReport", "Verification", "import_from", "verify"]

BATCH_ROWS = 1000
BATCH_CHARACTERS = 2 * 2**20

_TAKEN = "its external id belongs to a memory that was not imported"
_WOULD_BE = {"new": "stored", "changed": "updated"}


@dataclass(frozen=True, slots=True)
class ImportFromReport:
    """What became of the rows, or would, if nothing was to be written.

    Attributes:
        rows: How many were read.
        stored: Memories that are new.
        updated: Memories whose row has changed since it was imported.
        present: Rows that are here as they are.
        kept: Rows that have changed, whose memory was forgotten or superseded here: it stays so.
        left_out: Rows that were deleted before they came here, where such are not wanted.
        rejected: Rows that cannot become memories.
        sensitive: Of all that were read, how many are sensitive.
        deleted: How many were deleted in their source.
        refused: The keys of those rejected that only the server refused.
    """

    rows: int
    stored: int
    updated: int
    present: int
    kept: int
    left_out: int
    rejected: int
    sensitive: int
    deleted: int
    refused: frozenset[tuple[str | None, str]] = field(default_factory=frozenset, repr=False)


@dataclass(frozen=True, slots=True)
class Verification:
    """How the memories compare with the source.

    Attributes:
        same: Memories with the text of their row, as sensitive and as forgotten.
        changed_here: Memories that differ because they were changed here since.
        missing: Rows without a memory.
        differing: Memories that differ though nobody has changed them here.
    """

    same: int
    changed_here: int
    missing: int
    differing: int

    @property
    def holds(self) -> bool:
        """Whether everything is here, and as it was."""
        return self.missing == self.differing == 0


@dataclass(slots=True)
class _Run:
    client: Client
    namespace: str | None
    keep_deleted: bool
    dry_run: bool
    reject: Callable[[Rejected], None]
    counts: Counter[str] = field(default_factory=Counter)
    refused: set[tuple[str | None, str]] = field(default_factory=set)

    def store(self, rows: Sequence[Packed]) -> None:
        if self.dry_run:
            answers = self.client.transfer.preview_import_from(
                [row.lookup for row in rows], namespace=self.namespace
            )
            outcomes = [
                self._foreseen(row, answer["outcome"]) for row, answer in zip(rows, answers, strict=True)
            ]
        else:
            answers = self.client.transfer.import_from(
                [row.text for row in rows], namespace=self.namespace, keep_deleted=self.keep_deleted
            )
            outcomes = [answer["outcome"] for answer in answers]
        for row, outcome in zip(rows, outcomes, strict=True):
            if outcome == "taken":
                self._refuse(row, _TAKEN)
            else:
                self.counts[outcome] += 1

    def refuse(self, row: Packed, refusal: PgrecallError) -> None:
        # The server calls rows by their place in the batch, which says nothing to the reader.
        self._refuse(row, refusal.message.removeprefix("row 1: "))

    def _refuse(self, row: Packed, reason: str) -> None:
        self.counts["rejected"] += 1
        self.refused.add(row.key)
        self.reject(Rejected(row.place, reason))

    def _foreseen(self, row: Packed, outcome: str) -> str:
        if outcome == "new" and row.is_deleted and not self.keep_deleted:
            return "left out"
        return _WOULD_BE.get(outcome, outcome)


def import_from(
    client: Client,
    source: Source,
    *,
    reject: Callable[[Rejected], None],
    namespace: str | None = None,
    prefix: str | None = None,
    keep_deleted: bool = True,
    dry_run: bool = False,
    progress: Callable[[int], None] | None = None,
) -> ImportFromReport:
    """Store the rows of a source: those that are new, and what has changed of the others.

    A batch is one transaction. Whatever ends a run, the next one goes on where it was.

    Args:
        client: Where to.
        source: Where from, open.
        reject: Told each row that cannot become a memory.
        namespace: Where rows go that name none.
        prefix: What external ids begin with; None is the source's kind. Two sources of one kind in a
            namespace need two.
        keep_deleted: False leaves out rows that were deleted before they came here.
        dry_run: True reads everything, compares it with what is there, and writes nothing.
        progress: Told the number of rows that were dealt with.

    Returns:
        What became of the rows.

    Raises:
        ConnectionFailed: The connection was lost; also SchemaMismatch, PermissionDenied and the other errors
            that are no row's fault.
    """
    run = _Run(client, namespace, keep_deleted, dry_run, reject)
    counts = run.counts

    def rejected(row: Rejected) -> None:
        counts["rejected"] += 1
        reject(row)

    for batch, read in _batches(packed(source, _prefix(source, prefix), rejected)):
        counts["rows"] += read
        counts["sensitive"] += sum(row.is_sensitive for row in batch)
        counts["deleted"] += sum(row.is_deleted for row in batch)
        bisect(batch, run.store, run.refuse)
        if progress is not None:
            progress(read)
    return ImportFromReport(
        rows=counts["rows"],
        stored=counts["stored"],
        updated=counts["updated"],
        present=counts["present"],
        kept=counts["kept"],
        left_out=counts["left out"],
        rejected=counts["rejected"],
        sensitive=counts["sensitive"],
        deleted=counts["deleted"],
        refused=frozenset(run.refused),
    )


def verify(
    client: Client,
    source: Source,
    report: ImportFromReport,
    *,
    found: Callable[[Rejected], None],
    namespace: str | None = None,
    prefix: str | None = None,
    keep_deleted: bool = True,
    progress: Callable[[int], None] | None = None,
) -> Verification:
    """Read a source once more, and compare each row with its memory.

    Args:
        client: Where the memories are.
        source: Where they are from, open.
        report: What `import_from` returned: what was rejected is not missed.
        found: Told each row whose memory is missing or differs.
        namespace: As for `import_from`, and so are the next two.
        prefix: What external ids begin with.
        keep_deleted: Whether deleted rows are to be here as forgotten memories.
        progress: Told the number of rows that were compared.
    """
    counts: Counter[str] = Counter()
    for batch, read in _batches(packed(source, _prefix(source, prefix), lambda _: None)):
        answers = client.transfer.preview_import_from([row.lookup for row in batch], namespace=namespace)
        for row, answer in zip(batch, answers, strict=True):
            if row.key in report.refused:
                continue
            if answer["id"] is None:
                if row.is_deleted and not keep_deleted:
                    continue
                counts["missing"] += 1
                found(Rejected(row.place, "it has no memory"))
            elif (
                answer["text_hash"] == row.text_hash
                and answer["is_sensitive"] >= row.is_sensitive
                and answer["is_forgotten"] == row.is_deleted
            ):
                counts["same"] += 1
            elif answer["is_updated"] or answer["outcome"] == "kept":
                counts["changed here"] += 1
            else:
                counts["differing"] += 1
                found(Rejected(row.place, "its memory differs from it"))
        if progress is not None:
            progress(read)
    return Verification(counts["same"], counts["changed here"], counts["missing"], counts["differing"])


def _prefix(source: Source, prefix: str | None) -> str:
    return source.kind if prefix is None else prefix


def _batches(rows: Iterator[Packed | None]) -> Iterator[tuple[list[Packed], int]]:
    """Yield batches, each with the number of rows that were read for it."""
    batch: list[Packed] = []
    keys: set[tuple[str | None, str]] = set()
    size = read = 0
    for row in rows:
        # An id twice is two changes, one after the other.
        if len(batch) == BATCH_ROWS or size >= BATCH_CHARACTERS or (row is not None and row.key in keys):
            yield batch, read
            batch, keys, size, read = [], set(), 0, 0
        read += 1
        if row is not None:
            batch.append(row)
            keys.add(row.key)
            size += len(row.text)
        elif read >= BATCH_ROWS:
            yield batch, read
            batch, keys, size, read = [], set(), 0, 0
    if read:
        yield batch, read
