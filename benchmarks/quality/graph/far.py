"""Questions with a relevant memory that the vector alone puts far down: what the graph is there for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import compare
from benchmarks.quality.metrics import HEADLINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.resources import Resources
    from benchmarks.quality.run import Run

__all__ = ["FAR", "dense_ranks", "far"]

FAR = 50
"""The last dense rank that is not far."""
_K = 10


def far(run: Run, a: str, b: str) -> dict[str, Any]:
    """Compare two systems on the questions with a relevant memory beyond exact dense rank `FAR`.

    Args:
        run: Both have run in it.
        a: The one.
        b: The other.

    Returns:
        `questions` of that kind, `memories` beyond that rank, `comparisons` in the headline metrics, and in
        `far_recall@10`: the share of those memories that is among the first ten.
    """
    ranks = dense_ranks(run.resources, run.queries)
    beyond = [
        (place, frozenset(id for id in query.relevant if ranks[query.id].get(id, FAR + 1) > FAR))
        for place, query in enumerate(run.queries)
    ]
    beyond = [(place, ids) for place, ids in beyond if ids]
    result: dict[str, Any] = {
        "beyond_rank": FAR,
        "questions": len(beyond),
        "memories": sum(len(ids) for _, ids in beyond),
        "systems": {},
        "comparisons": [],
    }
    if not beyond:
        return result
    chosen = np.array([place for place, _ in beyond])
    values = {}
    for name in (a, b):
        outcome = run.outcomes[name]
        values[name] = {metric: outcome.values[metric][chosen] for metric in HEADLINE}
        values[name][f"far_recall@{_K}"] = np.array(
            [
                len(ids.intersection(outcome.rankings[run.queries[place].id][:_K])) / len(ids)
                for place, ids in beyond
            ]
        )
        result["systems"][name] = {
            metric: round(float(found.mean()), 6) for metric, found in values[name].items()
        }
    result["comparisons"] = [
        compare(
            (a, values[a][metric]), (b, values[b][metric]), metric, seed=run.seed, resamples=run.resamples
        ).as_dict()
        for metric in values[a]
    ]
    return result


def dense_ranks(resources: Resources, queries: Sequence[Query]) -> Mapping[str, dict[str, int]]:
    """Return the exact rank by cosine of each relevant memory of each question, in full precision.

    What a question excludes has no rank and takes none; a memory without an embedding has none.
    """
    vectors = resources.loaded.vectors
    spaces = {
        name: [memory.id for memory in memories if memory.id in vectors]
        for name, memories in resources.dataset.by_namespace().items()
    }
    matrices = {name: np.stack([vectors[id] for id in ids]) for name, ids in spaces.items() if ids}
    places = {name: {id: place for place, id in enumerate(ids)} for name, ids in spaces.items()}
    ranks: dict[str, dict[str, int]] = {}
    for query in queries:
        own = places[query.namespace]
        if query.namespace not in matrices:
            ranks[query.id] = {}
            continue
        cosine = matrices[query.namespace] @ resources.query_vectors[query.id]
        cosine[[own[id] for id in query.exclude if id in own]] = -np.inf
        ranks[query.id] = {
            id: 1 + int(np.count_nonzero(cosine > cosine[own[id]])) for id in query.relevant if id in own
        }
    return ranks
