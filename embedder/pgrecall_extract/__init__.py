"""Reading memories without a language model: names, times and facts that a text states."""

from __future__ import annotations

from .base import ENTITY_TYPES, Document, Extraction, Fact, Mention, TemporalReference

__all__ = ["ENTITY_TYPES", "Document", "Extraction", "Fact", "Mention", "TemporalReference"]
