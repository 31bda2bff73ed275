"""How large a memory is, and what it costs to store: bytes, time and WAL, by number and dimension."""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.operations.live import embed, prepared
from benchmarks.speed import machine
from benchmarks.speed.generator import LARGE, Corpus
from benchmarks.speed.ingest import BATCH
from benchmarks.speed.storage import HNSW, connect, drop_database, open_database
from pgrecall import Client

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from psycopg import Connection

    from benchmarks.speed.storage import Loading

__all__ = ["KINDS", "SIZES", "Cost", "measure_sizes"]

KINDS = ("heap", "toast", "hnsw", "other indexes", "postings", "concepts", "rest")
"""What a memory takes room in: the table, its indexes, and what is derived from it."""
SIZES = (Path(__file__).parent / "sql" / "sizes.sql").read_bytes()


@dataclass(frozen=True, slots=True)
class Cost:
    """What something cost for a number of memories.

    Attributes:
        memories: How many.
        ms_per_memory: Time as the client sees it.
        wal_per_memory: Bytes of WAL; the first change of a page after a checkpoint logs all of it.
    """

    memories: int
    ms_per_memory: float
    wal_per_memory: float


def measure_sizes(
    server: str,
    rows: Sequence[int],
    dimensions: Sequence[int],
    *,
    live: int,
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Measure every number of memories at every dimension, each in a database that is dropped afterwards.

    Args:
        server: Connection string of a role that may create databases.
        rows: Numbers of memories.
        dimensions: Of their embeddings.
        live: Memories that are then stored as an application and an embedder store them.
        seed: Of the memories.
        say: Told of progress.

    Returns:
        `server`, and `sizes`: a list, one dimension after the other.
    """
    sizes = []
    about: dict[str, Any] = {}
    for dimension in dimensions:
        for count in rows:
            corpus = Corpus(count, dimension, seed)
            memory = machine.memory_mb() * 2**20 // 4
            dsn, loading = open_database(server, corpus, fresh=True, build_memory=memory, say=say)
            try:
                with connect(dsn) as connection:
                    about = machine.server(connection)
                    sizes.append(
                        {"memories": count, "dim": dimension}
                        | _measure(dsn, connection, loading, corpus, live, say)
                    )
            finally:
                drop_database(server, f"bench_{count}_{dimension}")
    return {"server": about, "sizes": sizes}


def _measure(
    dsn: str,
    connection: Connection[Any],
    loading: Loading,
    corpus: Corpus,
    live: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    kinds: dict[str, int] = dict(connection.execute(SIZES).fetchall())
    found: dict[str, Any] = {
        "bytes_per_memory": {kind: round(kinds[kind] / corpus.rows, 1) for kind in KINDS},
        "total_per_memory": round(sum(kinds.values()) / corpus.rows, 1),
        "build_memory_mb": loading.build_memory_mb,
    }
    costs: dict[str, Cost] = {}
    say("  building the index of the embeddings once more")
    connection.execute(
        "SELECT set_config('maintenance_work_mem', %s, false)", (f"{loading.build_memory_mb}MB",)
    )
    with _counted(connection, costs, "hnsw_build", corpus.rows):
        connection.execute(f"REINDEX INDEX {HNSW}".encode())
    say("  making the postings once more")
    with _counted(connection, costs, "postings_rebuild", corpus.large):
        connection.execute("SELECT _pgrecall.rebuild_postings(pgrecall.namespace_id(%s))", (LARGE,))
    say("  storing as an application does")
    _live(dsn, connection, costs, corpus, live)
    return found | {"costs": {name: asdict(cost) for name, cost in costs.items()}}


def _live(dsn: str, connection: Connection[Any], costs: dict[str, Cost], corpus: Corpus, live: int) -> None:
    """Store memories by remember_many, then their embeddings as an embedder does, index and all."""
    memories, vectors = prepared(Corpus(live, corpus.dimension, corpus.seed + 1), LARGE)
    with Client(dsn) as client, _counted(connection, costs, "remember_many", live):
        client.remember_many(memories, batch_size=BATCH)
    with _counted(connection, costs, "embeddings_written", live):
        embed(connection, vectors)


@contextmanager
def _counted(connection: Connection[Any], costs: dict[str, Cost], name: str, memories: int) -> Iterator[None]:
    """Note what is done meanwhile, as a cost of so many memories."""
    before = _wal(connection)
    begun = time.perf_counter()
    yield
    took = time.perf_counter() - begun
    written = _wal(connection) - before
    costs[name] = Cost(memories, round(took * 1000 / memories, 3), round(written / memories, 1))


def _wal(connection: Connection[Any]) -> int:
    (bytes_written,) = connection.execute(
        "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::bigint"
    ).fetchone() or (0,)
    return int(bytes_written)
