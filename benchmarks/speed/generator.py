"""Synthetic memories and questions: the same for the same size, dimension and seed on every machine.

What costs time in a recall is made like the real thing:

- words follow Zipf's law; a third of them come from the memory's topic, so that words occur together;
- vectors lie around their topic's centre, topics around few themes, and the remainder has few degrees of
  freedom, as embeddings do (independent noise in every dimension would leave HNSW nothing to go by);
- tags are names whose frequency follows Zipf's law up to a cap; half of them are said in the text as well;
- one namespace holds 90 % of the memories, one 1 %, one 0.01 %, many small ones the rest;
- three tags are on 50 %, 1 % and 0.01 % of the large namespace, for filters.

Memories come in chunks, each from a random generator of its own: any can be made again without the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.speed.words import FILLERS, names, vocabulary

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["CHUNK", "EMPTY", "GENERATOR", "LARGE", "SPAN", "START", "TAGS", "Chunk", "Corpus", "Memory"]

GENERATOR = 2
"""Raised whenever the same seed gives other memories or other mentions of concepts (mentions.py)."""

CHUNK = 10_000
LARGE = "large"
MEDIUM = "medium"
TINY = "tiny"
EMPTY = "empty"
START = datetime(2023, 1, 1, tzinfo=UTC)
SPAN = timedelta(days=3 * 365)
"""Memories happen one after the other, evenly from START to START + SPAN."""
TAGS = {"50%": "work", "1%": "travel", "0.01%": "passport"}
"""Tags by their share of the large namespace."""

_WORDS = 30_000
_FIRST_RANKS = 20  # what Zipf's law puts first are stop words, and those are fillers here
_TOPIC_WORDS = 150
_THEMES = 12
_LATENT = 32  # degrees of freedom within a topic
_FEWEST_WORDS, _MOST_WORDS = 10, 60
_CATEGORIES = ("fact", "preference", "decision", "event", "person", "place", "note", "utterance")


@dataclass(frozen=True, slots=True)
class Memory:
    """One row of pgrecall.memories; `vector` is its place in the chunk's vectors."""

    number: int
    namespace: str
    content: str
    content_words: tuple[str, ...]
    named: tuple[str, ...]
    tags: tuple[str, ...]
    category: str
    importance: float
    session: str
    position: int
    speaker: str
    occurred_at: datetime
    vector: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """Memories in the order they are stored in, and their embeddings, of length 1."""

    memories: list[Memory]
    vectors: NDArray[np.float32]


