"""pgrecall: long-term memory for agents inside PostgreSQL.

`Client` and `AsyncClient` call the SQL functions `remember`, `recall` and the others. Names are imported at
first use, so that importing the package is cheap.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._async.client import AsyncClient
    from ._sync.client import Client
    from .errors import (
        Conflict,
        ConnectionFailed,
        CopyUnusable,
        EmbeddingUnavailable,
        InvalidInput,
        InvalidVector,
        NeedsServer,
        NotFound,
        PermissionDenied,
        PgrecallError,
        ReadOnlyServer,
        SchemaMismatch,
        TimedOut,
        TooLarge,
        UnknownLanguage,
        UnknownNamespace,
    )
    from .filters import Filter, RecallFilters
    from .models import (
        EmbeddingModel,
        Erasure,
        Expansion,
        ExplainResult,
        Explanation,
        FactHit,
        FactsResult,
        Failure,
        Generation,
        HealthCheck,
        IndexStatus,
        NewMemory,
        RecalledMemory,
        RecallResult,
        SettingInForce,
        Status,
        TimelineMemory,
        TimelineResult,
        Validity,
        Worker,
    )
    from .options import MemoryFields, RecallOptions, UpdatableFields
    from .query.expansion import LlmExpander
    from .query.reranking import CrossEncoderReranker, HttpReranker, Reranker

__version__ = "0.1.0"

_ERRORS = (
    "Conflict", "ConnectionFailed", "CopyUnusable", "EmbeddingUnavailable", "InvalidInput", "InvalidVector",
    "NeedsServer", "NotFound", "PermissionDenied", "PgrecallError", "ReadOnlyServer", "SchemaMismatch",
    "TimedOut", "TooLarge", "UnknownLanguage", "UnknownNamespace",
)  # fmt: skip
_MODELS = (
    "EmbeddingModel", "Expansion", "FactHit", "FactsResult", "NewMemory", "RecallResult", "RecalledMemory",
    "SettingInForce", "TimelineMemory", "TimelineResult", "Validity",
)  # fmt: skip
_OPERATIONS = ("Erasure", "Failure", "Generation", "HealthCheck", "IndexStatus", "Status", "Worker")
_EXPLANATIONS = ("ExplainResult", "Explanation")
_FILTERS = ("Filter", "RecallFilters")
_OPTIONS = ("MemoryFields", "RecallOptions", "UpdatableFields")
_RERANKERS = ("CrossEncoderReranker", "HttpReranker", "Reranker")
_MODULE_OF = {
    "AsyncClient": "_async.client",
    "Client": "_sync.client",
    **dict.fromkeys(_ERRORS, "errors"),
    **dict.fromkeys(_MODELS, "models"),
    **dict.fromkeys(_OPERATIONS, "models"),
    "LlmExpander": "query.expansion",
    **dict.fromkeys(_EXPLANATIONS, "models"),
    **dict.fromkeys(_FILTERS, "filters"),
    **dict.fromkeys(_OPTIONS, "options"),
    **dict.fromkeys(_RERANKERS, "query.reranking"),
}

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "CopyUnusable",
    "CrossEncoderReranker",
    "EmbeddingModel",
    "EmbeddingUnavailable",
    "Erasure",
    "Expansion",
    "ExplainResult",
    "Explanation",
    "FactHit",
    "FactsResult",
    "Failure",
    "Filter",
    "Generation",
    "HealthCheck",
    "HttpReranker",
    "IndexStatus",
    "InvalidInput",
    "InvalidVector",
    "LlmExpander",
    "MemoryFields",
    "NeedsServer",
    "NewMemory",
    "NotFound",
    "PermissionDenied",
    "PgrecallError",
    "ReadOnlyServer",
    "RecallFilters",
    "RecallOptions",
    "RecallResult",
    "RecalledMemory",
    "Reranker",
    "SchemaMismatch",
    "SettingInForce",
    "Status",
    "TimedOut",
    "TimelineMemory",
    "TimelineResult",
    "TooLarge",
    "UnknownLanguage",
    "UnknownNamespace",
    "UpdatableFields",
    "Validity",
    "Worker",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
