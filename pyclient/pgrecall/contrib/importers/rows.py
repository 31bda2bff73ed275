"""What every source gives: rows that are to become memories, and those that cannot."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import as_datetime, json_text
from pgrecall.errors import InvalidInput, PgrecallError, TooLarge
from pgrecall.jsonl.lines import check_limits
from pgrecall.languages import AUTO
from pgrecall.new_memories import new_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from pgrecall.models import NewMemory

__all__ = ["MAX_ROW_BYTES", "ORIGIN", "Packed", "Rejected", "Row", "Source", "packed"]

ORIGIN = "imported_from"
"""The key of the metadata that says where a memory is from."""

MAX_ROW_BYTES = 4 * 2**20
"""The longest row that is read; what becomes of it is limited further by `check_limits`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a source.

    Attributes:
        place: Where it is, for a report: a line, an id, a file.
        id: What tells it from the other rows of its source, run after run.
        memory: What it becomes, without an external id.
        updated_at: When it was last changed there.
        deleted_at: When it was deleted there; None if it was not.
        embedding: As pgvector writes it.
    """

    place: str
    id: str
    memory: NewMemory = field(repr=False)
    updated_at: datetime | None = None
    deleted_at: datetime | None = None
    embedding: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that cannot become a memory: where it is, and why; never what it says."""

    place: str
    reason: str


@dataclass(frozen=True, slots=True)
class Source:
    """Something that memories are imported from, open.

    Attributes:
        kind: Its kind; external ids begin with it.
        found: What is there, and what becomes of it, a sentence each.
        total: How many rows there are; None if nobody knows.
        rows: Begins to read them; they are the same each time while it is open.
    """

    kind: str
    found: tuple[str, ...]
    total: int | None
    rows: Callable[[], Iterator[Row | Rejected]]


@dataclass(frozen=True, slots=True)
class Packed:
    """A row as the database takes it.

    Attributes:
        place: Where it is in its source.
        key: What tells its memory from others: its namespace, if it names one, and its external id.
        text: What `Client.transfer.import_from` takes.
        lookup: What `Client.transfer.preview_import_from` takes.
        text_hash: SHA-256 of the content.
        is_sensitive: Whether its source says so.
        is_deleted: Whether it was deleted there.
    """

    place: str
    key: tuple[str | None, str]
    text: str = field(repr=False)
    lookup: str = field(repr=False)
    text_hash: bytes = field(repr=False)
    is_sensitive: bool
    is_deleted: bool


def _pack(row: Row, prefix: str) -> Packed:
    """Check a row as far as that can be done without the server, and write it as the database takes it.

    Args:
        row: The row.
        prefix: What its external id begins with.

    Raises:
        PgrecallError: It cannot become a memory; the message says why and quotes nothing of it.
    """
    if ORIGIN in (row.memory.metadata or {}):
        raise InvalidInput(f"its metadata has the key {ORIGIN!r}, which is kept for where it is from")
    memory = new_memory(replace(row.memory, external_id=f"{prefix}:{row.id}"))
    if memory.get("language") == AUTO:
        # Nothing is detected here: the namespace's counts.
        del memory["language"]
    check_limits(memory)
    moments = {"updated_at": row.updated_at, "deleted_at": row.deleted_at}
    times = {
        name: as_datetime(name, value).isoformat() for name, value in moments.items() if value is not None
    }
    serialized = json.dumps([memory, times], sort_keys=True, ensure_ascii=False)
    origin = {
        "kind": prefix,
        "id": row.id,
        "fingerprint": blake2b(serialized.encode(), digest_size=16).hexdigest(),
    }
    known = {name: memory[name] for name in ("namespace", "external_id") if name in memory}
    taken: dict[str, Any] = {"memory": memory, "import": origin, **times}
    if row.embedding is not None:
        taken["embedding"] = row.embedding
    text = json_text(taken)
    if len(text) > MAX_ROW_BYTES:
        raise TooLarge(f"it has more than {MAX_ROW_BYTES} characters")
    return Packed(
        place=row.place,
        key=(memory.get("namespace"), memory["external_id"]),
        text=text,
        lookup=json_text({"memory": known, "import": origin}),
        text_hash=sha256(memory["content"].encode()).digest(),
        is_sensitive=memory.get("is_sensitive", False),
        is_deleted="deleted_at" in times,
    )


def packed(source: Source, prefix: str, reject: Callable[[Rejected], None]) -> Iterator[Packed | None]:
    """Read a source; None stands for a row that was rejected, so that rows can be counted."""
    for row in source.rows():
        if isinstance(row, Rejected):
            reject(row)
            yield None
            continue
        try:
            yield _pack(row, prefix)
        except PgrecallError as error:
            reject(Rejected(row.place, error.message))
            yield None
