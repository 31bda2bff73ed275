"""The file of an offline copy: SQLite in WAL mode, with an FTS5 index of the words of its memories."""

from __future__ import annotations

import os
import sqlite3
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from threading import RLock
from typing import TYPE_CHECKING

from pgrecall.errors import CopyUnusable, TimedOut

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

APPLICATION_ID = 0x70677263  # "pgrc"
SCHEMA_VERSION = 5
_BUSY_SECONDS = 30.0
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# What the index reads of a memory, in its columns' order.
_WORDS = """
    {0}.id, {0}.title, {0}.content,
    (SELECT group_concat(e.value, ' ') FROM json_each({0}.expanded_keywords) e),
    (SELECT group_concat(e.value, ' ') FROM json_each({0}.tags) e), {0}.category
"""
_INTO = "INSERT INTO words ({}rowid, title, content, keywords, tags, category) SELECT {}"
_OUT = _INTO.format("words, ", "'delete'," + _WORDS.format("old"))
_IN = _INTO.format("", _WORDS.format("new"))
_NOTE_PURGE = "UPDATE meta SET value = CAST(value + 1 AS TEXT) WHERE name = 'to_purge'"

# version   _pgrecall.memory_digest of what the server has; NULL: to be fetched again
# base      updated_at of the server's memory that the copy's was made from; a write has it too, for where the
#           memory is not in the copy: the server refused it at first, or has just made it sensitive
# number    order of the queue; key: external_id of what the write makes; reason: why the server refused it
# Times are microseconds since 1970.
_SCHEMA = f"""
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY, version TEXT, base INTEGER, external_id TEXT, title TEXT,
        content TEXT NOT NULL, category TEXT, tags TEXT NOT NULL, expanded_keywords TEXT NOT NULL,
        importance REAL NOT NULL, metadata TEXT NOT NULL, source TEXT, session TEXT, speaker TEXT,
        position INTEGER, language TEXT, is_sensitive INTEGER NOT NULL, occurred_at INTEGER,
        created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, valid_from INTEGER, valid_to INTEGER,
        expires_at INTEGER, origin TEXT NOT NULL,
        superseded_by INTEGER, superseded_at INTEGER, is_forgotten INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX memories_external_id ON memories (external_id);
    CREATE TABLE queue (
        number INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, kind TEXT NOT NULL,
        memory_id INTEGER NOT NULL, made_id INTEGER, base INTEGER, at INTEGER NOT NULL, body TEXT NOT NULL,
        sent_in TEXT, result TEXT, reason TEXT, hint TEXT, sqlstate TEXT
    );
    CREATE TABLE stored_ids (local INTEGER PRIMARY KEY, id INTEGER NOT NULL);
    CREATE VIRTUAL TABLE words USING fts5(
        title, content, keywords, tags, category, content='', tokenize='porter unicode61'
    );
    CREATE TRIGGER memories_insert AFTER INSERT ON memories BEGIN {_IN}; END;
    CREATE TRIGGER memories_delete AFTER DELETE ON memories BEGIN {_OUT}; {_NOTE_PURGE}; END;
    CREATE TRIGGER memories_update
        AFTER UPDATE OF id, title, content, expanded_keywords, tags, category ON memories
        BEGIN {_OUT}; {_IN}; END;
    CREATE TRIGGER queue_discard AFTER DELETE ON queue WHEN old.reason IS NOT NULL BEGIN {_NOTE_PURGE}; END;
    PRAGMA application_id = {APPLICATION_ID};
    PRAGMA user_version = {SCHEMA_VERSION};
"""

_HINTS = {
    sqlite3.SQLITE_FULL: "Free space on the disk; nothing was written.",
    sqlite3.SQLITE_READONLY: "The process must be allowed to write the file and its folder.",
    sqlite3.SQLITE_CANTOPEN: "The process must be allowed to write the file and its folder.",
    sqlite3.SQLITE_PERM: "The process must be allowed to write the file and its folder.",
    sqlite3.SQLITE_IOERR: "Check the disk.",
}
_CORRUPT = (
    "Move the file and those beside it away and run `pgrecall offline pull`; writes that were still queued "
    "in it are lost."
)


