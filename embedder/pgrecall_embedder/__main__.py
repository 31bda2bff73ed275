"""`python -m pgrecall_embedder`: the daemon for the database that PGRECALL_DSN names."""

from __future__ import annotations

import argparse
import sys

from pgrecall.config import effective_dsn
from pgrecall.errors import PgrecallError
from pgrecall.server import ServerError

from .cli import run


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
        log_json=options.log_json,
    )


if __name__ == "__main__":
    sys.exit(main())
