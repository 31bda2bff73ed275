"""What is lost if memories are in three namespaces instead of one, and a recall reads all three."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from benchmarks.quality.bootstrap import compare
from benchmarks.quality.datasets import load_dataset
from benchmarks.quality.metrics import DEPTH, evaluate, means
from benchmarks.quality.resources import Resources
from benchmarks.results import circumstances, conclude, dataset_facts
from benchmarks.scratch import default_cache

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

    import psycopg

    from benchmarks.quality.datasets import Dataset, Memory, Query

__all__ = ["add_to"]

_SEED: Final = 42
_PARTS: Final = ("one", "two", "three")
_METRICS: Final = ("recall@5", "recall@10", "ndcg@10")
_ONE = "SELECT external_id, score FROM recall(%(text)s, %(vector)s, %(k)s, %(namespace)s)"
_SEVERAL = "SELECT external_id, score FROM recall(%(text)s, %(vector)s, %(k)s, namespaces => %(namespaces)s)"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    several = commands.add_parser(
        "namespaces", help="recall over three namespaces against one with the same memories"
    )
    several.set_defaults(command=_several)
    several.add_argument("--data", type=Path, required=True, metavar="DIR", help="as for `quality`")
    several.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    several.add_argument("--seed", type=int, default=_SEED, metavar="N")
    several.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")


def _several(options: argparse.Namespace) -> int:
    dataset = load_dataset(options.data, "pooled")
    results: dict[str, Any] = {
        **circumstances(options.seed, "namespaces", 1),
        **dataset_facts(dataset, "english"),
    }
    divided = {
        "by session": _divided(dataset, lambda memory: memory.fields.session or memory.id),
        "at random": _divided(dataset, lambda memory: memory.id),
    }
    rankings: dict[str, dict[str, list[str]]] = {}
    seconds: dict[str, list[float]] = {}
    for name, one in {"one": dataset, **divided}.items():
        with Resources(one, options.cache, dsn=os.environ.get("PGRECALL_DSN") or None, say=_say) as resources:
            connection = resources.connect()
            ways = {"one": _alone} if name == "one" else {name: _together, f"{name}, merged": _merged}
            for way, ask in ways.items():
                _say(f"asking {way}")
                rankings[way], seconds[way] = {}, []
                for query in dataset.queries:
                    given = {"text": query.text, "vector": resources.vector(query), "k": DEPTH}
                    began = time.perf_counter()
                    rankings[way][query.id] = ask(connection, given, query)
                    seconds[way].append(time.perf_counter() - began)
            results |= resources.description
    values = {way: evaluate(dataset.queries, ranking) for way, ranking in rankings.items()}
    results["systems"] = {
        way: {
            **{metric: means(value)[metric] for metric in _METRICS},
            "median_ms": median(seconds[way]) * 1000,
            "same_ten": sum(
                len({*rankings["one"][query.id][:10]} & {*rankings[way][query.id][:10]})
                for query in dataset.queries
            )
            / sum(len(rankings["one"][query.id][:10]) for query in dataset.queries),
        }
        for way, value in values.items()
    }
    results["comparisons"] = [
        compare((way, value[metric]), ("one", values["one"][metric]), metric, seed=options.seed).as_dict()
        for way, value in values.items()
        if way != "one"
        for metric in _METRICS
    ]
    conclude(options.json, results, _say)
    return 0


def _divided(dataset: Dataset, key: Callable[[Memory], str]) -> Dataset:
    """Return the data set in three namespaces: what has the same key is in the same."""

    def moved(memory: Memory) -> Memory:
        part = _PARTS[crc32(key(memory).encode()) % len(_PARTS)]
        return replace(memory, namespace=part, fields=replace(memory.fields, namespace=part))

    return replace(dataset, memories=tuple(map(moved, dataset.memories)))


def _alone(connection: psycopg.Connection[Any], given: Mapping[str, Any], query: Query) -> list[str]:
    return [id for id, _ in connection.execute(_ONE, {**given, "namespace": query.namespace}).fetchall()]


def _together(connection: psycopg.Connection[Any], given: Mapping[str, Any], _: Query) -> list[str]:
    return [id for id, _ in connection.execute(_SEVERAL, {**given, "namespaces": list(_PARTS)}).fetchall()]


def _merged(connection: psycopg.Connection[Any], given: Mapping[str, Any], _: Query) -> list[str]:
    """Return what an application gets that asks each by itself and merges by score."""
    rows = [
        row for part in _PARTS for row in connection.execute(_ONE, {**given, "namespace": part}).fetchall()
    ]
    return [id for id, _ in sorted(rows, key=lambda row: -float(row[1]))[:DEPTH]]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
