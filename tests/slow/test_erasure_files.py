"""What is left in the files of a server after an erasure, counted byte by byte, and what kill -9 leaves of one."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.attack import CANARY, VICTIM, filled
from support.memories import call, contents, remember_many, rows, scalar
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

VECTOR = [0.123, -0.456, 0.789, -0.321] * 96
"""An embedding whose bytes are found in files."""
KILLS = 20


@pytest.fixture
def own_server(public_dir: Path, request: pytest.FixtureRequest) -> Iterator[EmbeddedServer]:
    """A server of the test's own, which waits for the disk as one in use does."""
    running = EmbeddedServer(public_dir / request.node.name[:12])
    running.up()
    yield running
    running.down()


def occurrences(folder: Path, word: bytes) -> dict[str, int]:
    """How often a word is in each file below a folder, whatever its letters' case."""
    files = (file for file in folder.rglob("*") if file.is_file())
    found = {file.name: file.read_bytes().lower().count(word.lower()) for file in files}
    return {name: number for name, number in found.items() if number}


def vector_bytes(conn: Connection[Any]) -> bytes:
    """The bytes of VECTOR as tables and indexes hold them: those of the wire, in the machine's order."""
    sent: bytes = scalar(conn, "SELECT halfvec_send(%s::halfvec)", str(VECTOR[:4]))
    numbers = sent[4:]
    return (
        b"".join(numbers[place + 1 : place + 2] + numbers[place : place + 1] for place in range(0, 8, 2)) * 8
    )


def plant(dsn: str) -> tuple[int, ...]:
    """Fill a database with canaries among other memories; returns the ids of all that hold any."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CREATE ROLE erasure_reader IN ROLE pgrecall_reader")
        conn.execute("CREATE ROLE erasure_writer IN ROLE pgrecall_writer")
        tenants = filled(conn, dsn, "erasure_reader", "erasure_writer")
        # Set by an administrator, so not the memory's.
        conn.execute("DELETE FROM pgrecall.entity_rules")
        conn.execute("DELETE FROM pgrecall.relation_labels")
        others = [
            {"content": f"wombat {number} of the plain", "tags": [f"w{number}"]} for number in range(600)
        ]
        remember_many(conn, others, namespace=VICTIM)
        conn.execute("SELECT pgrecall.add_generation('another', 8)")
        conn.execute(
            "UPDATE pgrecall.memories m SET embedding = %s::halfvec WHERE m.id = ANY (%s) AND NOT m.is_sensitive",
            (str(VECTOR), list(tenants.memories)),
        )
        conn.execute(
            "UPDATE pgrecall.memories m SET embedding_2 = %s::halfvec WHERE m.id = ANY (%s) AND NOT m.is_sensitive",
            (str(VECTOR[:8]), list(tenants.memories)),
        )
        for table in ("memories", "concepts"):
            conn.execute(
                f"CREATE INDEX ON pgrecall.{table} USING hnsw (embedding_2 halfvec_cosine_ops)".encode()
            )
        conn.execute("CALL pgrecall.rebuild_all_postings()")  # which was added to by hand
        conn.execute("ANALYZE")
        return tuple(sorted(tenants.memories))


def in_files(dsn: str) -> dict[str, dict[str, int]]:
    """How often the canary and its vector are in the files of tables and indexes, and in the write-ahead log."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("CHECKPOINT")
        data = Path(scalar(conn, "SHOW data_directory"))
        vector = vector_bytes(conn)
        names: dict[str, str] = dict(
            conn.execute(
                "SELECT pg_relation_filenode(oid)::text, oid::regclass::text FROM pg_class"
            ).fetchall()
        )
    found = {
        "words": occurrences(data / "base", CANARY.encode()),
        "vectors": occurrences(data / "base", vector),
        "log": occurrences(data / "pg_wal", CANARY.encode()),
    }
    return {
        kind: {names.get(file.split(".")[0], file): number for file, number in files.items()}
        for kind, files in found.items()
    }


