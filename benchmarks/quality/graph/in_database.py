"""`python -m benchmarks ppr`: graph_ppr() in the database against the walk of the graph leg.

The same questions, starts and fusion as `python -m benchmarks graph`, but the scores come from the database,
and so do the times. It needs a server with plpython3u, and scipy in this Python's own environment.
"""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg

from benchmarks.quality.console import make_console, make_table
from benchmarks.quality.graph.challenger import WALK, challenge
from benchmarks.quality.graph.pagerank import Bipartite
from benchmarks.quality.graph.tracing import trace
from benchmarks.quality.metrics import HEADLINE
from benchmarks.quality.resources import Unavailable
from benchmarks.speed.shared import say
from pgrecall.admin.migrate import migrate
from pgrecall.errors import PgrecallError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.graph.pagerank import Start
    from benchmarks.quality.graph.tracing import Trace
    from benchmarks.quality.run import Run

__all__ = ["KIND", "InDatabase", "measure", "print_report"]

KIND = "graph-ppr"
_VARIANTS = {"graph_ppr, restart 0.5": (0.5, True), "graph_ppr, restart 0.15": (0.85, True)}
_MOST = 1000
"""As many memories as graph_ppr returns at the most; those after them count as not reached."""
_SESSIONS = 5
_WRITES = 200

_PPR = "SELECT id, score FROM graph_ppr(%s::bigint[], %s, %s, %s::double precision[], %s::bigint[], %s)"
_WALK = """
SELECT w.id FROM _pgrecall.graph_walk(
    pgrecall.namespace_id(%(namespace)s), %(ids)s, %(levels)s, NULL::pgrecall.recall_filter, '{}', 50,
    %(graph_concepts)s, %(graph_hops)s, %(graph_decay)s, %(hub_max_mentions)s,
    %(graph_weight)s, %(graph_mention)s
) w
"""
_WALK_SETTINGS = ("graph_decay", "graph_weight", "graph_mention")
_WALK_COUNTS = ("graph_concepts", "graph_hops", "hub_max_mentions")


class InDatabase(Bipartite):
    """The graph of one namespace, walked by the database.

    Attributes:
        differs: How far a score was from that of `Bipartite` at the most, of a largest score of 1.
    """

    def __init__(
        self,
        memories: Sequence[int],
        edges: Sequence[tuple[int, int, bool]],
        namespace: str,
        connection: psycopg.Connection[Any],
    ) -> None:
        super().__init__(memories, edges)
        self._namespace = namespace
        self._connection = connection
        self.differs = 0.0

    def scores(
        self, starts: Sequence[Start], damping: float, *, arriving: bool = False
    ) -> NDArray[np.float64]:
        """Ask graph_ppr(), start by start; scores are in parts of the largest, as `Bipartite` has them."""
        outside = super().scores(starts, damping, arriving=arriving)
        inside = np.zeros_like(outside)
        for row, start in enumerate(starts):
            found = self._connection.execute(
                _PPR.encode(), _arguments(start, _MOST, self._namespace, 1 - damping)
            )
            for id, score in found.fetchall():
                inside[row, np.searchsorted(self.memories, id)] = score
        largest = inside.max(axis=1, keepdims=True)
        inside /= np.where(largest > 0, largest, 1)
        self.differs = max(self.differs, float(np.abs(inside - outside)[inside > 0].max(initial=0)))
        return inside


def measure(run: Run, metric: str) -> dict[str, Any]:
    """Measure quality and time over one data set.

    Args:
        run: The run, before anything ran in it.
        metric: What a weight is chosen by.

    Raises:
        Unavailable: The server has no plpython3u, or this environment no scipy.
    """
    connection = run.resources.connect()
    try:
        migrate(run.resources.dsn, plpython=True)
    except PgrecallError as error:
        raise Unavailable(f"graph_ppr cannot be installed: {error}") from error
    connection.execute("SELECT pgrecall.set_setting('python_venv', %s)", (sys.prefix,))
    say("asking, to see where the walks begin")
    traces = trace(run.resources, run.queries)
    graphs: list[InDatabase] = []

    def make(memories: Sequence[int], edges: Sequence[tuple[int, int, bool]], namespace: str) -> InDatabase:
        graphs.append(InDatabase(memories, edges, namespace, connection))
        return graphs[-1]

    quality = challenge(run, traces, metric, challengers=_VARIANTS, make=make)
    return {
        "quality": quality | {"differs": max(graph.differs for graph in graphs)},
        "latency_ms": _latency(run, traces, connection),
        "first_ms": _first(run, traces),
        "remember_ms": _writing(connection),
    }


