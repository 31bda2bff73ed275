"""The command: `python -m benchmarks speed`."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.speed import machine
from benchmarks.speed.console import ratios, render
from benchmarks.speed.ingest import ingest
from benchmarks.speed.run import Options, measure_size
from benchmarks.speed.shared import add_run_options, circumstances, positive, say, write
from pgrecall.server import EmbeddedServer, ServerError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""
BUSY = 0.5
"""The load average above which no results are written."""

_RESULTS = Path(__file__).parents[1] / "results"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("speed", help="how fast recall is, over synthetic memories")
    parser.set_defaults(command=_speed)
    parser.add_argument(
        "--rows", type=_sizes, default=[10_000, 100_000], metavar="N,…", help="numbers of memories"
    )
    parser.add_argument("--dim", type=positive, default=384, metavar="N", help="of the embeddings")
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="questions a system")
    parser.add_argument(
        "--seconds", type=float, default=20.0, metavar="S", help="ask a system no longer than this"
    )
    parser.add_argument(
        "--ingest", type=positive, default=10_000, metavar="N", help="memories to store by remember_many"
    )
    add_run_options(parser)
    parser.add_argument("--fresh", action="store_true", help="create the databases again")
    parser.add_argument("--keep", action="store_true", help="leave the server running at the end")
    parser.add_argument(
        "--check", action="store_true", help="fail if recall did not use the indexes it is built on"
    )


def _speed(options: argparse.Namespace) -> int:
    """Run the benchmark: 0, 1 if `--check` finds an unused index, 2 if it cannot be run."""
    load = os.getloadavg()[0]
    if options.json is not None and load > BUSY:
        print(f"error: the load is {load:.2f}: results are written on a quiet machine only", file=sys.stderr)
        return 2
    try:
        with _server(options) as server:
            result = _measure(server, options)
    except (ServerError, psycopg.OperationalError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(render(result))
    write(options.json, result)
    unused = {size: one["indexes"]["unused"] for size, one in result["details"].items()}
    if options.check and any(unused.values()):
        say(f"error: recall did not use {unused}")
        return 1
    return 0


def _measure(server: str, options: argparse.Namespace) -> dict[str, Any]:
    asked = Options(
        dimension=options.dim,
        queries=options.queries,
        seconds=options.seconds,
        seed=options.seed,
        fresh=options.fresh,
        build_memory=machine.memory_mb() * 2**20 // 4,
    )
    result: dict[str, Any] = {
        **circumstances("speed", FORMAT, options.seed, "benchmarks/speed"),
        "dim": options.dim,
        "queries": options.queries,
        "seconds": options.seconds,
        "server": {},
        "settings": {},
        "ratios": {},
        "rows": {},
        "extras": {},
        "details": {},
    }
    for rows in options.rows:
        found = measure_size(server, rows, asked, say)
        size = str(rows)
        # The same at every size.
        result |= {name: found.pop(name) for name in ("server", "settings")}
        result["rows"][size] = found.pop("systems")
        result["extras"][size] = found.pop("extras")
        result["ratios"][size] = ratios(result["rows"][size])
        result["details"][size] = found
    say(f"storing {options.ingest:,} memories by remember_many")
    result["ingest"] = ingest(server, options.ingest, options.seed)
    # Measured by benchmarks/operations/embedder_throughput.py, on real texts.
    result["embedder"] = [path.name for path in sorted(_RESULTS.glob("embedder*.json"))]
    return result


@contextmanager
def _server(options: argparse.Namespace) -> Iterator[str]:
    """Give a server to make databases on: the one that was named, or one of the benchmark's own."""
    if options.dsn is not None:
        yield options.dsn
        return
    server = EmbeddedServer(options.cache / "speed")
    dsn = server.up()
    try:
        yield dsn
    finally:
        if options.keep:
            say(f"left running: {server.dsn()}")
        else:
            server.down()


def _sizes(text: str) -> list[int]:
    return [positive(part) for part in text.split(",")]
