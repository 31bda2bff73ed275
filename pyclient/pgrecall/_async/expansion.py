"""Expands a query with a language model before recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.concurrency import in_thread
from pgrecall.errors import PgrecallError
from pgrecall.models import Expansion
from pgrecall.query.expansion import ExpandedQuery, ExpansionFailed

from .cursor import is_read_only

if TYPE_CHECKING:
    from pgrecall.query.expansion import LlmExpander, Outcome

    from .database import AsyncDatabase


async def expand_by_model(
    database: AsyncDatabase, query: str, expander: LlmExpander, namespace: str | None, *, is_private: bool
) -> ExpandedQuery:
    """Return the stored expansion of a query, or ask a language model and store its answer.

    No connection is held during the request. On any failure the query is not expanded, and the notice gives
    the reason.
    """
    if is_private:
        return _unexpanded("a private query is not sent to a language model", "private")
    request = {"query": query} if namespace is None else {"query": query, "namespace": namespace}
    try:
        async with database.connection() as connection:
            cannot_store = await is_read_only(connection)
            is_within = database.is_within(connection)
            [stored] = await database.rows_on(connection, "pgrecall.prepare_expansion", request)
        if not stored["is_expandable"]:
            return ExpandedQuery("off", "not_expandable")
        if stored["terms"] is not None:
            cached = Expansion(tuple(stored["terms"]), tuple(stored["entities"]), stored["intent"])
            return ExpandedQuery("llm", "cached", cached)
        if cannot_store:
            return _unexpanded("a read-only server cannot store the expansion", "read_only")
        if is_within:  # others who ask the same would wait for its end
            return _unexpanded("an open transaction does not ask a language model", "not_kept")
        expansion = await in_thread(expander.expand, query, stored["language"])
        await database.rows(
            "pgrecall.cache_expansion",
            {
                **request,
                "terms": list(expansion.terms),
                "entities": list(expansion.entities),
                **({} if expansion.intent is None else {"intent": expansion.intent}),
            },
        )
    except ExpansionFailed as error:
        return _unexpanded(error.message, error.outcome)
    except PgrecallError as error:
        # Recall may still work without the expansion; otherwise it raises its own error.
        return _unexpanded(error.message, "not_kept")
    return ExpandedQuery("llm", "asked", expansion)


def _unexpanded(reason: str, outcome: Outcome) -> ExpandedQuery:
    return ExpandedQuery("off", outcome, notice=f"{reason}: the query is not expanded")
