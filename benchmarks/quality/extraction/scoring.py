"""Precision, recall and F1 of names and times that were found, against those that were labelled.

Counts are summed over the texts; intervals resample the texts, because what one text holds stands or falls
together (F1 has no binomial interval either).
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import RESAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.extraction.labels import LabelledText, Time, TimedText
    from pgrecall_extract.base import TemporalReference

__all__ = [
    "Counts",
    "Figure",
    "Score",
    "name_mistakes",
    "normalised",
    "score",
    "score_entities",
    "score_times",
    "time_mistakes",
]

_ARTICLE = re.compile(r"^(?:the|an?) ")
_DECIMALS = 4


@dataclass(frozen=True, slots=True)
class Counts:
    """How many were right.

    Attributes:
        right: Found and labelled.
        found: Found.
        labelled: Labelled.
    """

    right: int = 0
    found: int = 0
    labelled: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.right + other.right, self.found + other.found, self.labelled + other.labelled)

    @property
    def precision(self) -> float | None:
        """The share of the found that is right; None where nothing was found."""
        return self.right / self.found if self.found else None

    @property
    def recall(self) -> float | None:
        """The share of the labelled that was found; None where nothing is labelled."""
        return self.right / self.labelled if self.labelled else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both: 2 right / (found + labelled); None where there is neither."""
        return 2 * self.right / (self.found + self.labelled) if self.found + self.labelled else None


@dataclass(frozen=True, slots=True)
class Figure:
    """A share from 0 to 1.

    Attributes:
        value: The share.
        ci95: Its 95 % confidence interval (percentiles of the bootstrap over texts).
    """

    value: float
    ci95: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Score:
    """What a set of texts gave. A figure is None where it would be 0 / 0."""

    counts: Counts
    precision: Figure | None
    recall: Figure | None
    f1: Figure | None

    def as_dict(self) -> dict[str, Any]:
        """Return what the results file holds."""
        figures = {"precision": self.precision, "recall": self.recall, "f1": self.f1}
        return {
            "right": self.counts.right,
            "found": self.counts.found,
            "labelled": self.counts.labelled,
            **{
                name: None if figure is None else {"value": figure.value, "ci95": list(figure.ci95)}
                for name, figure in figures.items()
            },
        }


def normalised(name: str) -> str:
    """Return a name as names are compared: NFKC, case folded, blanks single, without article, @ and ()."""
    plain = " ".join(unicodedata.normalize("NFKC", name).casefold().split())
    return _ARTICLE.sub("", plain).removeprefix("@").removesuffix("()")


def score(counts: Sequence[Counts], *, seed: int, resamples: int = RESAMPLES) -> Score:
    """Sum the counts of texts and say how sure the figures are.

    Args:
        counts: One for each text.
        seed: The same seed draws the same texts.
        resamples: How many times to draw.
    """
    total = sum(counts, Counts())
    right, found, labelled = _drawn(counts, seed, resamples)
    return Score(
        total,
        _figure(total.precision, right, found),
        _figure(total.recall, right, labelled),
        _figure(total.f1, 2 * right, found + labelled),
    )


def score_entities(
    texts: Sequence[LabelledText], found: Sequence[Collection[tuple[str, str]]], *, seed: int
) -> dict[str, Any]:
    """Compare names: a name is right if it is labelled in that text with the same type.

    Args:
        texts: The labelled texts.
        found: The names and types found in each, in the same order. A name counts once a text and type.
        seed: Of the intervals.

    Returns:
        What the results file holds: `overall`, `any_type` (the name alone counts), `by_type`, `by_domain`,
        and `empty_texts`: how many texts without a name there are and in how many something was found.

    Raises:
        ValueError: There are not as many `found` as texts.
    """
    labels = [{(normalised(one.name), one.type) for one in text.entities} for text in texts]
    answers = [{(normalised(name), type) for name, type in names} for names in found]
    pairs = list(zip(texts, labels, answers, strict=True))
    domains = sorted({text.domain for text in texts})
    types = sorted({type for names in (*labels, *answers) for _, type in names})
    return {
        "overall": score([_overlap(a, b) for _, a, b in pairs], seed=seed).as_dict(),
        "any_type": score([_overlap(_names(a), _names(b)) for _, a, b in pairs], seed=seed).as_dict(),
        "by_type": {
            type: score([_overlap(_of(a, type), _of(b, type)) for _, a, b in pairs], seed=seed).as_dict()
            for type in types
        },
        "by_domain": {
            domain: score([_overlap(a, b) for t, a, b in pairs if t.domain == domain], seed=seed).as_dict()
            for domain in domains
        },
        "empty_texts": _empty((bool(a), bool(b)) for _, a, b in pairs),
    }


