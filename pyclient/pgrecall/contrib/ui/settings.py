"""The settings of a recall as a form shows them, by what they are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pgrecall.config.file import closest_match_hint
from pgrecall.errors import InvalidInput
from pgrecall.query.legs import LEGS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from .reader import LiveSetting

_FIRST = "Strategy and weights"
_REST = "Further"
_GROUPS = {
    _FIRST: (
        "strategy", "fusion", "lexical_mode", *(f"{leg}_weight" for leg in LEGS), "cc_alpha", "rrf_k",
        "leg_depth", "profile",
    ),
    "Words": (
        "lexical_coverage", "phrase_bonus", "lexical_pool", "bm25_max_postings", "bm25_max_terms",
        "lexical_lookback", "lexical_min_rank", "ts_rank_importance",
    ),
    "Vectors": (
        "dense_deviations", "passage_penalty", "dense_pool", "dense_exact_rows", "prefilter_depth",
        "min_similarity",
    ),
    "Concept graph": (
        "graph_hops", "graph_seeds", "graph_decay", "graph_mention", "graph_concepts", "hub_max_mentions",
        "graph_pool", "entity_boost",
    ),
    "Conversation": ("session_share", "session_seeds", "other_speaker_factor", "question_time"),
    "Age and importance": (
        "half_life", "decay_floor", "decay_floors", "importance_weight", "factor_relevance",
        "factor_importance",
        "factor_recency", "recency_half_life",
    ),
    "Order and duplicates": (
        "sort_by", "newer_first", "min_score", "min_confidence", "mmr_lambda", "mmr_pool", "mmr_similarity",
        "collapse_duplicates", "duplicate_similarity",
    ),
}  # fmt: skip
# They have a field of their own, or follow from the model.
_ELSEWHERE = {"k", "namespace", "query_model"}


@dataclass(frozen=True, slots=True)
class Group:
    """Settings about one thing.

    Attributes:
        title: What about.
        settings: The settings.
        is_open: True if they are shown at once: what matters most, and where something is given.
    """

    title: str
    settings: Sequence[LiveSetting]
    is_open: bool


def grouped(settings: Sequence[LiveSetting], given: Collection[str]) -> list[Group]:
    """Return the settings of a recall by groups; what no group knows comes last."""
    by_name = {one.name: one for one in settings if one.name not in _ELSEWHERE}
    groups = []
    for title, names in _GROUPS.items():
        members = [by_name.pop(name) for name in names if name in by_name]
        groups.append((title, members))
    groups.append((_REST, list(by_name.values())))
    return [
        Group(title, members, title == _FIRST or any(one.name in given for one in members))
        for title, members in groups
        if members
    ]


def check(given: Collection[str], settings: Sequence[LiveSetting]) -> None:
    """Refuse settings that do not exist, or that a call cannot give: the database would not notice.

    Raises:
        InvalidInput: There is one.
    """
    names = {one.name for one in settings} - _ELSEWHERE
    for name in given:
        if name not in names:
            raise InvalidInput(
                "there is no such setting for a call",
                hint=closest_match_hint(name, names) or "`pgrecall config` prints which there are.",
            )
