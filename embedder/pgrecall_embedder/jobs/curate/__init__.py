"""Curation: new memories compared with the older ones of their namespace, by rules or by a language model."""

from __future__ import annotations

from .curator import Curator
from .queue import CurationQueue

__all__ = ["CurationQueue", "Curator"]