def score_times(
    texts: Sequence[TimedText], found: Sequence[Sequence[TemporalReference]], *, seed: int
) -> dict[str, Any]:
    """Compare times: a time is right if its period is exactly a labelled one of that text.

    Args:
        texts: The labelled texts.
        found: The times found in each, in the same order.
        seed: Of the intervals.

    Returns:
        What the results file holds: `overall`; `words` (a time counts if its words overlap the labelled ones,
        whatever its period); `by_kind`: `labelled`, `right` and `words` of each kind; `granularity`: how many
        of the right ones name the right unit; and `empty_texts` as for names.

    Raises:
        ValueError: There are not as many `found` as texts.
    """
    periods: list[Counts] = []
    words: list[Counts] = []
    kinds: dict[str, dict[str, int]] = defaultdict(lambda: {"labelled": 0, "right": 0, "words": 0})
    units = {"right": 0, "of": 0}
    pairs = list(zip(texts, found, strict=True))
    for text, references in pairs:
        of_period = _paired(text.times, references, _same_period)
        of_words = _paired(text.times, references, _overlapping)
        periods.append(Counts(len(of_period), len(references), len(text.times)))
        words.append(Counts(len(of_words), len(references), len(text.times)))
        for place, label in enumerate(text.times):
            kind = kinds[label.kind]
            kind["labelled"] += 1
            kind["right"] += place in of_period
            kind["words"] += place in of_words
            if place in of_period:
                units["of"] += 1
                units["right"] += of_period[place].granularity == label.granularity
    return {
        "overall": score(periods, seed=seed).as_dict(),
        "words": score(words, seed=seed).as_dict(),
        "by_kind": {kind: kinds[kind] for kind in sorted(kinds)},
        "granularity": units,
        "empty_texts": _empty((bool(text.times), bool(references)) for text, references in pairs),
    }


def name_mistakes(
    texts: Sequence[LabelledText], found: Sequence[Collection[tuple[str, str]]]
) -> list[tuple[str, str, str]]:
    """Return what is wrong in each text: its id, "missed" or "wrong", and the name with its type."""
    mistakes: list[tuple[str, str, str]] = []
    for text, names in zip(texts, found, strict=True):
        labels = {(normalised(one.name), one.type): one.name for one in text.entities}
        answers = {(normalised(name), type): name for name, type in sorted(names)}
        for verdict, some, others in (("missed", labels, answers), ("wrong", answers, labels)):
            mistakes += [
                (text.id, verdict, f"{some[key]} ({key[1]})") for key in sorted(some.keys() - others.keys())
            ]
    return mistakes


def time_mistakes(
    texts: Sequence[TimedText], found: Sequence[Sequence[TemporalReference]]
) -> list[tuple[str, str, str]]:
    """Return what is wrong in each text: its id, "missed" or "wrong", and the words with their period."""
    mistakes: list[tuple[str, str, str]] = []
    for text, references in zip(texts, found, strict=True):
        pairs = _paired(text.times, references, _same_period)
        right = list(pairs.values())
        mistakes += [
            (text.id, "missed", _told(text, label))
            for place, label in enumerate(text.times)
            if place not in pairs
        ]
        for reference in references:
            if reference in right:
                right.remove(reference)
            else:
                mistakes.append((text.id, "wrong", _told(text, reference)))
    return mistakes


def _told(text: TimedText, time: Time | TemporalReference) -> str:
    words = text.content[time.start : time.end]
    return f"{words}: {time.from_at.isoformat()} to {time.to_at.isoformat()}"


def _overlap(labelled: set[Any], found: set[Any]) -> Counts:
    return Counts(len(labelled & found), len(found), len(labelled))


def _names(pairs: set[tuple[str, str]]) -> set[str]:
    return {name for name, _ in pairs}


def _of(pairs: set[tuple[str, str]], type: str) -> set[tuple[str, str]]:
    return {pair for pair in pairs if pair[1] == type}


def _empty(texts: Iterable[tuple[bool, bool]]) -> dict[str, int]:
    without = [found for labelled, found in texts if not labelled]
    return {"texts": len(without), "with_something_found": sum(without)}


def _same_period(label: Time, reference: TemporalReference) -> bool:
    return (label.from_at, label.to_at) == (reference.from_at, reference.to_at)


def _overlapping(label: Time, reference: TemporalReference) -> bool:
    return label.start < reference.end and reference.start < label.end


def _paired(
    labels: Sequence[Time],
    references: Sequence[TemporalReference],
    same: Callable[[Time, TemporalReference], bool],
) -> dict[int, TemporalReference]:
    """Give each label, by its place, the first reference that is the same and no other label's."""
    left = list(references)
    pairs: dict[int, TemporalReference] = {}
    for place, label in enumerate(labels):
        for index, reference in enumerate(left):
            if same(label, reference):
                pairs[place] = left.pop(index)
                break
    return pairs


def _drawn(counts: Sequence[Counts], seed: int, resamples: int) -> tuple[NDArray[np.int64], ...]:
    """Return the sums of right, found and labelled of every resample."""
    table = np.array([(one.right, one.found, one.labelled) for one in counts], dtype=np.int64).reshape(-1, 3)
    size = len(table)
    if size == 0:
        return tuple(np.zeros((3, resamples), dtype=np.int64))
    times_drawn = np.random.default_rng(seed).multinomial(size, np.full(size, 1 / size), size=resamples)
    return tuple((times_drawn @ table).T)


def _figure(value: float | None, part: NDArray[np.int64], whole: NDArray[np.int64]) -> Figure | None:
    if value is None:
        return None
    # A resample without any has no share.
    some = whole > 0
    low, high = np.percentile(part[some] / whole[some], (2.5, 97.5))
    return Figure(round(value, _DECIMALS), (round(float(low), _DECIMALS), round(float(high), _DECIMALS)))
