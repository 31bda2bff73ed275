"""The questions: how long a layout takes to answer, and whether it finds what exhaustive BM25 finds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.bm25 import Bm25
from benchmarks.layouts.prototypes import BASELINE, PIVOT, search
from benchmarks.speed.generator import LARGE
from benchmarks.speed.measure import Latency, alternately, one_by_one
from benchmarks.speed.questions import NATURAL, Kind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

    from benchmarks.layouts.prototypes import Layout
    from benchmarks.speed.measure import Call
    from benchmarks.speed.questions import Question

    Answer = list[tuple[int, float]]

__all__ = ["BUDGETS", "DEPTH", "KINDS", "NEARLY", "Reference", "Target", "agreements", "ask", "measure"]

BUDGETS = (500, 1000)
"""How many postings of a term are read at the most."""
KINDS = (NATURAL, Kind(8, "common"))
K = 10
"""How many memories are compared with exhaustive BM25."""
DEPTH = 50
"""How many memories the leg hands on."""
NEARLY = 1e-5
"""Postings hold four-byte numbers: scores that differ by less than this share are equal."""


@dataclass(frozen=True, slots=True)
class Target:
    """What is searched, in every database alike: the large namespace, and the languages of its questions."""

    namespace_id: int
    languages: list[str]

    @classmethod
    def read(cls, connection: Connection[Any]) -> Target:
        """Look them up."""
        row = connection.execute(
            "SELECT pgrecall.namespace_id(%(name)s), pgrecall.query_languages(%(name)s)::text[]",
            {"name": LARGE},
        ).fetchone()
        assert row is not None  # noqa: S101
        return cls(*row)


class Reference:
    """Exhaustive BM25 over the large namespace, with the ordinary length that the layouts reckon with.

    Args:
        connection: Of a database with the memories in it.
        target: What is searched.
        questions: The questions that it will be compared for.
    """

    def __init__(self, connection: Connection[Any], target: Target, questions: Sequence[Question]) -> None:
        self._terms: dict[str, list[str]] = {}
        for question in questions:
            (terms,) = connection.execute(
                "SELECT pgrecall.query_terms(%s::regconfig[], %s)", (target.languages, question.text)
            ).fetchone() or (None,)
            self._terms[question.text] = terms or []
        wanted = {term for terms in self._terms.values() for term in terms}
        self._index = Bm25.read(connection, target.namespace_id, wanted, pivot=PIVOT)

    def agreement(self, answers: Mapping[Question, Answer]) -> float:
        """Return which share of the best `K` memories the answers have among their best `K`, on average.

        A memory with the same score as the last of them is as good as that one.
        """
        shares = [self._share(question, found) for question, found in answers.items()]
        return round(sum(shares) / len(shares), 4)

    def best(self, question: Question, k: int) -> Answer:
        """Return the best k memories."""
        return self._index.top(self._terms[question.text], k)

    def _share(self, question: Question, found: Answer) -> float:
        best = self.best(question, K)
        if not best:
            return 1.0
        worst = best[-1][1] * (1 - NEARLY)
        scores = self._index.score_of(self._terms[question.text], [id for id, _ in found[:K]])
        return sum(score >= worst for score in scores) / len(best)


def measure(
    connections: Mapping[Layout, Connection[Any]],
    target: Target,
    questions: Sequence[Question],
    budgets: Sequence[int],
    seconds: float,
    reference: Reference,
) -> dict[str, Any]:
    """Ask questions of one kind.

    Args:
        connections: To the layouts' databases, the baseline's among them.
        target: What is searched.
        questions: `WARM_UP` more than are measured.
        budgets: How many postings of a term are read at the most.
        seconds: For how long a layout is asked at the most.
        reference: What the answers are compared with.

    Returns:
        `baseline`, its latency; by budget and name of a layout its latency, and the mean `agreement`.
    """
    plain = connections[BASELINE]
    times = one_by_one(plain, _call(plain, BASELINE, target, 0, {}), questions, seconds)
    found: dict[str, Any] = {BASELINE.name: asdict(Latency.of(times))}
    for budget in budgets:
        answers: dict[str, dict[Question, Answer]] = {}
        calls: dict[str, Call] = {}
        for layout, connection in connections.items():
            if layout != BASELINE:
                kept = answers[layout.name] = {}
                calls[layout.name] = _call(connection, layout, target, budget, kept)
        taken = alternately(plain, calls, questions, seconds)
        found[str(budget)] = {
            name: {**asdict(Latency.of(taken[name])), "agreement": reference.agreement(answers[name])}
            for name in calls
        }
    return found


def agreements(
    connections: Mapping[Layout, Connection[Any]],
    target: Target,
    questions: Sequence[Question],
    budget: int,
    reference: Reference,
) -> dict[str, float]:
    """Return each layout's mean agreement with the reference, untimed."""
    return {
        layout.name: reference.agreement(
            {question: ask(connection, layout, target, question, budget) for question in questions}
        )
        for layout, connection in connections.items()
        if layout != BASELINE
    }


def ask(
    connection: Connection[Any], layout: Layout, target: Target, question: Question, budget: int
) -> Answer:
    """Ask a layout; planned every time with its arguments, as recall does."""
    arguments = {
        "namespace_id": target.namespace_id,
        "languages": target.languages,
        "text": question.text,
        "budget": budget,
        "depth": DEPTH,
    }
    rows = connection.execute(search(layout), arguments, prepare=False).fetchall()
    return [(row[0], row[1]) for row in rows]


def _call(
    connection: Connection[Any],
    layout: Layout,
    target: Target,
    budget: int,
    answers: dict[Question, Answer],
) -> Call:
    """Return what asks a layout's own connection, whichever it is given, and keeps the answers."""

    def call(_: Connection[Any], question: Question) -> object:
        answers[question] = ask(connection, layout, target, question, budget)
        return answers[question]

    return call
