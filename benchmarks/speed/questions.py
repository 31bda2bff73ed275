"""Questions about the synthetic memories, with the vector each would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.speed.generator import LARGE, Corpus, Memory
from benchmarks.speed.words import FILLERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["KINDS", "NATURAL", "Kind", "Question", "questions", "vector_text"]

_COMMON_RANKS = 200
_RARE_FROM = 2_000
_OPENINGS = ("what did", "when was", "why did", "who was with", "where did", "how was")


@dataclass(frozen=True, slots=True)
class Kind:
    """How many content words a question has, and which.

    `frequency` is natural, common (of the 200 most frequent words) or rare (none of the 2,000 most frequent).
    """

    words: int
    frequency: str = "natural"

    @property
    def name(self) -> str:
        """Its form in the name of a system."""
        return f"words={self.words}" + ("" if self.frequency == "natural" else f",{self.frequency}")


NATURAL = Kind(8)
KINDS = (
    NATURAL,
    Kind(3),
    Kind(8, "common"),
    Kind(8, "rare"),
    Kind(3, "common"),
    Kind(3, "rare"),
)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its embedding, as the database reads it."""

    text: str
    vector: str


def questions(corpus: Corpus, kind: Kind, count: int) -> list[Question]:
    """Return questions about memories of the large namespace, the same ones every time.

    A natural question shares half its words with the memory it is about, a name among them if the memory says
    one, and takes the others from the language at large.
    """
    rng = corpus.random(2, KINDS.index(kind))
    memories, vectors = _sample(corpus, rng, count)
    nearby = corpus.nearby(rng, vectors)
    asked = []
    for place, memory in enumerate(memories):
        words = _words(corpus, rng, kind, memory)
        asked.append(Question(_phrase(rng, words), vector_text(nearby[place])))
    return asked


def vector_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as pgvector reads it."""
    return "[" + ",".join(f"{value:.5f}" for value in vector.tolist()) + "]"


def _sample(corpus: Corpus, rng: np.random.Generator, count: int) -> tuple[list[Memory], NDArray[np.float32]]:
    """Draw memories of the large namespace from the first, the middle and the last chunk."""
    memories: list[Memory] = []
    vectors = []
    places = sorted({0, corpus.chunks // 2, corpus.chunks - 1})
    for turn, index in enumerate(places):
        chunk = corpus.chunk(index)
        large = [memory for memory in chunk.memories if memory.namespace == LARGE]
        share = count // len(places) + (turn < count % len(places))
        chosen = [large[number] for number in rng.integers(0, len(large), share).tolist()]
        memories += chosen
        vectors.append(chunk.vectors[[memory.vector for memory in chosen]])
    order = rng.permutation(count)
    return [memories[number] for number in order.tolist()], np.concatenate(vectors)[order]


def _words(corpus: Corpus, rng: np.random.Generator, kind: Kind, memory: Memory) -> list[str]:
    if kind.frequency == "common":
        return _general(corpus, rng, kind.words, 0, _COMMON_RANKS)
    if kind.frequency == "rare":
        return _general(corpus, rng, kind.words, _RARE_FROM, len(corpus.words))
    own = list(dict.fromkeys(memory.content_words))
    shared = [own[number] for number in rng.permutation(len(own)).tolist()]
    chosen = [*memory.named, *shared][: (kind.words + 1) // 2]
    others = _general(corpus, rng, kind.words, 0, len(corpus.words))
    return list(dict.fromkeys([*chosen, *others]))[: kind.words]


def _general(corpus: Corpus, rng: np.random.Generator, count: int, low: int, high: int) -> list[str]:
    """Draw different words with ranks in [low, high) by their frequency."""
    chosen: dict[str, None] = {}
    while len(chosen) < count:
        for rank in corpus.zipf_words(rng, 4 * count).tolist():
            if low <= rank < high and len(chosen) < count:
                chosen[corpus.words[rank]] = None
    return list(chosen)


def _phrase(rng: np.random.Generator, words: list[str]) -> str:
    order = [words[number] for number in rng.permutation(len(words)).tolist()]
    fillers = [FILLERS[number] for number in rng.integers(0, len(FILLERS), len(words)).tolist()]
    middle = [part for filler, word in zip(fillers, order, strict=True) for part in (filler, word)]
    return " ".join([_OPENINGS[int(rng.integers(0, len(_OPENINGS)))], *middle[1:]]) + "?"
