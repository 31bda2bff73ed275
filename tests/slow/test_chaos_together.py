"""Writers, expiry, erasure, notes, imports and learning at once, all of them killed: nothing is lost, nothing doubled.

And nothing is left that should be gone. PGRECALL_CHAOS_SECONDS and PGRECALL_CHAOS_SEED make it longer, and another.
"""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.chaos import PROMPT, Database, Fleet, crash, restart
from support.chaos_actors import EXPIRING, Actors, Ledger
from support.chaos_server import DIMENSION, failing_servers
from support.extractor import WITHOUT_SPACY
from support.llm import KEY, completion, served
from support.memories import contents
from support.postings import assert_same_as_rebuilt
from support.provider_servers import vector_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from support.llm import Asked, Reply

pytestmark = pytest.mark.slow

_DAEMONS = 2
_ROLE = "chaos_worker"
_PATIENCE = 180.0
_WORD = re.compile(r"mark(?:kept|late|gone|said|file)\d+(?:x\d+)?")


def written(asked: Asked) -> Reply:
    """A note of each new message, in its words."""
    notes = [
        {"messages": [row["id"]], "text": f"{row['speaker']}: {row['text']}"}
        for row in asked.rows
        if row["new"]
    ]
    return completion({"notes": notes})


@pytest.fixture
def server(public_dir: Path) -> Iterator[EmbeddedServer]:
    """A server of its own, to be killed."""
    # What is committed outlives a kill of the server; only a crash of the machine needs a disk.
    started = EmbeddedServer(public_dir / "together", settings={"fsync": "off", "full_page_writes": "off"})
    started.up()
    yield started
    started.down()


@pytest.fixture
def database(server: EmbeddedServer) -> Iterator[Database]:
    migrate(server.dsn(), dim=DIMENSION)
    opened = Database(server.dsn())
    opened.rows("SELECT pgrecall.activate_model('chaos', %s, '', %s, 'openai')", [DIMENSION, PROMPT])
    for name, value in (("extract_notes", "on"), ("llm_model", "m"), ("extract", WITHOUT_SPACY)):
        opened.rows("SELECT pgrecall.set_setting(%s, %s)", [name, value])
    opened.rows("SELECT pgrecall.set_retention('default', '1000 years', %s, 'erase')", [EXPIRING])
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {_ROLE} LOGIN IN ROLE pgrecall_embedder".encode())
    yield opened
    opened.close()


def test_nothing_is_lost_doubled_or_left(server: EmbeddedServer, database: Database, tmp_path: Path) -> None:
    seed = int(os.environ.get("PGRECALL_CHAOS_SEED", "1"))
    seconds = float(os.environ.get("PGRECALL_CHAOS_SECONDS", "30"))
    draw = random.Random(seed)
    actors = Actors(server.dsn(), tmp_path, seconds, seed)
    with served() as llm, failing_servers(_DAEMONS, seed, tmp_path / "requests.jsonl") as embedding:
        llm.script = written
        fleet = Fleet(
            make_conninfo(server.dsn(), user=_ROLE),
            embedding.urls,
            tmp_path,
            options=(),
            environment={"PGRECALL_LLM_URL": llm.url, "PGRECALL_LLM_API_KEY": KEY},
        )
        try:
            actors.start()
            crashes = _disturb(server, fleet, draw, seconds)
            actors.join()
            _settle(database, fleet)
            codes = fleet.stop()
        finally:
            fleet.close()
    ledger = actors.ledger
    print(
        f"seed {seed}, {seconds:.0f} s: {ledger.counts}, {len(fleet.kills)} kills of daemons, {crashes} of the server"
    )
    print(f"{len(ledger.kept)} kept, {len(ledger.gone)} gone, {len(ledger.erased)} erased by their writers")
    assert codes == [0] * _DAEMONS
    assert _WORD.search(fleet.log()) is None
    assert (ledger.deadlocks, database.deadlocks) == (0, 0)
    assert ledger.seen == set()
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        _check_memories(conn, ledger)
        _check_gone(conn, ledger)
        _check_embeddings(conn)
        assert_same_as_rebuilt(conn)


