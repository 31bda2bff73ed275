"""What callers may say beside the text: fields of a memory, filters and options of a recall."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

Strategy = Literal["hybrid", "vector", "fulltext", "prefilter", "auto"]
"""Which legs find: all, the vector, the words, what the words find by the vector, as the query suggests."""

Fusion = Literal["cc", "rrf"]
"""How the legs become one score: convex combination, or reciprocal ranks."""

SortBy = Literal["relevance", "importance", "recency"]
"""What a recall is ordered by."""


class UpdatableFields(TypedDict, total=False):
    """The fields of a memory, other than its text, that can be given and later changed; None gives nothing.

    Attributes:
        title: A short name for it.
        category: One word for its kind, such as 'person' or 'decision'.
        tags: Labels to filter by; they become concepts.
        expanded_keywords: Further words it should be found by.
        importance: 0 to 1; the database's default is 0.5.
        metadata: Any JSON object.
        source: Where it comes from.
        session: The conversation or document it belongs to.
        speaker: Who said it.
        position: Its order within the session.
        language: The name of a text-search configuration; by default the namespace's. 'auto' detects it from
            the content, if `pgrecall[languages]` is installed, and keeps the default where it is not certain.
        is_sensitive: True keeps it from ever being embedded.
        occurred_at: When it happened. A time without a zone is UTC, here and everywhere.
        valid_from: From when the fact holds.
        valid_to: Until when the fact holds.
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
    occurred_at: datetime | None
    valid_from: datetime | None
    valid_to: datetime | None


class MemoryFields(UpdatableFields, total=False):
    """The fields a new memory can have besides its text.

    Attributes:
        created_at: When it was first recorded; by default now.
        external_id: The caller's own id, unique in the namespace.
    """

    created_at: datetime | None
    external_id: str | None


class RecallFilters(TypedDict, total=False):
    """Which memories may be recalled; None leaves a filter out.

    Attributes:
        namespace: The namespace to search.
        categories: Only memories of these categories.
        tags_any: Only memories with one of these tags.
        tags_all: Only memories with all of these tags.
        metadata_contains: Only memories whose metadata contains this object.
        since: Only memories from then on.
        until: Only memories before then.
        as_of: Only memories recorded by then; what was superseded later counts as it did then.
        include_superseded: True finds memories that no longer hold too.
        include_sensitive: False leaves out sensitive memories.
    """

    namespace: str | None
    categories: Iterable[str] | None
    tags_any: Iterable[str] | None
    tags_all: Iterable[str] | None
    metadata_contains: Mapping[str, Any] | None
    since: datetime | None
    until: datetime | None
    as_of: datetime | None
    include_superseded: bool | None
    include_sensitive: bool | None


class RecallOptions(RecallFilters, total=False):
    """How a recall ranks, besides its filters; None leaves it to the database's settings of the same names.

    Attributes:
        strategy: Which legs find; the result's `chosen_strategy` says what 'auto' chose.
        fusion: How the legs become one score.
        sort_by: What the candidates are ordered by.
        profile: A named bundle of settings, such as 'voice'.
        min_similarity: Only memories whose cosine to the query is at least this, -1 to 1.
        min_score: Only memories of at least this score.
        mmr_lambda: 0 to 1; below 1 the memories are to differ from each other (maximal marginal relevance).
        collapse_duplicates: True hides memories that say the same as a better one; it names them in
            `duplicates`.
        reference_time: What age is counted from; by default now.
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
