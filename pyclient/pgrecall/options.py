"""Keyword arguments: fields of a memory, filters and options of a recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

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


class MemoryFields(UpdatableFields, total=False):
    """The fields of a new memory besides its text.

    Attributes:
        created_at: When it was first recorded; by default now.
        external_id: The caller's id, unique in the namespace.
    """

    created_at: datetime | str | None
    external_id: str | None


class ErasureFilters(TypedDict, total=False):
    """Filters of an erasure; None disables a filter.

    Attributes:
        namespace: The namespace to search.
        categories: Only memories of these categories.
        tags_any: Only memories with one of these tags.
        tags_all: Only memories with all of these tags.
        metadata_contains: Only memories whose metadata contains this object.
        metadata_where: Only memories whose metadata fits these conditions, such as `{"user_id": "priya",
            "price": {"$lt": 10}}`; operators are $eq, $ne, $lt, $lte, $gt, $gte, $in, $nin and $exists, and
            `{"$and": […]}` and `{"$or": […]}` join conditions.
        sessions: Only memories of these sessions.
        speakers: Only memories that these speakers said.
        sources: Only memories from these sources.
        external_id_prefix: Only memories whose external id begins with this text.
        since: Only memories from this time on.
        until: Only memories before this time.
    """

    namespace: str | None
    categories: Iterable[str] | None
    tags_any: Iterable[str] | None
    tags_all: Iterable[str] | None
    metadata_contains: Mapping[str, Any] | None
    metadata_where: Mapping[str, Any] | None
    sessions: Iterable[str] | None
    speakers: Iterable[str] | None
    sources: Iterable[str] | None
    external_id_prefix: str | None
    since: datetime | str | None
    until: datetime | str | None


class RecallFilters(ErasureFilters, total=False):
    """Filters of a recall; None and an empty value, `[]`, `{}` or `""`, disable a filter.

    Attributes:
        as_of: Only memories recorded by this time; those superseded later still count as valid.
        include_superseded: True includes superseded memories.
        include_sensitive: False excludes sensitive memories.
    """

    as_of: datetime | str | None
    include_superseded: bool | None
    include_sensitive: bool | None


class ListFilters(RecallFilters, total=False):
    """Filters of a list; None disables a filter.

    Attributes:
        forgotten: True lists forgotten memories instead.
    """

    forgotten: bool | None


class RecallOptions(RecallFilters, total=False):
    """Ranking options of a recall, besides its filters; None takes the database's setting of the same name.

    Attributes:
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

    strategy: Strategy | None
    fusion: Fusion | None
    sort_by: SortBy | None
    profile: str | None
    min_similarity: float | None
    min_score: float | None
    mmr_lambda: float | None
    collapse_duplicates: bool | None
    reference_time: datetime | None
