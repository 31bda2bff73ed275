"""The measurements: routing, parallel clients, a move, a recall over all namespaces."""

from __future__ import annotations

import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import quantiles
from typing import TYPE_CHECKING, Any

import psycopg

from benchmarks.speed.generator import Corpus
from benchmarks.speed.questions import NATURAL, Question, questions, vector_text
from pgrecall import Client
from pgrecall.contrib.sharding import move, placements

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from pgrecall.server import EmbeddedServer

__all__ = ["Options", "run"]

_RECALL = "SELECT id FROM recall(%s, %s, 10, %s)"
_OTHERS = """
    SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
"""
_LOOKUP = "SELECT pgrecall.namespace_id(%s)"


@dataclass(frozen=True, slots=True)
class Options:
    """What is asked for: memories of each namespace, questions, the seed of both."""

    memories: int
    queries: int
    seed: int


def run(
    router: str, servers: list[EmbeddedServer], options: Options, say: Callable[[str], None]
) -> dict[str, Any]:
    """Fill a namespace on each shard, and measure."""
    corpus = Corpus(options.memories, 384, options.seed)
    names = _names(router, len(servers))
    for shard, name in names.items():
        say(f"storing {options.memories} memories on shard {shard}")
        _fill(router, servers[shard], name, corpus)
    asked = questions(corpus, NATURAL, options.queries)
    say("routing")
    routing = _routing(router, servers[0].dsn(), names[0], asked)
    processor = _processor_time(router, servers[0].dsn(), names[0], asked)
    say("parallel clients")
    parallel = _parallel(router, names, asked)
    say("a recall over all namespaces")
    with psycopg.connect(router, autocommit=True) as connection:
        everywhere = [
            _took(connection, "SELECT id FROM recall_all(%s, %s, 10)", one.text, one.vector) for one in asked
        ]
    say("a move, with a writer")
    return {
        "memories": options.memories,
        "shards": len(servers),
        "routing": routing,
        "processor_ms": processor,
        "load_average": os.getloadavg()[0],
        "parallel": parallel,
        "recall_all": _summary(everywhere),
        "move": _moved(router, servers, names[0]),
    }


def _names(router: str, shards: int) -> dict[int, str]:
    """Return a name of a namespace for each shard."""
    found: dict[int, str] = {}
    with psycopg.connect(router, autocommit=True) as connection:
        number = 0
        while len(found) < shards:
            name = f"namespace {number}"
            row = connection.execute("SELECT pgrecall_router.hashed_shard(%s)", [name]).fetchone()
            assert row is not None  # noqa: S101
            found.setdefault(row[0], name)
            number += 1
    return found


def _fill(router: str, server: EmbeddedServer, name: str, corpus: Corpus) -> None:
    """Store a corpus as one namespace, with its embeddings and postings."""
    with Client(router, namespace=name) as client:
        for index in range(corpus.chunks):
            chunk = corpus.chunk(index)
            ids = client.remember_many(
                ({"content": f"{memory.content} ({name})"} for memory in chunk.memories),
                create_namespace=True,
            )
            vectors = [vector_text(chunk.vectors[memory.vector]) for memory in chunk.memories]
            with psycopg.connect(server.dsn(), autocommit=True) as connection:
                connection.cursor().executemany(
                    "UPDATE pgrecall.memories SET embedding = %s WHERE id = %s",
                    list(zip(vectors, ids, strict=True)),
                )
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CALL pgrecall.rebuild_all_postings(%s)", [name])
        connection.execute("VACUUM ANALYZE")


def _routing(router: str, shard: str, name: str, asked: list[Question]) -> dict[str, Any]:
    """Time the same calls on the shard and through the router, in turns."""
    times: dict[str, dict[str, list[float]]] = {
        kind: {"shard": [], "router": []} for kind in ("recall", "lookup")
    }
    with (
        psycopg.connect(shard, autocommit=True) as direct,
        psycopg.connect(router, autocommit=True) as routed,
    ):
        for turn in range(2):  # the first warms up
            for one in asked:
                for where, connection in (("shard", direct), ("router", routed)):
                    took = _took(connection, _RECALL, one.text, one.vector, name)
                    looked = _took(connection, _LOOKUP, name)
                    if turn:
                        times["recall"][where].append(took)
                        times["lookup"][where].append(looked)
    result: dict[str, Any] = {}
    for kind, found in times.items():
        added = [routed - direct for direct, routed in zip(found["shard"], found["router"], strict=True)]
        result[kind] = {where: _summary(all_) for where, all_ in found.items()} | {"added": _summary(added)}
    return result


