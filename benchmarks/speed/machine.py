"""What a speed depends on besides the code: machine, server, settings."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import Connection

__all__ = ["cores", "machine", "memory_mb", "server", "settings"]

_SERVER_SETTINGS = (
    "shared_buffers", "effective_cache_size", "work_mem", "random_page_cost", "jit", "max_wal_size", "fsync",
    "synchronous_commit", "max_parallel_workers_per_gather", "hnsw.ef_search", "hnsw.iterative_scan",
)  # fmt: skip


def machine() -> dict[str, Any]:
    """Return the machine of the client, which is the server's too unless `--dsn` says otherwise."""
    return {
        "cpu": _cpu(),
        "cores": cores(),
        "memory_mb": memory_mb(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load_before": round(os.getloadavg()[0], 2),
    }


def cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0))


def memory_mb() -> int:
    """Return the machine's memory."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2**20


def server(connection: Connection[Any]) -> dict[str, Any]:
    """Return the versions of PostgreSQL and pgvector, and the server settings that matter here."""
    connection.execute("SELECT '[1]'::halfvec")  # makes pgvector's settings known
    row = connection.execute("SELECT server_version, pgvector_version FROM recall_status()").fetchone()
    assert row is not None  # noqa: S101
    values = connection.execute(
        "SELECT name, current_setting(name) FROM unnest(%s::text[]) name", (list(_SERVER_SETTINGS),)
    ).fetchall()
    return {"postgresql": row[0], "pgvector": row[1], "settings": dict(values)}


def settings(connection: Connection[Any]) -> dict[str, str]:
    """Return pgrecall's settings in force."""
    return dict(
        connection.execute("SELECT name, value FROM pgrecall.settings_in_force ORDER BY name").fetchall()
    )


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
