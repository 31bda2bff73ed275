"""The capped walk against personalised PageRank: the same edges, the same seeds, the same fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from benchmarks.quality.ablations import halves
from benchmarks.quality.bootstrap import compare
from benchmarks.quality.graph.fusion import fuse
from benchmarks.quality.graph.pagerank import Bipartite, Start
from benchmarks.quality.graph.tracing import SEEN, WITHOUT, Traced
from benchmarks.quality.metrics import DEPTH, HEADLINE, evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.graph.fusion import Parts
    from benchmarks.quality.graph.tracing import Trace
    from benchmarks.quality.metrics import PerQuery
    from benchmarks.quality.run import Run

__all__ = ["CHALLENGERS", "NOTE", "WALK", "WEIGHTS", "MakeGraph", "challenge"]

MakeGraph: TypeAlias = "Callable[[Sequence[int], Sequence[tuple[int, int, bool]], str], Bipartite]"
"""Makes the graph of a namespace, from its memories, its edges and its name."""

CHALLENGERS: Mapping[str, tuple[float, bool]] = {
    "PageRank 0.5": (0.5, False),
    "PageRank 0.85": (0.85, False),
    "PageRank 0.5, arriving": (0.5, True),
    "PageRank 0.85, arriving": (0.85, True),
}
"""Damping, and whether only walks count that come to a memory, not those that begin there."""
WEIGHTS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""What PageRank's scores are multiplied by, besides graph_weight: other scores need other weights."""
WALK = "walk"
NOTE = (
    "The walk and personalised PageRank over all mentions of concepts that two memories have, from as many "
    "of the best memories that recall finds without the graph and from the concepts that the question names, "
    "fused by the same formula outside the database. A PageRank, divided by a question's largest and times a "
    "weight, is the share of the way to the best score that a memory is drawn up; "
    '"arriving" leaves out the walks that begin at a memory.'
)

_TOGETHER = 64
"""Questions that PageRank walks for at once."""
_EDGES = """
SELECT n.name, m.memory_id, m.concept_id, bool_or(m.is_about)
FROM pgrecall.mentions m JOIN pgrecall.namespaces n ON n.id = m.namespace_id
GROUP BY n.name, m.memory_id, m.concept_id ORDER BY 1, 2, 3
"""
_MEMORIES = """
SELECT n.name, m.id, m.external_id
FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id
"""
_CONCEPTS = "SELECT (_pgrecall.resolve_granted(%(text)s, %(vector)s, %(namespace)s, '{}')).concepts"


@dataclass(frozen=True, slots=True)
class _Case:
    """One question: what may come first, the walk's lifts, and PageRank's scores by its variant."""

    parts: tuple[Parts, ...]
    lifts: dict[int, float]
    level: float
    ranks: dict[str, dict[int, float]]
    listed: dict[str, frozenset[int]]


def challenge(
    run: Run,
    traces: Mapping[str, Trace],
    metric: str,
    *,
    challengers: Mapping[str, tuple[float, bool]] = CHALLENGERS,
    make: MakeGraph | None = None,
) -> dict[str, Any]:
    """Fuse the walk's graph scores and PageRank's, and compare.

    Args:
        run: The run; its seed divides the questions.
        traces: What recall returned for each question, with the graph and without it.
        metric: What a weight is chosen by.
        challengers: The variants of PageRank.
        make: Makes the graph of a namespace that PageRank walks; None: outside the database.

    Returns:
        What the results file says: `reproduced`, how often this fusion with the walk's scores has recall's
        own first ten and twenty in order; and of each `candidates`: the means at the weight in force and the
        differences to the walk there (all questions), the weight that is best on the tuning half, and the
        differences to the walk, each at its best weight, on the other half.
    """
    queries = run.queries
    connection = run.resources.connect()
    edges = connection.execute(_EDGES).fetchall()
    memories = connection.execute(_MEMORIES).fetchall()
    names = {number: str(id) for _, number, id in memories}
    cases = _cases(run, traces, _graphs(memories, edges, make), challengers)
    in_force = float(run.resources.loaded.description["settings"]["graph_weight"])
    weights = sorted({*WEIGHTS, in_force})
    values = {
        source: {
            weight: evaluate(queries, _rankings(queries, cases, source, weight, names)) for weight in weights
        }
        for source in (WALK, *challengers)
    }
    tuning, reporting = (np.array(half) for half in halves(queries, run.seed))
    best = {
        source: max(weights, key=lambda weight: float(found[weight][metric][tuning].mean()))
        for source, found in values.items()
    }
    everywhere = np.arange(len(queries))
    return {
        "note": NOTE,
        "metric": metric,
        "weight": in_force,
        "reproduced": {f"@{k}": _reproduced(queries, cases, traces, in_force, k) for k in (10, DEPTH)},
        "edges": len(edges),
        "tuning_queries": len(tuning),
        "reporting_queries": len(reporting),
        "candidates": [
            {
                "name": source,
                "overall": {one: _mean(found[in_force][one]) for one in HEADLINE},
                "against_walk": _differences(
                    run, source, found[in_force], values[WALK][in_force], everywhere
                ),
                "by_weight": [
                    {"value": weight, metric: _mean(found[weight][metric][tuning])} for weight in weights
                ],
                "best_weight": best[source],
                "best_against_walk": _differences(
                    run, source, found[best[source]], values[WALK][best[WALK]], reporting
                ),
            }
            for source, found in values.items()
        ],
    }