def test_after_the_scrub_no_file_of_a_table_or_index_holds_a_canary(own_server: EmbeddedServer) -> None:
    dsn = own_server.dsn("postgres")
    with psycopg.connect(dsn, autocommit=True) as conn:
        # As long as an ANALYZE of autovacuum runs, dead rows are kept for it.
        conn.execute("ALTER SYSTEM SET autovacuum = off")
        conn.execute("SELECT pg_reload_conf()")
    migrate(dsn)
    memories = plant(dsn)
    counted = {"planted": in_files(dsn)}
    with psycopg.connect(dsn, autocommit=True) as conn:
        for memory in memories:
            rows(conn, "erase", memory)
        counted["erased"] = in_files(dsn)
        conn.execute("VACUUM (INDEX_CLEANUP ON, ANALYZE)")
        counted["vacuumed"] = in_files(dsn)
        for (statement,) in conn.execute("SELECT * FROM pgrecall.scrub_statements()").fetchall():
            conn.execute(statement.encode())
        conn.execute("VACUUM FULL pg_catalog.pg_statistic")
        counted["scrubbed"] = in_files(dsn)
        # The others are whole.
        assert scalar(conn, "SELECT count(*) FROM pgrecall.memories m WHERE m.content LIKE 'wombat%'") == 600
    totals = {
        step: {kind: sum(files.values()) for kind, files in found.items()} for step, found in counted.items()
    }
    assert totals["planted"]["words"] > 100
    assert totals["planted"]["vectors"] > 8
    # Who made a page has said its name and its question: they are not the memory's, and stay.
    left = {name for name in counted["scrubbed"]["words"] if not name.startswith("pgrecall.pages")}
    assert (left, counted["scrubbed"]["vectors"]) == (set(), {})


# --- Killed at any moment ---


def state(conn: Connection[Any]) -> dict[str, list[str]]:
    """Every row of every logged table; caches are empty after a crash, and sequences of no account."""
    unlogged = {"query_embeddings", "query_expansions"}
    return {table: texts for table, texts in contents(conn).items() if table not in unlogged}


def settled(dsn: str) -> dict[str, list[str]]:
    """The state of the database, as soon as the server has recovered."""
    deadline = time.monotonic() + 60
    while True:
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                return state(conn)
        except psycopg.OperationalError:
            assert time.monotonic() < deadline
            time.sleep(0.05)


def until_gone(pid: int) -> None:
    """Wait until a process has ended and its parent knows."""
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_killed_at_any_moment_it_is_whole_or_not_begun(own_server: EmbeddedServer) -> None:
    """kill -9 of the server process that erases; PostgreSQL then restarts from its log."""
    dsn = own_server.dsn("postgres")
    migrate(dsn)
    plant(dsn)
    draw = random.Random(int(os.environ.get("PGRECALL_CHAOS_SEED", "1")))
    outcomes = {"whole": 0, "not begun": 0}
    with psycopg.connect(dsn, autocommit=True) as conn:
        remember_many(
            conn, [{"content": f"a numbat {n}", "tags": ["numbat", f"n{n}"]} for n in range(KILLS + 3)]
        )
        while scalar(conn, "SELECT pgrecall.flush_pending_postings(1)"):
            pass
        ids = [
            id
            for (id,) in conn.execute(
                "SELECT id FROM pgrecall.memories WHERE 'numbat' = ANY (tags) ORDER BY id"
            )
        ]
        took = []
        for warm in (ids.pop(), ids.pop(), ids.pop()):
            start = time.monotonic()
            rows(conn, "erase", warm)
            took.append(time.monotonic() - start)
    for memory in ids:
        before = settled(dsn)
        with psycopg.connect(dsn, autocommit=True) as victim, suppress(psycopg.OperationalError):
            rows(victim, "erase", memory, dry_run=True)  # so that all is parsed and planned
            pid = victim.info.backend_pid
            killer = threading.Timer(draw.uniform(0, 2 * max(took)), os.kill, (pid, signal.SIGKILL))
            killer.start()
            rows(victim, "erase", memory)
            killer.join()
        until_gone(pid)
        after = settled(dsn)
        with psycopg.connect(dsn, autocommit=True) as conn:
            if scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = %s", memory):
                assert after == before
                outcomes["not begun"] += 1
                rows(conn, "erase", memory)
            else:
                outcomes["whole"] += 1
            number = scalar(conn, "SELECT count(*) FROM pgrecall.erasures WHERE memory_id = %s", memory)
            assert number == 1
            held = "SELECT count(*) FROM pgrecall.postings WHERE memory_ids @> ARRAY[%s::bigint]"
            assert scalar(conn, held, memory) == 0
            documents = "SELECT documents FROM pgrecall.term_stats WHERE term = 'numbat'"
            mentioned = "SELECT count(*) FROM pgrecall.memories WHERE 'numbat' = ANY (tags)"
            left = scalar(conn, mentioned)
            if left:
                assert scalar(conn, documents) == left
            assert call(conn, "pgrecall.find_concept", f"n{ids.index(memory)}") is None
    assert min(outcomes.values()) > 0, "the moments tell nothing"
