"""Relationships by a language model, for those who opt in: what memories say is sent to its server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .accounting import Prices, Usage
from .errors import AnswerUnusable, LlmMisconfigured, LlmUnavailable
from .facts import Cache, LlmResult, Outcome, Rejected, extract_facts
from .labels import (
    FUNCTIONAL_LABELS,
    SYMMETRIC_LABELS,
    Canonical,
    Decision,
    Verdict,
    canonical,
    canonical_fact,
    canonical_label,
    choose_label,
    decide,
    is_functional,
)

if TYPE_CHECKING:
    from .client import LlmClient
    from .keys import api_key, base_url

__all__ = [
    "FUNCTIONAL_LABELS",
    "SYMMETRIC_LABELS",
    "AnswerUnusable",
    "Cache",
    "Canonical",
    "Decision",
    "LlmClient",
    "LlmMisconfigured",
    "LlmResult",
    "LlmUnavailable",
    "Outcome",
    "Prices",
    "Rejected",
    "Usage",
    "Verdict",
    "api_key",
    "base_url",
    "canonical",
    "canonical_fact",
    "canonical_label",
    "choose_label",
    "decide",
    "extract_facts",
    "is_functional",
]

# What they import takes longer than all else, and the process that reads memories needs the labels alone.
_IMPORTED_LATE = {"LlmClient": "client", "api_key": "keys", "base_url": "keys"}


def __getattr__(name: str) -> Any:
    if name not in _IMPORTED_LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_IMPORTED_LATE[name]}", __name__), name)
