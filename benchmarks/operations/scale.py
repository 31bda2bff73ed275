"""Millions of memories on one machine: loading them, asking beside all that an operator does, cold and warm.

A run takes hours. What it has done stands in the database, so an interrupted one goes on where it ended.
The extracted mentions of the other benchmarks are left out: tags alone make 1.9 mentions a memory here.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import psycopg
from pgvector.psycopg import register_vector
from psycopg.conninfo import make_conninfo

from benchmarks.operations.live import embed, prepared
from benchmarks.speed import machine
from benchmarks.speed.generator import MEDIUM, TINY, Corpus
from benchmarks.speed.ingest import BATCH
from benchmarks.speed.measure import WARM_UP, Latency, alternately
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.storage import (
    HNSW,
    MODEL,
    build_memory_mb,
    connect,
    create_database,
    drop_database,
    drop_hnsw,
    seconds,
    sizes,
    sync_memories,
)
from benchmarks.speed.systems import FILTERS, recall
from pgrecall import Client
from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from pgrecall.server.binaries import binaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from psycopg import Connection

    from benchmarks.speed.measure import Call

__all__ = ["STEPS", "Scale", "measure_scale"]

TENANT = "tenant"
"""A namespace of `TENANT_ROWS` memories, stored last, among all the others."""
TENANT_ROWS = 10_000
_UPDATES = 50_000
STEPS = (
    "loaded",
    "build",
    "vacuum",
    "flush",
    "tenant",
    "cold",
    "warm",
    "updates",
    "dump",
    "restore",
    "rebuild",
)
"""What is measured, in this order: a method of `Scale` each."""
_STEPS = """
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE IF NOT EXISTS bench.chunks (
    chunk integer PRIMARY KEY, seconds real NOT NULL, load_average real NOT NULL
);
CREATE TABLE IF NOT EXISTS bench.steps (name text PRIMARY KEY, found jsonb NOT NULL);
"""
_CACHES = Path("/proc/sys/vm/drop_caches")


class Scale:
    """One run over a server of its own, whose folder stays.

    Args:
        folder: Where the server's data are.
        corpus: What goes in.
        queries: Questions a way of asking is measured with.
        settings: Of the server.
        loaders: Sessions that load.
        say: Told of progress.
    """

    def __init__(
        self,
        folder: Path,
        corpus: Corpus,
        queries: int,
        settings: dict[str, str],
        loaders: int,
        say: Callable[[str], None],
    ) -> None:
        self.server = EmbeddedServer(folder, settings=settings)
        self.dumped = folder / "dump"
        self.corpus = corpus
        self.loaders = loaders
        self.say = say
        self.asked = questions(corpus, NATURAL, queries + WARM_UP)
        self.dsn = make_conninfo(self.server.up(), dbname=f"bench_scale_{corpus.rows}")

    def step(self, name: str, take: Callable[[Connection[Any]], dict[str, Any]]) -> None:
        """Take a step, unless an earlier run has, and write down what was found."""
        with connect(self.dsn) as connection:
            if connection.execute("SELECT FROM bench.steps WHERE name = %s", (name,)).fetchone() is not None:
                return
            self.say(f"  {name}")
            before = round(os.getloadavg()[0], 2)
            found = take(connection)
        with connect(self.dsn) as connection:  # a step may restart the server
            found["load_before"] = before
            connection.execute("INSERT INTO bench.steps VALUES (%s, %s)", (name, json.dumps(found)))

    def create(self) -> None:
        """Make the database, or bring it up to the present code."""
        with connect(self.server.dsn()) as connection:
            name = psycopg.conninfo.conninfo_to_dict(self.dsn)["dbname"]
            there = connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone()
        if there is None:
            create_database(self.server.dsn(), str(name))
        begun = time.perf_counter()
        migrate(self.dsn, dim=self.corpus.dimension, model=MODEL)
        took = time.perf_counter() - begun
        with connect(self.dsn) as connection:
            connection.execute(_STEPS.encode())
            for namespace in self.corpus.namespaces if there is None else ():
                connection.execute("SELECT pgrecall.create_namespace(%s)", (namespace,))
        self.step("hnsw", lambda connection: {"definition": drop_hnsw(connection)})
        if there is not None:
            self.step("upgrade", lambda _: {"seconds": round(took, 2)})

    def load(self) -> None:
        """COPY what is not there yet, a chunk a transaction, with every trigger and every index but HNSW."""
        with connect(self.dsn) as connection:
            there = {chunk for (chunk,) in connection.execute("SELECT chunk FROM bench.chunks")}
        missing = sorted(set(range(self.corpus.chunks)) - there)
        with ThreadPoolExecutor(self.loaders) as pool:
            list(pool.map(self._load, [missing[number :: self.loaders] for number in range(self.loaders)]))

    def _load(self, chunks: Sequence[int]) -> None:
        """Load some chunks; each one's time is shared among the sessions that load."""
        with connect(self.dsn) as connection:
            register_vector(connection)
            namespaces = dict(connection.execute("SELECT name, id FROM pgrecall.namespaces").fetchall())
            for index in chunks:
                chunk = self.corpus.chunk(index)  # its making is not counted
                with connection.transaction():
                    begun = time.perf_counter()
                    sync_memories(connection, chunk, namespaces)
                    took = (time.perf_counter() - begun) / self.loaders
                    connection.execute(
                        "INSERT INTO bench.chunks VALUES (%s, %s, %s)",
                        (index, took, os.getloadavg()[0]),
                    )
                if (index + 1) % 50 == 0:
                    self.say(
                        f"  {(index + 1) * len(chunk.memories):,} stored, {took:.1f} s for the last 10,000"
                    )

    def loaded(self, connection: Connection[Any]) -> dict[str, Any]:
        """Return rows a second, of all and of each tenth."""
        times = [took for (took,) in connection.execute("SELECT seconds FROM bench.chunks ORDER BY chunk")]
        parts = [times[len(times) * n // 10 : len(times) * (n + 1) // 10] for n in range(10)]
        rate = self.corpus.rows / len(times)
        return {
            "sessions": self.loaders,
            "seconds": round(sum(times), 1),
            "rows_per_second": round(self.corpus.rows / sum(times), 1),
            "rows_per_second_by_tenth": [round(rate * len(part) / sum(part), 1) for part in parts if part],
        }

    def build(self, connection: Connection[Any]) -> dict[str, Any]:
        """Build the HNSW index, in as much memory as it needs if the machine has twice as much."""
        connection.execute(
            "SELECT set_config('maintenance_work_mem', %s, false)", (f"{self._build_memory()}MB",)
        )
        row = connection.execute(
            "SELECT found ->> 'definition' FROM bench.steps WHERE name = 'hnsw'"
        ).fetchone()
        connection.execute(f"DROP INDEX IF EXISTS {HNSW}".encode())
        return {"seconds": round(seconds(connection, str((row or ("",))[0])), 1)}

    def _build_memory(self) -> int:
        return build_memory_mb(self.corpus.rows, self.corpus.dimension, machine.memory_mb() * 2**20 // 2)

    def vacuum(self, connection: Connection[Any]) -> dict[str, Any]:
        """VACUUM ANALYZE after the load, and see what each table and index takes."""
        took = seconds(connection, "VACUUM ANALYZE")
        (size,) = connection.execute("SELECT pg_database_size(current_database())").fetchone() or (0,)
        return {
            "seconds": round(took, 1),
            "database_bytes": size,
            "bytes_per_memory": sizes(connection),
        }

    def flush(self, connection: Connection[Any]) -> dict[str, Any]:
        """Fold into the postings what sessions that load at once leave, as an embedder does by itself."""
        folded = 0
        begun = time.perf_counter()
        while (row := connection.execute("SELECT pgrecall.flush_pending_postings(1000)").fetchone()) != (0,):
            folded += row[0] if row else 0
        return {"memories": folded, "seconds": round(time.perf_counter() - begun, 1)}

    def tenant(self, connection: Connection[Any]) -> dict[str, Any]:
        """Store one more namespace as an application and an embedder do, into the full tables and indexes."""
        memories, vectors = prepared(Corpus(TENANT_ROWS, self.corpus.dimension, self.corpus.seed + 1), TENANT)
        with self.beside() as times, Client(self.dsn) as client:
            begun = time.perf_counter()
            client.remember_many(memories, batch_size=BATCH, create_namespace=True)
            stored = time.perf_counter()
            embed(connection, vectors)
            embedded = time.perf_counter()
        return {
            "remember_many_per_second": round(len(memories) / (stored - begun), 1),
            "embeddings_written_per_second": round(len(memories) / (embedded - stored), 1),
            "recall_beside": _latency(times),
        }

    def cold(self, _: Connection[Any]) -> dict[str, Any]:
        """Ask after a restart, the system's caches dropped where that is allowed."""
        self.server.down()
        try:
            _CACHES.write_text("3")
            dropped = True
        except OSError:
            dropped = False
        self.server.up()
        times = []
        call = recall()
        with connect(self.dsn) as connection:
            for question in self.asked[:50]:
                begun = time.perf_counter()
                call(connection, question)
                times.append((time.perf_counter() - begun) * 1000)
        return {
            "caches_dropped": dropped,
            "first_ms": round(times[0], 1),
            "first_10": _latency(times[:10]),
            "first_50": _latency(times),
        }

    def warm(self, connection: Connection[Any]) -> dict[str, Any]:
        """Ask in namespaces of every size in turns, then under filters: each reads what it leaves."""
        by_size: dict[str, Call] = {
            "large": recall(),
            "medium": recall(namespace=MEDIUM),
            "tenant": recall(namespace=TENANT),
            "tiny": recall(namespace=TINY),
        }
        filters: dict[str, Call] = {
            name.removeprefix("recall:"): recall(**options)
            for name, options in FILTERS.items()
            if name.startswith(("recall:tag", "recall:time"))
        }
        times = alternately(connection, by_size, self.asked, 60)
        times |= alternately(connection, filters, self.asked, 10)
        return {"recall": {name: _latency(one) for name, one in times.items()}}

    def updates(self, connection: Connection[Any]) -> dict[str, Any]:
        """Change the importance of some memories, then VACUUM; recall is asked beside both."""
        with self.beside() as changing:
            begun = time.perf_counter()
            (changed,) = connection.execute(
                "SELECT count(update_memory(m.id, importance => 0.4)) FROM "
                "(SELECT id FROM pgrecall.memories TABLESAMPLE SYSTEM (5) LIMIT %s) m",
                (_UPDATES,),
            ).fetchone() or (0,)
            changing_took = time.perf_counter() - begun
        with self.beside() as cleaning:
            took = seconds(connection, "VACUUM")
        return {
            "updates": changed,
            "updates_per_second": round(changed / changing_took, 1),
            "recall_beside_updates": _latency(changing),
            "vacuum_seconds": round(took, 1),
            "recall_beside_vacuum": _latency(cleaning),
        }

    def dump(self, _: Connection[Any]) -> dict[str, Any]:
        """Write a dump beside the server; recall is asked beside it."""
        begun = time.perf_counter()
        with self.beside() as times:
            self._run("pg_dump", "--format=custom", "--compress=1", "--file", self.dumped, self.dsn)
        return {
            "seconds": round(time.perf_counter() - begun, 1),
            "bytes": self.dumped.stat().st_size,
            "recall_beside": _latency(times),
        }

    def restore(self, connection: Connection[Any]) -> dict[str, Any]:
        """Restore the dump into a new database, in the memory of `build`, and drop both."""
        name = "bench_scale_restored"
        dsn = create_database(self.server.dsn(), name)
        begun = time.perf_counter()
        self._run(
            "pg_restore",
            "--no-owner",
            "--exit-on-error",
            "--jobs=2",
            "--dbname",
            make_conninfo(dsn, options=f"-c maintenance_work_mem={self._build_memory()}MB"),
            self.dumped,
        )
        restored = time.perf_counter()
        migrate(dsn, dim=self.corpus.dimension, model=MODEL)
        took = time.perf_counter() - begun
        with connect(dsn) as other:
            counts = [
                one.execute("SELECT count(*) FROM pgrecall.memories").fetchone()
                for one in (connection, other)
            ]
        if counts[0] != counts[1]:
            raise RuntimeError(f"of {counts[0]} memories {counts[1]} were restored")
        drop_database(self.server.dsn(), name)
        self.dumped.unlink()
        return {"seconds": round(took, 1), "migrate_seconds": round(took - (restored - begun), 1)}

    def _run(self, program: str, *arguments: object) -> None:
        """Run one of PostgreSQL's client programs."""
        subprocess.run([str(binaries() / program), *map(str, arguments)], check=True)

    def rebuild(self, connection: Connection[Any]) -> dict[str, Any]:
        """Make all postings anew, a namespace a transaction; recall is asked beside it."""
        with self.beside() as times:
            took = seconds(connection, "CALL pgrecall.rebuild_all_postings()")
        return {"seconds": round(took, 1), "recall_beside": _latency(times)}

    @contextmanager
    def beside(self) -> Iterator[list[float]]:
        """Ask the large namespace all the time, on a connection of its own; the times, when it is over."""
        times: list[float] = []
        over = Event()

        def ask() -> None:
            call = recall()
            with connect(self.dsn) as connection:
                call(connection, self.asked[0])
                while not over.is_set():
                    for question in self.asked:
                        begun = time.perf_counter()
                        call(connection, question)
                        times.append((time.perf_counter() - begun) * 1000)
                        if over.wait(0.05):
                            return

        asking = Thread(target=ask)
        asking.start()
        try:
            yield times
        finally:
            over.set()
            asking.join()


def measure_scale(run: Scale, until: str) -> dict[str, Any]:
    """Take all steps that are not taken yet.

    Args:
        run: What to measure.
        until: The last step to take, one of `STEPS`.

    Returns:
        `server`, `settings`, `rows`, `dim` and `steps`: what each step found, by its name.
    """
    run.create()
    run.load()
    for name in STEPS[: STEPS.index(until) + 1]:
        run.step(name, getattr(run, name))
    with connect(run.dsn) as connection:
        return {
            "server": machine.server(connection),
            "settings": machine.settings(connection),
            "rows": run.corpus.rows,
            "dim": run.corpus.dimension,
            "steps": dict(connection.execute("SELECT name, found FROM bench.steps").fetchall()),
        }


def _latency(times: Sequence[float]) -> dict[str, float]:
    found = Latency.of(times)
    return {"p50": found.p50, "p95": found.p95, "n": found.n}
