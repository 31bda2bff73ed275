"""`python -m benchmarks daemon`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import results
from benchmarks.operations.daemon.asking import asking
from benchmarks.operations.daemon.changing import change
from benchmarks.operations.daemon.processes import daemon
from benchmarks.operations.daemon.waiting import growth, idle, latency, transactions
from benchmarks.scratch import default_cache, scratch_database
from benchmarks.speed.machine import machine
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

__all__ = ["add_to"]

KIND = "daemon"
FORMAT = 1
_PARTS = ("latency", "idle", "queries", "memory", "reembed")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "daemon",
        help="what the embedder costs, and how soon it answers",
        description="Measure a daemon with the bundled model on a server of its own: how long one memory "
        "waits to be found, what it does when idle, embeddings of queries, its memory over many rows, and a "
        "change of the model under a client that recalls. Wants a quiet machine.",
    )
    parser.add_argument("--parts", default=",".join(_PARTS), help=f"of {', '.join(_PARTS)}; default: all")
    parser.add_argument("--singles", type=int, default=100, metavar="N", help="memories of latency")
    parser.add_argument("--idle-seconds", type=float, default=60, metavar="S")
    parser.add_argument("--questions", type=int, default=200, metavar="N", help="of queries")
    parser.add_argument("--rows", type=int, default=100_000, metavar="N", help="of memory")
    parser.add_argument("--reembed-rows", type=int, default=20_000, metavar="N")
    parser.add_argument("--dim", type=int, default=256, help="what reembed changes to")
    parser.add_argument("--dsn", help="a server for a database of its own; default: an embedded one")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.set_defaults(command=_run)


def _run(options: argparse.Namespace) -> int:
    parts = options.parts.split(",")
    unknown = set(parts) - set(_PARTS)
    if unknown:
        print(f"error: no part {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    result = results.circumstances(0, KIND, FORMAT) | {"host": machine()}
    for part, found in _parts(options, parts):
        result[part] = found
        print(part, json.dumps(found, indent=2), flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    return 0


def _parts(options: argparse.Namespace, parts: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    with scratch_database(options.dsn, default_cache(), keep=False, say=print) as dsn:
        migrate(dsn)
        background = transactions(dsn, options.idle_seconds) if "idle" in parts else 0.0
        with daemon(dsn) as process:
            if "latency" in parts:
                yield "latency", latency(dsn, options.singles)
            if "queries" in parts:
                yield "queries", asking(dsn, options.questions)
            if "idle" in parts:
                yield "idle", idle(dsn, process, options.idle_seconds, background)
        if "reembed" in parts:
            with daemon(dsn, "--only", "embedding"):
                yield "reembed", change(dsn, options.reembed_rows, options.dim)
        if "memory" in parts:
            with daemon(dsn, "--only", "embedding") as process:
                yield "memory", growth(dsn, process, options.rows)
