"""Results of curation: previews, decisions, duplicates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["Curation", "CurationDecision", "Duplicate", "PreviewedCuration"]

CurationDecision = Literal["ADD", "UPDATE", "SUPERSEDE", "NOOP"]
"""ADD changes nothing. NOOP: the older memory has the same content and supersedes the new one. UPDATE and
SUPERSEDE: the new memory refines or replaces the older one and supersedes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviewedCuration(Row):
    """One row of `pgrecall.preview_curation()`.

    Attributes:
        memory_id: The memory.
        decision: The decision.
        other_id: The older memory of the decision; with ADD the nearest, None if none is near.
        content: Content of the memory.
        other_content: Content of the other memory.
        evidence: The numbers that the decision is based on.
    """

    memory_id: int
    decision: CurationDecision
    other_id: int | None
    content: str = field(repr=False)
    other_content: str | None = field(repr=False)
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curation(Row):
    """One row of `pgrecall.curation_log()`: a decision.

    Attributes:
        id: Its number, for `undo_curation`.
        memory_id: The memory it is about.
        other_id: The older memory that it was compared with; None if none was near.
        decision: The decision.
        decider: 'rules', or the name of a language model, with its version.
        decided_at: When.
        undone_at: When it was undone; None if it stands.
        content: Current content of the memory.
        other_content: Current content of the other memory.
        evidence: The numbers that the decision is based on; empty once either memory is sensitive.
    """

    id: int
    memory_id: int
    other_id: int | None
    decision: CurationDecision
    decider: str
    decided_at: datetime
    undone_at: datetime | None
    content: str = field(repr=False)
    other_content: str | None = field(repr=False)
    evidence: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Duplicate(Row):
    """One row of `pgrecall.duplicates()`: a memory of a cluster.

    Attributes:
        cluster: The oldest memory of the cluster.
        memory_id: The memory.
        cosine: Its similarity to the oldest; None where either has no embedding.
        created_at: When it was stored.
        content: Its content.
    """

    cluster: int
    memory_id: int
    cosine: float | None
    created_at: datetime
    content: str = field(repr=False)
