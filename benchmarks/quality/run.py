"""One quality run: every system over every question."""

from __future__ import annotations

import time
import traceback
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import RESAMPLES, Comparison, compare, interval
from benchmarks.quality.metrics import DEPTH, HEADLINE, evaluate, means, unique
from benchmarks.quality.resources import Unavailable
from benchmarks.systems import CannotRun, UnknownSetting, UnknownSystem, make
from pgrecall.query.legs import LEGS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.metrics import PerQuery
    from benchmarks.quality.resources import Resources
    from benchmarks.systems import System

__all__ = ["FULL", "Outcome", "Run"]

FULL = "recall"

_WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Outcome:
    """What one system did.

    Attributes:
        rankings: The ids it found for each question's id, `exclude_ids` left out.
        values: Every metric, one value a question.
        milliseconds: How long each question took.
    """

    rankings: dict[str, list[str]]
    values: PerQuery
    milliseconds: NDArray[np.float64]


@dataclass(slots=True)
class Run:
    """Systems over the questions of one data set.

    Attributes:
        resources: What the systems share.
        queries: The questions.
        seed: Of every resampling.
        say: Told of progress.
        resamples: How many times the bootstrap draws.
        outcomes: The systems that ran, by name.
        not_run: The systems that did not, and why.
        failed: True if one of them broke rather than being unable to run.
    """

    resources: Resources
    queries: Sequence[Query]
    seed: int
    say: Callable[[str], None]
    resamples: int = RESAMPLES
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    not_run: dict[str, str] = field(default_factory=dict)
    failed: bool = False

    def add(self, name: str) -> Outcome | None:
        """Run a system over all questions, unless it has run; None if it cannot.

        Raises:
            UnknownSystem: There is none of that name.
            UnknownSetting: `recall` has no such option, or not with that value.
            Unavailable: There is no server or no model.
        """
        if name in self.outcomes or name in self.not_run:
            return self.outcomes.get(name)
        try:
            system = make(name, self.resources)
            self.outcomes[name] = self.measure(name, system, self.queries)
        except CannotRun as reason:
            self.not_run[name] = str(reason)
        except (UnknownSystem, UnknownSetting, Unavailable):
            raise
        except Exception as error:  # noqa: BLE001 - one system must not take the others' results with it
            self.failed = True
            traceback.print_exc()
            self.not_run[name] = f"failed: {type(error).__name__}: {error}"
        if name in self.not_run:
            self.say(f"{name}: not run: {self.not_run[name]}")
        return self.outcomes.get(name)

    def measure(self, name: str, system: System, queries: Sequence[Query]) -> Outcome:
        """Index and ask, the first questions once beforehand to warm up; close the system if it has `close`.

        Raises:
            ValueError: The system found an id that is no memory.
        """
        try:
            rankings, milliseconds = self._ask(name, system, queries)
        finally:
            close = getattr(system, "close", None)
            if close is not None:
                close()
        seconds = milliseconds.sum() / 1000
        self.say(f"{name}: {len(queries)} questions in {seconds:.1f} s")
        return Outcome(rankings, evaluate(queries, rankings), milliseconds)

    def compare(self, a: str, b: str) -> list[Comparison]:
        """Compare two systems that ran, in the headline metrics, over the data set's own questions."""
        if a not in self.outcomes or b not in self.outcomes:
            return []
        return self._compared(a, b, self._own())

    def against_legs(self) -> list[dict[str, Any]]:
        """Compare `recall`, which has to be worth more, with each leg alone, overall (stratum None) and in
        every stratum.

        Returns:
            Comparisons as the results file has them, each with its `stratum`; none of a leg that did not run.
        """
        return [
            one
            for leg in LEGS
            if {FULL, leg} <= set(self.outcomes)
            for one in self.compare_by_stratum(FULL, leg)
        ]

    def compare_by_stratum(self, a: str, b: str) -> list[dict[str, Any]]:
        """Compare two systems that ran, over the data set's own questions (stratum None) and in every
        stratum.

        Returns:
            Comparisons as the results file has them, each with its `stratum`.
        """
        parts: dict[str | None, NDArray[np.bool_]] = {None: self._own()}
        parts |= {stratum: self._in(stratum) for stratum in self._strata()}
        return [
            {"stratum": stratum, **comparison.as_dict()}
            for stratum, chosen in parts.items()
            for comparison in self._compared(a, b, chosen)
        ]

    def summary(self, name: str) -> dict[str, Any]:
        """Return what the results file says of a system that ran.

        Generated questions count in their stratum only.
        """
        outcome = self.outcomes[name]
        own = self._own()
        return {
            "overall": means(outcome.values, own),
            "ci95": {
                metric: list(interval(outcome.values[metric][own], seed=self.seed, resamples=self.resamples))
                for metric in HEADLINE
            },
            "strata": {stratum: means(outcome.values, self._in(stratum)) for stratum in self._strata()},
            "latency_ms": {
                "p50": round(float(np.percentile(outcome.milliseconds, 50)), 3),
                "p95": round(float(np.percentile(outcome.milliseconds, 95)), 3),
            },
        }

    def _ask(
        self, name: str, system: System, queries: Sequence[Query]
    ) -> tuple[dict[str, list[str]], NDArray[np.float64]]:
        system.index(self.resources.dataset)
        known = {memory.id for memory in self.resources.dataset.memories}
        for query in queries[:_WARM_UP]:
            system.retrieve(query, DEPTH)
        rankings: dict[str, list[str]] = {}
        milliseconds = np.zeros(len(queries))
        for place, query in enumerate(queries):
            wanted = DEPTH + len(query.exclude)
            started = time.perf_counter()
            found = system.retrieve(query, wanted)
            milliseconds[place] = (time.perf_counter() - started) * 1000
            ids = [str(id) for id in found]
            foreign = [id for id in ids if id not in known]
            if foreign:
                raise ValueError(f"{name} found {foreign[0]!r} for {query.id}, which is no memory")
            rankings[query.id] = unique(id for id in ids if id not in query.exclude)
        return rankings, milliseconds

    def _compared(self, a: str, b: str, chosen: NDArray[np.bool_]) -> list[Comparison]:
        first, second = self.outcomes[a].values, self.outcomes[b].values
        return [
            compare(
                (a, first[metric][chosen]),
                (b, second[metric][chosen]),
                metric,
                seed=self.seed,
                resamples=self.resamples,
            )
            for metric in HEADLINE
        ]

    def _strata(self) -> list[str]:
        return sorted({query.stratum for query in self.queries})

    def _in(self, stratum: str) -> NDArray[np.bool_]:
        return np.array([query.stratum == stratum for query in self.queries])

    def _own(self) -> NDArray[np.bool_]:
        return np.array([not query.generated for query in self.queries])
