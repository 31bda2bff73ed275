"""Names, times and facts of memories, read once and kept on disk by version of the extractor and text."""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import sqlite3
import uuid
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from pgrecall_extract.base import Document, Extraction
from pgrecall_extract.entities.spacy_names import spacy_installed
from pgrecall_extract.extractor import Extractor, Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
    from pathlib import Path

    import psycopg

__all__ = ["ExtractionCache", "claim", "extract"]

_CLAIM = 4096
_LEASE = "6 hours"
_STORED = 256
"""Memories stored by one statement."""
_PORTION = 128
"""Texts read between two writes to the cache: what an interrupted run loses at the most."""
_WORTH_PROCESSES = 1000
"""Texts from which on it pays that every process loads a model of its own."""
_LOCK_SECONDS = 60
_SAID = datetime(2024, 6, 12, 9, tzinfo=UTC)
"""When memories without a date are taken to be said."""
_COUNTS = """
SELECT (SELECT count(*) FROM pgrecall.concepts) AS concepts,
       (SELECT count(*) FROM pgrecall.mentions) AS mentions,
       (SELECT count(*) FROM pgrecall.relationships) AS relationships,
       (SELECT count(*) FROM pgrecall.temporal_refs) AS temporal_refs
"""


class ExtractionCache:
    """What was read, as `pgrecall.complete_extractions` takes it, in one SQLite file.

    Args:
        path: The file; it and its folder are made if they are missing.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        with self._connected() as connection:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS extractions "
                "(version text, hash blob, read text NOT NULL, PRIMARY KEY (version, hash)) WITHOUT ROWID"
            )

    def get(self, version: str, documents: Iterable[Document]) -> dict[int, dict[str, Any]]:
        """Return what is there, by the memory's id."""
        found = {}
        with self._connected() as connection:
            for document in documents:
                row = connection.execute(
                    "SELECT read FROM extractions WHERE version = ? AND hash = ?", (version, _hash(document))
                ).fetchone()
                if row is not None:
                    found[document.memory_id] = json.loads(row[0])
        return found

    def put(self, version: str, read: Iterable[tuple[Document, dict[str, Any]]]) -> None:
        """Keep what was read of documents."""
        with self._connected() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO extractions VALUES (?, ?, ?)",
                [(version, _hash(document), json.dumps(found)) for document, found in read],
            )

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=_LOCK_SECONDS)) as connection, connection:
            yield connection


def extract(
    connection: psycopg.Connection[Any],
    cache: ExtractionCache,
    say: Callable[[str], None],
    *,
    undated: Collection[int] = (),
) -> dict[str, Any]:
    """Read every memory that waits for it, through the queue that the daemon works off.

    Args:
        connection: To the database, in autocommit mode.
        cache: What was read before.
        say: Told of progress.
        undated: Ids of memories whose date the data set does not give: they are read as if
            that was on a certain day, so that another run finds them in the cache.

    Returns:
        What the results file says of it: `version` of the extractor, whether `spacy` took part, how many
        memories were `read` and were not for an error of the extractor (`unread`), and how many `concepts`,
        `mentions`, `relationships` and `temporal_refs` there are then, tags and keywords included.
    """
    worker = uuid.uuid4()
    read = unread = 0
    with _Reader(cache, say) as reader:
        while claimed := claim(connection, worker, "text", _CLAIM, undated):
            found = reader.read([document for _, document in claimed])
            items = [
                {"memory_id": document.memory_id, "ticket": ticket, **found[document.memory_id]}
                for ticket, document in claimed
                if document.memory_id in found
            ]
            for first in range(0, len(items), _STORED):
                connection.execute(
                    "SELECT pgrecall.complete_extractions('text', %s, %s)",
                    (reader.version, Jsonb(items[first : first + _STORED])),
                )
            for ticket, document in claimed:
                if document.memory_id not in found:
                    connection.execute(
                        "SELECT pgrecall.fail_extraction('text', %s, %s, 'unreadable', 'infinity')",
                        (document.memory_id, ticket),
                    )
            read += len(items)
            unread += len(claimed) - len(items)
        version = reader.version
    with connection.cursor(row_factory=dict_row) as cursor:
        counts = cursor.execute(_COUNTS).fetchone() or {}
    return {"version": version, "spacy": spacy_installed(), "read": read, "unread": unread, **counts}


def claim(
    connection: psycopg.Connection[Any],
    worker: uuid.UUID,
    enricher: str,
    most: int,
    undated: Collection[int] = (),
) -> list[tuple[int, Document]]:
    """Lease memories that wait for an enricher; return them with the tickets of the claims.

    Args:
        connection: To the database, in autocommit mode.
        worker: Who holds the leases.
        enricher: What reads them.
        most: How many at the most.
        undated: Ids of memories whose date the data set does not give.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            "SELECT * FROM pgrecall.claim_extractions(%s, %s, %s, %s::interval)",
            (worker, enricher, most, _LEASE),
        ).fetchall()
    for row in rows:
        if row["memory_id"] in undated:
            row["anchor"] = _SAID
    return [(row.pop("ticket"), Document(**row)) for row in rows]


class _Reader(ExitStack):
    """The extractor behind the cache; processes, once there is much to read."""

    def __init__(self, cache: ExtractionCache, say: Callable[[str], None]) -> None:
        super().__init__()
        self._cache = cache
        self._say = say
        self._extractor = Extractor()
        self.version = self._extractor.version

    @cached_property
    def _processes(self) -> ProcessPoolExecutor:
        # Not forked: this process has threads, of the model and of the connection.
        context = multiprocessing.get_context("spawn")
        return self.enter_context(ProcessPoolExecutor(os.cpu_count(), context, initializer=_begin))

    def read(self, documents: Sequence[Document]) -> dict[int, dict[str, Any]]:
        """Return what each memory says, by its id; one that cannot be read is missing."""
        found = self._cache.get(self.version, documents)
        # Texts of several namespaces are read once.
        missing = list({_hash(one): one for one in documents if one.memory_id not in found}.values())
        portions = [missing[first : first + _PORTION] for first in range(0, len(missing), _PORTION)]
        reading = (
            self._processes.map(_extract, portions)
            if len(missing) >= _WORTH_PROCESSES
            else map(self._extractor.extract, portions)
        )
        done = 0
        for portion, outcomes in zip(portions, reading, strict=True):
            done += len(portion)
            self._say(f"read {done} of {len(missing)} new texts")
            read = [
                (document, _as_json(outcome))
                for document, outcome in zip(portion, outcomes, strict=True)
                if isinstance(outcome, Extraction)
            ]
            self._cache.put(self.version, read)
            found.update((document.memory_id, one) for document, one in read)
        found.update(self._cache.get(self.version, [one for one in documents if one.memory_id not in found]))
        return found


_extractor: Extractor | None = None
"""Of a process that does nothing but read."""


def _begin() -> None:
    global _extractor
    _extractor = Extractor()


def _extract(documents: Sequence[Document]) -> list[Extraction | Failure]:
    assert _extractor is not None  # noqa: S101
    return _extractor.extract(documents)


def _as_json(extraction: Extraction) -> dict[str, Any]:
    """Return what complete_extractions() takes of a memory, without its id and the ticket."""
    found = asdict(extraction)
    del found["memory_id"]
    body: dict[str, Any] = json.loads(json.dumps(found, default=str))
    return body


def _hash(document: Document) -> bytes:
    """Hash all that the extractor sees of a memory, without its ids."""
    seen = (
        document.title,
        document.content,
        document.speaker,
        document.anchor.isoformat(),
        document.language,
    )
    return hashlib.sha256(repr(seen).encode()).digest()
