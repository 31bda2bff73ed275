"""The legs that a recall tells it asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.query.legs import DESCRIBED, LEGS

if TYPE_CHECKING:
    from pgrecall.query.legs import Leg

__all__ = ["WITHOUT_VECTOR", "legs_but"]

WITHOUT_VECTOR = tuple(leg for leg in LEGS if DESCRIBED[leg].needs != "vector")
"""Those of a recall with words and no vector."""


def legs_but(*others: Leg) -> tuple[Leg, ...]:
    """Return all legs but some."""
    return tuple(leg for leg in LEGS if leg not in others)
