"""The labelled pairs of `pairs.txt`: a heading gives domain, type and label, each line below it a pair.

`same` means that both names are one thing; `different` that they are not, however related.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from benchmarks.quality.datasets import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PAIRS", "NamePair", "halves", "load"]

PAIRS: Final = Path(__file__).parent / "pairs.txt"


@dataclass(frozen=True, slots=True)
class NamePair:
    """Two names.

    Attributes:
        domain: Where they are from.
        type: The type of both.
        is_same: Whether they are one thing.
        one: A name.
        other: Another.
    """

    domain: str
    type: str
    is_same: bool
    one: str
    other: str


def load(path: Path = PAIRS) -> tuple[NamePair, ...]:
    """Read the labelled pairs.

    Raises:
        DataError: A line is neither a heading nor a pair.
    """
    pairs: list[NamePair] = []
    heading: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("# "):
            heading = line[2:].split()
        elif line:
            names = line.split(" | ")
            if len(names) != 2 or len(heading) != 3 or heading[2] not in {"same", "different"}:
                raise DataError(f"{path.name}, line {number}: not a pair")
            pairs.append(NamePair(heading[0], heading[1], heading[2] == "same", *names))
    return tuple(pairs)


def halves(pairs: Sequence[NamePair]) -> tuple[tuple[NamePair, ...], tuple[NamePair, ...]]:
    """Return a tuning and a reporting half. No name is in both: names that share a pair stay together."""
    leader: dict[str, str] = {}

    def first(name: str) -> str:
        leader.setdefault(name, name)
        while leader[name] != name:
            name = leader[name]
        return name

    for pair in pairs:
        leader[first(pair.one.lower())] = first(pair.other.lower())
    smallest: dict[str, str] = {}
    for name in leader:
        smallest[first(name)] = min(name, smallest.get(first(name), name))

    def is_held(pair: NamePair) -> bool:
        return hashlib.sha256(smallest[first(pair.one.lower())].encode()).digest()[0] % 2 == 1

    return tuple(p for p in pairs if not is_held(p)), tuple(p for p in pairs if is_held(p))
