"""What ONNX Runtime brings on this CPU: speed and quality of the default model, by three ways to run it.

    python -m benchmarks.operations.embedder_onnx --data ../data/locomo=field:conversation \
        --data ../data/scifact --json benchmarks/results/embedder-onnx.json

sentence-transformers, ONNX and ONNX with weights of 8 bits embed the same texts in the daemon's batches, with
a thread a core. They take turns, since the machine may be busy with something else; medians of the rounds
count, and of ratios within a round. Quality is dense recall alone: exact nearest neighbours, without a
database.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import statistics
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.quality.bootstrap import compare
from benchmarks.quality.datasets import POOLED, load_dataset
from benchmarks.quality.metrics import evaluate
from benchmarks.results import circumstances
from benchmarks.speed.machine import cores, machine
from benchmarks.speed.shared import positive, say, write
from pgrecall.query.embedding_models import DEFAULT_MODEL, KNOWN_MODELS
from pgrecall_embedder.export_onnx import export
from pgrecall_embedder.jobs.embed.batching import plan
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Dataset
    from pgrecall_embedder.providers import EmbeddingProvider

__all__ = ["main"]

FORMAT = 1
_KIND = "embedder-onnx"
_BASELINE = "sentence-transformers"
_PACKAGES = ("onnxruntime", "onnx", "onnxscript", "tokenizers")
_METRICS = ("recall@10", "ndcg@10")
_DEPTH = 10
_QUERIES = 50


def main() -> int:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.operations.embedder_onnx",
        description="The default model by torch and by ONNX.",
    )
    parser.add_argument(
        "--data", action="append", required=True, metavar="DIR[=SCOPE]", help="a data set (repeatable)"
    )
    parser.add_argument("--rounds", type=positive, default=5, metavar="N")
    parser.add_argument("--limit", type=positive, default=400, metavar="N", help="memories timed of each")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the intervals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    options = parser.parse_args()
    datasets = [_dataset(argument) for argument in options.data]
    with tempfile.TemporaryDirectory(prefix="pgrecall-bench-") as folder:
        providers = _providers(Path(folder))
        results = circumstances(options.seed, _KIND, FORMAT) | {"machine": machine()}
        results["packages"] |= {name: importlib.metadata.version(name) for name in _PACKAGES}
        results |= {"model": DEFAULT_MODEL, "rounds": options.rounds, "threads": cores()}
        results["datasets"] = {}
        for dataset in datasets:
            results["datasets"][dataset.name] = {
                "speed": _speed(providers, dataset, options.rounds, options.limit),
                "quality": _quality(providers, dataset, options.seed),
            }
            write(options.json, results)
    _show(results)
    return 0


def _dataset(argument: str) -> Dataset:
    folder, _, scope = argument.partition("=")
    return load_dataset(Path(folder), scope or POOLED)


def _providers(folder: Path) -> dict[str, EmbeddingProvider]:
    say("exporting the model")
    whole = export(DEFAULT_MODEL, folder / "whole")
    int8 = export(DEFAULT_MODEL, folder / "int8", int8=True)
    dimension = KNOWN_MODELS[DEFAULT_MODEL].dimension
    ways = {
        _BASELINE: (DEFAULT_MODEL, _BASELINE),
        "onnx": (str(whole), "onnx"),
        "onnx-int8": (str(int8), "onnx"),
    }
    return {
        way: load_provider(ModelSpec(1, name, dimension, provider, "", ""), cores())
        for way, (name, provider) in ways.items()
    }


def _speed(
    providers: Mapping[str, EmbeddingProvider], dataset: Dataset, rounds: int, limit: int
) -> dict[str, Any]:
    """Time documents and single queries, the ways in turns."""
    step = max(1, len(dataset.memories) // limit)
    texts = [memory.text for memory in dataset.memories[::step]][:limit]
    queries = [query.text for query in dataset.queries[:_QUERIES]]
    seconds: dict[str, list[float]] = {way: [] for way in providers}
    query_seconds: dict[str, list[float]] = {way: [] for way in providers}
    tokens = int(np.sum(providers["onnx"].token_counts(texts)))
    for way, provider in providers.items():
        _embed(provider, texts[: limit // 10])
        provider.embed_query(queries[0])
        say(f"{dataset.name}: {way} is warm")
    for number in range(rounds):
        say(f"{dataset.name}: round {number + 1} of {rounds}")
        for way, provider in providers.items():
            started = time.perf_counter()
            _embed(provider, texts)
            seconds[way].append(time.perf_counter() - started)
            for query in queries:
                started = time.perf_counter()
                provider.embed_query(query)
                query_seconds[way].append(time.perf_counter() - started)
    baseline = seconds[_BASELINE]
    return {
        "texts": len(texts),
        "tokens": tokens,
        "ways": {
            way: {
                "texts_per_second": round(len(texts) / statistics.median(spent), 1),
                "ratio": round(_median_ratio(baseline, spent), 3),
                "query_ms": round(1000 * statistics.median(query_seconds[way]), 2),
                "rounds_seconds": [round(one, 3) for one in spent],
            }
            for way, spent in seconds.items()
        },
    }


def _median_ratio(baseline: Sequence[float], spent: Sequence[float]) -> float:
    return statistics.median(slow / fast for slow, fast in zip(baseline, spent, strict=True))


def _quality(providers: Mapping[str, EmbeddingProvider], dataset: Dataset, seed: int) -> dict[str, Any]:
    """Return dense recall of each way, and its difference from the baseline's."""
    texts = [memory.text for memory in dataset.memories]
    vectors, found = {}, {}
    for way, provider in providers.items():
        say(f"{dataset.name}: {way} embeds {len(texts)} memories")
        vectors[way] = _embed(provider, texts)
        found[way] = evaluate(dataset.queries, _rankings(provider, dataset, vectors[way]))
    baseline = found[_BASELINE]
    return {
        way: {
            "similarity_mean": round(float(_similarities(vectors, way).mean()), 6),
            "similarity_min": round(float(_similarities(vectors, way).min()), 6),
            **{metric: round(float(found[way][metric].mean()), 6) for metric in _METRICS},
            "comparisons": [
                compare((way, found[way][metric]), (_BASELINE, baseline[metric]), metric, seed=seed).as_dict()
                for metric in _METRICS
                if way != _BASELINE
            ],
        }
        for way in providers
    }


