"""Explanations of a recall, as frozen dataclasses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .memories import Listed
from .rows import Row, bounds

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from pgrecall.options import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation(Row):
    """Why a recall ranks one memory as it does: the columns of `recall_explain`, in its order.

    An unknown memory, or one of another namespace, has only `id`, `reason`, `chosen_strategy` and
    `settings_in_force`; the rest is None. The score is `combined` times the three factors, and `combined` is
    `relevance` if importance and recency have no weight of their own (`factor_importance`,
    `factor_recency`).

    Attributes:
        id: The memory's id.
        place: Its place among the returned, from 1; None if it is not returned.
        score: Its score; hypothetical if `is_candidate` is false.
        reason: The first reason why it is not returned; None if it is.
        arithmetic: The score written out as a sum and a product.
        title: Its short name; None if it is forgotten or hidden by `include_sensitive`.
        content: Its text; None likewise.
        lexical_rank: Its place in the lexical leg, from 1; None if that leg did not find it.
        dense_rank: Its place in the dense leg.
        graph_rank: Its place in the graph leg.
        lexical_score: The score of the lexical leg; None if it contains none of the words.
        similarity: Cosine similarity to the query vector; None without an embedding.
        graph_score: The graph leg's own score.
        lexical_weight: Weight of the lexical leg in this recall; 0 if it is not used.
        dense_weight: Weight of the dense leg.
        graph_weight: Weight of the graph leg.
        lexical_part: What the lexical leg adds to `relevance`.
        dense_part: What the dense leg adds.
        graph_part: What the graph leg adds.
        session_part: What its neighbours in the session add.
        phrase_part: What containing the query verbatim adds.
        relevance: The sum of the parts.
        top: The highest possible relevance.
        importance: The memory's importance, 0 to 1.
        recency: 1 now, less with age.
        combined: Relevance, importance and recency by their weights.
        importance_factor: What importance multiplies the score by.
        decay_factor: What age multiplies it by.
        entity_factor: What mentioning a concept of the query multiplies it by.
        speaker_factor: Below 1 if the query names another speaker.
        is_candidate: False if no leg found it, or the filters exclude it.
        candidate_rank: Its rank before near-duplicates, MMR and k apply; None if it is no candidate, or
            is below a threshold.
        mmr_penalty: What MMR subtracted for similarity to earlier results.
        duplicates: Ids of memories that say the same, hidden behind it.
        chosen_strategy: The strategy that was used.
        settings_in_force: Every setting of this recall, by name.
        added_terms: Terms that the setting expand added to the query.
        expansion_score: The part of `lexical_score` from these terms; None without added terms.
        passage: Of a long memory, the part nearest to the query's vector: `content[start:end]`.
        time_part: What being of the time that the query names, or mentioning it, adds.
        question_period: The time that the query names, from and before; None if it names none.
        confidence: That it answers the query, 0 to 1; None with fusion rrf.
        confidence_parts: What speaks for it (above 0) and against it (below 0), by name, as log odds: `base`,
            `share`, `evidence`, `lead` and `contradiction`. Their sum is the log odds of `confidence`.
        newer_factor: Raises the newer of two near-identical statements to the score of the older one, before
            which it is placed.
        sparse_part: What the terms add that a sparse model gave it.
        sparse_weight: Their weight in this recall; 0 if they are not used.
        trust_factor: Raises it to the score of a memory that came through a tool or from the web, before
            which it is placed because it answers the query about as well.
        origin: Where it comes from: 'user', 'agent', 'import', 'tool' or 'web'.
        namespace_name: The namespace that holds it.
        namespace_weight: What the call multiplies the scores of that namespace by.
    """

    id: int
    place: int | None
    score: float | None
    reason: str | None
    arithmetic: str | None
    title: str | None
    content: str | None
    lexical_rank: int | None
    dense_rank: int | None
    graph_rank: int | None
    lexical_score: float | None
    similarity: float | None
    graph_score: float | None
    lexical_weight: float | None
    dense_weight: float | None
    graph_weight: float | None
    lexical_part: float | None
    dense_part: float | None
    graph_part: float | None
    session_part: float | None
    phrase_part: float | None
    relevance: float | None
    top: float | None
    importance: float | None
    recency: float | None
    combined: float | None
    importance_factor: float | None
    decay_factor: float | None
    entity_factor: float | None
    speaker_factor: float | None
    is_candidate: bool
    candidate_rank: int | None
    mmr_penalty: float | None
    duplicates: tuple[int, ...]
    chosen_strategy: str
    settings_in_force: Mapping[str, Any]
    added_terms: tuple[str, ...]
    expansion_score: float | None
    passage: tuple[int, int] | None
    time_part: float | None
    question_period: tuple[datetime, datetime | None] | None
    confidence: float | None
    confidence_parts: Mapping[str, float] | None
    newer_factor: float | None
    sparse_part: float | None
    sparse_weight: float | None
    trust_factor: float | None
    origin: Origin | None
    namespace_name: str | None
    namespace_weight: float | None

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Explanation:
        """Create one from a row of `recall_explain`, by column name."""
        lists = {name: tuple(row[name] or ()) for name in ("duplicates", "added_terms")}
        ranges = {name: bounds(row[name]) for name in ("passage", "question_period")}
        return cls.of({**row, **lists, **ranges})


@dataclass(frozen=True, slots=True)
class ExplainResult(Listed[Explanation]):
    """The explanations of one recall; a sequence of `Explanation`.

    Attributes:
        query: The question as asked.
        explanations: The returned memories first, in their order, then the others by id.
        notice: Why a leg was left out; None if nothing was.
    """

    query: str
    explanations: tuple[Explanation, ...]
    notice: str | None = None

    @property
    def _listed(self) -> tuple[Explanation, ...]:
        return self.explanations
