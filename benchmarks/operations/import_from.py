"""How long moving in takes: a SQLite file of the older service, whole, once more, and after a kill -9."""

from __future__ import annotations

import json
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import psycopg

from benchmarks.scratch import scratch_database
from benchmarks.speed import machine
from benchmarks.speed.console import table
from benchmarks.speed.generator import Corpus
from benchmarks.speed.measure import WARM_UP, Latency
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.shared import add_run_options, circumstances, positive, say, write
from pgrecall import Client
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from psycopg import Connection

__all__ = ["add_to"]

FORMAT = 1
"""Raised when a results file changes so that older ones cannot be read."""

_DIMENSION = 16
"""Dimension of the vectors that the corpus draws with its texts; none is stored."""

_SENSITIVE_EVERY = 50
_DELETED_EVERY = 100
_TABLE = """
    CREATE TABLE memories (
        id INTEGER PRIMARY KEY, content TEXT NOT NULL, category TEXT, tags TEXT, expanded_keywords TEXT,
        importance REAL, is_sensitive INTEGER NOT NULL DEFAULT 0, deleted_at TEXT, created_at TEXT,
        updated_at TEXT
    )
"""
_STATE = """
    SELECT count(*), count(DISTINCT m.external_id), count(*) FILTER (WHERE m.is_sensitive),
           count(*) FILTER (WHERE m.deleted_at IS NOT NULL)
    FROM pgrecall.memories m
"""


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run took, in seconds: by the clock, and of processor time; None for a server elsewhere."""

    wall: float
    client_cpu: float
    server_cpu: float | None


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser("import-from", help="how long bringing memories in takes")
    parser.set_defaults(command=_import)
    parser.add_argument(
        "--rows", type=positive, default=50_000, metavar="N", help="memories of the older service"
    )
    parser.add_argument("--queries", type=positive, default=200, metavar="N", help="questions at the end")
    add_run_options(parser)


def _import(options: argparse.Namespace) -> int:
    """Run the benchmark: 0, or 1 if a row was lost or stored twice."""
    corpus = Corpus(options.rows, _DIMENSION, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "memories.db"
        say(f"writing {options.rows:,} rows")
        expected = _write_source(file, corpus)
        result: dict[str, Any] = {
            **circumstances(
                "import-from",
                FORMAT,
                options.seed,
                "benchmarks/operations/import_from.py",
                "benchmarks/speed",
            ),
            "rows": options.rows,
            "source_mb": round(file.stat().st_size / 2**20, 1),
        }
        with _database(options) as (dsn, watcher):
            result["server"] = machine.server(watcher)
            say("importing")
            result["import"] = asdict(_timed(watcher, dsn, file, "--no-verify"))
            result["recall"] = _recalls(watcher, dsn, corpus, options.queries)
            say("once more, and comparing")
            result["again"] = asdict(_timed(watcher, dsn, file))
            whole = _state(watcher)
            # What the import has left in the postings costs recall nothing, if this is no quicker.
            watcher.execute("CALL pgrecall.rebuild_all_postings()")
            result["recall_refreshed"] = _recalls(watcher, dsn, corpus, options.queries)
        with _database(options) as (dsn, watcher):
            say("importing, and kill -9 half-way")
            result["killed_at"] = _killed(watcher, dsn, file, options.rows // 2)
            result["resumed"] = asdict(_timed(watcher, dsn, file))
            resumed = _state(watcher)
    result["state"] = dict(zip(("memories", "external_ids", "sensitive", "forgotten"), whole, strict=True))
    result["is_sound"] = whole == resumed == expected
    print(_render(result))
    write(options.json, result)
    return 0 if result["is_sound"] else 1


@contextmanager
def _database(options: argparse.Namespace) -> Iterator[tuple[str, Connection[Any]]]:
    with scratch_database(options.dsn, options.cache, keep=False, say=say) as dsn:
        migrate(dsn)
        with psycopg.connect(dsn, autocommit=True) as watcher:
            yield dsn, watcher


def _write_source(file: Path, corpus: Corpus) -> tuple[int, int, int, int]:
    """Write the older table; return how many memories, ids, sensitive and forgotten ones it makes."""
    sensitive = deleted = 0
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(_TABLE)
        for index in range(corpus.chunks):
            for memory in corpus.chunk(index).memories:
                number = memory.number + 1
                is_sensitive = number % _SENSITIVE_EVERY == 0
                is_deleted = number % _DELETED_EVERY == 7
                sensitive += is_sensitive
                deleted += is_deleted
                at = memory.occurred_at.isoformat(sep=" ")
                connection.execute(
                    "INSERT INTO memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (
                        number,
                        memory.content,
                        memory.category,
                        json.dumps(memory.tags),
                        ", ".join(memory.named),
                        memory.importance,
                        int(is_sensitive),
                        at if is_deleted else None,
                        at,
                        at,
                    ),
                )
        connection.commit()
    return corpus.rows, corpus.rows, sensitive, deleted


def _command(dsn: str, file: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "pgrecall", "import", "sqlite", str(file), "--dsn", dsn, *options]


def _timed(watcher: Connection[Any], dsn: str, file: Path, *options: str) -> Spent:
    server, client, began = _server_cpu(watcher), _children_cpu(), time.monotonic()
    subprocess.run(_command(dsn, file, *options), check=True, stdout=sys.stderr)
    wall = time.monotonic() - began
    after = _server_cpu(watcher)
    return Spent(
        round(wall, 1),
        round(_children_cpu() - client, 1),
        None if server is None or after is None else round(after - server, 1),
    )


def _children_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _server_cpu(watcher: Connection[Any]) -> float | None:
    """Return the processor time of a server on this machine, with its ended and its running processes."""
    try:
        backend = psutil.Process(watcher.info.backend_pid)
    except psutil.NoSuchProcess:
        return None
    parent = backend.parent()
    if parent is None or "postgres" not in parent.name():
        return None
    own = parent.cpu_times()
    total = own.user + own.system + own.children_user + own.children_system
    for child in parent.children():
        try:
            spent = child.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += spent.user + spent.system
    return float(total)


def _killed(watcher: Connection[Any], dsn: str, file: Path, rows: int) -> int:
    """Kill a run once so many rows are stored; return how many were."""
    with subprocess.Popen(_command(dsn, file), stdout=sys.stderr) as process:
        while _state(watcher)[0] < rows:
            if process.poll() is not None:
                raise RuntimeError("it ended before it could be killed")
            time.sleep(0.1)
        process.send_signal(signal.SIGKILL)
    return _state(watcher)[0]


def _state(watcher: Connection[Any]) -> tuple[int, ...]:
    row = watcher.execute(_STATE).fetchone()
    return () if row is None else tuple(row)


def _recalls(watcher: Connection[Any], dsn: str, corpus: Corpus, count: int) -> dict[str, Any]:
    """Ask by words alone: milliseconds by the clock, and of the server's processor time for one question."""
    asked = [question.text for question in questions(corpus, NATURAL, count + WARM_UP)]
    times = []
    with Client(dsn, pool_max=1) as client:
        for text in asked[:WARM_UP]:
            client.recall(text, embed=False)
        before = _server_cpu(watcher)
        for text in asked[WARM_UP:]:
            began = time.perf_counter()
            client.recall(text, embed=False)
            times.append((time.perf_counter() - began) * 1000)
        after = _server_cpu(watcher)
    cpu = None if before is None or after is None else round((after - before) / count * 1000, 2)
    return {"wall_ms": asdict(Latency.of(times)), "server_cpu_ms": cpu}


def _render(result: dict[str, Any]) -> str:
    rows = [
        (
            name,
            f"{result[name]['wall']:.1f}",
            f"{result[name]['client_cpu']:.1f}",
            "" if result[name]["server_cpu"] is None else f"{result[name]['server_cpu']:.1f}",
        )
        for name in ("import", "again", "resumed")
    ]
    recalled, refreshed = result["recall"], result["recall_refreshed"]
    return "\n".join(
        (
            table(("run", "wall s", "client CPU s", "server CPU s"), rows),
            f"killed with {result['killed_at']:,} of {result['rows']:,} rows stored",
            f"recall by words right after: p50 {recalled['wall_ms']['p50']:.1f} ms, "
            f"p95 {recalled['wall_ms']['p95']:.1f} ms, server CPU {recalled['server_cpu_ms']} ms a question; "
            f"with rebuilt postings {refreshed['server_cpu_ms']} ms",
            "nothing lost, nothing twice" if result["is_sound"] else "ROWS LOST OR TWICE",
        )
    )
