"""Questions made of the memories' own words: the `exact` stratum.

Each is a run of 4 to 8 consecutive words of a memory drawn at random; every memory of the namespace that
holds the run is relevant. No retriever is consulted. The stratum is circular: it can only say whether wording
is found again, nothing about questions that people ask.
"""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from benchmarks.quality.datasets import Query

if TYPE_CHECKING:
    from benchmarks.quality.datasets import Dataset, Memory

__all__ = ["CIRCULARITY", "STRATUM", "exact_queries"]

STRATUM = "exact"
CIRCULARITY = (
    "The exact stratum is circular: its questions are runs of 4 to 8 consecutive words of random memories, "
    "and every memory that holds the run counts as relevant. It favours retrievers that match words by "
    "construction, and is left out of the overall figures."
)

_WORD = re.compile(r"\w+")
_SHORTEST, _LONGEST = 4, 8


def exact_queries(dataset: Dataset, count: int, seed: int) -> list[Query]:
    """Make questions of a data set's own words.

    Args:
        dataset: The memories.
        count: How many questions at the most; fewer if the memories do not hold that many runs.
        seed: The same seed makes the same questions.

    Returns:
        The questions, ids `exact-1` and so on.
    """
    groups = dataset.by_namespace()
    spoken = {name: [(memory.id, _words(memory.text)) for memory in group] for name, group in groups.items()}
    # Drawing is seeded for repeatability; nothing secret hangs on it.
    chance = random.Random(seed)  # noqa: S311
    drawn = list(dataset.memories)
    chance.shuffle(drawn)
    queries: list[Query] = []
    asked: set[tuple[str, str]] = set()
    for memory in drawn:
        if len(queries) >= count:
            break
        run = _run(memory, chance)
        if run is None or (memory.namespace, _words(run)) in asked:
            continue
        words = _words(run)
        asked.add((memory.namespace, words))
        relevant = frozenset(id for id, text in spoken[memory.namespace] if words in text)
        queries.append(
            Query(
                id=f"exact-{len(queries) + 1}",
                text=run,
                namespace=memory.namespace,
                stratum=STRATUM,
                relevant=relevant,
                generated=True,
            )
        )
    return queries


def _run(memory: Memory, chance: random.Random) -> str | None:
    """Draw some consecutive words of a memory, as it writes them; None if it has too few."""
    places = [match.span() for match in _WORD.finditer(memory.text)]
    if len(places) < _SHORTEST:
        return None
    length = chance.randint(_SHORTEST, min(_LONGEST, len(places)))
    first = chance.randint(0, len(places) - length)
    return memory.text[places[first][0] : places[first + length - 1][1]]


def _words(text: str) -> str:
    """Return the words alone, in lower case, each between spaces, so that `in` finds whole words."""
    return f" {' '.join(_WORD.findall(text.lower()))} "