class CopyFile:
    """One connection to the file, for one thread at a time; other processes may have it open as well.

    Args:
        path: The file.
        create: Whether it is made if it is not there, empty and readable for its owner alone.

    Raises:
        CopyUnusable: It is not there, is none of ours, of a newer version, damaged, or not to be written.
    """

    def __init__(self, path: Path, *, create: bool = False) -> None:
        self.path = path
        self._lock = RLock()
        with _explained(path):
            is_there = path.exists()
        if not is_there:
            if not create:
                raise CopyUnusable(
                    f"there is no offline copy at {path}", hint="`pgrecall offline pull` makes it."
                )
            with _explained(path), suppress(FileExistsError):
                os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with _explained(path):
            if path.stat().st_mode & 0o077:
                path.chmod(0o600)
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        try:
            self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def _prepare(self) -> None:
        with _explained(self.path):
            run = self._connection.execute
            for pragma in ("secure_delete = ON", "temp_store = MEMORY", "recursive_triggers = ON"):
                run(f"PRAGMA {pragma}")
            if self._is_empty():
                run("PRAGMA journal_mode = WAL")
                with self.writing() as connection:
                    if self._is_empty():  # two may have come at once
                        for statement in _statements(_SCHEMA):
                            connection.execute(statement)
            (application,), (version,) = (
                run("PRAGMA application_id").fetchone(),
                run("PRAGMA user_version").fetchone(),
            )
            if application != APPLICATION_ID:
                raise CopyUnusable(f"{self.path} is another program's file", hint="Name another path.")
            if version != SCHEMA_VERSION:
                raise CopyUnusable(
                    f"{self.path} has version {version} of the format, this package reads {SCHEMA_VERSION}",
                    hint="Push what is queued with the pgrecall that made it; then make a new copy.",
                )
            # The number of a server's transaction must be on the disk before that commits.
            run("PRAGMA synchronous = FULL")
            # Reads a page of each table, so that a damaged file is found now.
            for (name,) in run(
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'words%'"
            ):
                run(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone()

    def _is_empty(self) -> bool:
        found: int = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        return found == 0

    def close(self) -> None:
        """Close it; it cannot be used afterwards."""
        with self._lock:
            self._connection.close()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection whose statements all see the same state."""
        with self._transaction("BEGIN") as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection whose changes are all made, or none of them."""
        with self._transaction("BEGIN IMMEDIATE") as connection:
            yield connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[sqlite3.Connection]:
        with self._lock, _explained(self.path):
            self._connection.execute(begin)
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself where the disk is full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def purge(self) -> bool:
        """Take what was deleted out of the index, the pages and the log of the file.

        Deleted rows and pages are overwritten as they are freed (secure_delete). The index goes on to hold
        words of deleted rows until its parts are merged, and the log old pages until it is emptied.

        Returns:
            False if another process was reading, so that the log could not be emptied.
        """
        with self.writing() as connection:
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
        with self._lock, _explained(self.path):
            busy: int = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        return busy == 0


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Say what is wrong with the file; SQLite's own words name no text of a memory."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", None)
        family = None if code is None else code & 0xFF
        if family in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise TimedOut(
                f"another process keeps {path} locked", hint="Try again when it is done."
            ) from error
        if family in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise CopyUnusable(f"{path} is damaged, or no offline copy", hint=_CORRUPT) from error
        if family not in _HINTS:
            raise
        raise CopyUnusable(f"{path} cannot be used: {error}", hint=_HINTS[family]) from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CopyUnusable(
            f"{path} cannot be used: {reason}", hint=_HINTS[sqlite3.SQLITE_CANTOPEN]
        ) from error


def _statements(script: str) -> Iterator[str]:
    """Yield the statements of a script; `executescript` would commit before it."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def micros(moment: datetime) -> int:
    """Return a time as the file has it."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def moment(stored: int) -> datetime:
    """Return a time of the file."""
    return _EPOCH + timedelta(microseconds=stored)


def moment_or_none(stored: int | None) -> datetime | None:
    """Return a time of the file, or None."""
    return None if stored is None else moment(stored)
