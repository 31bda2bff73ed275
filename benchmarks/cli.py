"""The command line: `python -m benchmarks COMMAND`."""

from __future__ import annotations

import argparse
import signal
import sys
from typing import TYPE_CHECKING

from benchmarks import operations, report, speed
from benchmarks.operations import daemon, import_from, sharding, tenants
from benchmarks.quality import command as quality
from benchmarks.quality import curation, extraction, graph, learning, names, reliability, secrets, several
from benchmarks.quality.datasets import DataError
from benchmarks.quality.resources import Unavailable
from benchmarks.systems import UnknownSetting, UnknownSystem

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Returns:
        0; 1 if a system broke or a report is out of date; 2 if what was asked for cannot be done.
    """
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measurements of pgrecall.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    quality.add_to(commands)
    graph.add_to(commands)
    report.add_to(commands)
    speed.add_to(commands)
    extraction.add_to(commands)
    daemon.add_to(commands)
    tenants.add_to(commands)
    sharding.add_to(commands)
    operations.add_to(commands)
    import_from.add_to(commands)
    curation.add_to(commands)
    learning.add_to(commands)
    names.add_to(commands)
    reliability.add_to(commands)
    secrets.add_to(commands)
    several.add_to(commands)
    options = parser.parse_args(arguments)
    # A terminated run takes its scratch server along, as an interrupted one does.
    previous = signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        return int(options.command(options))
    except (DataError, UnknownSystem, UnknownSetting, Unavailable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    finally:
        signal.signal(signal.SIGTERM, previous)
