"""The asynchronous client: typed calls of pgrecall's SQL functions."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Unpack

from pgrecall.arguments import Vector, as_seconds
from pgrecall.concurrency import in_thread
from pgrecall.errors import PgrecallError
from pgrecall.filters import SearchFilters, split_filter
from pgrecall.models import (
    ExplainResult,
    Explanation,
    FactHit,
    FactsResult,
    IterativeScan,
    RecalledMemory,
    RecallResult,
    TimelineMemory,
    TimelineResult,
)
from pgrecall.options import RecallOptions
from pgrecall.query.embedding import Embed, VectorRequest
from pgrecall.query.legs import legs_of
from pgrecall.query.preparing import prepare
from pgrecall.query.reranking import second_stage

from .connected import AsyncConnected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from pgrecall.filters import Timeframe
    from pgrecall.models import EmbeddingModel
    from pgrecall.query.expansion import Expand
    from pgrecall.query.reranking import Reranker

_log = logging.getLogger("pgrecall")


class AsyncClient(AsyncConnected):
    """A client of one database. Open it with `async with`, or call `close` when done.

    The first call connects and checks that the database's SQL code matches the package. Many tasks may share
    one client. After a fork, each process connects anew. Database settings from environment and settings file
    (`pgrecall.config`) apply to each of its calls. An example::

        async with AsyncClient() as memory:
            await memory.remember("Priya prefers mountains to beaches.", tags=["Priya"])
            for found in await memory.recall("What does Priya like?"):
                print(found.score, found.content)

    Every method raises the classes of `pgrecall.errors`: `ConnectionFailed`, `SchemaMismatch`,
    `PermissionDenied` and `TimedOut` everywhere, the others where they are listed.

    Args:
        dsn: A libpq connection string or URI; None takes the configured one (`pgrecall.config`), else the
            embedded server, which is started if necessary.
        namespace: The default namespace of calls; None takes the configured one, else the database's.
        model: The model to embed queries with, a name or a folder; None takes the configured one, else the
            active one.
        pool_min: Connections kept open.
        pool_max: Connections opened at most.
        pool_timeout: Seconds a call waits for a free connection, if the server can be reached.
        strict: True raises UnknownNamespace where a result is empty because there is no such namespace; else
            `notice` of the result says so.
        metrics: Prometheus metrics (`pgrecall.metrics`); None disables them.

    Attributes:
        admin: Status, findings, failed embeddings and stored settings.
        curation: Duplicates, and decisions about memories that contradict or refine older ones.
        learning: Feedback on results, and the settings that a namespace learns from it.
        pages: Standing answers of a namespace, which the daemon keeps up to date.
        transfer: Export and import.
    """

    async def recall(
        self,
        query: str,
        *,
        k: int | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float | None = None,
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
            k: Maximum number of memories, 1 to 1000; None takes the setting, 10 by default.
            vector: The embedding of the query; `embed` is then ignored.
            embed: True embeds the query in this process, downloading the model if necessary, or fails;
                'daemon' asks an embedder daemon; None uses the model if this process has loaded it, else
                asks a live embedder, else loads the model if it is on this machine; False never embeds.
                Without an embedding, recall uses words and concepts, and `notice` of the result gives the
                reason.
            private: True never sends the query to an embedder, so that it is not stored even briefly.
            embed_timeout: Seconds to wait for an embedder, at most 60; None takes the setting `embed_wait`.
            timeframe: Only memories from or about that time: a phrase such as 'last week' or 'in March 2026',
                interpreted in the time zone of the connection, or a pair (from, before).
            hnsw_ef_search: pgvector's candidate list for this call, 1 to 1000.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call, such as {'rrf_k': 10}. An unknown name is refused.
            rerank: Reorders the best memories of the fused list. It never receives sensitive memories.
            rerank_top: Maximum number of memories to rerank, 1 to 1000.
            rerank_timeout: Seconds, above 0 to 600, after which recall returns the fused order with a notice.
            expand: Query expansion: 'aliases', 'llm' (stored expansions), or an `LlmExpander`, called
                unless the query is private; None takes the database's setting.
            **options: namespaces, filter, since, strategy and so on: see `RecallOptions` and `Filter`.

        Returns:
            The memories, best first; none for an unknown namespace, as `notice` then says.

        Raises:
            InvalidInput: A k outside 1 to 1000, a bad setting, a NUL in a text, a timeframe that cannot be
                parsed.
            InvalidVector: The vector is empty or not finite; the server refuses a wrong dimension or all
                zeros.
            TooLarge: The query is over 16,384 characters.
            EmbeddingUnavailable: `embed=True`, but no model is available.
        """
        stage = second_stage(rerank, rerank_top, rerank_timeout)
        count = 0 if k is None else k
        if k is None and stage is not None:  # which needs a number
            count = await self._queries.default_k(settings, options)
        filter, rest = split_filter(options, RecallOptions, timeframe=timeframe)
        prepared = prepare(
            "public.recall",
            query,
            {
                "query": query,
                "k": k if stage is None else stage.depth(count),
                **rest,
            },
            VectorRequest.of(vector, embed, private, embed_timeout),
            filter=filter,
            expand=expand,
            settings=settings,
            hnsw_ef_search=hnsw_ef_search,
            hnsw_iterative_scan=hnsw_iterative_scan,
        )
        began = monotonic()
        answer = await self._queries.answer(prepared)
        result = RecallResult(
            query,
            tuple(map(RecalledMemory.from_row, answer.rows)),
            legs_of(
                answer.rows[0]["chosen_strategy"] if answer.rows else None,
                self._queries.asked_settings(settings, options),
                query,
                has_vector=answer.has_vector,
            ),
            answer.notice,
            answer.expansion,
        )
        if self._metrics is not None:
            self._metrics.recalled(result, monotonic() - began, is_dated=filter.timeframe is not None)
        return result if stage is None else await in_thread(stage.apply, result, count)

    async def timeline(
        self,
        topic: str,
        *,
        k: int = 20,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float | None = None,
        timeframe: Timeframe | None = None,
        **filters: Unpack[SearchFilters],
    ) -> TimelineResult:
        """Find the memories most relevant to a topic, and return them in chronological order.

        Args:
            topic: The topic.
            k: Maximum number of memories, 1 to 1000.
            vector: As for `recall`, like the next four.
            embed: What embeds the topic.
            private: Whether the topic must not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories from or about that time.
            **filters: namespace, namespaces, filter, since and so on: see `SearchFilters` and `Filter`.

        Returns:
            The memories, earliest first, each with the gap to the previous one.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
        """
        filter, rest = split_filter(filters, SearchFilters, timeframe=timeframe)
        prepared = prepare(
            "public.recall_timeline",
            topic,
            {"topic": topic, "k": k, **rest},
            VectorRequest.of(vector, embed, private, embed_timeout),
            filter=filter,
        )
        answer = await self._queries.answer(prepared)
        return TimelineResult(topic, tuple(TimelineMemory.of(row) for row in answer.rows), answer.notice)

    async def recall_facts(
        self,
        query: str,
        *,
        k: int | None = None,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float | None = None,
        namespace: str | None = None,
        namespaces: Iterable[str] | None = None,
        as_of: datetime | None = None,
        labels: Iterable[str] | None = None,
        concepts: Iterable[str] | None = None,
        include_superseded: bool | None = None,
    ) -> FactsResult:
        """Find the facts that answer a question: valid relationships, with the memories that state them.

        Args:
            query: The question.
            k: Maximum number of facts, 1 to 1000; None takes the database's setting.
            vector: As for `recall`, like the next three.
            embed: What embeds the query.
            private: Whether the query must not be stored.
            embed_timeout: Seconds to wait for an embedder.
            namespace: The namespace to search.
            namespaces: Several namespaces to search at once, instead of `namespace`.
            as_of: Facts known and valid at that time; None is now.
            labels: Only facts with one of these labels.
            concepts: Only facts about one of these concepts, by any of their names.
            include_superseded: True includes facts that are no longer valid.

        Returns:
            The facts, best first.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
        """
        prepared = prepare(
            "public.recall_facts",
            query,
            {
                "query": query,
                "k": k,
                "namespace": namespace,
                "namespaces": namespaces,
                "as_of": as_of,
                "labels": labels,
                "concepts": concepts,
                "include_superseded": include_superseded,
            },
            VectorRequest.of(vector, embed, private, embed_timeout),
        )
        answer = await self._queries.answer(prepared)
        return FactsResult(query, tuple(map(FactHit.from_row, answer.rows)), answer.notice)

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
        embed_timeout: float | None = None,
        timeframe: Timeframe | None = None,
        timeout: float = 3.0,
        **filters: Unpack[SearchFilters],
    ) -> str:
        """Return facts and memories about a question as text for an agent's system prompt.

        The text is XML, preceded by a line that declares it to be data. The text of a memory is escaped, so
        it cannot break out of its element or hide in it. On any error, such as a lost connection, the text is
        empty and the logger `pgrecall` gets a warning: an agent without memories is better than no agent.

        Args:
            query: The question.
            k: Maximum number of memories, 1 to 1000.
            max_chars: Maximum length of the text in characters, 200 to 100,000.
            per_item: Maximum length of each memory in characters, 20 to 10,000.
            vector: The embedding of the query; `embed` is then ignored.
            embed: As for `recall`, like the next two.
            private: Whether the question must not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories from or about that time.
            timeout: Seconds for the whole call, connecting included. The first call of a process also loads
                the model, which may take longer; loading then continues in the background.
            **filters: namespace, namespaces, filter, tags_any, since and so on: see `SearchFilters`,
                `Filter`. Without `include_sensitive`, sensitive memories are left out.

        Returns:
            The text; empty if nothing matches or on any error.

        Raises:
            InvalidInput: An argument of the wrong type, a timeout that is not above 0.
            InvalidVector: The vector is empty or not finite.
        """
        filter, rest = split_filter(filters, SearchFilters, timeframe=timeframe)
        prepared = prepare(
            "public.recall_briefing",
            query,
            {
                "query": query,
                "max_chars": max_chars,
                "per_item": per_item,
                "k": k,
                **rest,
            },
            VectorRequest.of(vector, embed, private, embed_timeout),
            filter=filter,
        )
        limit = as_seconds("timeout", timeout)
        try:
            answer = await self._database.in_time(limit, self._queries.answer, prepared)
            return str(next(iter(answer.rows[0].values())))
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
        embed_timeout: float | None = None,
        timeframe: Timeframe | None = None,
        hnsw_ef_search: int | None = None,
        hnsw_iterative_scan: IterativeScan | None = None,
        settings: Mapping[str, str | float] | None = None,
        expand: Expand = None,
        **options: Unpack[RecallOptions],
    ) -> ExplainResult:
        """Explain why `recall` ranks memories as it does, or why it does not return them.

        The numbers are those of a recall with the same arguments. A reranker runs after it and is not
        included.

        Args:
            query: The question.
            ids: The memories to explain, at most 1,000, returned or not; None explains the returned ones.
            k: As for `recall`, like all others.
            vector: The embedding of the query.
            embed: As for `recall`, like the next two.
            private: Whether the question must not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories from or about that time.
            hnsw_ef_search: pgvector's candidate list for this call.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call, such as {'rrf_k': 10}. An unknown name is refused.
            expand: As for `recall`.
            **options: namespaces, filter, since, strategy and so on: see `RecallOptions` and `Filter`.

        Returns:
            One explanation per memory: returned memories first, in their order, then the others by id.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
            TooLarge: More than 1,000 ids, or a query of over 16,384 characters.
        """
        filter, rest = split_filter(options, RecallOptions, timeframe=timeframe)
        prepared = prepare(
            "public.recall_explain",
            query,
            {"query": query, "ids": ids, "k": k, **rest},
            VectorRequest.of(vector, embed, private, embed_timeout),
            filter=filter,
            expand=expand,
            settings=settings,
            hnsw_ef_search=hnsw_ef_search,
            hnsw_iterative_scan=hnsw_iterative_scan,
        )
        answer = await self._queries.answer(prepared)
        return ExplainResult(query, tuple(map(Explanation.from_row, answer.rows)), answer.notice)

    async def active_model(self) -> EmbeddingModel | None:
        """Return the active embedding model of the database, cached for a minute."""
        return await self._queries.active_model()
