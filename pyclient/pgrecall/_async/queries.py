"""Answers prepared queries: gets namespace, filter, expansion and vector, then calls the function."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING, Any, cast

from pgrecall.arguments import as_setting, checked_arguments
from pgrecall.concurrency import in_thread
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, SchemaMismatch
from pgrecall.models import EmbeddingModel
from pgrecall.query.embedding import EMBED_SECONDS, embed_query
from pgrecall.query.expansion import ExpandedQuery, LlmExpander
from pgrecall.query.preparing import AskEmbedder, AskModel, query_vector

from .expansion import expand_by_model
from .filtering import filter_argument
from .query_embedding import request_embedding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.rows import DictRow

    from pgrecall.metrics import ClientMetrics
    from pgrecall.models import Expansion
    from pgrecall.query.embedding import EmbedderAnswer, QueryVector
    from pgrecall.query.preparing import EmbedHere, PreparedQuery

    from .database import AsyncDatabase

MODEL_SECONDS = 60.0
"""How long the name of the active model is cached."""
LONG_QUERY = 1000
"""Characters of a query beyond which `question_part` may leave some out; of a shorter one nobody asks."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer of a recall function.

    Attributes:
        rows: Its rows.
        has_vector: Whether it had a vector of the query.
        notice: What the caller should know about it.
        expansion: What a language model has added to the query.
    """

    rows: list[DictRow]
    has_vector: bool
    notice: str | None
    expansion: Expansion | None


class AsyncQueries:
    """Answers prepared queries.

    Args:
        database: The database.
        metrics: Prometheus metrics; None disables them.
    """

    def __init__(self, database: AsyncDatabase, metrics: ClientMetrics | None) -> None:
        self._database = database
        self._metrics = metrics
        self._model: tuple[float, EmbeddingModel | None] | None = None

    async def answer(self, query: PreparedQuery) -> Answered:
        """Complete a query with namespace, filter, expansion and vector, and call its function.

        If the database has meanwhile switched to another model than that of a vector computed here, the query
        is embedded again, once.
        """
        target = await self._database.open()
        names = query.arguments.get("namespaces")
        named = query.arguments.get("namespace")
        namespace = target.namespace if named is None and names is None else named
        expanded = await self._expand(query, namespace)
        filter = await filter_argument(self._database, query.filter)

        async def rows(used: QueryVector) -> list[DictRow]:
            call = query.call(namespace=namespace, filter=filter, expand=expanded.setting, vector=used)
            return await self._database.rows(query.function, *call)

        used = await self._vector(query)
        try:
            found = await rows(used)
        except (SchemaMismatch, InvalidInput):
            if not await self._is_outdated(used):
                raise
            used = await self._vector(query)
            found = await rows(used)
        if self._metrics is not None:
            self._metrics.embedded(used.source)
        asked = [namespace] if names is None else names
        unknown = None if found else await self._database.explain_empty(*asked)
        notice = expanded.with_notice(used.notice if unknown is None else unknown)
        return Answered(found, used.vector is not None, notice, expanded.expansion)

    async def _expand(self, query: PreparedQuery, namespace: str | None) -> ExpandedQuery:
        if not isinstance(query.expand, LlmExpander):
            return ExpandedQuery(query.expand)
        expanded = await expand_by_model(
            self._database, query.text, query.expand, namespace, is_private=query.vector.private
        )
        if self._metrics is not None and expanded.outcome is not None:
            self._metrics.expanded(expanded.outcome)
        return expanded

    def asked_settings(
        self, settings: Mapping[str, str | float] | None, options: Mapping[str, Any]
    ) -> dict[str, str | float]:
        """Return the settings of environment, file and call by short name; the call's win."""
        own: dict[str, str | float] = {name: one.value for name, one in self._database.settings.items()}
        own |= {name.removeprefix("pgrecall."): value for name, value in (settings or {}).items()}
        return own | checked_arguments(strategy=options.get("strategy"), profile=options.get("profile"))

    async def default_k(self, settings: Mapping[str, str | float] | None, options: Mapping[str, Any]) -> int:
        """Return how many memories a recall returns that does not say: the setting k."""
        asked = self.asked_settings(settings, options)
        if "k" in asked:
            try:
                return int(as_setting("k", asked["k"]))
            except ValueError:
                hint = "Write 1 to 1000, such as settings={'k': 10}."
                raise InvalidInput("the setting k is not a whole number", hint=hint) from None
        session = {f"pgrecall.{name}": str(asked[name]) for name in ("profile",) if name in asked}
        rows = await self._database.rows("pgrecall.settings_list", {}, session or None)
        return int(next(row["value"] for row in rows if row["name"] == "k"))

    async def active_model(self) -> EmbeddingModel | None:
        """Return the active embedding model of the database, cached for `MODEL_SECONDS`."""
        if self._model is None or monotonic() - self._model[0] > MODEL_SECONDS:
            rows = await self._database.rows("pgrecall.active_model", {})
            self._model = (monotonic(), None if not rows else EmbeddingModel.from_row(rows[0]))
        return self._model[1]

    async def _vector(self, query: PreparedQuery) -> QueryVector:
        """Return the vector of a query: do what `query_vector` asks for."""
        steps = query_vector(query.text, query.vector)
        answer: object = None
        while True:
            try:
                step = steps.send(answer)
            except StopIteration as decided:
                return cast("QueryVector", decided.value)
            if isinstance(step, AskModel):
                answer = await self.active_model()
            elif isinstance(step, AskEmbedder):
                answer = await self._ask_embedder(query)
            else:
                answer = await self._embed_here(query.text, step)

    async def _ask_embedder(self, query: PreparedQuery) -> EmbedderAnswer:
        target = await self._database.open()
        limits = (query.vector.timeout, target.embed_wait, EMBED_SECONDS)
        seconds = next(one for one in limits if one is not None)
        return await request_embedding(self._database, query.text, seconds)

    async def _embed_here(self, text: str, step: EmbedHere) -> list[float] | EmbeddingUnavailable:
        target = await self._database.open()
        if len(text) > LONG_QUERY:
            text = await self._database.value("pgrecall.question_part", {"query": text})
        try:
            # No connection is held meanwhile: loading a model takes seconds.
            return await in_thread(embed_query, text, step.model, target.model, download=step.download)
        except EmbeddingUnavailable as error:
            return error

    async def _is_outdated(self, used: QueryVector) -> bool:
        """Tell whether the database has switched to another model than the vector's. Refreshes the cache."""
        if used.model is None or used.vector is None:
            return False
        self._model = None
        active = await self.active_model()
        return active is None or (active.name, active.dimension) != (used.model, used.dimension)