def _processor_time(router: str, shard: str, name: str, asked: list[Question]) -> dict[str, float]:
    """Return the milliseconds of processor time that a recall takes, by backend."""
    with (
        psycopg.connect(shard, autocommit=True) as direct,
        psycopg.connect(router, autocommit=True) as routed,
    ):
        calls = {"shard": direct, "router": routed}
        for connection in calls.values():
            connection.execute(_RECALL, [asked[0].text, asked[0].vector, name])
        behind = direct.execute(_OTHERS).fetchall()
        used: dict[str, float] = {}
        for where, connection in calls.items():
            pids = {where: [connection.info.backend_pid]}
            if where == "router":
                pids["shard behind router"] = [pid for (pid,) in behind]
            before = {part: sum(map(_used, all_)) for part, all_ in pids.items()}
            for one in asked:
                connection.execute(_RECALL, [one.text, one.vector, name]).fetchall()
            for part, all_ in pids.items():
                used[part] = round((sum(map(_used, all_)) - before[part]) / len(asked), 2)
    used["added"] = round(used["router"] + used["shard behind router"] - used["shard"], 2)
    return used


def _used(pid: int) -> float:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e6


def _parallel(router: str, names: dict[int, str], asked: list[Question]) -> dict[str, Any]:
    """Let one client, then one for each shard, recall for as many questions; count what is another's."""
    result: dict[str, Any] = {}
    for count in (1, len(names)):
        crossed: list[int] = []
        begin = threading.Barrier(count)

        def work(
            shard: int, name: str, crossed: list[int] = crossed, begin: threading.Barrier = begin
        ) -> None:
            with psycopg.connect(router, autocommit=True) as connection:
                connection.execute(_RECALL, [asked[0].text, asked[0].vector, name])
                begin.wait()
                for one in asked:
                    found = connection.execute(_RECALL, [one.text, one.vector, name]).fetchall()
                    crossed.extend(id for (id,) in found if (id - 1) >> 40 != shard)

        threads = [threading.Thread(target=work, args=one) for one in list(names.items())[:count]]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
        result[f"clients={count}"] = {
            "recalls": count * len(asked),
            "per_second": round(count * len(asked) / seconds, 1),
            "of_another_namespace": len(crossed),
        }
    return result


def _moved(router: str, servers: list[EmbeddedServer], name: str) -> dict[str, Any]:
    """Move a namespace while a client writes to it."""
    [home] = [one.shard for one in placements(router) if one.namespace == name]
    stop = threading.Event()
    writes: list[float] = []
    stored: list[int] = []

    def write() -> None:
        with Client(router, namespace=name) as client:
            while not stop.is_set():
                began = time.perf_counter()
                stored.append(client.remember(f"note {len(stored)} of a writer"))
                writes.append(1000 * (time.perf_counter() - began))

    writer = threading.Thread(target=write)
    writer.start()
    began = time.perf_counter()
    try:
        report = move(router, name, (home + 1) % len(servers))
        seconds = time.perf_counter() - began
    finally:
        stop.set()
        writer.join()
    assert report is not None  # noqa: S101
    with psycopg.connect(servers[report.target].dsn(), autocommit=True) as connection:
        found = connection.execute(
            "SELECT id FROM pgrecall.memories WHERE id = ANY (%s)", [stored]
        ).fetchall()
    return {
        "seconds": round(seconds, 2),
        "blocked_seconds": round(report.blocked, 2),
        "rows": sum(report.rows.values()),
        "memories": report.rows["memories"],
        "writes_meanwhile": len(writes),
        "longest_write_ms": round(max(writes), 1),
        "writes_lost": len(stored) - len(found),
    }


def _took(connection: Connection[Any], query: str, *values: object) -> float:
    began = time.perf_counter()
    connection.execute(query.encode(), values).fetchall()
    return 1000 * (time.perf_counter() - began)


def _summary(milliseconds: list[float]) -> dict[str, float]:
    cuts = quantiles(milliseconds, n=100)
    return {"p50_ms": round(cuts[49], 2), "p95_ms": round(cuts[94], 2)}
