"""The labelled pairs: an older memory, a newer one, and what the newer one is to it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.quality.datasets import DataError

__all__ = ["DEV", "EXPECTED", "TEST", "Pair", "load"]

_FOLDER = Path(__file__).parent
TEST: Final = _FOLDER / "pairs.jsonl"
"""Written by somebody who had not seen the rules, and not looked at while they were made."""
DEV: Final = _FOLDER / "pairs-dev.jsonl"
"""What the rules were made with."""

EXPECTED: Final = {"duplicate": "NOOP", "update": "UPDATE", "contradiction": "SUPERSEDE", "unrelated": "ADD"}
"""The right decision by label."""


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair.

    Attributes:
        id: Its name.
        old: What was there.
        new: What comes in.
        label: A key of `EXPECTED`.
        kind: What makes it hard.
    """

    id: str
    old: str
    new: str
    label: str
    kind: str


def load(path: Path) -> list[Pair]:
    """Read a file of pairs.

    Raises:
        DataError: A line is not one, has an unknown label, or an id is there twice.
    """
    try:
        pairs = [Pair(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines() if line]
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{path.name} cannot be read: {type(error).__name__}") from error
    wrong = [pair.id for pair in pairs if pair.label not in EXPECTED]
    if wrong:
        raise DataError(f"{path.name}: {wrong[0]} has an unknown label")
    if len({pair.id for pair in pairs}) < len(pairs):
        raise DataError(f"{path.name}: an id is there twice")
    return pairs