def _disturb(server: EmbeddedServer, fleet: Fleet, draw: random.Random, seconds: float) -> int:
    """Kill a daemon every few seconds, and now and then the server; return how often that was.

    A daemon that a busy machine has not started yet is left to start: it would never get to its work. What is still
    at work when the time is over ends without.
    """
    crashes = 0
    ends = time.monotonic() + seconds
    next_crash = time.monotonic() + seconds / 6
    while time.monotonic() < ends:
        time.sleep(draw.uniform(0.5, 3))
        number = draw.randrange(_DAEMONS)
        if fleet.has_started(number):
            fleet.kill(number)
        if next_crash < time.monotonic():
            (crash if draw.random() < 0.7 else restart)(server)
            crashes += 1
            next_crash = time.monotonic() + seconds / 4
    return crashes


def _settle(database: Database, fleet: Fleet) -> None:
    """Wait until the daemons have nothing to do."""
    waiting = """
        SELECT (SELECT count(*) FROM pgrecall.memories m WHERE m.expires_at <= now() AND m.deleted_at IS NULL),
               (SELECT pending FROM pgrecall.generation_progress()),
               (SELECT count(*) FROM pgrecall.jobs)
    """
    # Those who were killed hold leases for a language model, of a quarter of an hour.
    for number in range(_DAEMONS):
        fleet.kill(number)
    database.rows(
        "UPDATE pgrecall.jobs SET lease_expires_at = clock_timestamp() "
        "WHERE kind = 'notes' AND lease_expires_at IS NOT NULL RETURNING 1"
    )
    deadline = time.monotonic() + _PATIENCE
    while (left := database.rows(waiting)) != [(0, 0, 0)]:
        assert time.monotonic() < deadline, f"waited in vain: {left}"
        fleet.check()
        # What an operator could do who does not want to wait: the times between attempts are minutes.
        database.rows(
            "UPDATE pgrecall.jobs SET next_attempt_at = clock_timestamp() "
            "WHERE next_attempt_at > clock_timestamp() RETURNING 1"
        )
        database.rows("SELECT pgrecall.retry_failures()")
        database.rows("SELECT pg_notify('pgrecall_embed', '')")
        time.sleep(0.3)


def _check_memories(conn: psycopg.Connection[Any], ledger: Ledger) -> None:
    """What was promised is there once, conversations are in their order, and each message left has one note."""
    query = "SELECT external_id, content FROM pgrecall.memories WHERE session IS NULL AND deleted_at IS NULL"
    kept = conn.execute(f"{query} AND category IS DISTINCT FROM 'note'".encode()).fetchall()
    assert Counter(kept) == Counter(ledger.kept.items())
    sessions: dict[str, list[str]] = defaultdict(list)
    messages = conn.execute(
        "SELECT session, content FROM pgrecall.memories WHERE starts_with(external_id, 'message:') ORDER BY position"
    )
    for session, content in messages:
        sessions[session].append(content)
    assert dict(sessions) == {session: said for session, said in ledger.sessions.items() if said}
    notes = conn.execute("SELECT content FROM pgrecall.memories WHERE category = 'note'").fetchall()
    said = [f"Priya: {text}" for texts in ledger.sessions.values() for text in texts]
    assert Counter(note for (note,) in notes) == Counter(said)


def _check_gone(conn: psycopg.Connection[Any], ledger: Ledger) -> None:
    """No table holds a word of what is gone, and each erasure has one receipt."""
    left = {
        table: sorted({word for row in rows for word in _WORD.findall(row)} & ledger.gone)[:5]
        for table, rows in contents(conn).items()
    }
    assert {table: words for table, words in left.items() if words} == {}
    receipts = conn.execute("SELECT memory_id FROM pgrecall.erasures").fetchall()
    counted = Counter(memory for (memory,) in receipts)
    assert max(counted.values()) == 1
    assert ledger.erased <= set(counted)


def _check_embeddings(conn: psycopg.Connection[Any]) -> None:
    """Every memory has the embedding of its present text."""
    rows = conn.execute(
        """
        SELECT _pgrecall.embedding_text(m.title, m.content, m.expanded_keywords, _pgrecall.embedding_recipe()), m.embedding::text
        FROM pgrecall.memories m WHERE m.deleted_at IS NULL
        """
    ).fetchall()
    for text, embedding in rows:
        assert embedding is not None
        assert np.abs(np.array(json.loads(embedding)) - vector_of(PROMPT + text, DIMENSION)).max() < 0.002
