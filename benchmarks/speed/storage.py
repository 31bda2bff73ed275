"""The benchmark's databases: one a size, made once and used again while code and generator stay the same."""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from pgvector import HalfVector
from pgvector.psycopg import register_vector
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from benchmarks.speed.generator import GENERATOR, Chunk, Corpus
from benchmarks.speed.mentions import store_mentions
from pgrecall.admin.bundle import bundle_hash
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

__all__ = [
    "BASELINE_INDEX",
    "HNSW",
    "MODEL",
    "Loading",
    "build_memory_mb",
    "connect",
    "copied_database",
    "create_database",
    "drop_database",
    "drop_hnsw",
    "open_database",
    "seconds",
    "sizes",
    "sync_memories",
    "warm_up",
]

_FORMAT = 3
"""Raised when databases are filled, or `Loading` is kept, in another way."""
MODEL = "synthetic"
HNSW = "pgrecall.memories_embedding_idx"
"""The index of the embeddings."""
BASELINE_INDEX = "bench_words_idx"
"""The index on words that ts_rank needs and recall does not: counted in no size."""
_TABLES = (
    "memories", "postings", "term_stats", "pending_postings",
    "mentions", "concepts", "concept_aliases", "extractions", "namespaces", "settings",
)  # fmt: skip
_COLUMNS = {
    "namespace_id": "int4", "external_id": "text", "content": "text", "category": "text", "tags": "text[]",
    "importance": "float4", "session": "text", "position": "int4", "speaker": "text",
    "occurred_at": "timestamptz", "language": "text", "content_hash": "bytea", "search_vector": "tsvector",
    "embedding": "halfvec",
}  # fmt: skip
_BYTES_PER_NEIGHBOUR_LIST = 500
"""What pgvector's index build keeps in memory for an element with m = 16, besides the vector."""


_PARAMETERS = """
SELECT split_part(p, '=', 1), substr(p, strpos(p, '=') + 1)
FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase, unnest(s.setconfig) p
WHERE d.datname = %s AND s.setrole = 0
"""


@dataclass(frozen=True, slots=True)
class Loading:
    """How a database was filled; times in seconds.

    Attributes:
        copy: Time of COPY with every trigger and every index but HNSW.
        rows_per_second: Of that.
        mentions: Time to make and write what an extraction would have read.
        index_builds: Time to build each index of the full table; HNSW is built so, the others were there
            from the beginning and are built once more for their time's sake, and forgotten.
        build_memory_mb: maintenance_work_mem of these builds.
        vacuum: Time of VACUUM ANALYZE at the end.
    """

    copy: float
    rows_per_second: float
    mentions: float
    index_builds: dict[str, float]
    build_memory_mb: int
    vacuum: float


