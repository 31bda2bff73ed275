"""What the asynchronous client needs to ask a question, and what needs just that: briefing, explanation."""

from __future__ import annotations

import logging
from time import monotonic
from typing import TYPE_CHECKING, Any, Unpack

from .arguments import Vector, given, options, seconds, tuning, vector_text
from .connecting import in_thread
from .deadline import in_time
from .embedding import EMBED_SECONDS, QueryVector, WantedVector, embed_query, wanted_vector, without_vector
from .errors import EmbeddingUnavailable, InvalidInput, PgrecallError, SchemaMismatch
from .expanding_async import AsyncExpanding
from .expansion import wanted_expansion
from .explaining import ExplainResult, Explanation
from .models import EmbeddingModel, IterativeScan, Validity
from .options import Embed, Expand, RecallOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from psycopg.rows import DictRow

    from .timeframes import Timeframe

MODEL_SECONDS = 60.0
"""For how long the name of the active model is taken as known."""

# They take settings as an argument, which saves the transaction around a SET LOCAL.
_WITH_SETTINGS = ("public.recall", "public.recall_explain")

_log = logging.getLogger("pgrecall")


class AsyncQuerying(AsyncExpanding):
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
        )
        asked = wanted_vector(vector, embed, private, embed_timeout)
        limit = seconds("timeout", timeout)
        try:
            rows, _ = await in_time(limit, self._recalled, "public.recall_briefing", arguments, query, asked)
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
            embed: As for `recall`, and so are the next two.
            private: Whether the question may not be stored.
            embed_timeout: Seconds to wait for an embedder.
            timeframe: Only memories of that time, and those that speak of it.
            hnsw_ef_search: pgvector's candidate list for this call.
            hnsw_iterative_scan: pgvector's iterative scan for this call.
            settings: pgrecall's settings for this call by full name.
            expand: As for `recall`.
            **wanted: namespace, tags_any, since, strategy, profile and so on: see `RecallOptions`.

        Returns:
            An explanation a memory: the returned first, in their order, then the others by id.

        Raises:
            InvalidInput: As for `recall`, and so are the others.
            TooLarge: More than 1,000 ids, or a query of over 16,384 characters.
        """
        arguments = given(query=query, ids=ids, k=k, **options(wanted, RecallOptions))
        chosen = tuning(settings, hnsw_ef_search, hnsw_iterative_scan)
        asked = wanted_vector(vector, embed, private, embed_timeout)
        wanted_expansion(expand)
        expanded = await self._expanded(query, expand, wanted.get("namespace"), is_private=asked.is_private)
        arguments |= expanded.arguments
        rows, used = await self._recalled("public.recall_explain", arguments, query, asked, timeframe, chosen)
        return ExplainResult(query, tuple(map(Explanation.from_row, rows)), expanded.noticed(used.notice))

    async def validity(self, ids: Iterable[int], *, namespace: str | None = None) -> dict[int, Validity]:
        """Return when memories hold, by id.

        Args:
            ids: The memories; those that are forgotten or in another namespace are left out.
            namespace: Their namespace.

        Raises:
            InvalidInput: An id that is no whole number.
        """
        arguments = given(ids=ids, namespace=await self._namespace(namespace))
        rows = await self._rows("pgrecall.memory_validity", arguments)
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
        wanted = given(id=id, any_namespace=any_namespace, include_sensitive=include_sensitive)
        wanted |= given(namespace=await self._namespace(namespace))
        return bool(await self._value("pgrecall.is_shown", wanted))

    async def active_model(self) -> EmbeddingModel | None:
        """Return the model the database's embeddings are made with; known for a minute once asked."""
        if self._model is None or monotonic() - self._model[0] > MODEL_SECONDS:
            rows = await self._rows("pgrecall.active_model", {})
            found = None if not rows else EmbeddingModel.from_row(rows[0])
            self._model = (monotonic(), found)
        return self._model[1]

    async def _recalled(
        self,
        function: str,
        arguments: Mapping[str, Any],
        text: str,
        asked: WantedVector,
        timeframe: Timeframe | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> tuple[list[DictRow], QueryVector]:
        """Call a function that recalls, with namespace, timeframe and vector added to its arguments.

        A vector that was made here goes with the name of its model. Where the database has changed to another
        one meanwhile, it is made again, once.
        """
        complete = {
            **arguments,
            **given(
                namespace=await self._namespace(arguments.get("namespace")),
                timeframe=await self._timeframe(timeframe),
            ),
        }
        used = await self._query_vector(text, asked)
        try:
            rows = await self._rows_by(function, complete, used, settings)
        except (SchemaMismatch, InvalidInput):
            if not await self._is_outdated(used):
                raise
            used = await self._query_vector(text, asked)
            rows = await self._rows_by(function, complete, used, settings)
        if self._metrics is not None:
            self._metrics.embedded(used.source)
        return rows, used

    async def _rows_by(
        self,
        function: str,
        arguments: Mapping[str, Any],
        used: QueryVector,
        settings: Mapping[str, str] | None,
    ) -> list[DictRow]:
        if used.vector is None:
            return await self._rows(function, arguments, settings)
        arguments = {**arguments, "query_vec": used.vector}
        if used.model is None:
            return await self._rows(function, arguments, settings)
        if function in _WITH_SETTINGS:
            arguments["settings"] = {**arguments.get("settings", {}), "query_model": used.model}
        else:
            settings = {**(settings or {}), "pgrecall.query_model": used.model}
        return await self._rows(function, arguments, settings)

    async def _is_outdated(self, used: QueryVector) -> bool:
        """Whether the database has another model than the one that made a vector; it is asked anew."""
        if used.model is None or used.vector is None:
            return False
        self._model = None
        active = await self.active_model()
        return active is None or (active.name, active.dimension) != (used.model, used.vector.count(",") + 1)

    async def _query_vector(self, query: str, asked: WantedVector) -> QueryVector:
        if asked.vector is not None:
            return QueryVector(asked.vector, source="given")
        if asked.embed is False or not query.strip():
            return QueryVector()  # nothing to embed: the server says what it thinks of an empty query
        if asked.embed == "daemon":
            if asked.is_private:
                return without_vector("a private query is not put to an embedder")
            answer = await self._ask(query, asked.seconds)
            return without_vector(answer.reason) if answer.found is None else answer.found
        target = await self.open()
        active = await self.active_model()
        try:
            # No connection is held meanwhile: loading a model takes seconds.
            numbers = await in_thread(embed_query, query, active, target.model, download=asked.embed is True)
        except EmbeddingUnavailable as error:
            if asked.embed is True:
                raise
            reason = error.message
        else:
            return QueryVector(vector_text(numbers), None if active is None else active.name, "local")
        if active is not None and not asked.is_private:
            answer = await self._ask(query, asked.seconds)
            if answer.found is not None:
                return answer.found
            if answer.was_put:
                reason = f"{reason}, and {answer.reason}"
        return without_vector(reason)
