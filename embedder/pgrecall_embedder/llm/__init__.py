"""Relationships by a language model, for those who opt in: what memories say is sent to its server."""

from __future__ import annotations

from .accounting import Prices, Usage
from .client import LlmClient
from .errors import AnswerUnusable, LlmMisconfigured, LlmUnavailable
from .facts import Cache, LlmResult, Outcome, Rejected, extract_facts
from .keys import api_key, base_url
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
