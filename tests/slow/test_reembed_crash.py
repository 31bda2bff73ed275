"""`pgrecall reembed` killed at each of its steps: the same command goes on to the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.reembed import cancel, progress, reembed
from pgrecall.errors import PgrecallError
from support.memories import scalar
from support.reembed import (
    NEW,
    Filler,
    ModelServer,
    build,
    filled,
    generations,
    judge,
    leftovers,
    sentences,
    vector_of,
)
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

COMMAND = [
    sys.executable,
    "-m",
    "pgrecall",
    "reembed",
    "--model",
    NEW,
    "--dim",
    "256",
    "--provider",
    "openai",
]
WORKING = """
    SELECT count(*) FROM pg_locks l JOIN pg_database d ON d.oid = l.database
    WHERE l.locktype = 'advisory' AND d.datname = current_database()
"""


def start(dsn: str, *options: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, *options, "--dsn", dsn],
        stdout=subprocess.DEVNULL,
        # Where the tests run in the background, Ctrl-C may be ignored, and children inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def kill_when(condition: Callable[[], bool], dsn: str) -> None:
    """Start the command and kill it once the condition holds."""
    process = start(dsn, "--leave-to-daemons")
    try:
        until(lambda: condition() or process.poll() is not None)
        assert process.poll() is None, "it ended before it could be killed"
    finally:
        process.kill()
        process.wait()


@contextmanager
def old_snapshot(dsn: str) -> Iterator[None]:
    """A transaction that a concurrent index build has to wait for."""
    with psycopg.connect(dsn) as reader:
        reader.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        reader.execute("SELECT")
        yield


def builds(conn: Connection[Any], index: str) -> bool:
    """Tell whether the index is there and not valid."""
    return bool(
        scalar(
            conn,
            "SELECT EXISTS (SELECT FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE c.relname = %s AND NOT i.indisvalid)",
            index,
        )
    )


def kill_at(step: str, dsn: str, conn: Connection[Any], models: ModelServer, filler: Filler) -> None:
    """Kill the command while it is at a step, as the database or a server tells."""
    if step == "begun":
        with psycopg.connect(dsn) as reader:
            # Without this the column would be there at once.
            reader.execute("SELECT count(*) FROM pgrecall.memories")
            kill_when(lambda: bool(scalar(conn, WORKING)), dsn)
    elif step in {"memories_pending_2_idx", "memories_embedding_2_idx"}:
        if step == "memories_embedding_2_idx":
            build(conn, search=False)
        with old_snapshot(dsn):
            kill_when(lambda: builds(conn, step), dsn)
    elif step == "half embedded":
        filler.limit[2] = 20
        kill_when(lambda: progress(dsn)[-1].embedded == 20, dsn)
        filler.limit.clear()
    elif step == "comparison":
        models.asked.clear()
        models.free.clear()
        kill_when(lambda: bool(models.asked), dsn)
        models.free.set()
    else:
        # What the switch needs is held, before the comparison ends.
        models.asked.clear()
        models.free.clear()
        with psycopg.connect(dsn) as other:
            waits = (
                "SELECT count(*) FROM pg_stat_activity "
                "WHERE wait_event_type = 'Lock' AND datname = current_database() AND query LIKE %s"
            )

            def is_switching() -> bool:
                if models.asked and not models.free.is_set():
                    other.execute("LOCK TABLE pgrecall.generations IN ROW EXCLUSIVE MODE")
                    models.free.set()
                return bool(scalar(conn, waits, "%switch_generation(%"))

            kill_when(is_switching, dsn)
            # While the statement waits, the server notices that its client is gone.
            until(lambda: not scalar(conn, WORKING))


@pytest.mark.parametrize(
    "step",
    [
        "begun",
        "memories_pending_2_idx",
        "half embedded",
        "memories_embedding_2_idx",
        "comparison",
        "switch",
    ],
)
def test_it_goes_on_where_it_was_killed(
    step: str, dsn: str, conn: Connection[Any], models: ModelServer
) -> None:
    texts = sentences(60)
    with filled(dsn) as (ids, filler):
        judge(conn, texts[:3], ids[:3])
        kill_at(step, dsn, conn, models, filler)

        until(lambda: not scalar(conn, WORKING))
        assert generations(conn).get(1) == "active"
        # Recall has not noticed.
        nearest = "SELECT id FROM recall('', %s, 1)"
        assert scalar(conn, nearest, str(vector_of("words-384", texts[7]))) == ids[7]

        done = reembed(dsn, model=NEW, dim=256, provider="openai", leave_to_daemons=True)
        assert done.is_switched
        assert generations(conn) == {2: "active", 1: "retired"}
        assert [(one.embedded, one.pending) for one in progress(dsn)] == [(60, 0), (60, 0)]
        assert leftovers(conn) == 0
        assert scalar(conn, nearest, str(vector_of(NEW, texts[7]))) == ids[7]
        assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_vectors") == 6


def test_its_embedder_ends_by_itself(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    conn.execute("SELECT pgrecall.activate_model('words-384', 384, provider => 'openai')")
    for text in sentences(30):
        conn.execute("SELECT remember(%s)", [text])
    models.free.clear()
    process = start(dsn)
    try:
        until(lambda: models.asked)
    finally:
        process.kill()
        process.wait()
    models.free.set()
    done = reembed(dsn, model=NEW, dim=256, provider="openai")
    assert done.is_switched
    assert [(one.embedded, one.pending) for one in progress(dsn)] == [(30, 0), (30, 0)]
    until(lambda: not scalar(conn, "SELECT workers FROM recall_status()"))


def test_one_at_a_time(dsn: str, conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('a memory')")
    process = start(dsn, "--leave-to-daemons")
    try:
        until(lambda: len(generations(conn)) == 2)
        with pytest.raises(PgrecallError, match="another `pgrecall reembed` is running on this database"):
            cancel(dsn)
    finally:
        process.kill()
        process.wait()
    # Its lock ends with it.
    assert cancel(dsn) == 2


def test_ctrl_c_ends_it(dsn: str, conn: Connection[Any]) -> None:
    conn.execute("SELECT remember('a memory')")
    process = start(dsn, "--leave-to-daemons")
    until(lambda: len(generations(conn)) == 2)
    os.kill(process.pid, signal.SIGINT)
    assert process.wait(60) != 0
    assert cancel(dsn) == 2
