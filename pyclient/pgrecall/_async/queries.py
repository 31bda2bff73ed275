"""Queries on their way to the database: namespace, time, vector and expansion are added, then one call."""

from __future__ import annotations

from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import check_given, drop_none, format_vector
from pgrecall.concurrency import in_thread
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, SchemaMismatch
from pgrecall.models import EmbeddingModel
from pgrecall.query.embedding import EMBED_SECONDS, QueryVector, embed_query, is_loaded, no_vector
from pgrecall.query.expansion import ExpandedQuery, LlmExpander, check_expand
from pgrecall.query.unreadable import UnreadableText

from .expansion import expand_by_model
from .filtering import filter_argument
from .query_embedding import request_embedding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.rows import DictRow

    from pgrecall.filters import Filter
    from pgrecall.metrics import ClientMetrics
    from pgrecall.query.embedding import VectorRequest
    from pgrecall.query.expansion import Expand

    from .database import AsyncDatabase

MODEL_SECONDS = 60.0
"""How long the name of the active model is cached."""

# Functions with an argument for settings, which saves the transaction around SET LOCAL.
_WITH_SETTINGS = ("public.recall", "public.recall_explain")


class AsyncQueries:
    """Prepares queries and calls the functions that answer them.

    Args:
        database: The database.
        metrics: Prometheus metrics; None disables them.
    """

    def __init__(self, database: AsyncDatabase, metrics: ClientMetrics | None) -> None:
        self._database = database
        self._metrics = metrics
        self._model: tuple[float, EmbeddingModel | None] | None = None

    async def rows(
        self,
        function: str,
        query: str,
        arguments: Mapping[str, Any],
        request: VectorRequest,
        *,
        filter: Filter | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> tuple[list[DictRow], QueryVector]:
        """Call a recall function, with namespace, filter and vector added to its arguments.

        A vector computed here is sent with the name of its model. If the database has meanwhile switched to
        another model, the query is embedded again, once.

        Args:
            function: Its schema-qualified name.
            query: The text to embed.
            arguments: Its checked arguments by name.
            request: The query vector, or what embeds the query.
            filter: The conditions of the memories; None for a function without.
            settings: Settings for this call by full name.

        Returns:
            The rows, and the vector that was used.
        """
        check_given("the query", query, "Pass '' to search by a vector alone.")
        complete = {
            **arguments,
            **drop_none(namespace=await self._database.namespace(arguments.get("namespace"))),
            **({} if filter is None else await filter_argument(self._database, filter)),
        }
        used = await self._vector(query, request)
        try:
            rows = await self._rows_by(function, complete, used, settings)
        except (SchemaMismatch, InvalidInput):
            if not await self._is_outdated(used):
                raise
            used = await self._vector(query, request)
            rows = await self._rows_by(function, complete, used, settings)
        if self._metrics is not None:
            self._metrics.embedded(used.source)
        unknown = None if rows else await self._database.explain_empty(complete.get("namespace"))
        return rows, used if unknown is None else replace(used, notice=unknown)

    async def expand(
        self, query: str, expand: Expand, namespace: str | None, *, is_private: bool
    ) -> ExpandedQuery:
        """Expand a query as the caller requests. Fails only for an invalid `expand`."""
        check_expand(expand)
        if not isinstance(expand, LlmExpander):
            return ExpandedQuery(expand)
        namespace = await self._database.namespace(namespace)
        expanded = await expand_by_model(self._database, query, expand, namespace, is_private=is_private)
        if self._metrics is not None and expanded.outcome is not None:
            self._metrics.expanded(expanded.outcome)
        return expanded

    def asked_settings(
        self, settings: Mapping[str, str | float] | None, options: Mapping[str, Any]
    ) -> dict[str, str | float]:
        """Return the settings of environment, file and call by short name; the call's win."""
        own: dict[str, str | float] = {name: one.value for name, one in self._database.settings.items()}
        own |= {name.removeprefix("pgrecall."): value for name, value in (settings or {}).items()}
        return own | drop_none(strategy=options.get("strategy"), profile=options.get("profile"))

    async def default_k(self, settings: Mapping[str, str | float] | None, options: Mapping[str, Any]) -> int:
        """Return how many memories a recall returns that does not say: the setting k."""
        asked = self.asked_settings(settings, options)
        if "k" in asked:
            return int(asked["k"])
        session = {f"pgrecall.{name}": str(asked[name]) for name in ("profile",) if name in asked}
        rows = await self._database.rows("pgrecall.settings_list", {}, session or None)
        return int(next(row["value"] for row in rows if row["name"] == "k"))

    async def active_model(self) -> EmbeddingModel | None:
        """Return the active embedding model of the database, cached for `MODEL_SECONDS`."""
        if self._model is None or monotonic() - self._model[0] > MODEL_SECONDS:
            rows = await self._database.rows("pgrecall.active_model", {})
            self._model = (monotonic(), None if not rows else EmbeddingModel.from_row(rows[0]))
        return self._model[1]

    async def _rows_by(
        self,
        function: str,
        arguments: Mapping[str, Any],
        used: QueryVector,
        settings: Mapping[str, str] | None,
    ) -> list[DictRow]:
        if used.vector is not None:
            arguments = {**arguments, "query_vec": used.vector}
            if used.model is not None and function in _WITH_SETTINGS:
                own = {**arguments.get("settings", {}), "query_model": used.model}
                arguments = {**arguments, "settings": own}
            elif used.model is not None:
                settings = {**(settings or {}), "pgrecall.query_model": used.model}
        return await self._database.rows(function, arguments, settings)

    async def _vector(self, query: str, request: VectorRequest) -> QueryVector:
        if request.vector is not None:
            return QueryVector(request.vector, source="given")
        if request.embed is False or not query.strip():
            return QueryVector()  # nothing to embed; the server judges an empty query
        target = await self._database.open()
        seconds = next(one for one in (request.seconds, target.embed_wait, EMBED_SECONDS) if one is not None)
        if request.embed == "daemon":
            if request.is_private:
                return no_vector("a private query is not sent to an embedder")
            answer = await request_embedding(self._database, query, seconds)
            return no_vector(answer.reason) if answer.vector is None else answer.vector
        active = await self.active_model()
        may_download = request.embed is True
        unanswered = ""
        # An embedder has the model in its memory already; loading it here takes seconds.
        if request.embed is None and active is not None and not request.is_private and not is_loaded(active):
            answer = await request_embedding(self._database, query, seconds)
            if answer.vector is not None:
                return answer.vector
            if answer.is_queued:
                unanswered = f", and {answer.reason}"
        try:
            # No connection is held meanwhile: loading a model takes seconds.
            numbers = await in_thread(embed_query, query, active, target.model, download=may_download)
        except EmbeddingUnavailable as error:
            if request.embed is True and not isinstance(error, UnreadableText):
                raise
            return no_vector(f"{error.message}{unanswered}")
        return QueryVector(format_vector(numbers), None if active is None else active.name, "local")

    async def _is_outdated(self, used: QueryVector) -> bool:
        """Tell whether the database has switched to another model than the vector's. Refreshes the cache."""
        if used.model is None or used.vector is None:
            return False
        self._model = None
        active = await self.active_model()
        return active is None or (active.name, active.dimension) != (used.model, used.vector.count(",") + 1)
