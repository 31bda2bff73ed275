"""The asynchronous client: typed calls of pgrecall's SQL functions."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, Self, Unpack

from pgrecall.arguments import (
    Vector,
    as_int,
    as_seconds,
    check_options,
    drop_none,
    hnsw_settings,
    settings_argument,
)
from pgrecall.concurrency import in_thread, in_time
from pgrecall.errors import PgrecallError
from pgrecall.languages import AUTO, UNDETECTED, detect, detect_batch
from pgrecall.models import (
    Erasure,
    ExplainResult,
    Explanation,
    FactHit,
    FactsResult,
    IterativeScan,
    NewMemory,
    OnConflict,
    RecalledMemory,
    RecallResult,
    TimelineMemory,
    TimelineResult,
    Validity,
)
from pgrecall.new_memories import batches
from pgrecall.options import MemoryFields, RecallFilters, RecallOptions, UpdatableFields
from pgrecall.query.embedding import EMBED_SECONDS, Embed, vector_request
from pgrecall.query.reranking import second_stage

from .admin import AsyncAdmin
from .curation import AsyncCurator
from .database import AsyncDatabase
from .queries import AsyncQueries
from .transfer import AsyncTransfer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from types import TracebackType

    from pgrecall.dsn import Target
    from pgrecall.metrics import ClientMetrics
    from pgrecall.models import EmbeddingModel
    from pgrecall.query.expansion import Expand
    from pgrecall.query.reranking import Reranker
    from pgrecall.query.timeframe import Timeframe

_log = logging.getLogger("pgrecall")


class AsyncClient:
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

    Attributes:
        admin: Status, findings, failed embeddings and stored settings.
        curation: Duplicates, and decisions about memories that contradict or refine older ones.
        transfer: Export and import.
    """

    def __init__(
        self,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        pool_min: int = 1,
        pool_max: int = 4,
        pool_timeout: float = 30.0,
        metrics: ClientMetrics | None = None,
    ) -> None:
        self._database = AsyncDatabase(
            dsn,
            namespace=namespace,
            model=model,
            pool_min=pool_min,
            pool_max=pool_max,
            pool_timeout=pool_timeout,
        )
        self._queries = AsyncQueries(self._database, metrics)
        self._metrics = metrics
        self.admin = AsyncAdmin(self._database)
        self.curation = AsyncCurator(self._database)
        self.transfer = AsyncTransfer(self._database)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> Target:
        """Connect and compare versions now instead of at the first call; later calls do nothing.

        Returns:
            The connection string, namespace and model the client works with.

        Raises:
            InvalidInput: The settings file is not as it should be, or names a setting that does not exist.
        """
        return await self._database.open()

    async def close(self) -> None:
        """Close every connection. The client cannot be used afterwards."""
        await self._database.close()

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
            on_conflict: What to do if the external id is there: 'error', 'keep' or 'update'.
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
        arguments = drop_none(
            content=content,
            namespace=await self._database.namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
            **check_options(fields, MemoryFields),
        )
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        return int(await self._database.value("public.remember", arguments))

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
            on_conflict: What to do if an external id is there: 'error', 'keep' or 'update'.
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
        target = drop_none(
            namespace=await self._database.namespace(namespace),
            create_namespace=create_namespace,
            on_conflict=on_conflict,
        )
        ids: list[int] = []
        try:
            for batch in batches(memories, as_int("batch_size", batch_size)):
                if UNDETECTED in batch:
                    batch = await in_thread(detect_batch, batch)
                rows = await self._database.rows("public.remember_many", {"memories": batch, **target})
                ids.extend(int(row["remember_many"]) for row in rows)
        except PgrecallError as error:
            error.stored = tuple(ids)
            raise
        return ids

    async def update(self, id: int, *, content: str | None = None, **fields: Unpack[UpdatableFields]) -> bool:
        """Change fields of one memory; None keeps a field, an empty text or list clears it.

        Args:
            id: The memory.
            content: The new text.
            **fields: title, category, tags, metadata and so on: see `UpdatableFields`. New metadata takes the
                place of the old.

        Returns:
            True if anything changed.

        Raises:
            NotFound: There is no such memory.
            InvalidInput: As for `remember`.
            TooLarge: The content is too long.
            UnknownLanguage: There is no such text-search configuration.
        """
        arguments = drop_none(id=id, content=content, **check_options(fields, UpdatableFields))
        if arguments.get("language") == AUTO:
            arguments = await in_thread(detect, arguments)
        return bool(await self._database.value("public.update_memory", arguments))

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
        arguments = drop_none(
            id=id,
            content=content,
            successor=successor,
            occurred_at=occurred_at,
            metadata=metadata,
            importance=importance,
        )
        return int(await self._database.value("public.supersede", arguments))

    async def forget(self, id: int) -> bool:
        """Forget one memory: no recall finds it any more, its row stays as a tombstone.

        Returns:
            True if it was there.
        """
        return bool(await self._database.value("public.forget", drop_none(id=id)))

    async def erase(self, id: int, *, dry_run: bool = False) -> Erasure:
        """Delete a memory and all that was derived from it, for good; a forgotten one too.

        `forget` is the one that can be taken back. What files, backups and copies keep is in docs/erasure.md.

        Args:
            id: The memory.
            dry_run: True tells what would go, and changes nothing.

        Returns:
            The receipt: how many rows of each table went.

        Raises:
            NotFound: There is no such memory.
            PermissionDenied: It may only be read.
        """
        rows = await self._database.rows("public.erase", drop_none(id=id, dry_run=dry_run))
        return Erasure(**rows[0])

    async def erase_namespace(self, namespace: str, *, dry_run: bool = False) -> Erasure:
        """Delete a namespace with all its memories, grants and rules, for good.

        Args:
            namespace: Its name.
            dry_run: True tells what would go, and changes nothing.

        Returns:
            The receipt: how many rows of each table went. It has the namespace's id, not its name.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role does not see every namespace.
        """
        rows = await self._database.rows(
            "public.erase_namespace", drop_none(namespace=namespace, dry_run=dry_run)
        )
        return Erasure(**rows[0], memory_id=None)

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
        **options: Unpack[RecallOptions],
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
            settings: pgrecall's settings for this call, such as {'rrf_k': 10}. An unknown name is refused.
            rerank: Puts the best of the fused list in its own order; it is given no sensitive memory.
            rerank_top: How many of the fused list it is given at most, 1 to 1000.
            rerank_timeout: Seconds until the fused order counts instead and `notice` says so, above 0 to 600.
            expand: What is added to the question: 'aliases', 'llm' (what is kept), or an `LlmExpander`, which
                is asked, unless the question is private; None takes the database's setting.
            **options: namespace, tags_any, since, strategy, profile and so on: see `RecallOptions`.

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
        arguments = drop_none(
            query=query, k=k if stage is None else stage.depth(count), **check_options(options, RecallOptions)
        )
        chosen = hnsw_settings(hnsw_ef_search, hnsw_iterative_scan)
        request = vector_request(vector, embed, private, embed_timeout)
        expanded = await self._queries.expand(
            query, expand, options.get("namespace"), is_private=request.is_private
        )
        arguments |= settings_argument(settings, expanded.setting)
        began = monotonic()
        rows, used = await self._queries.rows(
            "public.recall", query, arguments, request, timeframe=timeframe, settings=chosen
        )
        result = RecallResult(
            query,
            tuple(map(RecalledMemory.from_row, rows)),
            ("lexical", "graph") if used.vector is None else ("lexical", "dense", "graph"),
            expanded.with_notice(used.notice),
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
        arguments = drop_none(topic=topic, k=k, **check_options(filters, RecallFilters))
        request = vector_request(vector, embed, private, embed_timeout)
        rows, used = await self._queries.rows(
            "public.recall_timeline", topic, arguments, request, timeframe=timeframe
        )
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
        arguments = drop_none(
            query=query,
            k=k,
            namespace=namespace,
            as_of=as_of,
            labels=labels,
            concepts=concepts,
            include_superseded=include_superseded,
        )
        request = vector_request(vector, embed, private, embed_timeout)
        rows, used = await self._queries.rows("public.recall_facts", query, arguments, request)
        return FactsResult(query, tuple(map(FactHit.from_row, rows)), used.notice)

    async def briefing(
        self,
        query: str = "recent conversations and key facts",
        *,
        k: int = 10,
        max_chars: int = 2000,
        per_item: int = 200,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float = EMBED_SECONDS,
        namespace: str | None = None,
        categories: Iterable[str] | None = None,
        tags_any: Iterable[str] | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        include_sensitive: bool | None = None,
        timeout: float = 3.0,
    ) -> str:
        """Return what memory knows about a question, as text for an agent's system prompt; never fail for it.

        Facts and memories come as XML under a line that says that they are data. Nothing in a memory can
        break out of its element or hide in it. Whatever goes wrong, the connection or the model above all,
        the text is empty and the logger `pgrecall` has a warning: an agent without its memories is better
        than none.

        Args:
            query: The question.
            k: How many memories at most, 1 to 1000.
            max_chars: Characters of the whole text at most, 200 to 100,000.
            per_item: Characters of each memory at most, 20 to 10,000.
            vector: The query's embedding, if the caller has it; `embed` is then not looked at.
            embed: As for `recall`, and so are the next two.
            private: Whether the question may not be stored.
            embed_timeout: Seconds to wait for an embedder.
            namespace: The namespace to search.
            categories: Only memories of these categories.
            tags_any: Only memories with one of these tags.
            since: Only memories from then on.
            until: Only memories before then.
            include_sensitive: True tells sensitive memories as well.
            timeout: Seconds for everything, from connecting to the answer. The first call of a process also
                loads the model, which may take longer; loading goes on, and the next call finds it loaded.

        Returns:
            The text; empty if nothing was found, and on every failure.

        Raises:
            InvalidInput: An argument of the wrong type, a timeout that is not above 0.
            InvalidVector: The vector is empty or not finite.
        """
        arguments = drop_none(
            query=query,
            max_chars=max_chars,
            per_item=per_item,
            k=k,
            namespace=namespace,
            categories=categories,
            tags_any=tags_any,
            since=since,
            until=until,
            include_sensitive=include_sensitive,
        )
        request = vector_request(vector, embed, private, embed_timeout)
        limit = as_seconds("timeout", timeout)
        try:
            rows, _ = await in_time(
                limit, self._queries.rows, "public.recall_briefing", query, arguments, request
            )
            return str(next(iter(rows[0].values())))
        except Exception as error:  # noqa: BLE001 - a model may raise anything, and say the query
            _log.warning(
                "no briefing: %s, SQLSTATE %s",
                type(error).__name__,
                error.sqlstate if isinstance(error, PgrecallError) else None,
            )
            return ""

    async def explain(
        self,
        query: str,
        *,
        ids: Iterable[int] | None = None,
        k: int | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float = EMBED_SECONDS,
        timeframe: Timeframe | None = None,
        hnsw_ef_search: int | None = None,
        hnsw_iterative_scan: IterativeScan | None = None,
        settings: Mapping[str, str | float] | None = None,
        expand: Expand = None,
        **options: Unpack[RecallOptions],
    ) -> ExplainResult:
        """Say why `recall` ranks memories as it does, or why it does not return them.

        The numbers are those of the recall with the same arguments; a reranker comes after it and has no part
        in them.

        Args:
            query: The question.
            ids: The memories to explain, at most 1,000, returned or not; None explains those returned.
            k: As for `recall`, and so are all others.
            vector: The query's embedding, if the caller has it.
            embed: As for `recall`, and so are the next two.
            private: Whether the question may not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories of that time, and those that speak of it.
            hnsw_ef_search: pgvector's candidate list for this call.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call, such as {'rrf_k': 10}. An unknown name is refused.
            expand: As for `recall`.
            **options: namespace, tags_any, since, strategy, profile and so on: see `RecallOptions`.

        Returns:
            An explanation a memory: the returned first, in their order, then the others by id.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
            TooLarge: More than 1,000 ids, or a query of over 16,384 characters.
        """
        arguments = drop_none(query=query, ids=ids, k=k, **check_options(options, RecallOptions))
        chosen = hnsw_settings(hnsw_ef_search, hnsw_iterative_scan)
        request = vector_request(vector, embed, private, embed_timeout)
        expanded = await self._queries.expand(
            query, expand, options.get("namespace"), is_private=request.is_private
        )
        arguments |= settings_argument(settings, expanded.setting)
        rows, used = await self._queries.rows(
            "public.recall_explain", query, arguments, request, timeframe=timeframe, settings=chosen
        )
        return ExplainResult(query, tuple(map(Explanation.from_row, rows)), expanded.with_notice(used.notice))

    async def validity(self, ids: Iterable[int], *, namespace: str | None = None) -> dict[int, Validity]:
        """Return when memories hold, by id.

        Args:
            ids: The memories; those that are forgotten or in another namespace are left out.
            namespace: Their namespace.

        Raises:
            InvalidInput: An id that is no whole number.
        """
        arguments = drop_none(ids=ids, namespace=await self._database.namespace(namespace))
        rows = await self._database.rows("pgrecall.memory_validity", arguments)
        return {row["id"]: Validity(**row) for row in rows}

    async def is_shown(
        self,
        id: int,
        *,
        namespace: str | None = None,
        any_namespace: bool = False,
        include_sensitive: bool = True,
    ) -> bool:
        """Return whether a memory is there for whom these things hold; a forgotten one is not.

        Args:
            id: The memory.
            namespace: The namespace that it must be in.
            any_namespace: True takes one of any namespace.
            include_sensitive: False takes no sensitive one.
        """
        arguments = drop_none(id=id, any_namespace=any_namespace, include_sensitive=include_sensitive)
        arguments |= drop_none(namespace=await self._database.namespace(namespace))
        return bool(await self._database.value("pgrecall.is_shown", arguments))

    async def active_model(self) -> EmbeddingModel | None:
        """Return the model the database's embeddings are made with; it is cached for a minute."""
        return await self._queries.active_model()
