"""Metrics of rankings, computed by ir-measures (trec_eval), one value a question."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import ir_measures
import numpy as np
from ir_measures import RR, R, Success, nDCG

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Query

__all__ = ["DEPTH", "HEADLINE", "METRICS", "PerQuery", "evaluate", "means", "unique"]

DEPTH = 20
"""How many places of a ranking count. MRR looks no further either."""
CUTOFFS = (1, 2, 5, 10, 20)

PerQuery: TypeAlias = "dict[str, NDArray[np.float64]]"
"""A metric's values, one a question, in the questions' order."""

_LIBRARY = {
    **{f"recall@{k}": R @ k for k in CUTOFFS},
    "ndcg@10": nDCG @ 10,
    "mrr": RR,
    **{f"any-hit@{k}": Success @ k for k in CUTOFFS},
}
_NAMES = {str(measure): name for name, measure in _LIBRARY.items()}

METRICS = (*_LIBRARY, *(f"all-hit@{k}" for k in CUTOFFS))
HEADLINE = ("recall@5", "recall@10", "ndcg@10", "mrr")
"""The metrics that get confidence intervals."""


def unique(ids: Iterable[str], depth: int = DEPTH) -> list[str]:
    """Return the first ids, each once, at its first place."""
    return list(dict.fromkeys(ids))[:depth]


def evaluate(queries: Sequence[Query], rankings: Mapping[str, Sequence[str]]) -> PerQuery:
    """Compute every metric for every question.

    Args:
        queries: The questions.
        rankings: The ids found for each question's id, best first; a question that is missing found nothing.

    Returns:
        `METRICS` in order. all-hit@k is 1 where recall@k is.
    """
    qrels = {query.id: dict.fromkeys(query.relevant, 1) for query in queries}
    run = {
        # trec_eval sorts by score and breaks ties by id: falling scores keep the ranking as it is.
        query.id: {id: float(-place) for place, id in enumerate(unique(rankings.get(query.id, ())))}
        for query in queries
    }
    places = {query.id: place for place, query in enumerate(queries)}
    values: PerQuery = {name: np.zeros(len(queries)) for name in METRICS}
    for metric in ir_measures.iter_calc(list(_LIBRARY.values()), qrels, run):
        values[_NAMES[str(metric.measure)]][places[metric.query_id]] = metric.value
    for k in CUTOFFS:
        values[f"all-hit@{k}"] = (values[f"recall@{k}"] >= 1).astype(np.float64)
    return values


def means(values: PerQuery, chosen: NDArray[np.bool_] | None = None) -> dict[str, float]:
    """Return each metric's mean, rounded to six places, over all or some of the questions."""
    return {
        name: round(float(np.mean(found if chosen is None else found[chosen])), 6)
        for name, found in values.items()
    }
