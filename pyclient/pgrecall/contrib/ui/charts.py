"""Layouts of the charts: bars for the parts of a score, and a concept among its neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin
from typing import TYPE_CHECKING

from pgrecall.query.legs import BOOSTS, LEGS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall.models import Explanation

    from .reader import Neighbour

PARTS: dict[str, str] = {**{leg: leg for leg in LEGS}, **BOOSTS}
"""What relevance is the sum of, in the order of `Explanation`, with its label."""

NODES = 8
"""Neighbours in a drawing; the table has more."""


@dataclass(frozen=True, slots=True)
class Bar:
    """One part of a stacked bar; the whole is 100 wide."""

    name: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Node:
    """A neighbour in a drawing of 400 by 320, and how thick the line to it is."""

    neighbour: Neighbour
    x: float
    y: float
    width: float


def stack(explained: Explanation) -> list[Bar]:
    """Return a bar of what each part adds to the relevance; the highest there could be is 100."""
    bars: list[Bar] = []
    start = 0.0
    for name in PARTS:
        part = getattr(explained, f"{name}_part")
        if part and explained.top:
            width = min(100 - start, max(0.0, 100 * part / explained.top))
            bars.append(Bar(name, round(start, 2), round(width, 2)))
            start += width
    return bars


def star(neighbours: Sequence[Neighbour]) -> list[Node]:
    """Return the strongest neighbours around the middle, clockwise from the top."""
    nearest = neighbours[:NODES]
    strongest = max((one.weight for one in nearest), default=0.0) or 1.0
    return [
        Node(
            one,
            round(200 + 140 * sin(2 * pi * place / len(nearest)), 1),
            round(150 - 118 * cos(2 * pi * place / len(nearest)), 1),
            round(1 + 4 * one.weight / strongest, 1),
        )
        for place, one in enumerate(nearest)
    ]
