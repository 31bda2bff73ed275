"""pgrecall: long-term memory for agents inside PostgreSQL.

`Client` and `AsyncClient` are the Python side of the SQL functions `remember`, `recall` and the rest. Names
are loaded when they are first used, so that importing the package costs next to nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .client_async import AsyncClient
    from .client_sync import Client
    from .errors import (
        Conflict,
        ConnectionFailed,
        EmbeddingUnavailable,
        InvalidInput,
        InvalidVector,
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
    from .models import (
        EmbeddingModel,
        HealthCheck,
        MemoryFields,
        NewMemory,
        RecalledMemory,
        RecallResult,
        RevisableFields,
        Status,
    )

__version__ = "0.1.0"

_ERRORS = (
    "Conflict", "ConnectionFailed", "EmbeddingUnavailable", "InvalidInput", "InvalidVector", "NotFound",
    "PermissionDenied", "PgrecallError", "ReadOnlyServer", "SchemaMismatch", "TimedOut", "TooLarge",
    "UnknownLanguage", "UnknownNamespace",
)  # fmt: skip
_MODELS = (
    "EmbeddingModel", "HealthCheck", "MemoryFields", "NewMemory", "RecallResult", "RecalledMemory",
    "RevisableFields", "Status",
)  # fmt: skip
_HOME = {
    "AsyncClient": "client_async",
    "Client": "client_sync",
    **dict.fromkeys(_ERRORS, "errors"),
    **dict.fromkeys(_MODELS, "models"),
}

__all__ = [
    "AsyncClient",
    "Client",
    "Conflict",
    "ConnectionFailed",
    "EmbeddingModel",
    "EmbeddingUnavailable",
    "HealthCheck",
    "InvalidInput",
    "InvalidVector",
    "MemoryFields",
    "NewMemory",
    "NotFound",
    "PermissionDenied",
    "PgrecallError",
    "ReadOnlyServer",
    "RecallResult",
    "RecalledMemory",
    "RevisableFields",
    "SchemaMismatch",
    "Status",
    "TimedOut",
    "TooLarge",
    "UnknownLanguage",
    "UnknownNamespace",
    "__version__",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
