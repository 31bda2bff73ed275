"""The command: `python -m benchmarks reliability`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.quality.embeddings import VectorCache
from benchmarks.quality.extractions import ExtractionCache
from benchmarks.quality.reliability.encoders import ENCODERS, Encoder
from benchmarks.quality.reliability.fitting import refit
from benchmarks.quality.reliability.run import (
    WORDS,
    ask,
    embed,
    load,
    read_observations,
    write_observations,
)
from benchmarks.quality.reliability.sampling import SOURCES, draw, read
from benchmarks.quality.reliability.scoring import tabulate
from benchmarks.quality.resources import Unavailable
from benchmarks.results import circumstances
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed.shared import say, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from benchmarks.quality.reliability.run import Observation
    from benchmarks.quality.reliability.sampling import Sample

__all__ = ["FORMAT", "KIND", "add_to"]

KIND = "reliability"
FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""
_ROOT = Path(__file__).parents[3]


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "reliability", help="is the confidence a probability: by size of the namespace, data set and encoder"
    )
    parser.set_defaults(command=_reliability)
    parser.add_argument(
        "--data",
        type=Path,
        default=_ROOT.parent / "shared" / "data",
        metavar="DIR",
        help="where the data sets are, a folder each; those that are missing are left out",
    )
    parser.add_argument("--only", metavar="NAMES", help="only these data sets, by commas")
    parser.add_argument("--seed", type=int, default=42, metavar="N", help="of samples and intervals")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument("--observations", type=Path, metavar="FILE", help="write every answer here")
    parser.add_argument("--scored", type=Path, metavar="FILE", help="score such a file, measure nothing")
    parser.add_argument("--cache", type=Path, default=default_cache(), metavar="DIR")


def _reliability(options: argparse.Namespace) -> int:
    result: dict[str, Any] = circumstances(options.seed, KIND, FORMAT)
    if options.scored is not None:
        observations = read_observations(options.scored)
    else:
        samples = _samples(options, result)
        observations = _measured(options, samples, result)
        if options.observations is not None:
            write_observations(options.observations, observations)
    result |= _scored(observations, options.seed)
    for name, found in result["encoders"].items():
        say(f"{name}: " + "; ".join(f"{size} {_line(one)}" for size, one in found["sizes"].items()))
        say(f"{name}: worst {found['worst']} {_line(found['datasets'][found['worst']])}")
    write(options.json, result)
    return 0


def _samples(options: argparse.Namespace, result: dict[str, Any]) -> list[Sample]:
    chosen = options.only.split(",") if options.only else [one.name for one in SOURCES]
    samples: list[Sample] = []
    result["not_run"] = {}
    for source in SOURCES:
        if source.name not in chosen:
            continue
        places = [_ROOT / "examples" / source.name, options.data / source.name]
        folder = next((one for one in places if (one / "corpus.jsonl").is_file()), None)
        if folder is None:
            result["not_run"][source.name] = "the data set is not there"
            say(f"{source.name} is left out: there is no {options.data / source.name}")
        else:
            samples.append(read(folder, source, options.seed))
    if not samples:
        raise Unavailable(f"there is none of the data sets in {options.data}")
    return samples


def _measured(
    options: argparse.Namespace, samples: Sequence[Sample], result: dict[str, Any]
) -> list[Observation]:
    spaces = draw(samples, options.seed)
    vectors = VectorCache(options.cache / "embeddings.sqlite")
    extractions = ExtractionCache(options.cache / "extractions.sqlite")
    with scratch_database(os.environ.get("PGRECALL_DSN") or None, options.cache, keep=False, say=say) as dsn:
        names, description = load(dsn, spaces, extractions, say)
        result |= description
        observations = ask(dsn, spaces, names, None, say)
        for name, make in ENCODERS.items():
            try:
                encoder = Encoder(name, make(), vectors, say)
            except Unavailable as error:
                result["not_run"][name] = str(error)
                say(f"{name} is left out: {error}")
                continue
            embed(dsn, encoder, say)
            observations += ask(dsn, spaces, names, encoder, say)
    return observations


def _scored(observations: Sequence[Observation], seed: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for encoder in dict.fromkeys(one.encoder for one in observations):
        own = [one for one in observations if one.encoder == encoder]
        datasets = tabulate(own, lambda one: one.dataset, seed)
        found[encoder] = {
            "all": tabulate(own, lambda _: "all", seed)["all"],
            "sizes": tabulate(own, lambda one: str(one.size), seed),
            "datasets": datasets,
            "cells": tabulate(own, lambda one: f"{one.dataset} {one.size}", seed),
            "worst": max(datasets, key=lambda name: float(datasets[name]["calibration_error"]["value"])),
        }
    with_vectors = [one for one in observations if one.encoder != WORDS]
    several = len({one.dataset for one in with_vectors}) > 1
    return {"encoders": found, "refit": refit(with_vectors, seed) if several else {}}


def _line(one: dict[str, Any]) -> str:
    names = ("calibration_error", "answered_above", "unanswered_above")
    return " / ".join(f"{one[name]['value']:.3f}" for name in names)
