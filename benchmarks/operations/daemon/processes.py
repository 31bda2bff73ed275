"""A daemon of the benchmark's own, and what it costs."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psutil
import psycopg

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["connect", "cpu_seconds", "daemon", "fill", "memory_mb", "sentences", "wait_for"]

_START_SECONDS = 120.0
_STATEMENT_ROWS = 1000
_WORDS = (
    "harbour", "lantern", "meadow", "orchard", "pebble", "quarry", "ribbon", "saddle", "timber", "umbrella",
    "velvet", "willow", "anchor", "basket", "candle", "dolphin", "ember", "feather", "garden", "hammer",
    "island", "jacket", "kettle", "ladder", "mirror", "needle", "ocean", "pillow",
)  # fmt: skip


def connect(dsn: str) -> psycopg.Connection[Any]:
    """Open a connection in autocommit."""
    return psycopg.connect(dsn, autocommit=True)


@contextmanager
def daemon(dsn: str, *arguments: str) -> Iterator[psutil.Process]:
    """Start `python -m pgrecall_embedder`, and stop it at the end.

    Yields:
        Its process, once it has loaded its model and sent a heartbeat.

    Raises:
        SystemExit: It did not start, or did not stop as it should.
    """
    command = [sys.executable, "-m", "pgrecall_embedder", "--log-json", *arguments]
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, env=os.environ | {"PGRECALL_DSN": dsn}, stderr=log)
        try:
            with connect(dsn) as connection:
                wait_for(
                    lambda: (
                        process.poll() is not None
                        or one(connection, "SELECT count(*) FROM pgrecall.workers") > 0
                    ),
                    _START_SECONDS,
                )
            if process.poll() is not None:
                log.seek(0)
                raise SystemExit(f"the daemon ended: {log.read()}")
            yield psutil.Process(process.pid)
        finally:
            process.terminate()
            if process.wait(60) != 0:
                log.seek(0)
                raise SystemExit(f"the daemon ended with {process.returncode}: {log.read()}")


def wait_for(condition: Any, seconds: float, pause: float = 0.05) -> None:
    """Look again and again until a condition holds.

    Raises:
        SystemExit: It took longer than `seconds`.
    """
    give_up = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > give_up:
            raise SystemExit(f"nothing came of it in {seconds:.0f} s")
        time.sleep(pause)


def one(connection: psycopg.Connection[Any], query: str, *values: object) -> Any:
    """Return the first column of the first row."""
    row = connection.execute(query.encode(), values or None).fetchone()
    return None if row is None else row[0]


def sentences(count: int, seed: int = 0) -> list[str]:
    """Return short texts that all differ."""
    import random

    rng = random.Random(seed)  # noqa: S311
    return [f"{' '.join(rng.choices(_WORDS, k=8))} {seed}-{number}" for number in range(count)]


def fill(dsn: str, texts: list[str]) -> None:
    """Store texts as memories."""
    import json

    with connect(dsn) as connection:
        for start in range(0, len(texts), _STATEMENT_ROWS):
            memories = json.dumps([{"content": text} for text in texts[start : start + _STATEMENT_ROWS]])
            connection.execute("SELECT count(*) FROM remember_many(%s)", [memories])


def cpu_seconds(process: psutil.Process) -> float:
    """Return the processor time of a process and its children so far."""
    family = [process, *process.children(recursive=True)]
    return sum(sum(member.cpu_times()[:2]) for member in family)


def memory_mb(process: psutil.Process) -> float:
    """Return the memory that a process holds, its children's included, in MB."""
    family = [process, *process.children(recursive=True)]
    return round(sum(member.memory_info().rss for member in family) / 2**20, 1)