def print_report(results: Mapping[str, Any]) -> None:
    """Print the tables of a results file."""
    console = make_console()
    console.print(
        make_table(
            "at the weight in force",
            ("scores", *HEADLINE),
            (
                (one["name"], *(f"{one['overall'][metric]:.3f}" for metric in HEADLINE))
                for one in results["quality"]["candidates"]
            ),
        )
    )
    for title in ("latency_ms", "first_ms", "remember_ms"):
        console.print(
            make_table(
                title,
                ("what", "p50", "p95"),
                ((name, f"{one['p50']:.2f}", f"{one['p95']:.2f}") for name, one in results[title].items()),
            )
        )


def _arguments(start: Start, k: int, namespace: str, restart: float) -> tuple[Any, ...]:
    seeds = list(start.memories)
    weights = [start.memories[seed] for seed in seeds]
    return seeds, k, namespace, weights, list(start.concepts), round(restart, 6)


def _latency(
    run: Run, traces: Mapping[str, Trace], connection: psycopg.Connection[Any]
) -> dict[str, dict[str, float]]:
    """Time one call a question, from the same seeds; the session has asked before."""
    settings = run.resources.loaded.description["settings"]
    limits = {name: float(settings[name]) for name in _WALK_SETTINGS}
    limits |= {name: int(settings[name]) for name in _WALK_COUNTS}
    seconds: dict[str, list[float]] = {WALK: [], **{name: [] for name in _VARIANTS}}
    for query in run.queries:
        best = traces[query.id].plain[: int(settings["graph_seeds"])]
        ids, levels = [one.number for one in best], [one.score for one in best]
        asked = {"namespace": query.namespace, "ids": ids, "levels": levels, **limits}
        seconds[WALK].append(_timed(connection, _WALK, asked))
        for name, (damping, _) in _VARIANTS.items():
            given: tuple[Any, ...] = (ids, 50, query.namespace, levels, [], round(1 - damping, 6))
            seconds[name].append(_timed(connection, _PPR, given))
    return {name: _points(found) for name, found in seconds.items()}


def _first(run: Run, traces: Mapping[str, Trace]) -> dict[str, dict[str, float]]:
    """Time what a session does once: load scipy, and make the matrix of the graph, as after every change."""
    query = run.queries[0]
    seeds = [one.number for one in traces[query.id].plain[:5]]
    given: tuple[Any, ...] = (seeds, 50, query.namespace, [1.0] * len(seeds), [], 0.15)
    steps: dict[str, list[float]] = {"load scipy": [], "make the matrix": [], "again": []}
    for _ in range(_SESSIONS):
        with psycopg.connect(run.resources.dsn, autocommit=True) as session:
            session.execute("SELECT 1")
            steps["load scipy"].append(_timed(session, "SELECT pgrecall.python_module('scipy.sparse')"))
            for name in ("make the matrix", "again"):
                steps[name].append(_timed(session, _PPR, given))
    return {name: _points(found) for name, found in steps.items()}


def _writing(connection: psycopg.Connection[Any]) -> dict[str, dict[str, float]]:
    """Time remember() of a memory with three tags, with the log of changes and without, by turns."""
    seconds: dict[str, list[float]] = {"with the log of changes": [], "without": []}
    for number in range(_WRITES):
        for name, found in seconds.items():
            switch = "ENABLE" if name.startswith("with the") else "DISABLE"
            for trigger in ("insert", "update", "delete", "truncate"):
                connection.execute(
                    f"ALTER TABLE pgrecall.mentions {switch} TRIGGER mentions_change_{trigger}".encode()
                )
            given = (f"note {number} of the benchmark, {name}", ["bench", f"t{number}", f"u{number % 7}"])
            found.append(_timed(connection, "SELECT remember(%s, tags => %s)", given))
    return {name: _points(found) for name, found in seconds.items()}


def _timed(connection: psycopg.Connection[Any], statement: str, given: Any = None) -> float:
    began = time.perf_counter()
    connection.execute(statement.encode(), given).fetchall()
    return time.perf_counter() - began


def _points(seconds: Sequence[float]) -> dict[str, float]:
    return {f"p{point}": round(float(np.percentile(seconds, point)) * 1000, 3) for point in (50, 95)}
