"""What the offline client does with its file: recall, write, and keep in step with the server."""

from __future__ import annotations

import hashlib
import os
from datetime import UTC, datetime
from itertools import groupby
from threading import Lock
from typing import TYPE_CHECKING, Any

from pgrecall.concurrency import leave_behind
from pgrecall.errors import CopyUnusable

from . import queueing, writing
from .file import CopyFile, micros, moment, moment_or_none
from .models import OfflineStatus, QueuedWrite, Source
from .searching import add_functions, search

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from pgrecall.errors import PgrecallError
    from pgrecall.models import RecalledMemory

    from .models import Finished, Sending

__all__ = ["Store"]

BUCKET_BITS = 8
"""Of `pgrecall.sync_digests()`: 256 ids a bucket."""

_COPIED = (
    "id", "version", *writing.TEXTS, *writing.LISTS, *writing.TIMES, "importance", "metadata", "position",
    "origin", "is_sensitive", "updated_at", "superseded_by", "superseded_at",
)  # fmt: skip
# Rows that a queued write has changed are left as they are until it is sent.
_UNTOUCHED = "id NOT IN (SELECT q.memory_id FROM queue q WHERE q.reason IS NULL)"


class Store:
    """An offline copy.

    Args:
        path: The file; it is opened when it is first needed.
        namespace: The namespace that it must be of; None takes any.
    """

    def __init__(self, path: Path, namespace: str | None) -> None:
        self.path = path
        self._namespace = namespace
        self._file: CopyFile | None = None
        self._begin_process()

    def _begin_process(self) -> None:
        self._process = os.getpid()
        self._opening = Lock()

    def _leave_other_process(self) -> None:
        """After a fork, leave the connection to the parent, as SQLite requires, and open another."""
        if self._process != os.getpid():
            leave_behind(self._file)
            self._file = None
            self._begin_process()

    def close(self) -> None:
        """Close the file."""
        self._leave_other_process()
        file, self._file = self._file, None
        if file is not None:
            file.close()

    @property
    def file(self) -> CopyFile:
        """The file, opened.

        Raises:
            CopyUnusable: There is none, or it is not one to work with.
        """
        file = self._opened()
        if self._source() is None:
            raise CopyUnusable(f"{self.path} is empty", hint="`pgrecall offline pull` fills it.")
        return file

    def source(self) -> Source | None:
        """Return what the file is a copy of; None if there is no file, or one that no pull has filled.

        Raises:
            CopyUnusable: It is not a file to work with.
        """
        if not self.path.exists():
            return None
        self._opened()
        return self._source()

    def _opened(self, *, create: bool = False) -> CopyFile:
        self._leave_other_process()
        with self._opening:
            return self._open(create=create) if self._file is None else self._file

    def _open(self, *, create: bool) -> CopyFile:
        file = CopyFile(self.path, create=create)
        with file.reading() as connection:
            add_functions(connection)
        self._file = file
        source = self._source()
        if source is not None and self._namespace not in (None, source.name):
            self.close()
            raise CopyUnusable(
                f"{self.path} is a copy of namespace {source.name!r}, not of {self._namespace!r}",
                hint="A copy is of one namespace: name another path.",
            )
        return file

    def _source(self) -> Source | None:
        if self._file is None:
            return None
        with self._file.reading() as connection:
            meta = _meta(connection)
        if "server" not in meta:
            return None
        return Source(**{name: meta[name] for name in ("name", "server", "origin", "language")})

    # -- what the client's methods do

    def recall(
        self, query: str, k: int, filters: Mapping[str, Any]
    ) -> tuple[list[RecalledMemory], datetime | None]:
        """Return the best memories, and when the copy was last pulled."""
        with self.file.reading() as connection:
            return search(connection, query, k, filters), _pulled_at(connection)

    def remember(self, memories: Iterable[Mapping[str, Any]], on_conflict: str) -> list[int]:
        """Store memories, all of them or none."""
        with self.file.writing() as connection:
            return [writing.remember(connection, memory, on_conflict) for memory in memories]

    def update(self, arguments: Mapping[str, Any]) -> bool:
        """Change a memory."""
        with self.file.writing() as connection:
            return writing.update(connection, arguments)

    def supersede(self, arguments: Mapping[str, Any]) -> int:
        """Close a fact."""
        with self.file.writing() as connection:
            return writing.supersede(connection, arguments)

    def forget(self, id: int) -> bool:
        """Forget a memory."""
        with self.file.writing() as connection:
            return writing.forget(connection, id)

    def stored_id(self, id: int) -> int:
        """Return the server's id of a memory that was made here, once it has one."""
        with self.file.reading() as connection:
            return writing.stored_id(connection, id)

    def status(self) -> OfflineStatus:
        """Return what the copy has."""
        with self.file.reading() as connection:
            meta = _meta(connection)
            (memories,) = connection.execute(
                "SELECT count(*) FROM memories WHERE NOT is_forgotten"
            ).fetchone()
            queued, refused = connection.execute(
                "SELECT count(*) - count(reason), count(reason) FROM queue"
            ).fetchone()
            return OfflineStatus(
                path=str(self.path),
                namespace=meta["name"],
                memories=memories,
                queued=queued,
                refused=refused,
                pulled_at=_pulled_at(connection),
                include_sensitive=meta["include_sensitive"] == "1",
                is_purged=meta["to_purge"] == "0",
            )

    # -- the queue

    def queue(self, *, refused: bool = False) -> list[QueuedWrite]:
        """Return the writes that wait, or those that were refused, in their order."""
        condition = "IS NOT NULL" if refused else "IS NULL"
        with self.file.reading() as connection:
            rows = connection.execute(
                f"SELECT number, kind, COALESCE(made_id, memory_id), at, reason, hint, sqlstate FROM queue "
                f"WHERE reason {condition} ORDER BY number"
            ).fetchall()
        return [
            QueuedWrite(
                number=row[0],
                kind=row[1],
                memory_id=row[2],
                at=moment(row[3]),
                reason=row[4],
                hint=row[5],
                sqlstate=row[6],
            )
            for row in rows
        ]

    def retry(self) -> int:
        """Queue what was refused once more; returns how many there are."""
        with self.file.writing() as connection:
            return connection.execute(
                "UPDATE queue SET reason = NULL, hint = NULL, sqlstate = NULL, sent_in = NULL, result = NULL "
                "WHERE reason IS NOT NULL AND body <> 'null'"
            ).rowcount

    def discard(self, number: int) -> bool:
        """Give up a write that was refused."""
        with self.file.writing() as connection:
            return (
                connection.execute(
                    "DELETE FROM queue WHERE number = ? AND reason IS NOT NULL", (number,)
                ).rowcount
                > 0
            )

    def next_write(self) -> Sending | None:
        """Return the first write that waits, with the server's ids; None if none does."""
        with self.file.writing() as connection:
            return queueing.next_write(connection)

    def claim(self, number: int, transaction: str, result: Mapping[str, Any]) -> bool:
        """Note in which transaction a write was sent; False if another process has sent it."""
        with self.file.writing() as connection:
            return queueing.claim(connection, number, transaction, result)

    def unclaim(self, number: int, transaction: str) -> None:
        """Take that back: the transaction is known not to have been committed."""
        with self.file.writing() as connection:
            queueing.unclaim(connection, number, transaction)

    def finish(self, number: int) -> Finished | None:
        """Take a write that was committed out of the queue; returns None if another process did."""
        with self.file.writing() as connection:
            return queueing.finish(connection, number)

    def withdraw(self, noted: writing.Noted) -> bool:
        """Undo the writes of a call; returns False, and does nothing, if one of them was sent or refused."""
        with self.file.writing() as connection:
            return queueing.withdraw(connection, noted)

    def refuse(self, number: int, error: PgrecallError) -> None:
        """Set a write aside that the server has refused; the next pull undoes it in the copy."""
        with self.file.writing() as connection:
            queueing.refuse(connection, number, error.message, error.hint, error.sqlstate)

    # -- what comes from the server

    def begin(self, source: Source, *, include_sensitive: bool | None, moved: bool) -> bool:
        """Make the file if need be, and see that it is a copy of this source.

        Returns:
            Whether sensitive memories are to be copied.

        Raises:
            CopyUnusable: It is a copy of another database or namespace.
        """
        with self._opened(create=True).writing() as connection:
            meta = _meta(connection)
            if "server" not in meta:
                meta = {
                    "name": source.name, "server": source.server, "origin": source.origin,
                    "language": source.language, "include_sensitive": "0", "to_purge": "0", "local_id": "0",
                }  # fmt: skip
            elif meta["origin"] != source.origin or (meta["server"] != source.server and not moved):
                raise CopyUnusable(
                    f"{self.path} is a copy of namespace {meta['name']!r} of another database",
                    hint="Connect to that one. If it was restored or upgraded to here: "
                    "`pgrecall offline pull --moved`. Else name another path.",
                )
            meta["server"] = source.server
            if include_sensitive is not None:
                meta["include_sensitive"] = str(int(include_sensitive))
            connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", meta.items())
            return meta["include_sensitive"] == "1"

    def differing(self, digests: Mapping[int, str]) -> list[int]:
        """Return the buckets that are not as the server has them."""
        with self.file.reading() as connection:
            rows = connection.execute(
                "SELECT id >> ?, id || ' ' || COALESCE(version, '') FROM memories WHERE id > 0 ORDER BY id",
                (BUCKET_BITS,),
            )
            mine = {
                bucket: hashlib.md5(
                    ",".join(text for _, text in members).encode(), usedforsecurity=False
                ).hexdigest()
                for bucket, members in groupby(rows, key=lambda row: int(row[0]))
            }
        return sorted(
            bucket for bucket in digests.keys() | mine.keys() if digests.get(bucket) != mine.get(bucket)
        )

    def to_fetch(self, buckets: Sequence[int], versions: Mapping[int, str]) -> tuple[list[int], int]:
        """Remove the memories of these buckets that the server has no more.

        Returns:
            The ids of those to fetch, and how many were removed.
        """
        known: dict[int, str | None] = {}
        with self.file.reading() as connection:
            for bucket in buckets:
                known.update(
                    connection.execute(
                        "SELECT id, version FROM memories WHERE id BETWEEN ? AND ? AND id > 0",
                        (bucket << BUCKET_BITS, (bucket + 1 << BUCKET_BITS) - 1),
                    )
                )
        wanted = [id for id, version in versions.items() if known.get(id) != version]
        return wanted, self.remove(known.keys() - versions.keys())

    def remove(self, ids: Iterable[int]) -> int:
        """Remove memories, and what the queue says of them where it was refused; returns how many."""
        removed = 0
        with self.file.writing() as connection:
            for id in ids:
                removed += connection.execute(
                    f"DELETE FROM memories WHERE id = ? AND {_UNTOUCHED}", (id,)
                ).rowcount
                connection.execute(
                    "UPDATE queue SET body = 'null', hint = 'The memory has left the copy: discard this.' "
                    "WHERE memory_id = ? AND reason IS NOT NULL",
                    (id,),
                )
        return removed

    def replace(self, rows: Iterable[Mapping[str, Any]]) -> int:
        """Store memories as the server has them; returns how many."""
        stored = 0
        with self.file.writing() as connection:
            for row in rows:
                values = [writing.column(name, row[name]) for name in _COPIED]
                (busy,) = connection.execute(
                    "SELECT count(*) FROM queue WHERE memory_id = ? AND reason IS NULL", (row["id"],)
                ).fetchone()
                if busy:
                    continue
                connection.execute("DELETE FROM memories WHERE id = ?", (row["id"],))
                connection.execute(
                    f"INSERT INTO memories ({', '.join(_COPIED)}, base) "
                    f"VALUES ({', '.join(['?'] * len(values))}, ?)",
                    (*values, micros(row["updated_at"])),
                )
                stored += 1
        return stored

    def end(self) -> bool:
        """Note that a pull is complete, and purge the file; returns whether it is."""
        with self.file.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('pulled_at', ?)", (str(micros(datetime.now(UTC))),)
            )
        return self.purge()

    def purge(self) -> bool:
        """Purge the file of what has left it; returns whether it is."""
        with self.file.reading() as connection:
            due = _meta(connection)["to_purge"]
        if due == "0":
            return True
        if not self.file.purge():
            return False
        with self.file.writing() as connection:  # unless more has left it meanwhile
            connection.execute("UPDATE meta SET value = '0' WHERE name = 'to_purge' AND value = ?", (due,))
        return True


def _meta(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT name, value FROM meta").fetchall())


def _pulled_at(connection: sqlite3.Connection) -> datetime | None:
    value = _meta(connection).get("pulled_at")
    return moment_or_none(None if value is None else int(value))
