"""The asynchronous client that works with the server, and with an offline copy while it cannot be reached."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, Unpack

from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from pgrecall._async.client import AsyncClient
from pgrecall.arguments import as_seconds
from pgrecall.concurrency import in_thread
from pgrecall.config.conninfo import dsn_parts
from pgrecall.config.settings import load
from pgrecall.connecting import network_options
from pgrecall.contrib.offline.writing import Noted, noting
from pgrecall.dsn import resolve
from pgrecall.errors import (
    ConnectionFailed,
    NotFound,
    PgrecallError,
    UnknownLanguage,
    UnknownNamespace,
    error_class,
)
from pgrecall.iterators import readable_again, readable_twice

from .client import AsyncOfflineClient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from pgrecall.contrib.offline.models import Pulled, Pushed, QueuedWrite
    from pgrecall.models import NewMemory, OnConflict, RecallResult, TimelineResult
    from pgrecall.options import MemoryFields, Origin, UpdatableFields

PATIENCE = 5.0
"""Seconds until a server that was there counts as away."""


class AsyncFallbackClient:
    """A client that recalls from the server, and from a copy while the server cannot be reached.

    A result from the copy says so in its `notice`. Writes go through the file's queue and are sent at once;
    while there is no server they stay in it, and go out before the next write or pull. What the server
    refuses is raised. A write whose call raises is not in the queue, so that it can be done again. The first
    write makes the copy. Sensitive memories that the copy does not take are sent
    directly.

    Args:
        path: The file of the copy.
        dsn: The server; as for `AsyncClient`.
        namespace: The namespace, of the server's calls and of the copy.
        patience: Seconds to wait for a server that has gone away during the client's life.
    """

    def __init__(
        self,
        path: str | Path,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        patience: float = PATIENCE,
    ) -> None:
        patience = as_seconds("patience", patience)
        dsn = _patient(dsn, patience)
        self._arguments = (dsn, namespace, patience)
        self.server = AsyncClient(dsn, namespace=namespace, pool_timeout=patience)
        self.offline = AsyncOfflineClient(path, dsn, namespace=namespace, pool_timeout=patience)

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
        """Close the file and all connections."""
        await self.server.close()
        await self.offline.close()

    async def pull(self) -> Pulled:
        """Send what is queued, and bring the copy up to date; make it if there is none."""
        return await self.offline.pull()

    async def push(self) -> Pushed:
        """Send what is queued."""
        return await self.offline.push()

    async def recall(self, query: str, **options: Any) -> RecallResult:
        """Find the memories most relevant to a question; see `AsyncClient.recall`.

        Raises:
            NeedsServer: The server cannot be reached, and the copy has no such option.
        """
        server = self.server
        options = readable_again(options)
        try:
            return await server.recall(query, **options)
        except ConnectionFailed:
            if not await self._is_away(server):
                return await self.server.recall(query, **options)
            found = await self.offline.recall(query, **options)
            return replace(found, notice=_notice(found.notice))

    async def timeline(self, topic: str, **options: Any) -> TimelineResult:
        """Find the memories of a topic in the order of their time; see `AsyncClient.timeline`.

        Raises:
            NeedsServer: The server cannot be reached, and the copy has no such option.
        """
        server = self.server
        options = readable_again(options)
        try:
            return await server.timeline(topic, **options)
        except ConnectionFailed:
            if not await self._is_away(server):
                return await self.server.timeline(topic, **options)
            found = await self.offline.timeline(topic, **options)
            return replace(found, notice=_notice(found.notice))

    async def remember(
        self,
        content: str,
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        **fields: Unpack[MemoryFields],
    ) -> int:
        """Store one memory; see `AsyncClient.remember`. The id is negative until the server has stored it."""
        to: dict[str, Any] = {"namespace": namespace, "create_namespace": create_namespace}
        if fields.get("is_sensitive") and not await self._takes_sensitive():
            return await self.server.remember(content, on_conflict=on_conflict, **to, **fields)
        id = await self._write(self.offline.remember, content, on_conflict=on_conflict, **to, **fields)
        return int(id)

    async def remember_many(
        self,
        memories: Iterable[NewMemory | Mapping[str, Any]],
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        batch_size: int = 500,
    ) -> list[int]:
        """Store many memories, none of them sensitive unless the copy takes such; see `remember`.

        They go into the queue together, and out of it one by one: `batch_size` has no effect. If the server
        refuses one, `stored` of the error has the ids of the others.
        """
        ids = await self._write(
            self.offline.remember_many,
            memories,
            namespace=namespace,
            create_namespace=create_namespace,
            on_conflict=on_conflict,
            batch_size=batch_size,
        )
        return list(ids)

    async def update(self, id: int, *, content: str | None = None, **fields: Unpack[UpdatableFields]) -> bool:
        """Change fields of one memory; see `AsyncClient.update`."""
        if fields.get("is_sensitive") and not await self._takes_sensitive():
            return bool(await self._write_to_server("update", id, content=content, **fields))
        return bool(await self._write(self.offline.update, id, content=content, **fields))

    async def supersede(
        self,
        id: int,
        content: str | None = None,
        *,
        successor: int | None = None,
        occurred_at: datetime | str | None = None,
        metadata: Mapping[str, Any] | None = None,
        importance: float | None = None,
        origin: Origin | None = None,
    ) -> int:
        """Close a fact; see `AsyncClient.supersede`."""
        later = await self._write(
            self.offline.supersede,
            id,
            content,
            successor=successor,
            occurred_at=occurred_at,
            metadata=metadata,
            importance=importance,
            origin=origin,
        )
        return int(later)

    async def forget(self, id: int) -> bool:
        """Forget one memory; see `AsyncClient.forget`."""
        if await self._write(self.offline.forget, id):
            return True
        try:
            return bool(await self._write_to_server("forget", id))
        except ConnectionFailed:
            return False

    async def _takes_sensitive(self) -> bool:
        await self._ensure_copy()
        return (await self.offline.status()).include_sensitive

    async def _ensure_copy(self) -> None:
        """Make the copy if there is none yet."""
        if not await self.offline.is_made():
            await self.offline.pull()

    async def _write_to_server(self, name: str, id: int, *args: Any, **kwargs: Any) -> Any:
        """Write to the server what the copy does not have: a memory that is sensitive, or not copied yet."""
        if kwargs.get("successor") is not None:
            kwargs["successor"] = await self.offline.stored_id(kwargs["successor"])
        result = await getattr(self.server, name)(await self.offline.stored_id(id), *args, **kwargs)
        with suppress(PgrecallError):  # it is done, whatever becomes of the copy
            await self.offline.pull()
        return result

    async def _write(self, write: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Write to the copy, and send it if the server is there."""
        await self._ensure_copy()
        args, kwargs = tuple(map(readable_twice, args)), readable_again(kwargs)
        noted = Noted()
        try:
            return await self._write_and_send(noted, write, args, kwargs)
        except BaseException:
            # Whoever sees an error does it again. What was sent is done, or will be by the next push.
            # A thread may still be waiting for the file, after its call was cancelled.
            noted.given_up.set()
            if noted.numbers:
                with suppress(PgrecallError):  # the first error is the one to be told
                    await self.offline.withdraw(noted)
            raise

    async def _write_and_send(
        self, noted: Noted, write: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        try:
            with noting(noted):
                result = await write(*args, **kwargs)
        except NotFound as error:
            try:
                return await self._write_to_server(write.__name__, *args, **kwargs)
            except ConnectionFailed:
                raise error from None
        try:
            await self._push_if_there()
        except PgrecallError:
            if not noted.numbers or await self.offline.withdraw(noted):
                raise
        await self._raise_refusal(noted)
        return await self._with_stored_ids(result)

    async def _with_stored_ids(self, result: bool | int | list[int]) -> Any:
        """Return what a write has returned, with the server's ids where it has given them."""
        if isinstance(result, list):
            return [await self.offline.stored_id(id) for id in result]
        return result if isinstance(result, bool) else await self.offline.stored_id(result)

    async def _push_if_there(self) -> None:
        """Send what is queued, unless there is no server."""
        server = self.server
        try:
            await self.offline.push()
        except ConnectionFailed:
            if not await self._is_away(server):
                await self.offline.push()

    async def _raise_refusal(self, noted: Noted) -> None:
        """Raise what the server has refused of a call, whoever sent it; what others wrote is theirs."""
        refused = [queued for queued in await self.offline.refused() if queued.number in noted.numbers]
        if not refused:
            return
        for queued in refused:
            await self.offline.discard(queued.number)
        with suppress(PgrecallError):  # the refusal is what the caller has to know
            await self.offline.pull()
        error = _refusal(refused[0])
        ids = [await self.offline.stored_id(id) for id in noted.made]
        error.stored = tuple(id for id in ids if id > 0)
        raise error

    async def _is_away(self, failed: AsyncClient) -> bool:
        """Whether there is no server; a new connection is made at the next call, which tells at once."""
        dsn, namespace, patience = self._arguments
        # Another call may have replaced it already, and may be using the new one.
        if self.server is failed:
            self.server = AsyncClient(dsn, namespace=namespace, pool_timeout=patience)
            await failed.close()
        return not await in_thread(_answers, dsn)


def _refusal(write: QueuedWrite) -> PgrecallError:
    """Return the error of a refused write; the namespace is known, so that 42704 is of a language."""
    kind = error_class(write.sqlstate)
    kind = UnknownLanguage if kind is UnknownNamespace else kind
    return kind(write.reason, sqlstate=write.sqlstate, hint=write.hint)


def _patient(dsn: str | None, patience: float) -> str | None:
    """Return the connection string with the time-outs of a server that does not answer any more."""
    with suppress(PgrecallError):  # the first call says what is wrong
        dsn = load().dsn if dsn is None else dsn
        if dsn is not None:
            dsn_parts(dsn)
            return make_conninfo(dsn, **network_options(dsn, patience))
    return dsn


def _answers(dsn: str | None) -> bool:
    """Tell whether a server answers, even if it refuses the login."""
    try:
        target = resolve(dsn, None, None)
    except ConnectionFailed:
        return False
    return PGconn.ping(target.dsn.encode()) == Ping.OK


def _notice(reason: str | None) -> str:
    return f"the server cannot be reached; {reason}"
