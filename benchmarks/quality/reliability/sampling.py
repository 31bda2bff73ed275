"""Draws namespaces of several sizes, with the evidence of some questions and without that of others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.quality.datasets import load_dataset

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.quality.datasets import Dataset, Memory, Query

__all__ = ["GROUPS", "SOURCES", "Asked", "Sample", "Source", "Space", "draw", "read", "stored"]

QUESTIONS: Final = 40
"""Of each data set; each is asked once with its evidence and once without, at every size."""
POOL: Final = 500
"""Memories of each data set that namespaces are filled with, the evidence included."""
GROUPS: Final = {5: 40, 30: 20, 300: 2, 3000: 2}
"""Namespaces by size: the evidence of as many questions is in each that all have their turn."""
SHARED: Final = 3000
"""The size from which on a namespace holds memories of all data sets: none of them is as large."""


@dataclass(frozen=True, slots=True)
class Source:
    """A data set that is measured.

    Attributes:
        name: The folder's name.
        language: The text-search configuration of its memories.
        scope: As for `quality`; fillers come from where the questions are asked, while there are any.
    """

    name: str
    language: str = "english"
    scope: str = "pooled"


SOURCES: Final = (
    Source("sample"),
    Source("locomo", scope="field:conversation"),
    Source("realmem-dev", scope="field:conversation"),
    Source("multihoprag"),
    Source("musique-train"),
    Source("quora-paraphrase"),
    Source("scifact"),
    Source("xquad-en"),
    Source("xquad-de", "german"),
    Source("xquad-es", "spanish"),
    Source("xquad-ru", "russian"),
    Source("xquad-zh", "simple"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """What is taken from a data set: its questions, and the memories that namespaces are made of, by id."""

    source: Source
    questions: tuple[Query, ...]
    memories: dict[str, Memory]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question in a namespace; `is_known` if its evidence is there."""

    sample: str
    question: Query
    is_known: bool


@dataclass(frozen=True, slots=True)
class Space:
    """A namespace: its memories with the data set that each is from, and what is asked there."""

    name: str
    size: int
    language: str
    memories: tuple[tuple[Source, Memory], ...]
    asked: tuple[Asked, ...]


def read(folder: Path, source: Source, seed: int) -> Sample:
    """Draw questions of a data set, and a pool of memories with all their evidence.

    Raises:
        DataError: The data set is not sound.
    """
    dataset: Dataset = load_dataset(folder, source.scope)
    chance = np.random.default_rng([seed, *source.name.encode()])
    # A namespace of five memories holds all the evidence and something else.
    fit = [one for one in dataset.queries if 0 < len(one.relevant) < min(GROUPS)]
    drawn = chance.permutation(len(fit))[:QUESTIONS]
    questions = tuple(sorted((fit[place] for place in drawn), key=lambda one: (one.namespace, one.id)))
    evidence = {id for one in questions for id in one.relevant}
    pool = [one for one in dataset.memories if not one.fields.is_sensitive]
    order = chance.permutation(len(pool))
    chosen = [pool[place] for place in order if pool[place].id not in evidence][
        : max(0, POOL - len(evidence))
    ]
    kept = {one.id for one in chosen} | evidence
    return Sample(source, questions, {one.id: one for one in dataset.memories if one.id in kept})


def draw(samples: Sequence[Sample], seed: int) -> list[Space]:
    """Draw the namespaces of every size."""
    chance = np.random.default_rng([seed, 1])
    spaces = []
    for size, groups in GROUPS.items():
        together = [list(samples)] if size >= SHARED else [[one] for one in samples]
        for part in together:
            others = [one for one in samples if one not in part]
            spaces += [_space(part, others, size, number, groups, chance) for number in range(groups)]
    return [space for space in spaces if space.asked]


def _space(
    part: Sequence[Sample],
    others: Sequence[Sample],
    size: int,
    number: int,
    groups: int,
    chance: np.random.Generator,
) -> Space:
    """Fill one namespace: evidence of one group of questions; the next group is asked without its own."""
    asked: list[Asked] = []
    evidence: dict[tuple[str, str], tuple[Source, Memory]] = {}
    barred: set[tuple[str, str]] = set()
    homes: set[tuple[str, str]] = set()
    for sample in part:
        name = sample.source.name
        with_it = sample.questions[number::groups]
        found = {id for one in with_it for id in one.relevant}
        known = [Asked(name, one, is_known=True) for one in with_it if not one.exclude & found]
        unknown = [
            Asked(name, one, is_known=False)
            for one in sample.questions[(number + 1) % groups :: groups]
            if not (one.relevant | one.exclude) & found
        ]
        asked += known + unknown
        evidence |= {(name, id): (sample.source, sample.memories[id]) for id in sorted(found)}
        barred |= {(name, id) for one in known + unknown for id in one.question.exclude}
        barred |= {(name, id) for one in unknown for id in one.question.relevant}
        homes |= {(name, one.question.namespace) for one in known + unknown}
    fillers = _fillers(part, homes, chance) + _shuffled(others, chance)
    chosen = dict(evidence)
    for source, memory in fillers:
        if len(chosen) >= size:
            break
        key = (source.name, memory.id)
        if key not in barred:
            chosen.setdefault(key, (source, memory))
    name = part[0].source.name if size < SHARED else "all"
    language = part[0].source.language if size < SHARED else "english"
    return Space(f"{name}-{size}-{number}", size, language, tuple(chosen.values()), tuple(asked))


def _fillers(
    part: Sequence[Sample], homes: set[tuple[str, str]], chance: np.random.Generator
) -> list[tuple[Source, Memory]]:
    drawn = _shuffled(part, chance)
    return sorted(drawn, key=lambda one: (one[0].name, one[1].namespace) not in homes)


def _shuffled(samples: Sequence[Sample], chance: np.random.Generator) -> list[tuple[Source, Memory]]:
    every = [(sample.source, memory) for sample in samples for memory in sample.memories.values()]
    return [every[place] for place in chance.permutation(len(every))]


def stored(space: Space) -> list[Memory]:
    """Return the memories of a namespace as they are stored there, in its order."""
    return [
        replace(
            memory,
            namespace=space.name,
            fields=replace(memory.fields, namespace=space.name, external_id=None, language=source.language),
        )
        for source, memory in space.memories
    ]
