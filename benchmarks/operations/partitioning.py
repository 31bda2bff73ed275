"""One table of memories against partitions by hash of the namespace: recall, storing, keeping in order."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgvector.psycopg import register_vector

from benchmarks.operations.accuracy import DEPTH, exact, nearest, shared
from benchmarks.operations.live import embed, prepared
from benchmarks.operations.partitions import (
    asking_in,
    keeping_plans,
    make,
    naming_the_namespace,
    partitions,
)
from benchmarks.operations.tenants import Tenants
from benchmarks.speed import machine
from benchmarks.speed.generator import LARGE, MEDIUM, TINY
from benchmarks.speed.ingest import BATCH
from benchmarks.speed.measure import WARM_UP, Latency, alternately, cold
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.storage import (
    HNSW,
    build_memory_mb,
    connect,
    copy_memories,
    create_database,
    drop_database,
    seconds,
)
from benchmarks.speed.systems import recall
from pgrecall import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from psycopg import Connection

    from benchmarks.speed.measure import Call
    from benchmarks.speed.questions import Question

__all__ = ["NAMESPACES", "compare"]

NAMED = ", namespace named"
"""Every statement of a recall names the namespace."""
KEPT = ", plans kept"
"""And each is planned once: a setting is no constant to the planner, which looks at every partition."""
AGAIN = ", again"
"""One table once more, in turns with these."""

NAMESPACES = {"large": LARGE, "medium": MEDIUM, "small": TINY}
_INDEX = HNSW.split(".")[1]
_SQL = Path(__file__).parent / "sql"
_BY_IDS = (_SQL / "by_ids.sql").read_bytes()
_BY_IDS_IN = (_SQL / "by_ids_in_namespace.sql").read_bytes()
_PLANNING = b"EXPLAIN (SUMMARY, FORMAT JSON) " + (_SQL / "nearest.sql").read_bytes()
_GONE = 50
"""One in so many memories is deleted before the vacuum."""


def compare(
    server: str,
    corpus: Tenants,
    counts: Sequence[int],
    *,
    queries: int,
    limit: float,
    live: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Make a database for each number of partitions, and ask and write the same in all of them, in turns.

    Args:
        server: Connection string of a superuser.
        corpus: The memories.
        counts: Numbers of partitions; 0 is one table.
        queries: Questions of a kind, besides those to warm up.
        limit: For how many seconds a way of asking is asked of a database, at the most.
        live: Memories that are then stored as an application and an embedder store them.
        say: Told of progress.

    Returns:
        `server`, `namespaces` (memories of those that are asked) and `layouts` by number of partitions; for
        the last number also what asking takes where every statement of a recall names the namespace.
    """
    names = {str(count): f"bench_partitions_{count}" for count in counts}
    first = str(counts[0])
    try:
        with ExitStack() as stack:
            dsns = {layout: create_database(server, name) for layout, name in names.items()}
            made = {layout: make(dsn, corpus.dimension, int(layout)) for layout, dsn in dsns.items()}
            connections = {layout: stack.enter_context(connect(dsn)) for layout, dsn in dsns.items()}
            about = machine.server(connections[first])
            found = _fill(connections, made, corpus, say)
            sizes = {kind: _rows(connections[first], name) for kind, name in NAMESPACES.items()}
            asked = questions(corpus, NATURAL, queries + WARM_UP)
            say("asking")
            for layout, one in _ask(dsns, asked, limit).items():
                found[layout] |= one
            for layout, connection in connections.items():
                say(f"looking at {layout} partitions")
                found[layout] |= _look(connection, asked)
            last = str(counts[-1])
            say(f"asking {last} partitions, the namespace named everywhere")
            with naming_the_namespace(connections[last]):
                again = {
                    f"{first}{AGAIN}": dsns[first],
                    f"{last}{NAMED}": dsns[last],
                    f"{last}{NAMED}{KEPT}": keeping_plans(dsns[last]),
                }
                found |= _ask(again, asked, limit)
            say("storing")
            for layout, connection in connections.items():
                found[layout]["live"] = _store(dsns[layout], connection, corpus, live)
            say("vacuuming")
            for layout, connection in connections.items():
                found[layout]["vacuum"] = _vacuum(connection)
    finally:
        for name in names.values():
            drop_database(server, name)
    return {"server": about, "namespaces": sizes, "layouts": found}


