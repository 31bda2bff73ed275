"""What recall sees of a change of the embedding model: times and failures of a client in a loop."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from typing import Any

from benchmarks.operations.daemon.processes import connect, fill, one, sentences, wait_for
from benchmarks.speed.measure import Latency
from pgrecall import Client
from pgrecall.errors import PgrecallError

__all__ = ["change"]

_STATE = "SELECT state FROM pgrecall.generations WHERE id = %s"


class _Loop:
    """A client that recalls by words and vector, again and again, in a thread.

    Args:
        dsn: The database.
        questions: What it asks, by turns.
    """

    def __init__(self, dsn: str, questions: list[str]) -> None:
        self.times: dict[str, list[float]] = {}
        self.failures: list[str] = []
        self.without_vector = 0
        self.phase = "before"
        self._dsn = dsn
        self._questions = questions
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> _Loop:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        with Client(self._dsn) as client:
            client.recall(self._questions[0])  # loads the model
            number = 0
            while not self._ended.is_set():
                number += 1
                phase, started = self.phase, time.perf_counter()
                try:
                    result = client.recall(self._questions[number % len(self._questions)])
                except PgrecallError as error:
                    self.failures.append(f"{phase}: {type(error).__name__} {error.sqlstate}")
                    continue
                self.times.setdefault(phase, []).append(1000 * (time.perf_counter() - started))
                self.without_vector += "dense" not in result.legs


def change(dsn: str, rows: int, dimension: int) -> dict[str, Any]:
    """Change to another dimension of the same model while a client recalls.

    Args:
        dsn: The database, with a daemon at work on it.
        rows: How many memories.
        dimension: What the model's vectors are cut to.
    """
    texts = sentences(rows, seed=3)
    fill(dsn, texts)
    with connect(dsn) as connection:
        wait_for(lambda: one(connection, "SELECT pending FROM recall_status()") == 0, 3600, pause=1.0)
        model = one(connection, "SELECT model FROM recall_status()")
        memories = one(connection, "SELECT memories FROM recall_status()")
        with _Loop(dsn, texts[:: max(1, rows // 200)]) as loop:
            time.sleep(10)
            loop.phase = "during"
            started = time.monotonic()
            done = subprocess.run(
                [sys.executable, "-m", "pgrecall", "reembed", "--model", model, "--dim", str(dimension)],
                env=os.environ | {"PGRECALL_DSN": dsn},
                check=False,
                capture_output=True,
                text=True,
            )
            seconds = time.monotonic() - started
            loop.phase = "after"
            time.sleep(10)
        if done.returncode != 0 or one(connection, _STATE, 2) != "active":
            raise SystemExit(f"reembed ended with {done.returncode}: {done.stdout}{done.stderr}")
        sizes = one(
            connection,
            "SELECT pg_size_pretty(pg_table_size('pgrecall.memories')) || ', indexes '"
            " || pg_size_pretty(pg_indexes_size('pgrecall.memories'))",
        )
    return {
        "memories": memories,
        "dimensions": [384, dimension],
        "seconds": round(seconds, 1),
        "recalls": {phase: _times(times) for phase, times in loop.times.items()},
        "failed": len(loop.failures),
        "failures": sorted(set(loop.failures)),
        "recalls_without_vector": loop.without_vector,
        "memories_table": sizes,
        "reembed_said": done.stdout.splitlines()[-12:],
    }


def _times(times: list[float]) -> dict[str, float]:
    found = Latency.of(times)
    return {"n": found.n, "p50_ms": found.p50, "p95_ms": found.p95, "p99_ms": found.p99}
