"""The command: `python -m benchmarks sharding`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.operations.sharding.run import Options, run
from benchmarks.operations.sharding.servers import plproxy_binaries, routed_shards
from benchmarks.quality.resources import Unavailable
from benchmarks.scratch import default_cache
from benchmarks.speed import machine
from benchmarks.speed.shared import circumstances, positive, say, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping

__all__ = ["FORMAT", "add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

# Four servers share a machine whose memory each would take for its own.
_SETTINGS = {"shared_buffers": "256MB", "max_connections": "50"}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("sharding", help="what a router of shards costs, and a move of a namespace")
    parser.set_defaults(command=_sharding)
    parser.add_argument("--memories", type=positive, default=20_000, metavar="N", help="of each namespace")
    parser.add_argument("--shards", type=positive, default=3, metavar="N")
    parser.add_argument("--queries", type=positive, default=300, metavar="N", help="questions asked")
    parser.add_argument("--seed", type=int, default=42, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="where the servers' data are kept"
    )


def _sharding(options: argparse.Namespace) -> int:
    """Run the benchmark: 0; Unavailable where no server here has PL/Proxy."""
    binaries = plproxy_binaries()
    if binaries is None:
        raise Unavailable("no server here has PL/Proxy and pgvector: install them, or set PGRECALL_PG_BINDIR")
    asked = Options(options.memories, options.queries, options.seed)
    with routed_shards(options.cache, binaries, options.shards, _SETTINGS) as (router, servers):
        with psycopg.connect(router, autocommit=True) as connection:
            server = machine.server(connection)
        result = {
            **circumstances("sharding", FORMAT, options.seed, "benchmarks/operations/sharding"),
            "server": server,
            **run(router, servers, asked, say),
        }
    write(options.json, result)
    print(_rendered(result))
    return 0


def _rendered(result: Mapping[str, Any]) -> str:
    return json.dumps(
        {
            name: result[name]
            for name in ("routing", "processor_ms", "load_average", "parallel", "recall_all", "move")
        },
        indent=2,
    )
