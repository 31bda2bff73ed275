"""Results of learning from feedback."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["LearnedSettings", "Learning"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning(Row):
    """What `pgrecall.learn()` found.

    Attributes:
        is_adopted: Whether the settings apply now.
        settings: The settings it found, by name; those that differ from the ones in force without learning.
        queries: Number of queries it learned from.
        ndcg_before: Mean nDCG@10 of these queries without the settings, 0 to 1. None, like the next three, if
            there are fewer than 40 queries.
        ndcg_after: Mean nDCG@10 of each half with the settings learned from the other half.
        gain_low: Lower end of the 95 % interval of the difference.
        gain_high: Upper end of it.
    """

    is_adopted: bool
    settings: Mapping[str, str]
    queries: int
    ndcg_before: float | None
    ndcg_after: float | None
    gain_low: float | None
    gain_high: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LearnedSettings(Row):
    """One row of `pgrecall.list_learned()`.

    Attributes:
        namespace_name: The namespace.
        settings: The settings by name.
        queries: Number of queries they were learned from.
        ndcg_before: Mean nDCG@10 of these queries without the settings, 0 to 1.
        ndcg_after: Mean nDCG@10 of each half with the settings learned from the other half.
        gain_low: Lower end of the 95 % interval of the difference.
        gain_high: Upper end of it.
        learned_at: When.
        ended_at: When they ceased to apply; None if they apply.
        end_reason: Why: replaced by newer ones, undone, or worse on later feedback.
    """

    namespace_name: str
    settings: Mapping[str, str]
    queries: int
    ndcg_before: float
    ndcg_after: float
    gain_low: float
    gain_high: float
    learned_at: datetime
    ended_at: datetime | None
    end_reason: Literal["replaced", "undone", "worse"] | None
