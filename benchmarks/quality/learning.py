"""What `pgrecall.learn` brings: learned from one half of the questions, measured on the other."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from psycopg.types.json import Jsonb

from benchmarks.quality.bootstrap import compare
from benchmarks.quality.datasets import load_dataset
from benchmarks.quality.metrics import DEPTH, evaluate, means
from benchmarks.quality.resources import Resources
from benchmarks.results import circumstances, conclude, dataset_facts
from benchmarks.scratch import default_cache
from benchmarks.systems.pgrecall_systems import Recall

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping, Sequence

    import psycopg

    from benchmarks.quality.datasets import Query

__all__ = ["add_to"]

_SEED: Final = 42
_FEWEST: Final = 40
"""learn() refuses fewer queries."""
_METRICS: Final = ("recall@5", "recall@10", "ndcg@10")
_WITH_SETTINGS = (
    "SELECT external_id FROM recall(%(text)s, %(vector)s, %(k)s, %(namespace)s, "
    "reference_time => %(asked_at)s, settings => %(settings)s)"
)


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    learning = commands.add_parser(
        "learning", help="what pgrecall.learn brings: half of the questions against the other half"
    )
    learning.set_defaults(command=_learning)
    learning.add_argument("--data", type=Path, required=True, metavar="DIR", help="as for `quality`")
    learning.add_argument("--scope", default="pooled", metavar="SCOPE", help="as for `quality`")
    learning.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    learning.add_argument("--seed", type=int, default=_SEED, metavar="N")
    learning.add_argument("--model", metavar="NAME", help="the embedding model; by default the bundled one")
    learning.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")


def _learning(options: argparse.Namespace) -> int:
    dataset = load_dataset(options.data, options.scope)
    queries = [query for query in dataset.queries if not query.generated]
    results: dict[str, Any] = {
        **circumstances(options.seed, "learning", 1),
        **dataset_facts(dataset, "english"),
    }
    with Resources(
        dataset,
        options.cache,
        dsn=os.environ.get("PGRECALL_DSN") or None,
        model=options.model,
        say=_say,
    ) as resources:
        connection = resources.connect()
        recall = Recall(resources)
        recall.index(dataset)
        ids = dict(
            connection.execute(
                "SELECT external_id, id FROM pgrecall.memories WHERE external_id IS NOT NULL"
            ).fetchall()
        )
        half = _halves(queries, options.seed)
        rankings: dict[str, dict[str, list[str]]] = {"before": {}, "found": {}, "adopted": {}}
        runs = []
        for train in (0, 1):
            found = _learn(connection, resources, [q for q in queries if half[q.id] == train], ids)
            runs += [{"learned_from": train, "namespace": name, **one} for name, one in found.items()]
            for query in queries:
                if half[query.id] == train:
                    continue
                learned = found.get(query.namespace)
                before = _ranking(recall, query, {})
                after = before if learned is None else _ranking(recall, query, learned["settings"])
                rankings["before"][query.id] = before
                rankings["found"][query.id] = after
                rankings["adopted"][query.id] = (
                    after if learned is not None and learned["is_adopted"] else before
                )
        results |= resources.description
    values = {name: evaluate(queries, ranking) for name, ranking in rankings.items()}
    results["means"] = {name: {m: means(value)[m] for m in _METRICS} for name, value in values.items()}
    results["comparisons"] = [
        compare(
            (name, values[name][metric]), ("before", values["before"][metric]), metric, seed=options.seed
        ).as_dict()
        for name in ("found", "adopted")
        for metric in _METRICS
    ]
    results["runs"] = runs
    conclude(options.json, results, _say)
    return 0


def _halves(queries: Sequence[Query], seed: int) -> dict[str, int]:
    """Divide the questions of each namespace into two halves at random."""
    draw = np.random.default_rng(seed)
    by_namespace: dict[str, list[str]] = {}
    for query in queries:
        by_namespace.setdefault(query.namespace, []).append(query.id)
    return {
        id: int(place % 2)
        for names in by_namespace.values()
        for place, id in enumerate(np.array(names)[draw.permutation(len(names))].tolist())
    }


def _learn(
    connection: psycopg.Connection[Any],
    resources: Resources,
    queries: Sequence[Query],
    ids: Mapping[str, int],
) -> dict[str, dict[str, Any]]:
    """Judge these questions, let each namespace with enough of them learn, and forget it all.

    Returns:
        What `pgrecall.learn` returned, by namespace, with the seconds it took.
    """
    found: dict[str, dict[str, Any]] = {}
    by_namespace: dict[str, list[Query]] = {}
    for query in queries:
        by_namespace.setdefault(query.namespace, []).append(query)
    for namespace, own in by_namespace.items():
        if len(own) < _FEWEST:
            continue
        for query in own:
            connection.execute(
                "SELECT pgrecall.judge(%s, %s, %s, %s, exclude => %s, namespace => %s)",
                (
                    query.id,
                    query.text,
                    resources.vector(query),
                    [ids[id] for id in query.relevant],
                    [ids[id] for id in query.exclude],
                    namespace,
                ),
            )
        started = time.monotonic()
        [row] = connection.execute(
            "SELECT is_adopted, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high "
            "FROM pgrecall.learn(%s)",
            (namespace,),
        )
        names = ("is_adopted", "settings", "queries", "ndcg_before", "ndcg_after", "gain_low", "gain_high")
        found[namespace] = dict(zip(names, row, strict=True)) | {
            "seconds": round(time.monotonic() - started, 1)
        }
        _say(f"{namespace}: {found[namespace]}")
        connection.execute("SELECT pgrecall.unlearn(%s)", (namespace,))
        for query in own:
            connection.execute("SELECT pgrecall.unjudge(%s, %s)", (query.id, namespace))
    return found


def _ranking(recall: Recall, query: Query, settings: Mapping[str, str]) -> list[str]:
    rows = recall.rows(
        query,
        DEPTH + len(query.exclude),
        _WITH_SETTINGS,
        settings=Jsonb(dict(settings)) if settings else None,
    )
    return [str(id) for (id,) in rows if str(id) not in query.exclude]


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
