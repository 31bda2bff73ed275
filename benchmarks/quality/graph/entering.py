"""Memories that only the graph found: how often they come among the best, and whether they belong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import RESAMPLES, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.quality.datasets import Query
    from benchmarks.quality.graph.tracing import Trace

__all__ = ["CUTOFFS", "entering"]

CUTOFFS = (5, 10)


def entering(
    queries: Sequence[Query], traces: Mapping[str, Trace], k: int, *, seed: int, resamples: int = RESAMPLES
) -> dict[str, Any]:
    """Count the memories that neither words nor vector found and that came among the k best.

    Args:
        queries: The questions.
        traces: What recall returned for each, with the graph and without it.
        k: How many places count.
        seed: Of the bootstrap.
        resamples: How many times it draws.

    Returns:
        `questions`, and the shares of them where such a memory entered (`share_entered`) and where a relevant
        one did (`share_relevant_entered`); how many memories `entered`, how many of them are relevant
        (`relevant`, `precision`); the same of those that recall has among its k best without the graph, and
        not with it, in the same questions (`pushed_out`, `pushed_out_relevant`, `pushed_out_precision`); and
        what that makes in relevant memories a question, all questions counted (`net` and its `net_ci95`).
    """
    entered = relevant = out = out_relevant = with_any = with_relevant = 0
    net = np.zeros(len(queries))
    for place, query in enumerate(queries):
        one = traces[query.id]
        full = one.best(True, query.exclude, k)
        new = [found.id for found in full if found.by_graph_only]
        if not new:
            continue
        kept = {found.id for found in full}
        gone = [found.id for found in one.best(False, query.exclude, k) if found.id not in kept]
        hits = sum(id in query.relevant for id in new)
        lost = sum(id in query.relevant for id in gone)
        with_any += 1
        with_relevant += hits > 0
        entered += len(new)
        relevant += hits
        out += len(gone)
        out_relevant += lost
        net[place] = hits - lost
    return {
        "k": k,
        "questions": len(queries),
        "share_entered": _share(with_any, len(queries)),
        "share_relevant_entered": _share(with_relevant, len(queries)),
        "entered": entered,
        "relevant": relevant,
        "precision": _share(relevant, entered),
        "pushed_out": out,
        "pushed_out_relevant": out_relevant,
        "pushed_out_precision": _share(out_relevant, out),
        "net": round(float(net.mean()), 6),
        "net_ci95": list(interval(net, seed=seed, resamples=resamples)),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None
