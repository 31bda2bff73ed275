"""What the asynchronous client needs to ask a question, and what needs just that: briefing, explanation."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from .arguments import Vector, given, options, seconds, tuning, vector_text
from .connecting import in_thread
from .deadline import in_time
from .embedding import embed_query
from .errors import EmbeddingUnavailable, PgrecallError
from .explaining import ExplainResult, Explanation
from .models import EmbeddingModel, IterativeScan
from .options import RecallOptions
from .session_async import AsyncSession

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from .timeframes import Timeframe

MODEL_SECONDS = 60.0
"""For how long the name of the active model is taken as known."""

_log = logging.getLogger("pgrecall")


class AsyncQuerying(AsyncSession):
    """What the client needs to ask a question, and what needs just that: the briefing, the explanation."""

    _model: tuple[float, EmbeddingModel | None] | None = None

    async def briefing(
        self,
        query: str = "recent conversations and key facts",
        *,
        k: int = 10,
        max_chars: int = 2000,
        per_item: int = 200,
        vector: Vector | None = None,
        embed: bool | None = None,
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
            embed: As for `recall`.
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
        arguments = given(
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
            query_vec=None if vector is None else vector_text(vector),
        )
        limit = seconds("timeout", timeout)
        try:
            return await in_time(limit, self._briefing, arguments, embed)
        except Exception as error:  # noqa: BLE001 - a model may raise anything, and say the query
            _log.warning(
                "no briefing: %s, SQLSTATE %s",
                type(error).__name__,
                error.sqlstate if isinstance(error, PgrecallError) else None,
            )
            return ""

    async def _briefing(self, arguments: dict[str, Any], embed: bool | None) -> str:
        arguments |= given(namespace=await self._namespace(arguments.get("namespace")))
        if "query_vec" not in arguments:
            query_vec, _ = await self._query_vector(arguments["query"], None, embed)
            if query_vec is not None:
                arguments["query_vec"] = query_vec
        return str(await self._value("public.recall_briefing", arguments))

    async def explain(
        self,
        query: str,
        *,
        ids: Iterable[int] | None = None,
        k: int | None = None,
        vector: Vector | None = None,
        embed: bool | None = None,
        timeframe: Timeframe | None = None,
        hnsw_ef_search: int | None = None,
        hnsw_iterative_scan: IterativeScan | None = None,
        settings: Mapping[str, str | float] | None = None,
        **wanted: Unpack[RecallOptions],
    ) -> ExplainResult:
        """Say why `recall` ranks memories as it does, or why it does not return them.

        The numbers are those of the recall with the same arguments; a reranker comes after it and has no part
        in them.

        Args:
            query: The question.
            ids: The memories to explain, at most 1,000, returned or not; None explains those returned.
            k: As for `recall`, and so are all others.
            vector: The query's embedding, if the caller has it.
            embed: Whether to embed the query here.
            timeframe: Only memories of that time, and those that speak of it.
            hnsw_ef_search: pgvector's candidate list for this call.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call by full name.
            **wanted: namespace, tags_any, since, strategy, profile and so on: see `RecallOptions`.

        Returns:
            An explanation a memory: the returned first, in their order, then the others by id.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
            TooLarge: More than 1,000 ids, or a query of over 16,384 characters.
        """
        arguments = given(query=query, ids=ids, k=k, **options(wanted, RecallOptions))
        chosen = tuning(settings, hnsw_ef_search, hnsw_iterative_scan)
        notice = await self._resolve(arguments, query, vector, embed, timeframe)
        rows = await self._rows("public.recall_explain", arguments, chosen)
        return ExplainResult(query, tuple(map(Explanation.from_row, rows)), notice)

    async def active_model(self) -> EmbeddingModel | None:
        """Return the model the database's embeddings are made with; known for a minute once asked."""
        if self._model is None or monotonic() - self._model[0] > MODEL_SECONDS:
            rows = await self._rows("pgrecall.active_model", {})
            found = None if not rows else EmbeddingModel.from_row(rows[0])
            self._model = (monotonic(), found)
        return self._model[1]

    async def _resolve(
        self,
        arguments: dict[str, Any],
        text: str,
        vector: Vector | None,
        embed: bool | None,
        timeframe: Timeframe | None,
    ) -> str | None:
        """Add namespace, timeframe and vector to a call's arguments; return the notice."""
        arguments |= given(
            namespace=await self._namespace(arguments.get("namespace")),
            timeframe=await self._timeframe(timeframe),
        )
        query_vec, notice = await self._query_vector(text, vector, embed)
        arguments |= given(query_vec=query_vec)
        return notice

    async def _query_vector(
        self, query: str, vector: Vector | None, embed: bool | None
    ) -> tuple[str | None, str | None]:
        """Return the query vector as text, and the notice if there should be one and is none."""
        if vector is not None:
            return vector_text(vector), None
        if embed is False or not query.strip():
            return None, None  # nothing to embed: the server says what it thinks of an empty query
        target = await self.open()
        active = await self.active_model()
        try:
            # No connection is held meanwhile: loading a model takes seconds.
            numbers = await in_thread(embed_query, query, active, target.model, download=embed is True)
        except EmbeddingUnavailable as error:
            if embed is True:
                raise
            return None, f"{error.message}: recalled by words and concepts only"
        return vector_text(numbers), None

    async def _namespace(self, namespace: str | None) -> str | None:
        if namespace is not None:
            return namespace
        target = await self.open()
        return target.namespace
