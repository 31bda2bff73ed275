"""A query before it is sent: checked, then completed with what the database and a model answer.

Nothing here does I/O. `query_vector` is a generator: it yields what must be known or done next, and the
asynchronous and the synchronous client answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pgrecall.arguments import (
    as_int,
    as_setting,
    as_str,
    as_vector,
    check_given,
    checked_arguments,
    nullable_arguments,
)
from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall.filters import Filter

from .embedding import QueryVector, is_loaded, no_vector
from .expansion import check_expand
from .unreadable import UNREADABLE, UnreadableText

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping

    from pgrecall.models import EmbeddingModel, IterativeScan

    from .embedding import EmbedderAnswer, VectorRequest
    from .expansion import Expand

__all__ = ["AskEmbedder", "AskModel", "EmbedHere", "PreparedQuery", "Step", "prepare", "query_vector"]

# Functions with an argument for settings, which saves the transaction around SET LOCAL.
_WITH_SETTINGS = ("public.recall", "public.recall_explain")

_EF_SEARCH = range(1, 1001)
_ITERATIVE_SCAN = ("off", "relaxed_order", "strict_order")


@dataclass(frozen=True, slots=True)
class AskModel:
    """What is the active model? Answered by an `EmbeddingModel` or None."""


@dataclass(frozen=True, slots=True)
class AskEmbedder:
    """Can an embedder daemon embed the query in time? Answered by an `EmbedderAnswer`."""


@dataclass(frozen=True, slots=True)
class EmbedHere:
    """Embed the query in this process. Answered by the vector, or by the error.

    Attributes:
        model: The active model.
        download: Whether the model may be downloaded.
    """

    model: EmbeddingModel | None
    download: bool


Step: TypeAlias = AskModel | AskEmbedder | EmbedHere


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """The checked call of a recall function.

    Attributes:
        function: Its schema-qualified name.
        text: The text to embed and to expand.
        arguments: Its checked arguments by name.
        vector: The caller's request for the vector.
        filter: The conditions of the memories, checked but for a phrase of time, which the database parses.
        expand: What expands the query.
        settings: Settings for this call by full name.
    """

    function: str
    text: str = field(repr=False)
    arguments: Mapping[str, Any] = field(repr=False)
    vector: VectorRequest
    filter: Filter = field(repr=False)
    expand: Expand
    settings: Mapping[str, str]

    def call(
        self, *, namespace: str | None, filter: Mapping[str, Any], expand: str | None, vector: QueryVector
    ) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the arguments and the settings of the call.

        Args:
            namespace: The namespace of call or client; None leaves it to the database.
            filter: The argument `filter`, if there is a condition.
            expand: The value of the setting `expand`.
            vector: The query's vector. It is sent with the name of its model, if it has one.
        """
        arguments, settings = dict(self.arguments), dict(self.settings)
        own = dict(arguments.pop("settings", {}))
        arguments |= filter
        if namespace is not None:
            arguments["namespace"] = namespace
        if expand is not None:
            own["expand"] = expand
        if vector.vector is not None:
            arguments["query_vec"] = vector.vector
            if vector.model is not None and self.function in _WITH_SETTINGS:
                own["query_model"] = vector.model
            elif vector.model is not None:
                settings["pgrecall.query_model"] = vector.model
        return {**arguments, **({"settings": own} if own else {})}, settings


def prepare(
    function: str,
    text: str,
    arguments: Mapping[str, object],
    vector: VectorRequest,
    *,
    filter: Filter | None = None,
    expand: Expand = None,
    settings: Mapping[str, str | float] | None = None,
    hnsw_ef_search: int | None = None,
    hnsw_iterative_scan: IterativeScan | None = None,
    session: Mapping[str, str] | None = None,
    nullable: Mapping[str, object] | None = None,
) -> PreparedQuery:
    """Check everything about a query that can be checked without the database.

    Args:
        function: The schema-qualified name of the function.
        text: The text to embed and to expand.
        arguments: Its arguments by name; None leaves one out.
        vector: The request for the vector.
        filter: The conditions of the memories; None for a function without.
        expand: What expands the query.
        settings: pgrecall's settings for this call; the database refuses an unknown name.
        hnsw_ef_search: pgvector's candidate list.
        hnsw_iterative_scan: pgvector's iterative scan.
        session: More settings for this call by full name.
        nullable: Arguments that are sent even if they are None.

    Raises:
        InvalidInput: An argument of the wrong type or out of range.
    """
    complete = {**checked_arguments(**arguments), **nullable_arguments(**(nullable or {}))}
    chosen = _hnsw_settings(hnsw_ef_search, hnsw_iterative_scan)
    check_expand(expand)
    own = {as_str("a setting", name): as_setting(name, value) for name, value in (settings or {}).items()}
    check_given("the query", text, "Pass '' to search by a vector alone.")
    conditions = Filter() if filter is None else filter
    conditions.conditions()
    if own:
        complete["settings"] = own
    return PreparedQuery(function, text, complete, vector, conditions, expand, {**chosen, **(session or {})})


def _hnsw_settings(hnsw_ef_search: int | None, hnsw_iterative_scan: str | None) -> dict[str, str]:
    """Return pgvector's settings of one recall by their full names.

    Raises:
        InvalidInput: A value outside pgvector's range. pgvector itself cannot refuse it before a backend has
            loaded it.
    """
    chosen: dict[str, str] = {}
    if hnsw_ef_search is not None:
        if as_int("hnsw_ef_search", hnsw_ef_search) not in _EF_SEARCH:
            raise InvalidInput("hnsw_ef_search must lie between 1 and 1000")
        chosen["hnsw.ef_search"] = str(hnsw_ef_search)
    if hnsw_iterative_scan is not None:
        if hnsw_iterative_scan not in _ITERATIVE_SCAN:
            raise InvalidInput(f"hnsw_iterative_scan must be one of {', '.join(_ITERATIVE_SCAN)}")
        chosen["hnsw.iterative_scan"] = hnsw_iterative_scan
    return chosen


def query_vector(query: str, request: VectorRequest) -> Generator[Step, Any, QueryVector]:
    """Decide where the vector of a query comes from.

    Args:
        query: The query.
        request: The caller's request.

    Yields:
        What must be known or done next.

    Returns:
        The vector, or the reason why there is none.

    Raises:
        EmbeddingUnavailable: The caller demands an embedding of this process, and there is none.
    """
    if request.vector is not None:
        return QueryVector(request.vector, source="given")
    if request.embed is False or not query.strip():
        return QueryVector()  # nothing to embed; the server judges an empty query
    answer: EmbedderAnswer
    if request.embed == "daemon":
        if request.private:
            return no_vector("a private query is not sent to an embedder")
        answer = yield AskEmbedder()
        return no_vector(answer.reason) if answer.vector is None else answer.vector
    active: EmbeddingModel | None = yield AskModel()
    unanswered = ""
    # An embedder has the model in its memory already; loading it here takes seconds.
    if request.embed is None and active is not None and not request.private and not is_loaded(active):
        answer = yield AskEmbedder()
        if answer.vector is not None:
            return answer.vector
        if answer.reason == UNREADABLE:  # nor does the model in this process
            return no_vector(answer.reason)
        if answer.is_queued:
            unanswered = f", and {answer.reason}"
    embedded: list[float] | EmbeddingUnavailable = yield EmbedHere(active, request.embed is True)
    if isinstance(embedded, EmbeddingUnavailable):
        if request.embed is True and not isinstance(embedded, UnreadableText):
            raise embedded
        return no_vector(f"{embedded.message}{unanswered}")
    return QueryVector(as_vector(embedded), None if active is None else active.name, "local")