def _cases(
    run: Run,
    traces: Mapping[str, Trace],
    graphs: Mapping[str, Bipartite],
    challengers: Mapping[str, tuple[float, bool]],
) -> dict[str, _Case]:
    full, plain = Traced(run.resources), Traced(run.resources, WITHOUT)
    for system in (full, plain):
        system.index(run.resources.dataset)
    cases = {}
    try:
        for name, asked in _by_namespace(run.queries).items():
            for first in range(0, len(asked), _TOGETHER):
                together = asked[first : first + _TOGETHER]
                starts = [_start(full, query, traces[query.id]) for query in together]
                ranks = {
                    source: graphs[name].scores(starts, damping, arriving=arriving)
                    for source, (damping, arriving) in challengers.items()
                }
                for place, query in enumerate(together):
                    scores = {source: found[place] for source, found in ranks.items()}
                    cases[query.id] = _case(full, plain, query, traces[query.id], graphs[name], scores)
    finally:
        full.close()
        plain.close()
    return cases


def _case(
    full: Traced,
    plain: Traced,
    query: Query,
    trace: Trace,
    graph: Bipartite,
    scores: Mapping[str, NDArray[np.float64]],
) -> _Case:
    listed = {source: _listed(graph, found) for source, found in scores.items()}
    ids = {one.number for one in (*trace.full, *trace.plain)}.union(*listed.values())
    walked = full.explained(query, sorted(ids))
    parts = plain.explained(query, sorted(ids)).parts
    places = {number: int(np.searchsorted(graph.memories, number)) for number in ids}
    reached = {
        source: {number: score for number in ids if (score := float(found[places[number]])) > 0}
        for source, found in scores.items()
    }
    best = max((one.base for one in parts if one.is_candidate), default=0.0)
    level = float(full.in_force("graph_decay")) * best
    return _Case(parts, walked.lifts, level, reached, {WALK: walked.listed, **listed})


def _listed(graph: Bipartite, scores: NDArray[np.float64]) -> frozenset[int]:
    """Return the memories of the leg's list: the first `SEEN` that were reached."""
    best = np.argsort(-scores, kind="stable")[:SEEN]
    return frozenset(graph.memories[best[scores[best] > 0]].tolist())


def _start(full: Traced, query: Query, trace: Trace) -> Start:
    seeds = trace.plain[: int(full.in_force("graph_seeds"))]
    highest = max((one.score for one in seeds), default=0.0)
    weights = {one.number: one.score / highest for one in seeds if highest > 0}
    ((concepts,),) = full.rows(query, DEPTH, _CONCEPTS)
    return Start(weights, concepts or [])


def _graphs(
    memories: Sequence[tuple[str, int, str]],
    edges: Sequence[tuple[str, int, int, bool]],
    make: MakeGraph | None,
) -> dict[str, Bipartite]:
    nodes: dict[str, list[int]] = {}
    links: dict[str, list[tuple[int, int, bool]]] = {}
    for name, number, _ in memories:
        nodes.setdefault(name, []).append(number)
    for name, memory, concept, about in edges:
        links.setdefault(name, []).append((memory, concept, about))
    return {
        name: Bipartite(numbers, links.get(name, []))
        if make is None
        else make(numbers, links.get(name, []), name)
        for name, numbers in nodes.items()
    }


def _by_namespace(queries: Sequence[Query]) -> dict[str, list[Query]]:
    found: dict[str, list[Query]] = {}
    for query in queries:
        found.setdefault(query.namespace, []).append(query)
    return found


def _order(case: _Case, source: str, weight: float) -> list[int]:
    lifts = case.lifts
    if source != WALK:
        ranks = case.ranks[source]
        lifts = {
            one.number: min(1.0, weight * ranks.get(one.number, 0.0)) * max(case.level - one.base, 0.0)
            for one in case.parts
        }
    return fuse(case.parts, lifts, case.listed[source])


def _rankings(
    queries: Sequence[Query], cases: Mapping[str, _Case], source: str, weight: float, names: Mapping[int, str]
) -> dict[str, list[str]]:
    rankings = {}
    for query in queries:
        ids = (names[number] for number in _order(cases[query.id], source, weight))
        rankings[query.id] = [id for id in ids if id not in query.exclude][:DEPTH]
    return rankings


def _reproduced(
    queries: Sequence[Query],
    cases: Mapping[str, _Case],
    traces: Mapping[str, Trace],
    weight: float,
    k: int,
) -> float:
    same = sum(
        _order(cases[query.id], WALK, weight)[:k] == [one.number for one in traces[query.id].full[:k]]
        for query in queries
    )
    return round(same / len(queries), 6)


def _differences(
    run: Run, source: str, found: PerQuery, walk: PerQuery, places: NDArray[np.int_]
) -> list[dict[str, Any]]:
    if source == WALK:
        return []
    return [
        compare(
            (source, found[metric][places]),
            (WALK, walk[metric][places]),
            metric,
            seed=run.seed,
            resamples=run.resamples,
        ).as_dict()
        for metric in HEADLINE
    ]


def _mean(values: NDArray[np.float64]) -> float:
    return round(float(values.mean()), 6)
