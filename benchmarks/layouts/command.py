"""The command: `python -m benchmarks layouts`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.layouts.console import render
from benchmarks.layouts.prototypes import LAYOUTS
from benchmarks.layouts.run import Options, run
from benchmarks.scratch import scratch_database
from benchmarks.speed.shared import add_run_options, circumstances, positive, say, write
from pgrecall.server import ServerError

if TYPE_CHECKING:
    import argparse

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("layouts", help="how postings are best kept: ingest, size, query time")
    parser.set_defaults(command=_layouts)
    parser.add_argument("--rows", type=positive, default=100_000, metavar="N", help="memories to COPY")
    parser.add_argument("--dim", type=positive, default=384, metavar="N", help="of the embeddings")
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="questions of a kind")
    parser.add_argument(
        "--seconds", type=float, default=5.0, metavar="S", help="ask a layout no longer than this"
    )
    parser.add_argument(
        "--many", type=positive, default=10_000, metavar="N", help="memories to store by remember_many"
    )
    parser.add_argument(
        "--singles", type=positive, default=2_000, metavar="N", help="memories to store one by one"
    )
    parser.add_argument(
        "--write-back", type=positive, default=5_000, metavar="N", help="memories to write an embedding to"
    )
    parser.add_argument(
        "--changes", type=positive, default=1_000, metavar="N", help="memories to revise, and to forget"
    )
    add_run_options(parser)


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
        **circumstances("layouts", FORMAT, options.seed, "benchmarks/speed", "benchmarks/layouts"),
        "rows": options.rows,
        "dim": options.dim,
        "layouts": {layout.name: layout.title for layout in LAYOUTS},
    }
    try:
        with scratch_database(options.dsn, options.cache, keep=False, say=say) as server:
            result |= run(server, asked, say)
    except (ServerError, psycopg.OperationalError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(render(result))
    write(options.json, result)
    return 0
