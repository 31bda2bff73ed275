"""The command: `python -m benchmarks layouts`."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.checkout import revision
from benchmarks.layouts.console import render
from benchmarks.layouts.prototypes import LAYOUTS
from benchmarks.layouts.run import Options, run
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed import machine
from benchmarks.speed.generator import GENERATOR
from pgrecall.bundle import bundle_hash
from pgrecall.server import ServerError

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("layouts", help="how postings are best kept: ingest, size, query time")
    parser.set_defaults(command=_layouts)
    parser.add_argument("--rows", type=_positive, default=100_000, metavar="N", help="memories to COPY")
    parser.add_argument("--dim", type=_positive, default=384, metavar="N", help="of the embeddings")
    parser.add_argument("--queries", type=_positive, default=200, metavar="N", help="questions of a kind")
    parser.add_argument(
        "--seconds", type=float, default=5.0, metavar="S", help="ask a layout no longer than this"
    )
    parser.add_argument(
        "--many", type=_positive, default=10_000, metavar="N", help="memories to store by remember_many"
    )
    parser.add_argument(
        "--singles", type=_positive, default=2_000, metavar="N", help="memories to store one by one"
    )
    parser.add_argument(
        "--write-back", type=_positive, default=5_000, metavar="N", help="memories to write an embedding to"
    )
    parser.add_argument(
        "--changes", type=_positive, default=1_000, metavar="N", help="memories to revise, and to forget"
    )
    parser.add_argument("--seed", type=int, default=42, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument(
        "--dsn", metavar="DSN", help="a server to make the databases on; by default one of its own"
    )
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="where that server's data are kept"
    )


def _layouts(options: argparse.Namespace) -> int:
    """Run the benchmark: 0, or 2 if the server cannot be used."""
    asked = Options(
        rows=options.rows,
        dimension=options.dim,
        queries=options.queries,
        seconds=options.seconds,
        many=options.many,
        singles=options.singles,
        written_back=options.write_back,
        changed=options.changes,
        seed=options.seed,
    )
    result: dict[str, Any] = {
        "format": FORMAT,
        "kind": "layouts",
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": revision("sql", "migrations", "pyclient", "benchmarks/speed", "benchmarks/layouts"),
        "bundle": bundle_hash(),
        "machine": machine.machine(),
        "seed": options.seed,
        "generator": GENERATOR,
        "rows": options.rows,
        "dim": options.dim,
        "layouts": {layout.name: layout.title for layout in LAYOUTS},
    }
    try:
        with scratch_database(options.dsn, options.cache, keep=False, say=_say) as server:
            result |= run(server, asked, _say)
    except (ServerError, psycopg.OperationalError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(render(result))
    if options.json is not None:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        _say(f"written: {options.json}")
    return 0


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def _say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
