"""The asynchronous client of an offline copy: the methods of `AsyncClient` that need no server."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Unpack

from pgrecall.arguments import check_options, checked_arguments
from pgrecall.concurrency import in_thread
from pgrecall.contrib.offline.searching import CONDITIONS
from pgrecall.contrib.offline.writing import TIMES
from pgrecall.errors import InvalidInput, NeedsServer, TooLarge
from pgrecall.filters import RecallFilters, split_filter
from pgrecall.languages import AUTO, detect
from pgrecall.models import RecallResult, TimelineMemory, TimelineResult
from pgrecall.new_memories import new_memory
from pgrecall.options import MemoryFields, RecallOptions, UpdatableFields

from .copying import AsyncCopying

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime, timedelta

    from pgrecall.models import NewMemory, OnConflict
    from pgrecall.options import Origin
    from pgrecall.query.embedding import Embed

_LONGEST_QUERY = 16_384
_MOST = 1000


class AsyncOfflineClient(AsyncCopying):
    """A client of a file: a copy of one namespace, for recall by words and for writes without a server.

    `pull` makes the copy, and brings it up to date. Writes are in recall at once, and queued in the file;
    `push` sends them. Memories that the server has not stored yet have negative ids, which go on to work once
    it has. An example::

        async with AsyncOfflineClient("notes.db") as memory:
            await memory.pull()
            await memory.remember("The spare key is with the neighbours.")
            for found in await memory.recall("Where is the key?"):
                print(found.score, found.content)

    Methods raise `CopyUnusable` where the file is missing, damaged or of another database, and
    `NeedsServer` for what a file cannot do.

    Args:
        path: The file.
        dsn: The server, for `pull` and `push`; as for `AsyncClient`.
        namespace: The namespace that it is a copy of; None takes that of the file, or at the first pull the
            configured one.
        pool_timeout: As for `AsyncClient`, and so is the next.
        metrics: What counts recalls.
    """

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        embed: Embed = None,
        private: bool = False,  # noqa: ARG002 - no query leaves this process
        embed_timeout: float | None = None,  # noqa: ARG002
        strategy: str | None = None,
        **options: Any,
    ) -> RecallResult:
        """Find memories by their words.

        Args:
            query: The question; nothing in it is an operator.
            k: How many memories at most, 1 to 1000; None is 10.
            embed: As for `AsyncClient`; True and 'daemon' need the server.
            private: As for `AsyncClient`; nobody else sees the query anyway.
            embed_timeout: As for `AsyncClient`.
            strategy: 'fulltext' and 'auto' are what it does; the others need the server.
            **options: Filters: see `Filter`. Other options of `AsyncClient.recall` need the server.

        Returns:
            The memories, those with every word of the query first; `notice` says how old the copy is.

        Raises:
            InvalidInput: A k outside 1 to 1000, a NUL in a text, another namespace.
            TooLarge: The query is over 16,384 characters.
            NeedsServer: An option that a copy cannot honour.
        """
        if embed not in (None, False):
            raise NeedsServer("an offline copy has no embeddings", hint="Leave embed unset.")
        if strategy not in (None, "fulltext", "auto"):
            raise NeedsServer(f"an offline copy has no strategy {strategy!r}")
        for name, value in options.items():
            if value is not None and name not in RecallFilters.__annotations__:
                known = name in RecallOptions.__annotations__ or name in _OF_RECALL
                if not known:
                    raise TypeError(f"unexpected keyword argument {name!r}")
                raise NeedsServer(f"an offline copy cannot recall with {name}")
        given = {name: value for name, value in options.items() if value is not None}
        filter, rest = split_filter(given, RecallFilters)
        filters = filter.conditions()
        for name in filters:
            if name not in CONDITIONS:
                raise NeedsServer(f"an offline copy cannot recall with {name}")
        self._same_namespace(checked_arguments(**rest).get("namespace"))
        checked = checked_arguments(query=query, k=10 if k is None else k)
        _check_query(checked["query"], checked["k"])
        began = time.monotonic()
        found, pulled_at = await in_thread(self._store.recall, checked["query"], checked["k"], filters)
        copied = "not complete yet" if pulled_at is None else f"of {pulled_at:%Y-%m-%d %H:%M} UTC"
        result = RecallResult(
            query, tuple(found), ("lexical",), f"from the offline copy, {copied}: by words only"
        )
        if self._metrics is not None:
            self._metrics.recalled(result, time.monotonic() - began, is_dated=False)
        return result

    async def timeline(
        self, topic: str, *, k: int = 20, embed: Embed = None, private: bool = False, **filters: Any
    ) -> TimelineResult:
        """Find the memories of a topic by their words, and return them in the order of their time.

        Args:
            topic: The topic.
            k: How many memories at most, 1 to 1000.
            embed: As for `recall`.
            private: As for `recall`.
            **filters: As for `recall`.

        Returns:
            The memories, the earliest first.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
        """
        found = await self.recall(topic, k=k, embed=embed, private=private, **filters)
        dated = sorted((memory.occurred_at or memory.created_at, memory.id, memory) for memory in found)
        listed: list[TimelineMemory] = []
        for happened_at, _, memory in dated:
            before = listed[-1] if listed else None
            gap: timedelta | None = None if before is None else happened_at - before.happened_at
            listed.append(
                TimelineMemory(
                    id=memory.id,
                    happened_at=happened_at,
                    session=memory.session,
                    speaker=memory.speaker,
                    title=memory.title,
                    content=memory.content,
                    score=memory.score,
                    gap=gap,
                    is_new_session=before is None or memory.session != before.session,
                    origin=memory.origin,
                )
            )
        return TimelineResult(topic, tuple(listed), found.notice)

    async def remember(
        self,
        content: str,
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,  # noqa: ARG002 - the copy's namespace is there
        on_conflict: OnConflict | None = None,
        **fields: Unpack[MemoryFields],
    ) -> int:
        """Store one memory in the copy, and queue it; the arguments are those of `AsyncClient.remember`.

        Returns:
            Its id, negative until the server has stored it.

        Raises:
            InvalidInput: Blank content, an importance outside 0 to 1, another namespace.
            TooLarge: The content is too long.
            Conflict: The external id belongs to another text.
            NeedsServer: It is sensitive, and the copy takes no such memories.
        """
        arguments = checked_arguments(
            content=content,
            namespace=namespace,
            on_conflict=on_conflict,
            **check_options(fields, MemoryFields),
        )
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        self._same_namespace(arguments.pop("namespace", None))
        chosen = arguments.pop("on_conflict", "error")
        ids = await in_thread(self._store.remember, [arguments], chosen)
        return ids[0]

    async def remember_many(
        self,
        memories: Iterable[NewMemory | Mapping[str, Any]],
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,  # noqa: ARG002
        on_conflict: OnConflict | None = None,
        batch_size: int | None = None,  # noqa: ARG002
    ) -> list[int]:
        """Store many memories in the copy, all of them or none; the arguments are those of `AsyncClient`.

        Returns:
            The ids, in the order of the memories.

        Raises:
            InvalidInput: As for `remember`, and so are the others.
        """
        self._same_namespace(namespace)
        checked = await in_thread(list, self._checked(memories))
        return await in_thread(self._store.remember, checked, on_conflict or "error")

    async def update(self, id: int, *, content: str | None = None, **fields: Unpack[UpdatableFields]) -> bool:
        """Change fields of one memory in the copy, and queue it; None keeps a field, an empty text clears it.

        Returns:
            True if anything changed.

        Raises:
            NotFound: The copy has no such memory.
            InvalidInput: As for `remember`, and so are the others.
        """
        arguments = checked_arguments(id=id, content=content, **check_options(fields, UpdatableFields))
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        return await in_thread(self._store.update, arguments)

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
        """Close a fact in the copy, and queue that; the arguments are those of `AsyncClient.supersede`.

        Returns:
            The successor's id.

        Raises:
            NotFound: The copy has no such memory.
            InvalidInput: Neither or both of `content` and `successor`; it is superseded already.
        """
        arguments = checked_arguments(
            id=id,
            content=content,
            successor=successor,
            occurred_at=occurred_at,
            metadata=metadata,
            importance=importance,
            origin=origin,
        )
        return await in_thread(self._store.supersede, arguments)

    async def forget(self, id: int) -> bool:
        """Forget one memory in the copy, and queue that.

        Returns:
            True if it was there.
        """
        return await in_thread(self._store.forget, int(checked_arguments(id=id)["id"]))

    def _checked(self, memories: Iterable[NewMemory | Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
        for memory in memories:
            checked = detect(new_memory(memory))
            self._same_namespace(checked.pop("namespace", None))
            times = {name: value for name, value in checked.items() if name in TIMES}
            yield {**checked, **checked_arguments(**times)}

    def _same_namespace(self, namespace: str | None) -> None:
        if namespace is not None and namespace != self._store.status().namespace:
            raise InvalidInput(
                f"the offline copy is not of namespace {namespace!r}",
                hint="A copy is of one namespace: leave namespace unset.",
            )


_OF_RECALL = frozenset(
    {"vector", "timeframe", "settings", "rerank", "rerank_top", "rerank_timeout"}
    | {"hnsw_ef_search", "hnsw_iterative_scan"}
)


def _check_query(query: str, k: int) -> None:
    if len(query) > _LONGEST_QUERY:
        raise TooLarge(f"the query has {len(query)} characters; {_LONGEST_QUERY} is the limit")
    if not 1 <= k <= _MOST:
        raise InvalidInput(f"k must be between 1 and {_MOST}, not {k}")
