"""Keyword arguments: fields of a memory and options of a recall; `filters` has those that filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .filters import ErasureFilters, ListFilters, Origin, RecallFilters, SearchFilters

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

__all__ = [
    "ErasureFilters",
    "Fusion",
    "ListFilters",
    "MemoryFields",
    "Origin",
    "RecallFilters",
    "RecallOptions",
    "SearchFilters",
    "SortBy",
    "Strategy",
    "UpdatableFields",
]

Strategy = Literal["hybrid", "vector", "fulltext", "prefilter", "auto"]
"""Which legs search: all; dense only; lexical only; lexical candidates ranked by vector; chosen per query."""

Fusion = Literal["cc", "rrf"]
"""How leg scores are fused: convex combination, or reciprocal rank fusion."""

SortBy = Literal["relevance", "importance", "recency"]
"""Sort order of a recall."""


class UpdatableFields(TypedDict, total=False):
    """The fields of a memory, besides its text, that can be set and later updated; None leaves a field unset.

    Attributes:
        title: A short name.
        category: One word for the kind of memory, such as 'person' or 'decision'.
        tags: Labels to filter by; they become concepts.
        expanded_keywords: Additional words to find it by.
        importance: 0 to 1; the database's default is 0.5.
        metadata: Any JSON object.
        source: The source of the memory.
        session: The conversation or document it belongs to.
        speaker: Who said it.
        position: Its order within the session.
        language: The name of a text-search configuration; by default the namespace's. 'auto' detects it from
            the content, which needs `pgrecall[languages]`, and keeps the default if uncertain.
        is_sensitive: True means that it is never embedded.
        occurred_at: When it happened: a datetime, or an ISO 8601 text such as '2026-11-23'. As everywhere, a
            time without a zone is UTC.
        valid_from: Start of the validity of the fact.
        valid_to: End of the validity of the fact; 'infinity' takes it away.
        expires_at: From then on it is never returned, and later forgotten or erased; 'infinity' takes it
            away.
        origin: Where it comes from: 'user', 'agent', 'import', 'tool' or 'web'; by default the database's
            setting. A new text without it does not count as the user's.
    """

    title: str | None
    category: str | None
    tags: Iterable[str] | None
    expanded_keywords: Iterable[str] | None
    importance: float | None
    metadata: Mapping[str, Any] | None
    source: str | None
    session: str | None
    speaker: str | None
    position: int | None
    language: str | None
    is_sensitive: bool | None
    occurred_at: datetime | str | None
    valid_from: datetime | str | None
    valid_to: datetime | str | None
    expires_at: datetime | str | None
    origin: Origin | None


class MemoryFields(UpdatableFields, total=False):
    """The fields of a new memory besides its text.

    Attributes:
        created_at: When it was first recorded; by default now.
        external_id: The caller's id, unique in the namespace.
    """

    created_at: datetime | str | None
    external_id: str | None


class RecallOptions(SearchFilters, total=False):
    """Ranking options of a recall, besides its filters; None takes the database's setting of the same name.

    Attributes:
        namespace_weights: What the scores of some of the `namespaces` are multiplied by, 0 to 1, by name.
        strategy: Which legs search; `chosen_strategy` of the memories is the strategy that 'auto' chose.
        fusion: How the leg scores are fused.
        sort_by: The sort order of the candidates.
        profile: A named bundle of settings, such as 'voice'.
        min_similarity: Minimum cosine similarity to the query, -1 to 1.
        min_score: Minimum score.
        mmr_lambda: 0 to 1; values below 1 diversify the results (maximal marginal relevance).
        collapse_duplicates: True hides near-duplicates of a better memory, whose `duplicates` lists them.
        reference_time: The time that ages are relative to; by default now.
    """

    namespace_weights: Mapping[str, float] | None
    strategy: Strategy | None
    fusion: Fusion | None
    sort_by: SortBy | None
    profile: str | None
    min_similarity: float | None
    min_score: float | None
    mmr_lambda: float | None
    collapse_duplicates: bool | None
    reference_time: datetime | None
