"""Reading memories beside embedding them: names, times and facts, and what a language model adds."""

from __future__ import annotations

from .enricher import Enricher

__all__ = ["Enricher"]