def _fill(
    connections: dict[str, Connection[Any]],
    made: dict[str, dict[str, Any]],
    corpus: Tenants,
    say: Callable[[str], None],
) -> dict[str, dict[str, Any]]:
    """COPY the memories into every database, then build the index of the embeddings."""
    namespaces: dict[str, dict[str, int]] = {}
    copied = dict.fromkeys(connections, 0.0)
    say(f"making {len(corpus.namespaces):,} namespaces")
    for layout, connection in connections.items():
        register_vector(connection)
        connection.execute(f"DROP INDEX {HNSW}".encode())
        connection.execute(
            "SELECT pgrecall.create_namespace(name) FROM unnest(%s::text[]) name", (corpus.namespaces,)
        )
        namespaces[layout] = dict(connection.execute("SELECT name, id FROM pgrecall.namespaces").fetchall())
    for index in range(corpus.chunks):
        say(f"storing chunk {index + 1} of {corpus.chunks}")
        chunk = corpus.chunk(index)
        for layout, connection in connections.items():
            begun = time.perf_counter()
            copy_memories(connection, chunk, namespaces[layout])
            copied[layout] += time.perf_counter() - begun
    found = {}
    megabytes = build_memory_mb(corpus.rows, corpus.dimension, machine.memory_mb() * 2**20 // 4)
    for layout, connection in connections.items():
        say(f"building the index of {layout} partitions")
        connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (f"{megabytes}MB",))
        built = seconds(connection, made[layout]["indexes"][_INDEX])
        connection.execute("RESET maintenance_work_mem")
        connection.execute("VACUUM ANALYZE pgrecall.memories")
        connection.execute("SELECT pgrecall.analyze()")
        tables = partitions(connection)
        rows = [
            (connection.execute(f"SELECT count(*) FROM {table}".encode()).fetchone() or (0,))[0]
            for table in tables
        ]
        found[layout] = {
            "foreign_keys_lost": made[layout]["foreign_keys_lost"],
            "copy_per_second": round(corpus.rows / copied[layout], 1),
            "hnsw_build_seconds": round(built, 2),
            "relations": len(tables) * (1 + len(made[layout]["indexes"])),
            "largest_share": round(max(rows) / sum(rows), 3),
            "smallest_share": round(min(rows) / sum(rows), 4),
        }
    return found


def _rows(connection: Connection[Any], namespace: str) -> int:
    (count,) = connection.execute(
        "SELECT count(*) FROM pgrecall.memories m WHERE m.namespace_id = pgrecall.namespace_id(%s)",
        (namespace,),
    ).fetchone() or (0,)
    return int(count)


def _ask(dsns: dict[str, str], asked: Sequence[Question], limit: float) -> dict[str, dict[str, Any]]:
    """Ask every database the same, in turns; look at what a recall needs besides time."""
    calls: dict[str, Callable[[Connection[Any], Question], object]] = {}
    found: dict[str, dict[str, Any]] = {layout: {"times": {}} for layout in dsns}
    with ExitStack() as stack:
        first = stack.enter_context(connect(next(iter(dsns.values()))))
        ids = {kind: _namespace_id(first, name) for kind, name in NAMESPACES.items()}
        for layout, dsn in dsns.items():
            for kind, namespace in NAMESPACES.items():
                connection = stack.enter_context(connect(asking_in(dsn, ids[kind])))
                calls[f"{layout}: recall, {kind} namespace"] = partial(
                    _other, connection, recall(namespace=namespace)
                )
            calls |= {
                f"{layout}: {name}": call
                for name, call in _lookups(stack.enter_context(connect(dsn)), ids["large"]).items()
            }
        for name, times in alternately(first, calls, asked, limit).items():
            layout, _, what = name.partition(": ")
            found[layout]["times"][what] = asdict(Latency.of(times))
    for layout, dsn in dsns.items():
        found[layout] |= _session(asking_in(dsn, ids["large"]), asked, limit)
    return found


def _namespace_id(connection: Connection[Any], name: str) -> int:
    (found,) = connection.execute("SELECT pgrecall.namespace_id(%s)", (name,)).fetchone() or (0,)
    return int(found)


