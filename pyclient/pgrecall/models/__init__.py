"""What the functions of the database return, as frozen dataclasses, and the new memories they are given."""

from .curation import Curation, CurationDecision, Duplicate, PreviewedCuration
from .explanation import ExplainResult, Explanation
from .learning import LearnedSettings, Learning
from .memories import (
    EmbeddingModel,
    Expansion,
    FactHit,
    FactsResult,
    IterativeScan,
    Listed,
    NewMemory,
    OnConflict,
    RecalledMemory,
    RecallResult,
    SettingInForce,
    TimelineMemory,
    TimelineResult,
    Validity,
)
from .pages import Page, PageInfo, PageLine, Section
from .rows import Row, plain
from .status import Erasure, Failure, Generation, HealthCheck, IndexStatus, Status, Worker
from .stored import (
    MemoryChange,
    Namespace,
    Retention,
    Session,
    StoredMemory,
    StoredMessage,
)

__all__ = [
    "Curation",
    "CurationDecision",
    "Duplicate",
    "EmbeddingModel",
    "Erasure",
    "Expansion",
    "ExplainResult",
    "Explanation",
    "FactHit",
    "FactsResult",
    "Failure",
    "Generation",
    "HealthCheck",
    "IndexStatus",
    "IterativeScan",
    "LearnedSettings",
    "Learning",
    "Listed",
    "MemoryChange",
    "Namespace",
    "NewMemory",
    "OnConflict",
    "Page",
    "PageInfo",
    "PageLine",
    "PreviewedCuration",
    "RecallResult",
    "RecalledMemory",
    "Retention",
    "Row",
    "Section",
    "Session",
    "SettingInForce",
    "Status",
    "StoredMemory",
    "StoredMessage",
    "TimelineMemory",
    "TimelineResult",
    "Validity",
    "Worker",
    "plain",
]