@contextlib.contextmanager
def connect(dsn: str) -> Iterator[Connection[Any]]:
    """Open an autocommit connection, closed at the end."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        yield connection


def create_database(server: str, name: str) -> str:
    """Make an empty database on a server, in place of one of that name; return its connection string."""
    drop_database(server, name)
    with connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name))
        )
    return make_conninfo(server, dbname=name)


def drop_database(server: str, name: str) -> None:
    """Drop a database if it is there."""
    with connect(server) as connection:
        connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name)))


@contextlib.contextmanager
def copied_database(server: str, dsn: str, suffix: str) -> Iterator[str]:
    """Copy a database, and drop the copy at the end.

    Args:
        server: Connection string of a role that may create databases.
        dsn: The database to copy; nobody may be connected to it.
        suffix: What the copy's name ends with.

    Yields:
        The copy's connection string.
    """
    source = str(conninfo_to_dict(dsn)["dbname"])
    name = f"{source}_{suffix}"
    drop_database(server, name)
    with connect(server) as connection:
        connection.execute(
            sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy").format(
                sql.Identifier(name), sql.Identifier(source)
            )
        )
        # A copy has the data and not the parameters: without them the server would compile every plan.
        for parameter, value in connection.execute(_PARAMETERS, (source,)).fetchall():
            connection.execute(
                sql.SQL("ALTER DATABASE {} SET {} = {}").format(
                    sql.Identifier(name), sql.SQL(".").join(map(sql.Identifier, parameter.split("."))), value
                )
            )
    try:
        yield make_conninfo(server, dbname=name)
    finally:
        drop_database(server, name)


def open_database(
    server: str, corpus: Corpus, *, fresh: bool, build_memory: int, say: Callable[[str], None]
) -> tuple[str, Loading]:
    """Find the database of a corpus, or make and fill it.

    Args:
        server: Connection string to a database of the server, of a role that may create others.
        corpus: What goes in.
        fresh: True creates it again even if it exists.
        build_memory: Bytes that the build of the HNSW index may take.
        say: Told of progress.

    Returns:
        Its connection string, and how it was filled, whenever that was.
    """
    name = f"bench_{corpus.rows}_{corpus.dimension}"
    dsn = make_conninfo(server, dbname=name)
    made_from = json.dumps(
        {"format": _FORMAT, "generator": GENERATOR, "seed": corpus.seed, "bundle": bundle_hash()}
    )
    if not fresh and (loading := _find(server, name, dsn, made_from)) is not None:
        say(f"{name}: there already")
        return dsn, loading
    say(f"{name}: making {corpus.rows:,} memories")
    create_database(server, name)
    # The vectors are of no model; embedders and their queue want one to be named.
    migrate(dsn, dim=corpus.dimension, model=MODEL)
    with connect(dsn) as connection:
        loading = _fill(connection, corpus, build_memory, say)
        # Written last: a database without it is one whose making was interrupted.
        connection.execute("CREATE SCHEMA bench")
        connection.execute("CREATE TABLE bench.made (made_from text, loading jsonb)")
        connection.execute("INSERT INTO bench.made VALUES (%s, %s)", (made_from, json.dumps(asdict(loading))))
    return dsn, loading


def _find(server: str, name: str, dsn: str, made_from: str) -> Loading | None:
    with connect(server) as connection:
        found = connection.execute("SELECT FROM pg_database WHERE datname = %s", (name,)).fetchone()
    if found is None:
        return None
    with connect(dsn) as connection:
        (there,) = connection.execute("SELECT to_regclass('bench.made') IS NOT NULL").fetchone() or (False,)
        if not there:
            return None
        row = connection.execute(
            "SELECT loading FROM bench.made WHERE made_from = %s", (made_from,)
        ).fetchone()
    return None if row is None else Loading(**row[0])


def _fill(
    connection: Connection[Any], corpus: Corpus, build_memory: int, say: Callable[[str], None]
) -> Loading:
    register_vector(connection)
    definition = drop_hnsw(connection)
    namespaces: dict[str, int] = {}
    for name in corpus.namespaces:
        (namespaces[name],) = connection.execute(
            "SELECT pgrecall.create_namespace(%s)", (name,)
        ).fetchone() or (0,)

    copied = 0.0
    for index in range(corpus.chunks):
        chunk = corpus.chunk(index)  # its making is not counted
        begun = time.perf_counter()
        sync_memories(connection, chunk, namespaces)
        copied += time.perf_counter() - begun
        if (index + 1) % 10 == 0:
            say(f"  {(index + 1) * len(chunk.memories):,} stored")

    say("  mentioning")
    begun = time.perf_counter()
    store_mentions(connection, corpus, namespaces)
    mentioned = time.perf_counter() - begun

    megabytes = build_memory_mb(corpus.rows, corpus.dimension, build_memory)
    connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (f"{megabytes}MB",))
    say("  building indexes")
    builds = {HNSW.split(".")[1]: seconds(connection, definition), **_rebuild(connection)}
    say("  tidying")
    tidy(connection)
    vacuumed = seconds(connection, "VACUUM ANALYZE " + ", ".join(f"pgrecall.{table}" for table in _TABLES))
    return Loading(
        copy=round(copied, 2),
        rows_per_second=round(corpus.rows / copied, 1),
        mentions=round(mentioned, 2),
        index_builds={name: round(took, 2) for name, took in builds.items()},
        build_memory_mb=megabytes,
        vacuum=round(vacuumed, 2),
    )


def drop_hnsw(connection: Connection[Any]) -> str:
    """Drop the index of the embeddings, and return the statement that makes it."""
    (definition,) = connection.execute("SELECT pg_get_indexdef(%s::regclass)", (HNSW,)).fetchone() or ("",)
    connection.execute(f"DROP INDEX {HNSW}".encode())
    return str(definition)


def sync_memories(connection: Connection[Any], chunk: Chunk, namespaces: dict[str, int]) -> None:
    """COPY a chunk's memories, with their embeddings.

    Args:
        connection: To the database; pgvector's types are registered.
        chunk: The memories.
        namespaces: Ids of the namespaces by name.
    """
    columns = ", ".join(f'"{name}"' for name in _COLUMNS)
    statement = f"COPY pgrecall.memories ({columns}) FROM STDIN (FORMAT binary)"
    with connection.cursor().copy(statement.encode()) as copy:
        # tsvector has no binary dumper, and a trigger fills it: nothing but an empty one is ever sent.
        copy.set_types([kind if kind != "tsvector" else "bytea" for kind in _COLUMNS.values()])
        for memory in chunk.memories:
            copy.write_row(
                (
                    namespaces[memory.namespace],
                    f"m{memory.number}",
                    memory.content,
                    memory.category,
                    list(memory.tags),
                    memory.importance,
                    memory.session,
                    memory.position,
                    memory.speaker,
                    memory.occurred_at,
                    "english",
                    b"",
                    bytes(4),  # an empty tsvector: a count of 0
                    HalfVector(chunk.vectors[memory.vector]),
                )
            )


def build_memory_mb(rows: int, dimension: int, most: int) -> int:
    """Return the maintenance_work_mem, in MB, in which an HNSW graph is built without going to disk.

    Args:
        rows: How many memories have an embedding.
        dimension: Of the embeddings.
        most: Bytes that the build may take at the most.
    """
    needed = rows * (2 * dimension + _BYTES_PER_NEIGHBOUR_LIST) * 5 // 4
    return max(64, min(needed, most) // 2**20)


def _rebuild(connection: Connection[Any]) -> dict[str, float]:
    """Time the building of every index of memories but HNSW, each in a transaction that is rolled back."""
    rows = connection.execute(
        "SELECT c.relname, pg_get_indexdef(i.indexrelid) "
        "FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
        "WHERE i.indrelid = 'pgrecall.memories'::regclass AND i.indexrelid <> %s::regclass ORDER BY 1",
        (HNSW,),
    ).fetchall()
    times = {}
    for name, definition in rows:
        with connection.transaction(force_rollback=True):
            times[name] = seconds(connection, definition.replace(f"INDEX {name} ON", "INDEX rebuilt ON"))
    return times


def tidy(connection: Connection[Any]) -> None:
    """Flush and compact postings until nothing is left, as a daemon does in the background."""
    for function in ("flush_pending_postings", "compact_postings"):
        while connection.execute(f"SELECT pgrecall.{function}()".encode()).fetchone() != (0,):
            pass


def seconds(connection: Connection[Any], statement: str) -> float:
    """Run a statement and return how long it took."""
    begun = time.perf_counter()
    connection.execute(statement.encode())
    return time.perf_counter() - begun


def sizes(connection: Connection[Any]) -> dict[str, float]:
    """Return bytes a memory, of each table (TOAST included) and each index of the schema."""
    rows = connection.execute(
        "SELECT c.relname, "
        "CASE c.relkind WHEN 'r' THEN pg_table_size(c.oid) ELSE pg_relation_size(c.oid) END "
        "FROM pg_class c WHERE c.relnamespace = 'pgrecall'::regnamespace AND c.relkind IN ('r', 'i') "
        "AND c.relname <> %s ORDER BY 2 DESC, 1",
        (BASELINE_INDEX,),
    ).fetchall()
    (memories,) = connection.execute("SELECT count(*) FROM pgrecall.memories").fetchone() or (0,)
    return {name: round(size / memories, 1) for name, size in rows if size / memories >= 1}


def warm_up(connection: Connection[Any]) -> str:
    """Write out what the filling left to write, and read tables and indexes into memory; return how."""
    with contextlib.suppress(psycopg.errors.InsufficientPrivilege):
        connection.execute("CHECKPOINT")
    try:
        connection.execute("CREATE EXTENSION IF NOT EXISTS pg_prewarm SCHEMA bench")
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.InsufficientPrivilege):
        connection.execute("SELECT sum(length(content)) FROM pgrecall.memories")
        return "sequential scan"  # and the questions that every system is warmed up with
    # The tables first: where shared_buffers cannot hold everything, the indexes are what stays.
    connection.execute(
        "SELECT sum(bench.pg_prewarm(c.oid)) FROM (SELECT oid FROM pg_class "
        "WHERE relnamespace = 'pgrecall'::regnamespace AND relkind IN ('r', 'i') ORDER BY relkind DESC) c"
    )
    return "pg_prewarm"
