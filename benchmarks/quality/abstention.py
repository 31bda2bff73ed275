"""Does recall know when it does not know: its confidence with and without the answering memories."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.quality.datasets import load_dataset
from benchmarks.quality.resources import Resources
from benchmarks.results import circumstances, dataset_facts, write
from benchmarks.scratch import default_cache

if TYPE_CHECKING:
    import argparse

    import psycopg
    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Query

__all__ = ["add_to", "area_under_curve", "calibration_error"]

_SEED: Final = 42
_BINS: Final = 10
_FIRST = "SELECT external_id, confidence FROM recall(%s, %s, %s, %s)"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    abstention = commands.add_parser(
        "abstention", help="recall's confidence for questions with and without their answers"
    )
    abstention.set_defaults(command=_abstention)
    abstention.add_argument("--data", type=Path, required=True, metavar="DIR", help="as for `quality`")
    abstention.add_argument("--scope", default="pooled", metavar="SCOPE", help="as for `quality`")
    abstention.add_argument("--queries", type=int, default=300, metavar="N", help="a random sample of them")
    abstention.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    abstention.add_argument("--seed", type=int, default=_SEED, metavar="N")
    abstention.add_argument("--model", metavar="NAME", help="the embedding model; by default the bundled one")
    abstention.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")


def _abstention(options: argparse.Namespace) -> int:
    dataset = load_dataset(options.data, options.scope)
    every = [query for query in dataset.queries if not query.generated and query.relevant]
    draw = np.random.default_rng(options.seed)
    chosen = [every[place] for place in sorted(draw.permutation(len(every))[: options.queries])]
    results: dict[str, Any] = {
        **circumstances(options.seed, "abstention", 1),
        **dataset_facts(dataset, "english"),
    }
    with Resources(
        dataset, options.cache, dsn=os.environ.get("PGRECALL_DSN") or None, model=options.model, say=_say
    ) as resources:
        connection = resources.connect()
        ids = dict(
            connection.execute(
                "SELECT external_id, id FROM pgrecall.memories WHERE external_id IS NOT NULL"
            ).fetchall()
        )
        answered, unanswered = [], []
        for query in chosen:
            answered.append(_first(connection, resources, query))
            with connection.transaction(force_rollback=True):
                connection.execute(
                    "SELECT forget(u.id) FROM unnest(%s::bigint[]) u (id)",
                    ([ids[id] for id in query.relevant],),
                )
                unanswered.append(_first(connection, resources, query))
        results |= resources.description
    confidences = np.array([one for _, one in (*answered, *unanswered)])
    is_known = np.repeat([True, False], len(chosen))
    is_right = np.concatenate([[right for right, _ in answered], np.zeros(len(chosen), dtype=bool)])
    results |= {
        "questions": len(chosen),
        "auroc_known": area_under_curve(confidences, is_known),
        "auroc_right": area_under_curve(confidences, is_right),
        "calibration_error": calibration_error(confidences, is_right),
        "share_right": float(is_right[: len(chosen)].mean()),
        "curve": _curve(confidences, is_right),
        "rankings": {},
    }
    _say(
        ", ".join(
            f"{name} {results[name]:.3f}" for name in ("auroc_known", "auroc_right", "calibration_error")
        )
    )
    if options.json is not None:
        write(options.json, results)
        _say(f"written: {options.json}")
    return 0


def _first(connection: psycopg.Connection[Any], resources: Resources, query: Query) -> tuple[bool, float]:
    """Return whether the first memory answers the query, and its confidence."""
    arguments = (query.text, resources.vector(query), 1 + len(query.exclude), query.namespace)
    for id, confidence in connection.execute(_FIRST, arguments):
        if id not in query.exclude:
            return id in query.relevant, float(confidence)
    return False, 0.0


def area_under_curve(scores: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the area under the ROC curve: how often a positive scores above a negative, ties as a half.

    Args:
        scores: Shape (n,).
        labels: Shape (n,); True for a positive. NaN if all are alike.
    """
    _, places, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[places]
    positives = int(labels.sum())
    pairs = positives * (len(labels) - positives)
    return float((ranks[labels].sum() - positives * (positives + 1) / 2) / pairs) if pairs else float("nan")


def calibration_error(confidences: NDArray[np.float64], labels: NDArray[np.bool_]) -> float:
    """Return the expected calibration error over ten bins (Naeini, Cooper, Hauskrecht, 2015).

    Args:
        confidences: Shape (n,), 0 to 1.
        labels: Shape (n,); True where the memory answered the query.
    """
    bins = np.minimum((confidences * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(confidences[bins == one].mean() - labels[bins == one].mean()) * (bins == one).mean()
        for one in np.unique(bins)
    ]
    return float(sum(gaps))


def _curve(confidences: NDArray[np.float64], labels: NDArray[np.bool_]) -> list[dict[str, float]]:
    """Return for thresholds of the confidence: of right answers the share kept, of others the share kept."""
    return [
        {
            "threshold": round(float(threshold), 2),
            "right_kept": round(float((confidences[labels] >= threshold).mean()), 4),
            "wrong_kept": round(float((confidences[~labels] >= threshold).mean()), 4),
        }
        for threshold in np.linspace(0, 1, 51)
    ]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
