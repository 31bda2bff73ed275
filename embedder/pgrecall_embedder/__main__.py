"""`python -m pgrecall_embedder`: the daemon for the database that PGRECALL_DSN names."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from pgrecall.errors import PgrecallError
from pgrecall.server import ServerError, effective_dsn

from .cli import run
from .daemon import LEASE_SECONDS


def main() -> int:
    """Read the arguments and run the daemon; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m pgrecall_embedder",
        description="Embed and read what waits for it in the database that PGRECALL_DSN or the settings file "
        "names, else in the embedded one.",
    )
    parser.add_argument("--drain", action="store_true", help="stop when nothing is left to embed or to read")
    parser.add_argument(
        "--only", choices=("embedding", "extraction"), help="do only this; extraction needs no model"
    )
    parser.add_argument(
        "--concurrency", type=int, metavar="N", help="embedding threads (default: one a core)"
    )
    parser.add_argument(
        "--lease",
        type=float,
        default=LEASE_SECONDS,
        metavar="SECONDS",
        help="how long another daemon leaves alone what this one has claimed (default: %(default).0f)",
    )
    parser.add_argument(
        "--listen-dsn",
        metavar="DSN",
        help="a direct connection for notifications, where a pooler is between "
        "(default: PGRECALL_EMBEDDER_LISTEN_DSN)",
    )
    parser.add_argument(
        "--metrics-port",
        type=int,
        metavar="PORT",
        help="serve metrics to this machine's Prometheus (default: PGRECALL_EMBEDDER_METRICS_PORT)",
    )
    parser.add_argument(
        "--socket",
        type=Path,
        metavar="PATH",
        help="answer recall_embed() of a server on this machine (default: PGRECALL_EMBEDDER_SOCKET)",
    )
    parser.add_argument("--log-json", action="store_true", help="log JSON, one object a line")
    options = parser.parse_args()
    try:
        dsn = effective_dsn()
    except (PgrecallError, ServerError) as error:
        print(f"{error}\nHINT: {error.hint}", file=sys.stderr)
        return 1
    return run(
        dsn,
        drain=options.drain,
        only=options.only,
        concurrency=options.concurrency,
        lease_seconds=options.lease,
        listen_dsn=options.listen_dsn,
        metrics_port=options.metrics_port,
        socket_path=options.socket,
        log_json=options.log_json,
    )


if __name__ == "__main__":
    sys.exit(main())
