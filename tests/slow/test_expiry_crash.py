"""Memories expire while others are written and read, sweepers and the server are killed: none comes back, none is lost."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.chaos import crash

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

SWEEPER = """
import sys, psycopg
while True:
    try:
        with psycopg.connect(sys.argv[1], autocommit=True) as conn:
            while True:
                conn.execute("SELECT * FROM pgrecall.expire_memories(20)")
    except psycopg.Error:
        pass
"""
SECONDS = 12.0
BATCH = 20
KEPT, DUE, ERASED = "kept", "due", "erased"


@pytest.fixture
def server(public_dir: Path) -> Iterator[EmbeddedServer]:
    """A server of its own, to be killed."""
    # What is committed outlives a kill of the server; only a crash of the machine needs a disk.
    started = EmbeddedServer(public_dir / "expiry", settings={"fsync": "off", "full_page_writes": "off"})
    started.up()
    migrate(started.dsn())
    yield started
    started.down()


def batch(draw: random.Random) -> list[dict[str, Any]]:
    """Memories, a third of which expire within seconds, and a third of which the namespace erases then."""
    soon = time.time()
    return [
        {
            "content": f"tea number {draw.random()}",
            "category": category,
            **({} if category == KEPT else {"expires_at": time.strftime(
                "%Y-%m-%dT%H:%M:%SZ", time.gmtime(soon + draw.randrange(4)))}),
        }
        for category in (KEPT, DUE, ERASED)
        for _ in range(BATCH // 3)
    ]  # fmt: skip


def write(dsn: str, until: float, draw: random.Random, stored: list[int]) -> None:
    while time.monotonic() < until:
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                while time.monotonic() < until:
                    made = conn.execute("SELECT remember_many(%s)", (Jsonb(batch(draw)),)).fetchall()
                    stored += [number for (number,) in made]
                    time.sleep(0.02)
        except psycopg.Error:
            time.sleep(0.1)


def read(dsn: str, until: float, expired: list[Any], reads: list[int]) -> None:
    # One statement has one now(): a memory that expires between two of them would be no error.
    query = """
        SELECT array_agg(f.id) FROM (
            SELECT id FROM recall('tea number', k => 500) UNION ALL SELECT id FROM list_memories(max_results => 500)
        ) f JOIN pgrecall.memories m USING (id) WHERE m.expires_at <= now()
    """
    while time.monotonic() < until:
        try:
            with psycopg.connect(dsn, autocommit=True) as conn:
                while time.monotonic() < until:
                    row = conn.execute(query).fetchone()
                    reads.append(1)
                    if row is not None and row[0] is not None:
                        expired.append(row[0])
        except psycopg.Error:
            time.sleep(0.1)


def test_expiry_survives_kills_under_load(server: EmbeddedServer) -> None:
    draw = random.Random(1)
    dsn = server.dsn()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.set_retention('default', '1000 years', %s, 'erase')", (ERASED,))
    until = time.monotonic() + SECONDS
    stored: list[int] = []
    expired: list[Any] = []
    reads: list[int] = []
    others = [
        threading.Thread(target=write, args=(dsn, until, draw, stored)),
        threading.Thread(target=read, args=(dsn, until, expired, reads)),
    ]
    for other in others:
        other.start()
    kills = 0
    has_crashed = False
    while time.monotonic() < until:
        sweepers = [subprocess.Popen([sys.executable, "-c", SWEEPER, dsn]) for _ in range(2)]
        time.sleep(draw.uniform(0.3, 1.0))
        for sweeper in sweepers:
            sweeper.send_signal(signal.SIGKILL)
            sweeper.wait()
        kills += 2
        if not has_crashed and time.monotonic() > until - SECONDS / 2:
            crash(server)
            has_crashed = True
    for other in others:
        other.join()
    assert expired == []
    assert (has_crashed, kills > 8, len(reads) > 20, len(stored) > 200) == (True, True, True, True)

    time.sleep(4)  # the last ones expire
    with psycopg.connect(dsn, autocommit=True) as conn:
        while conn.execute("SELECT forgotten + erased FROM pgrecall.expire_memories()").fetchone() != (0,):
            pass
        left: dict[str, list[int]] = dict(
            conn.execute(
                "SELECT category, array_agg(id) FROM pgrecall.memories WHERE deleted_at IS NULL GROUP BY category"
            ).fetchall()
        )
        assert set(left) == {KEPT}
        # Nothing else was touched: no kept memory has changed, and all of them that were confirmed are there.
        assert conn.execute(
            "SELECT count(*) FROM pgrecall.memories WHERE category = %s AND updated_at <> created_at", (KEPT,)
        ).fetchone() == (0,)
        # Each due memory was forgotten once.
        (due,) = conn.execute(
            "SELECT count(*) FROM pgrecall.memories WHERE category = %s", (DUE,)
        ).fetchone() or (0,)
        assert conn.execute(
            "SELECT count(*), count(DISTINCT c.memory_id), bool_and(c.action = 'expire') FROM pgrecall.memory_changes c"
        ).fetchone() == (due, due, True)
        assert conn.execute(
            "SELECT count(*) FROM pgrecall.memories WHERE category = %s", (ERASED,)
        ).fetchone() == (0,)
        # Every confirmed memory is kept, forgotten, or has a receipt.
        missing = conn.execute(
            "SELECT s.id FROM unnest(%s::bigint[]) s (id) WHERE NOT EXISTS (SELECT FROM pgrecall.memories m WHERE m.id = s.id) "
            "AND NOT EXISTS (SELECT FROM pgrecall.erasures e WHERE e.memory_id = s.id)",
            (stored,),
        ).fetchall()
        assert missing == []
