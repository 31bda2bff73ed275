"""What the asynchronous offline client does with its file and the server: push, pull, tell how it is."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from psycopg import Rollback

from pgrecall._async.database import AsyncDatabase
from pgrecall.concurrency import in_thread
from pgrecall.contrib.offline.models import Pulled, Pushed
from pgrecall.contrib.offline.store import Store
from pgrecall.errors import (
    Conflict,
    ConnectionFailed,
    InvalidInput,
    NotFound,
    PermissionDenied,
    TimedOut,
    TooLarge,
    UnknownLanguage,
    UnknownNamespace,
)

from .server import AsyncServer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from pgrecall.contrib.offline.models import OfflineStatus, QueuedWrite, Sending, Settled
    from pgrecall.contrib.offline.writing import Noted
    from pgrecall.metrics import ClientMetrics

_BUCKETS_AT_ONCE = 64
_ROWS_AT_ONCE = 200
# What the server says of a write itself: it would say so again.
_REFUSALS = (Conflict, InvalidInput, NotFound, PermissionDenied, TooLarge, UnknownLanguage, UnknownNamespace)
_PATIENCE = 200
_PAUSE = 0.05  # seconds


class AsyncCopying:
    """The file of a copy, and how it is kept in step with the server; the arguments are the client's."""

    def __init__(
        self,
        path: str | Path,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        pool_timeout: float = 30.0,
        metrics: ClientMetrics | None = None,
    ) -> None:
        self._store = Store(Path(path), namespace)
        self._namespace = namespace
        self._metrics = metrics
        self._dsn = dsn
        self._pool_timeout = pool_timeout
        self._connected: AsyncServer | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the file and what connections there are."""
        server, self._connected = self._connected, None
        if server is not None:
            await server.close()
        await in_thread(self._store.close)

    async def is_made(self) -> bool:
        """Return whether there is a copy: a file that a pull has at least begun to fill."""
        return await in_thread(self._store.source) is not None

    async def status(self) -> OfflineStatus:
        """Return what the copy has."""
        return await in_thread(self._store.status)

    async def queued(self) -> list[QueuedWrite]:
        """Return the writes that wait for the server, in their order."""
        return await in_thread(self._store.queue)

    async def refused(self) -> list[QueuedWrite]:
        """Return the writes that the server has refused, with its reasons."""
        return await in_thread(self._store.queue, refused=True)

    async def retry(self) -> int:
        """Queue what the server has refused once more; returns how many writes there are."""
        return await in_thread(self._store.retry)

    async def discard(self, number: int) -> bool:
        """Give up a write that the server has refused; returns whether there was one of this number."""
        return await in_thread(self._store.discard, number)

    async def withdraw(self, noted: Noted) -> bool:
        """Undo the writes of a call in the copy, unless one of them was sent or refused; returns whether."""
        return await in_thread(self._store.withdraw, noted)

    async def stored_id(self, id: int) -> int:
        """Return the server's id of a memory that was stored here; the id itself until there is one."""
        return await in_thread(self._store.stored_id, id)

    async def push(self) -> Pushed:
        """Send what is queued, in its order, each write once. What the server refuses is set aside.

        Raises:
            ConnectionFailed: The server cannot be reached. What was sent until then is out of the queue.
            CopyUnusable: The server has another database than the one the copy is of.
        """
        status = await self.status()
        async with self._server() as server:
            source = await server.source(status.namespace)
            wanted = await in_thread(self._store.begin, source, include_sensitive=None, moved=False)
            return await self._push(server, status.namespace, wanted)

    async def pull(self, *, include_sensitive: bool | None = None, moved: bool = False) -> Pulled:
        """Make the copy, or bring it up to date; what is queued is sent first.

        It can be interrupted at any time: the next one goes on.

        Args:
            include_sensitive: Whether sensitive memories are copied; None leaves it as it is, at first False.
            moved: Whether the database may be another one that the namespace was restored or upgraded to.

        Raises:
            ConnectionFailed: The server cannot be reached.
            CopyUnusable: The file is a copy of another namespace.
        """
        async with self._server() as server:
            copied = await in_thread(self._store.source)
            source = await server.source(self._namespace if copied is None else copied.name)
            wanted = await in_thread(
                self._store.begin, source, include_sensitive=include_sensitive, moved=moved
            )
            pushed = await self._push(server, source.name, wanted)
            stored, removed = await self._fetch(server, source.name, wanted)
        is_purged = await in_thread(self._store.end)
        return Pulled(pushed=pushed, stored=stored, removed=removed, is_purged=is_purged)

    async def _fetch(self, server: AsyncServer, namespace: str, wanted: bool) -> tuple[int, int]:
        stored = removed = 0
        differing = await in_thread(self._store.differing, await server.digests(namespace, wanted))
        for buckets in _parts(differing, _BUCKETS_AT_ONCE):
            versions = await server.versions(buckets, namespace, wanted)
            ids, gone = await in_thread(self._store.to_fetch, buckets, versions)
            removed += gone
            stored += await self._fetch_ids(server, ids, namespace, wanted)
        return stored, removed

    async def _fetch_ids(self, server: AsyncServer, ids: Sequence[int], namespace: str, wanted: bool) -> int:
        stored = 0
        for part in _parts(ids, _ROWS_AT_ONCE):
            stored += await in_thread(self._store.replace, await server.copies(part, namespace, wanted))
        return stored

    @asynccontextmanager
    async def _server(self) -> AsyncIterator[AsyncServer]:
        """The connected server; after a failure the next use opens a new connection, which fails at once."""
        server = self._connected
        if server is None:
            server = self._connected = AsyncServer(
                AsyncDatabase(
                    self._dsn, namespace=self._namespace, pool_max=1, pool_timeout=self._pool_timeout
                )
            )
        try:
            yield server
        except ConnectionFailed:
            # Another call may have failed on it too, and may have connected anew.
            if self._connected is server:
                self._connected = None
            await server.close()
            raise

    async def _push(self, server: AsyncServer, namespace: str, wanted: bool) -> Pushed:
        before = {write.number for write in await self.refused()}
        sent = 0
        settled: list[Settled] = []
        to_fetch: list[int] = []
        try:
            while (write := await in_thread(self._store.next_write)) is not None:
                if write.transaction is not None and write.changed is not None:
                    is_sent = await self._was_sent(
                        server, write.number, write.transaction, write.changed, namespace
                    )
                else:
                    is_sent = await self._send(server, write, namespace)
                if is_sent:
                    finished = await in_thread(self._store.finish, write.number)
                    sent += 1
                    if finished is not None and finished.conflict is not None:
                        settled.append(finished.conflict)
                    if finished is not None and finished.to_fetch is not None:
                        to_fetch.append(finished.to_fetch)
            await self._fetch_ids(server, to_fetch, namespace, wanted)
        finally:
            # What is fetched once more may have left the file because it is sensitive.
            if to_fetch:
                await in_thread(self._store.purge)
        refused = tuple(write for write in await self.refused() if write.number not in before)
        return Pushed(sent=sent, settled=tuple(settled), refused=refused)

    async def _send(self, server: AsyncServer, write: Sending, namespace: str) -> bool:
        # The server's transaction is noted in the file before it commits: a process after a crash asks
        # the server what became of it. Of two processes that send the same, one finds it noted already.
        try:
            async with server.sent(write.write, namespace) as row:
                is_mine = await in_thread(self._store.claim, write.number, row["transaction"], _result(row))
                if not is_mine:
                    raise Rollback
        except _REFUSALS as error:
            await in_thread(self._store.refuse, write.number, error)
            return False
        return is_mine

    async def _was_sent(
        self,
        server: AsyncServer,
        number: int,
        transaction: str,
        changed: tuple[int, datetime],
        namespace: str,
    ) -> bool:
        for _ in range(_PATIENCE):
            committed, is_known = await server.is_committed(transaction, changed, namespace)
            if committed:
                return True
            if committed is not None or not is_known:
                # If nobody knows any more, its key sees to it that nothing is stored twice.
                await in_thread(self._store.unclaim, number, transaction)
                return False
            await in_thread(time.sleep, _PAUSE)
        raise TimedOut("a write is still under way on the server", hint="Push again in a while.")


def _result(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "transaction"}


def _parts(values: Sequence[int], size: int) -> Iterator[list[int]]:
    remaining = iter(values)
    while part := list(islice(remaining, size)):
        yield part