class Corpus:
    """Everything that one size, dimension and seed stand for.

    Args:
        rows: Number of memories.
        dimension: Of the embeddings.
        seed: Another seed makes other memories.
    """

    def __init__(self, rows: int, dimension: int, seed: int = 42) -> None:
        self.rows = rows
        self.dimension = dimension
        self.seed = seed
        self.words = vocabulary(_WORDS)
        self.names = names(max(50, rows // 8))
        self._word_shares = _zipf(_WORDS, 1.0, _FIRST_RANKS)
        self._name_shares = _zipf(len(self.names), 0.9, 2, cap=0.02)
        rng = self.random(0)
        topics = max(20, rows // 500)
        self._topic_shares = _zipf(topics, 0.7, 5)
        low, high = np.log(50), np.log(_WORDS)
        self._topic_words = np.exp(rng.uniform(low, high, (topics, _TOPIC_WORDS))).astype(np.int64)
        themes = rng.standard_normal((_THEMES, dimension), dtype=np.float32)
        centres = rng.standard_normal((topics, dimension), dtype=np.float32)
        common = rng.standard_normal(dimension, dtype=np.float32)
        self._centres = 0.6 * common + 0.7 * themes[rng.integers(0, _THEMES, topics)] + 0.7 * centres
        self._basis = rng.standard_normal((_LATENT, dimension), dtype=np.float32) / np.float32(
            np.sqrt(_LATENT)
        )

    @property
    def chunks(self) -> int:
        """How many chunks there are; all but the last are full."""
        return -(-self.rows // CHUNK)

    @cached_property
    def namespaces(self) -> list[str]:
        """The names of all namespaces."""
        return [LARGE, MEDIUM, TINY, EMPTY, *(f"small {number}" for number in range(self._small))]

    @property
    def large(self) -> int:
        """How many memories the large namespace has."""
        return self.rows - -(-self.rows // 10)

    @property
    def _small(self) -> int:
        return max(5, self.rows // 1000)

    def random(self, *place: int) -> np.random.Generator:
        """Return the random generator of one part of the corpus; (0,) and (1, chunk) are its own."""
        return np.random.default_rng([GENERATOR, self.seed, self.rows, self.dimension, *place])

    def zipf_words(self, rng: np.random.Generator, count: int) -> NDArray[np.int64]:
        """Draw words, as their ranks, with the frequency they have in the memories' general language."""
        return _draw(rng, self._word_shares, count)

    def nearby(self, rng: np.random.Generator, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return vectors of questions about the memories with these vectors."""
        spread = np.float32(0.5 / self.dimension**0.5)
        noise: NDArray[np.float32] = (
            rng.standard_normal((len(vectors), _LATENT), dtype=np.float32) @ self._basis
        )
        return _unit(np.add(vectors, spread * noise, dtype=np.float32))

    def chunk(self, index: int) -> Chunk:
        """Make the memories of one chunk."""
        rng = self.random(1, index)
        first = index * CHUNK
        count = min(CHUNK, self.rows - first)
        topics = _draw(rng, self._topic_shares, count)
        vectors = self._vectors(rng, topics)
        texts = self._texts(rng, topics)
        tags = self._tags(rng, count)
        said = rng.random(count) < 0.5
        importance = np.round(rng.beta(2, 2, count), 2).tolist()
        categories = rng.integers(0, len(_CATEGORIES), count).tolist()
        small = _draw(rng, _zipf(self._small, 0.5, 5), count).tolist()
        memories = []
        for place, (words, fillers) in enumerate(texts):
            number = first + place
            named = tags[place][:1] if said[place] and tags[place] else ()
            memories.append(
                Memory(
                    number=number,
                    namespace=_namespace(number, small[place]),
                    content=_sentence((*named, *words), fillers),
                    content_words=words,
                    named=named,
                    tags=(*tags[place], *_filter_tags(number)),
                    category=_CATEGORIES[categories[place]],
                    importance=importance[place],
                    session=f"session {number // 20}",
                    position=number % 20,
                    speaker="user" if number % 2 else "agent",
                    occurred_at=START + SPAN * (number / self.rows),
                    vector=place,
                )
            )
        return Chunk(memories, vectors)

    def _vectors(self, rng: np.random.Generator, topics: NDArray[np.int64]) -> NDArray[np.float32]:
        latent = rng.standard_normal((len(topics), _LATENT), dtype=np.float32) @ self._basis
        noise = rng.standard_normal((len(topics), self.dimension), dtype=np.float32)
        return _unit(self._centres[topics] + np.float32(0.8) * latent + np.float32(0.15) * noise)

    def _texts(
        self, rng: np.random.Generator, topics: NDArray[np.int64]
    ) -> list[tuple[tuple[str, ...], list[str]]]:
        """Draw each memory's content words and the fillers between them, 10 to 60 in all."""
        lengths = rng.integers(_FEWEST_WORDS, _MOST_WORDS + 1, len(topics))
        contents = np.maximum(3, (lengths * rng.uniform(0.5, 0.7, len(topics))).astype(np.int64))
        total = int(contents.sum())
        ranks = self.zipf_words(rng, total)
        of_topic = rng.random(total) < 1 / 3
        places = (_TOPIC_WORDS * rng.random(total) ** 2).astype(np.int64)  # a topic has its favourites
        ranks[of_topic] = self._topic_words[np.repeat(topics, contents)[of_topic], places[of_topic]]
        fillers = rng.integers(0, len(FILLERS), int((lengths - contents).sum()))
        word_ends = np.concatenate(([0], np.cumsum(contents))).tolist()
        filler_ends = np.concatenate(([0], np.cumsum(lengths - contents))).tolist()
        all_ranks, all_fillers = ranks.tolist(), fillers.tolist()
        return [
            (
                tuple(self.words[rank] for rank in all_ranks[start:end]),
                [FILLERS[number] for number in all_fillers[first:last]],
            )
            for (start, end), (first, last) in zip(pairwise(word_ends), pairwise(filler_ends), strict=True)
        ]

    def _tags(self, rng: np.random.Generator, count: int) -> list[tuple[str, ...]]:
        """Draw 0 to 4 different names a memory."""
        amounts = rng.choice(5, count, p=[0.25, 0.3, 0.25, 0.15, 0.05])
        drawn = _draw(rng, self._name_shares, int(amounts.sum())).tolist()
        ends = np.concatenate(([0], np.cumsum(amounts))).tolist()
        return [
            tuple(dict.fromkeys(self.names[rank] for rank in drawn[start:end]))
            for start, end in pairwise(ends)
        ]


def _zipf(count: int, exponent: float, offset: int, cap: float = 1.0) -> NDArray[np.float64]:
    """Return the cumulative shares of `count` ranks, none larger than `cap` except by levelling."""
    shares = 1 / (np.arange(1, count + 1) + offset) ** exponent
    shares = np.minimum(shares / shares.sum(), cap)
    cumulative: NDArray[np.float64] = np.cumsum(shares / shares.sum())
    return cumulative


def _draw(rng: np.random.Generator, shares: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    return np.minimum(np.searchsorted(shares, rng.random(count), side="right"), len(shares) - 1)


def _unit(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    scaled: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return scaled


def _namespace(number: int, small: int) -> str:
    if number % 10:
        return LARGE
    if number % 10_000 == 0:
        return TINY
    return MEDIUM if number % 100 == 0 else f"small {small}"


def _filter_tags(number: int) -> tuple[str, ...]:
    """Return the tags for filters: by the place in the large namespace, so that shares are exact."""
    if number % 10 == 0:
        return ()
    place = number - number // 10 - 1
    steps = {"50%": 2, "1%": 100, "0.01%": 10_000}
    return tuple(TAGS[share] for share, step in steps.items() if place % step == 0)


def _sentence(words: tuple[str, ...], fillers: list[str]) -> str:
    """Put the fillers between the words, evenly."""
    step = len(words) / (len(fillers) + 1)
    parts: list[str] = []
    done = 0
    for place, word in enumerate(words):
        while done < len(fillers) and place >= (done + 1) * step:
            parts.append(fillers[done])
            done += 1
        parts.append(word)
    parts.extend(fillers[done:])
    return " ".join(parts) + "."
