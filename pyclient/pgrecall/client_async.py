"""The asynchronous client: typed calls of pgrecall's SQL functions over a pool of connections."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from .arguments import Vector, batches, given, options, tuning, whole
from .connecting import in_thread
from .curating_async import AsyncCurating
from .embedding import EMBED_SECONDS, wanted_vector
from .erasing_async import AsyncErasing
from .errors import PgrecallError
from .expansion import wanted_expansion
from .languages import AUTO, UNDETECTED, detected, detected_batch
from .models import (
    FactHit,
    FactsResult,
    IterativeScan,
    NewMemory,
    OnConflict,
    RecalledMemory,
    RecallResult,
    TimelineMemory,
    TimelineResult,
)
from .operating_async import AsyncOperating
from .options import Embed, Expand, MemoryFields, RecallFilters, RecallOptions, RevisableFields
from .querying_async import AsyncQuerying
from .reranking import second_stage
from .transferring_async import AsyncTransferring

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from .reranking import Reranker
    from .timeframes import Timeframe


class AsyncClient(AsyncCurating, AsyncErasing, AsyncOperating, AsyncQuerying, AsyncTransferring):
    """A client of one database. Open it with `async with`, or call `close` when done.

    It connects at the first call, and compares the database's SQL code with the package's then. One client
    may be used by many tasks at once. Settings of the database that environment and settings file give
    (`pgrecall.config`) go with each of its calls. An example::

        async with AsyncClient() as memory:
            await memory.remember("Priya prefers mountains to beaches.", tags=["Priya"])
            for found in await memory.recall("What does Priya like?"):
                print(found.score, found.content)

    Every method raises the classes of `pgrecall.errors`: `ConnectionFailed`, `SchemaMismatch`,
    `PermissionDenied` and `TimedOut` everywhere, the others where they are named.

    Args:
        dsn: A libpq connection string or URI; None takes the configured one (`pgrecall.config`), else the
            embedded server, started if need be.
        namespace: The namespace of calls that name none; None takes the configured one, else the database
            decides.
        model: The model to embed queries with, a name or a folder; None takes the configured one, else the
            active one.
        pool_min: Connections kept open.
        pool_max: Connections opened at most.
        pool_timeout: Seconds a call waits for a free connection.
        metrics: What counts recalls for Prometheus (`pgrecall.metrics`); None counts nothing.
    """

    async def remember(
        self,
        content: str,
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        **fields: Unpack[MemoryFields],
    ) -> int:
        """Store one memory.

        Args:
            content: The text, not blank, at most 262,144 bytes.
            namespace: Where it goes.
            create_namespace: True makes the namespace if it is not there.
            on_conflict: What to do if the external id is there: 'error', 'keep' or 'revise'.
            **fields: title, category, tags, importance, occurred_at and so on: see `MemoryFields`.

        Returns:
            The memory's id.

        Raises:
            InvalidInput: Blank content, an importance outside 0 to 1, a NUL in a text.
            TooLarge: The content is too long.
            UnknownNamespace: It does not exist and was not to be made.
            UnknownLanguage: There is no such text-search configuration.
            Conflict: The external id belongs to another text.
        """
        arguments = given(
            content=content,
            namespace=await self._namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
            **options(fields, MemoryFields),
        )
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detected, arguments)
        return int(await self._value("public.remember", arguments))

    async def remember_many(
        self,
        memories: Iterable[NewMemory | Mapping[str, Any]],
        *,
        namespace: str | None = None,
        create_namespace: bool | None = None,
        on_conflict: OnConflict | None = None,
        batch_size: int = 500,
    ) -> list[int]:
        """Store many memories; any iterable will do, and it is read as it is stored.

        Each batch is one statement and one transaction: it is stored whole or not at all. When one is
        refused, the batches before it stay; the error's `stored` has their ids.

        Args:
            memories: `NewMemory` objects, or mappings with its fields as keys.
            namespace: Where those go that name none.
            create_namespace: True makes namespaces that are not there.
            on_conflict: What to do if an external id is there: 'error', 'keep' or 'revise'.
            batch_size: Memories a batch; a batch also ends at 4 MiB.

        Returns:
            The ids, in the order of the memories.

        Raises:
            InvalidInput: As for `remember`; the message says which memory, counted from 1.
            TooLarge: A content is over 262,144 bytes.
            UnknownNamespace: A namespace does not exist and was not to be made.
            UnknownLanguage: There is no such text-search configuration.
            Conflict: An external id belongs to another text.
        """
        target = given(
            namespace=await self._namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
        )
        ids: list[int] = []
        try:
            for batch in batches(memories, whole("batch_size", batch_size)):
                if UNDETECTED in batch:
                    batch = await in_thread(detected_batch, batch)
                rows = await self._rows("public.remember_many", {"memories": batch, **target})
                ids.extend(int(row["remember_many"]) for row in rows)
        except PgrecallError as error:
            error.stored = tuple(ids)
            raise
        return ids

    async def revise(self, id: int, *, content: str | None = None, **fields: Unpack[RevisableFields]) -> bool:
        """Change fields of one memory; None keeps a field, an empty text or list clears it.

        Args:
            id: The memory.
            content: The new text.
            **fields: title, category, tags, metadata and so on: see `RevisableFields`. New metadata takes the
                place of the old.

        Returns:
            True if anything changed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: As for `remember`.
            TooLarge: The content is too long.
            UnknownLanguage: There is no such text-search configuration.
        """
        arguments = given(id=id, content=content, **options(fields, RevisableFields))
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detected, arguments)
        return bool(await self._value("public.revise", arguments))

    async def supersede(
        self,
        id: int,
        content: str | None = None,
        *,
        successor: int | None = None,
        occurred_at: datetime | None = None,
        metadata: Mapping[str, Any] | None = None,
        importance: float | None = None,
    ) -> int:
        """Close a fact's validity and point to what holds now. The old memory stays.

        Args:
            id: The memory that no longer holds.
            content: The text that holds now; a new memory is made of it.
            successor: An existing memory that holds now, instead of `content`.
            occurred_at: When it changed.
            metadata: The new memory's JSON object.
            importance: The new memory's importance, 0 to 1.

        Returns:
            The successor's id.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: Neither or both of `content` and `successor`; otherwise as for `remember`.
        """
        arguments = given(
            id=id,
            content=content,
            successor=successor,
            occurred_at=occurred_at,
            metadata=metadata,
            importance=importance,
        )
        return int(await self._value("public.supersede", arguments))

    async def forget(self, id: int) -> bool:
        """Forget one memory: no recall finds it any more, its row stays as a tombstone.

        Returns:
            True if it was there.
        """
        return bool(await self._value("public.forget", given(id=id)))

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float = EMBED_SECONDS,
        timeframe: Timeframe | None = None,
        hnsw_ef_search: int | None = None,
        hnsw_iterative_scan: IterativeScan | None = None,
        settings: Mapping[str, str | float] | None = None,
        rerank: Reranker | None = None,
        rerank_top: int = 30,
        rerank_timeout: float = 2.0,
        expand: Expand = None,
        **wanted: Unpack[RecallOptions],
    ) -> RecallResult:
        """Find the memories most relevant to a question.

        Args:
            query: The question.
            k: How many memories at most, 1 to 1000; None takes the setting, 10 by default.
            vector: The query's embedding, if the caller has it; `embed` is then not looked at.
            embed: True embeds the query here, loading the model from a hub if need be, or fails; 'daemon' has
                an embedder do it; None takes the active model if it is on this machine, else an embedder that
                is alive; False never does. Without an embedding it recalls by words and concepts, and says
                so in the result's `notice`.
            private: True has no embedder embed the query, so that it is not stored, not even for a moment.
            embed_timeout: Seconds to wait for an embedder, above 0 to 60.
            timeframe: Only memories of that time, and those that speak of it: a phrase such as 'last week' or
                'in March 2026', in the days of the connection's time zone, or (from, before).
            hnsw_ef_search: pgvector's candidate list for this call, 1 to 1000.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call by full name, such as {'pgrecall.rrf_k': 10}.
            rerank: Puts the best of the fused list in its own order; it is given no sensitive memory.
            rerank_top: How many of the fused list it is given at most, 1 to 1000.
            rerank_timeout: Seconds until the fused order counts instead and `notice` says so, above 0 to 600.
            expand: What is added to the question: 'aliases', 'llm' (what is kept), or an `LlmExpander`, which
                is asked, unless the question is private; None takes the database's setting.
            **wanted: namespace, tags_any, since, strategy, profile and so on: see `RecallOptions`.

        Returns:
            The memories, best first. An unknown namespace has none.

        Raises:
            InvalidInput: A k outside 1 to 1000, a bad setting, a NUL in a text, a timeframe that is not
                understood.
            InvalidVector: The vector is empty or not finite; the server refuses a wrong dimension or all
                zeros.
            TooLarge: The query is over 16,384 characters.
            EmbeddingUnavailable: `embed=True` and no model.
        """
        stage = second_stage(rerank, rerank_top, rerank_timeout)
        count = 10 if k is None else k  # of memories, where a stage has to know
        arguments = given(
            query=query, k=k if stage is None else stage.depth(count), **options(wanted, RecallOptions)
        )
        chosen = tuning(settings, hnsw_ef_search, hnsw_iterative_scan)
        asked = wanted_vector(vector, embed, private, embed_timeout)
        wanted_expansion(expand)
        expanded = await self._expanded(query, expand, wanted.get("namespace"), is_private=asked.is_private)
        arguments |= expanded.arguments
        began = monotonic()
        rows, used = await self._recalled("public.recall", arguments, query, asked, timeframe, chosen)
        result = RecallResult(
            query,
            tuple(map(RecalledMemory.from_row, rows)),
            ("lexical", "graph") if used.vector is None else ("lexical", "dense", "graph"),
            expanded.noticed(used.notice),
            expanded.expansion,
        )
        if self._metrics is not None:
            self._metrics.recalled(result, monotonic() - began, is_dated=timeframe is not None)
        return result if stage is None else await in_thread(stage.apply, result, count)

    async def timeline(
        self,
        topic: str,
        *,
        k: int = 20,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float = EMBED_SECONDS,
        timeframe: Timeframe | None = None,
        **filters: Unpack[RecallFilters],
    ) -> TimelineResult:
        """Find the memories most relevant to a topic, and return them in the order of their time.

        Args:
            topic: The topic.
            k: How many memories at most, 1 to 1000.
            vector: As for `recall`, and so are the next four.
            embed: Who embeds the topic.
            private: Whether the topic may not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories of that time, and those that speak of it.
            **filters: namespace, tags_any, since, as_of and so on: see `RecallFilters`.

        Returns:
            The memories, the earliest first, each with the gap to the one before.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
        """
        arguments = given(topic=topic, k=k, **options(filters, RecallFilters))
        asked = wanted_vector(vector, embed, private, embed_timeout)
        rows, used = await self._recalled("public.recall_timeline", arguments, topic, asked, timeframe)
        return TimelineResult(topic, tuple(TimelineMemory(**row) for row in rows), used.notice)

    async def recall_facts(
        self,
        query: str,
        *,
        k: int | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float = EMBED_SECONDS,
        namespace: str | None = None,
        as_of: datetime | None = None,
        labels: Iterable[str] | None = None,
        concepts: Iterable[str] | None = None,
        include_superseded: bool | None = None,
    ) -> FactsResult:
        """Find the facts that answer a question: relationships that hold, with the memories that state them.

        Args:
            query: The question.
            k: How many facts at most, 1 to 1000; None takes the database's setting.
            vector: As for `recall`, and so are the next three.
            embed: Who embeds the query.
            private: Whether the query may not be stored.
            embed_timeout: Seconds to wait for an embedder.
            namespace: The namespace to search.
            as_of: What was known and held at that time; None is what holds now.
            labels: Only facts with one of these labels.
            concepts: Only facts of one of these concepts, by any of their names.
            include_superseded: True also returns what does not hold any more.

        Returns:
            The facts, best first.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
        """
        arguments = given(
            query=query,
            k=k,
            namespace=namespace,
            as_of=as_of,
            labels=labels,
            concepts=concepts,
            include_superseded=include_superseded,
        )
        asked = wanted_vector(vector, embed, private, embed_timeout)
        rows, used = await self._recalled("public.recall_facts", arguments, query, asked)
        return FactsResult(query, tuple(map(FactHit.from_row, rows)), used.notice)
