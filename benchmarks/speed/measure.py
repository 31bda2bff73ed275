"""Times of calls, in milliseconds as the client sees them, and what is made of them."""

from __future__ import annotations

import contextlib
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from psycopg import Connection

    from benchmarks.speed.questions import Question

    Call = Callable[[Connection[Any], Question], object]

__all__ = ["WARM_UP", "Clients", "Latency", "alternately", "cold", "concurrent", "one_by_one"]

WARM_UP = 10
"""Questions asked before the first one that counts; they are not among those."""
BLOCK = 10
FEWEST = 10
"""Questions that are asked even when the time is up."""


@dataclass(frozen=True, slots=True)
class Latency:
    """Percentiles of `n` times, in milliseconds, interpolated linearly between neighbours."""

    p50: float
    p95: float
    p99: float
    n: int

    @classmethod
    def of(cls, times: Sequence[float]) -> Latency:
        """Summarise times.

        Raises:
            ValueError: There are none.
        """
        if not times:
            raise ValueError("no times to summarise")
        p50, p95, p99 = (round(float(value), 3) for value in np.percentile(times, (50, 95, 99)))
        return cls(p50, p95, p99, len(times))


@dataclass(frozen=True, slots=True)
class Clients:
    """What several clients at once measured: each call's time, and calls a second of all of them together."""

    times: list[float]
    per_second: float


def one_by_one(
    connection: Connection[Any], call: Call, questions: Sequence[Question], seconds: float
) -> list[float]:
    """Ask the questions one after the other; the first `WARM_UP` do not count.

    Args:
        connection: An autocommit connection.
        call: Asks one question and fetches all of the answer.
        questions: `WARM_UP` more than are measured.
        seconds: No more questions are asked after this time, except the `FEWEST`.
    """
    return alternately(connection, {"": call}, questions, seconds)[""]


def alternately(
    connection: Connection[Any],
    calls: Mapping[str, Call],
    questions: Sequence[Question],
    seconds: float,
    before: Callable[[Sequence[Question]], object] = lambda _: None,
) -> dict[str, list[float]]:
    """Ask every system the same questions, `BLOCK` at a time: all see the same ups and downs of the machine.

    With every block another system begins: none is always the one that finds its pages in the caches.

    Args:
        connection: An autocommit connection.
        calls: The systems.
        questions: `WARM_UP` more than are measured.
        seconds: What a system may take; when all of it is used up, no block begins except the `FEWEST`.
        before: Called with the questions to warm up, then with each block; its time does not count.

    Returns:
        The times of each system, as many as of any other.
    """
    names = list(calls)
    before(questions[:WARM_UP])
    for name in names:
        for question in questions[:WARM_UP]:
            calls[name](connection, question)
    times: dict[str, list[float]] = {name: [] for name in names}
    for turn, first in enumerate(range(WARM_UP, len(questions), BLOCK)):
        spent = sum(map(sum, times.values())) / 1000
        if spent > seconds * len(names) and first >= WARM_UP + FEWEST:
            break
        block = questions[first : first + BLOCK]
        before(block)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            for question in block:
                begun = time.perf_counter()
                calls[name](connection, question)
                times[name].append((time.perf_counter() - begun) * 1000)
    return times


def cold(
    dsn: str, call: Call, questions: Sequence[Question], seconds: float
) -> tuple[list[float], list[float], list[float]]:
    """Ask each question twice on a connection of its own.

    Returns:
        The times of connecting and asking together, those of asking alone, and those of asking again.
    """
    whole: list[float] = []
    asking: list[float] = []
    again: list[float] = []
    end = time.perf_counter() + seconds
    for question in questions[WARM_UP:]:
        begun = time.perf_counter()
        with psycopg.connect(dsn, autocommit=True) as connection:
            connected = time.perf_counter()
            call(connection, question)
            done = time.perf_counter()
            call(connection, question)
            again.append((time.perf_counter() - done) * 1000)
        whole.append((done - begun) * 1000)
        asking.append((done - connected) * 1000)
        if done > end and len(whole) >= FEWEST:
            break
    return whole, asking, again


def concurrent(dsn: str, call: Call, questions: Sequence[Question], clients: int, seconds: float) -> Clients:
    """Ask the questions from several clients at once, each with a connection of its own.

    The clients are threads: while they wait for the server, nearly always, they do not hold each other up.
    Each goes through all the questions from a place of its own. When the first one is through, or the time is
    up, all of them stop, so that the load stays the same from beginning to end.
    """
    measured = questions[WARM_UP:]
    stopping = threading.Event()

    def work(number: int, connection: Connection[Any]) -> list[float]:
        first = number * len(measured) // clients
        times: list[float] = []
        for question in [*measured[first:], *measured[:first]]:
            started = time.perf_counter()
            call(connection, question)
            done = time.perf_counter()
            times.append((done - started) * 1000)
            if stopping.is_set() or done - begun > seconds:
                break
        stopping.set()
        return times

    with contextlib.ExitStack() as stack:
        connections = [stack.enter_context(psycopg.connect(dsn, autocommit=True)) for _ in range(clients)]
        for connection in connections:
            for question in questions[: WARM_UP // 5]:
                call(connection, question)
        begun = time.perf_counter()
        with ThreadPoolExecutor(clients) as pool:
            times = list(pool.map(work, range(clients), connections))
        elapsed = time.perf_counter() - begun
    return Clients([one for own in times for one in own], round(sum(map(len, times)) / elapsed, 1))