def _other(connection: Connection[Any], call: Call, _: Connection[Any], question: Question) -> object:
    return call(connection, question)


def _lookups(
    connection: Connection[Any], namespace_id: int
) -> dict[str, Callable[[Connection[Any], Question], object]]:
    """Return what looks some memories of a namespace up by their ids, with the namespace and without."""
    (ids,) = connection.execute(
        "SELECT array_agg(s.id) FROM (SELECT m.id FROM pgrecall.memories m "
        "WHERE m.namespace_id = %s ORDER BY m.id LIMIT %s) s",
        (namespace_id, DEPTH),
    ).fetchone() or ([],)
    arguments: dict[str, Any] = {"ids": ids, "namespace_id": namespace_id}

    def fetch(statement: bytes) -> Callable[[Connection[Any], Question], object]:
        return lambda *_: connection.execute(statement, arguments, prepare=True).fetchall()

    return {
        f"{DEPTH} memories by id": fetch(_BY_IDS),
        f"{DEPTH} memories by namespace and id": fetch(_BY_IDS_IN),
    }


def _session(dsn: str, asked: Sequence[Question], limit: float) -> dict[str, float]:
    """Look at what a session's first recall takes, what a later one locks, and what the session keeps."""
    call = recall()
    _, first = cold(dsn, call, asked, limit)
    with connect(dsn) as connection:
        # The plans that are kept are made by then.
        for question in asked[:WARM_UP]:
            call(connection, question)
        with connection.transaction():
            call(connection, asked[0])
            (locks,) = connection.execute(
                "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation'"
            ).fetchone() or (0,)
        (memory,) = connection.execute(
            "SELECT sum(total_bytes) FROM pg_backend_memory_contexts"
        ).fetchone() or (0,)
    return {
        "first_recall_ms": Latency.of(first).p50,
        "relation_locks": locks,
        "backend_mb": round(float(memory) / 2**20, 1),
    }


def _look(connection: Connection[Any], asked: Sequence[Question]) -> dict[str, Any]:
    """Look at planning, at the status, and at how good the index's answers are."""
    planning, quality = [], {}
    few = asked[: max(10, len(asked) // 4)]
    for kind in ("large", "medium"):
        number = _namespace_id(connection, NAMESPACES[kind])
        best = exact(connection, NAMESPACES[kind], few)
        answers = {question.text: nearest(connection, number, question) for question in few}
        quality[kind] = {f"recall@{k}": shared(answers, best, k) for k in (10, 50)}
        for question in few:
            arguments = {"namespace_id": number, "vector": question.vector, "depth": DEPTH}
            ((plan,),) = connection.execute(_PLANNING, arguments, prepare=False).fetchall()
            planning.append(float(plan[0]["Planning Time"]))
    begun = time.perf_counter()
    connection.execute("SELECT * FROM recall_status()").fetchall()
    status = time.perf_counter() - begun
    return {
        "index_quality": quality,
        "planning_ms": Latency.of(planning).p50,
        "status_ms": round(status * 1000, 1),
    }


def _store(dsn: str, connection: Connection[Any], corpus: Tenants, live: int) -> dict[str, float]:
    """Store memories as an application does, into all namespaces, and embed them as an embedder does."""
    more = Tenants(live, corpus.dimension, len(corpus.namespaces), corpus.seed + 1)
    memories, vectors = prepared(more)
    with Client(dsn) as client:
        begun = time.perf_counter()
        client.remember_many(memories, batch_size=BATCH)
        remembered = time.perf_counter() - begun
    claiming, completing = embed(connection, vectors)
    return {
        "remember_many_per_second": round(live / remembered, 1),
        "claim_p50_ms": Latency.of(claiming).p50,
        "complete_p50_ms": Latency.of(completing).p50,
    }


def _vacuum(connection: Connection[Any]) -> dict[str, float]:
    """Delete some memories, then vacuum table by table: together, and the one that takes longest."""
    connection.execute(f"DELETE FROM pgrecall.memories m WHERE m.id % {_GONE} = 0".encode())
    times = [seconds(connection, f"VACUUM {table}") for table in partitions(connection)]
    return {"all_seconds": round(sum(times), 2), "longest_seconds": round(max(times), 2)}
