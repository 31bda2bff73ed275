"""What the commands over synthetic memories share: common options, what they say, the file they write."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.checkout import revision
from benchmarks.scratch import default_cache
from benchmarks.speed import machine
from benchmarks.speed.generator import GENERATOR
from pgrecall.admin.bundle import bundle_hash

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["add_run_options", "circumstances", "positive", "say", "write"]


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that measures over synthetic memories."""
    parser.add_argument("--seed", type=int, default=42, metavar="N")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results here")
    parser.add_argument(
        "--dsn", metavar="DSN", help="a server to make the databases on; by default one of its own"
    )
    parser.add_argument(
        "--cache", type=Path, default=default_cache(), metavar="DIR", help="where that server's data are kept"
    )


def circumstances(kind: str, version: int, seed: int, *measured: str) -> dict[str, Any]:
    """Return what a results file over synthetic memories begins with.

    Args:
        kind: Of the results.
        version: The format of this kind.
        seed: Of the memories and the questions.
        *measured: What is measured beside sql/, migrations/ and pyclient/.
    """
    return {
        "format": version,
        "kind": kind,
        "measured_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "git": revision("sql", "migrations", "pyclient", *measured),
        "bundle": bundle_hash(),
        "machine": machine.machine(),
        "seed": seed,
        "generator": GENERATOR,
    }


def write(path: Path | None, result: Mapping[str, Any]) -> None:
    """Write a results file and say so; nothing where there is no path."""
    if path is None:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    say(f"written: {path}")


def positive(text: str) -> int:
    """Read a number from 1 up."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def say(message: str) -> None:
    """Tell of progress, beside what is printed."""
    print(message, file=sys.stderr, flush=True)
