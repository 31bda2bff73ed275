"""How long a single memory waits to be found, what an idle daemon costs, and whether its memory grows."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from benchmarks.operations.daemon.processes import (
    connect,
    cpu_seconds,
    fill,
    memory_mb,
    one,
    sentences,
    wait_for,
)
from benchmarks.speed.measure import Latency

if TYPE_CHECKING:
    import psutil

__all__ = ["growth", "idle", "latency", "transactions"]

_SETTLED_SECONDS = 20.0
_COMMITS = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"


def latency(dsn: str, count: int) -> dict[str, Any]:
    """Measure from the commit of one memory to its embedding, with a daemon that has nothing else to do.

    Args:
        dsn: The database; a daemon works on it.
        count: How many memories, one after another.
    """
    times = []
    with connect(dsn) as connection:
        for text in sentences(count, seed=1):
            number = one(connection, "SELECT remember(%s)", text)
            started = time.perf_counter()
            pending = "SELECT embedding IS NULL FROM pgrecall.memories WHERE id = %s"
            wait_for(lambda: not one(connection, pending, number), 30, pause=0.002)  # noqa: B023
            times.append(1000 * (time.perf_counter() - started))
    found = Latency.of(times)
    return {"memories": count, "p50_ms": found.p50, "p95_ms": found.p95}


def transactions(dsn: str, seconds: float) -> float:
    """Return the transactions a second in a database, the server's own included, such as autovacuum's.

    Args:
        dsn: The database.
        seconds: For how long to watch.
    """
    with connect(dsn) as connection:
        before = one(connection, _COMMITS)
        time.sleep(seconds)
        return float(one(connection, _COMMITS) - before - 1) / seconds


def idle(dsn: str, process: psutil.Process, seconds: float, background: float) -> dict[str, Any]:
    """Measure what a daemon does that has nothing to do.

    Args:
        dsn: The database.
        process: The daemon.
        seconds: For how long to watch.
        background: Transactions a second without a daemon.
    """
    time.sleep(_SETTLED_SECONDS)
    cpu = cpu_seconds(process)
    rate = transactions(dsn, seconds)
    share = (cpu_seconds(process) - cpu) / seconds
    return {
        "seconds": seconds,
        "queries_per_second": round(rate - background, 2),
        "background_per_second": round(background, 2),
        "cpu_share_of_a_core": round(share, 4),
    }


def growth(dsn: str, process: psutil.Process, rows: int) -> dict[str, Any]:
    """Measure the daemon's memory while it embeds many rows.

    Args:
        dsn: The database.
        process: The daemon.
        rows: How many.
    """
    fill(dsn, sentences(rows, seed=2))
    marks = []
    with connect(dsn) as connection:
        pending = one(connection, "SELECT pending FROM recall_status()")
        started = time.monotonic()
        for tenth in range(1, 11):
            wait_for(
                lambda: one(connection, "SELECT pending FROM recall_status()") <= pending * (10 - tenth) / 10,  # noqa: B023
                3600,
                pause=1.0,
            )
            marks.append(memory_mb(process))
        seconds = time.monotonic() - started
    return {"rows": rows, "rows_per_second": round(rows / seconds, 1), "rss_mb_at_each_tenth": marks}