def _similarities(vectors: Mapping[str, NDArray[np.float32]], way: str) -> NDArray[np.float32]:
    similarities: NDArray[np.float32] = (vectors[way] * vectors[_BASELINE]).sum(axis=1)
    return similarities


def _rankings(
    provider: EmbeddingProvider, dataset: Dataset, vectors: NDArray[np.float32]
) -> dict[str, list[str]]:
    ids = [memory.id for memory in dataset.memories]
    places: dict[str, list[int]] = {}
    for place, memory in enumerate(dataset.memories):
        places.setdefault(memory.namespace, []).append(place)
    rankings = {}
    for query in dataset.queries:
        inside = [place for place in places[query.namespace] if ids[place] not in query.exclude]
        scores = vectors[inside] @ provider.embed_query(query.text)
        best = np.argsort(-scores, kind="stable")[:_DEPTH]
        rankings[query.id] = [ids[inside[place]] for place in best]
    return rankings


def _embed(provider: EmbeddingProvider, texts: Sequence[str]) -> NDArray[np.float32]:
    """Embed texts as the daemon does: batches of similar length, a thread a core."""
    vectors = np.zeros((len(texts), provider.dimension), dtype=np.float32)
    batches = plan(provider, texts)
    with ThreadPoolExecutor(cores()) as pool:
        done = pool.map(lambda batch: provider.embed_documents([texts[place] for place in batch]), batches)
        for batch, given in zip(batches, done, strict=True):
            vectors[batch] = given.vectors
    return vectors


def _show(results: Mapping[str, Any]) -> None:
    for name, found in results["datasets"].items():
        print(name)
        for way, speed in found["speed"]["ways"].items():
            quality = found["quality"][way]
            differences = [
                f"{one['metric']} {one['delta']:+.4f} ({one['ci95'][0]:+.4f} to {one['ci95'][1]:+.4f})"
                for one in quality["comparisons"]
            ]
            print(
                f"  {way}: {speed['texts_per_second']} texts/s, {speed['ratio']} times {_BASELINE}, "
                f"{speed['query_ms']} ms a query; recall@10 {quality['recall@10']:.4f}"
                + "".join(f"; {one}" for one in differences)
            )


if __name__ == "__main__":
    sys.exit(main())
