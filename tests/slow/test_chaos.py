"""Daemons are killed, their provider fails, the server restarts, memories change: every embedding is right in the end.

`PGRECALL_CHAOS_SEED` chooses another course of events.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from collections import Counter, defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.admin.migrate import migrate
from pgrecall.server import EmbeddedServer
from support.chaos import (
    BACKLOG,
    LEASE_SECONDS,
    MARK,
    PROMPT,
    Database,
    Fleet,
    World,
    accepted,
    crash,
    restart,
)
from support.chaos_server import DIMENSION, Request, failing_servers, is_refused
from support.provider_servers import vector_of
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MEMORIES = 5000
_DAEMONS = 3
_KILLS = 8
_ROLE = "chaos_embedder"
# Where a claim, a change and a write-back of one memory meet within milliseconds, it may be embedded once too often.
_UNEXPLAINED = 2
# What a daemon sent just before its end is answered after it, and its successor is still starting then.
_START_SECONDS = 0.5


@pytest.fixture
def server(public_dir: Path) -> Iterator[EmbeddedServer]:
    """A server of its own, to be killed."""
    # What is committed outlives a kill of the server; only a crash of the machine needs a disk.
    started = EmbeddedServer(public_dir / "chaos", settings={"fsync": "off", "full_page_writes": "off"})
    started.up()
    yield started
    started.down()


@pytest.fixture
def database(server: EmbeddedServer) -> Iterator[Database]:
    migrate(server.dsn(), dim=DIMENSION)
    opened = Database(server.dsn())
    opened.rows("SELECT pgrecall.activate_model('chaos', %s, '', %s, 'openai')", [DIMENSION, PROMPT])
    with psycopg.connect(server.dsn(), autocommit=True) as conn:
        conn.execute(f"CREATE ROLE {_ROLE} LOGIN IN ROLE pgrecall_embedder".encode())
    yield opened
    opened.close()


def test_every_embedding_is_right_in_the_end(
    server: EmbeddedServer, database: Database, tmp_path: Path
) -> None:
    seed = int(os.environ.get("PGRECALL_CHAOS_SEED", "1"))
    draw = random.Random(seed)
    world = World(database, draw)
    started = time.monotonic()
    restarts: list[tuple[float, float]] = []
    with failing_servers(_DAEMONS, seed, tmp_path / "requests.jsonl") as servers:
        fleet = Fleet(make_conninfo(server.dsn(), user=_ROLE), servers.urls, tmp_path)
        try:
            events = _events(server, fleet, draw, restarts)
            _write(world, database, fleet, draw, events)
            written = time.monotonic() - started
            _settle(database, world, fleet)
            codes = fleet.stop()
        finally:
            fleet.close()
        requests = servers.requests()
    log = fleet.log()
    repeats = _repeats(requests, world, fleet, restarts)
    print(f"seed {seed}: {_figures(world, requests, fleet, log)}")
    print(f"written in {written:.0f} s, done in {time.monotonic() - started:.0f} s; repeats {dict(repeats)}")
    assert codes == [0] * _DAEMONS
    assert MARK not in log
    assert database.deadlocks == 0
    _check_rows(database, world)
    _check_sent(requests, world)
    assert repeats["no reason"] <= _UNEXPLAINED


def _events(
    server: EmbeddedServer, fleet: Fleet, draw: random.Random, restarts: list[tuple[float, float]]
) -> list[tuple[int, Callable[[], None]]]:
    """What happens, and after how many memories, the last first."""

    def away(how: Callable[[EmbeddedServer], None]) -> None:
        # Meanwhile the test goes on writing.
        def run() -> None:
            start = time.time()
            how(server)
            restarts.append((start, time.time()))

        thread = threading.Thread(target=run)
        thread.start()
        threads.append(thread)

    def kill() -> None:
        for thread in threads:
            thread.join()
        fleet.kill(draw.randrange(_DAEMONS))

    threads: list[threading.Thread] = []
    moments = [draw.randrange(_MEMORIES // 20, _MEMORIES) for _ in range(_KILLS)]
    events: list[tuple[int, Callable[[], None]]] = [(moment, kill) for moment in moments]
    events.append((draw.randrange(_MEMORIES // 5, _MEMORIES // 2), lambda: away(crash)))
    events.append((draw.randrange(_MEMORIES // 2, _MEMORIES * 4 // 5), lambda: away(restart)))
    return sorted(events, key=lambda event: -event[0])


def _write(
    world: World,
    database: Database,
    fleet: Fleet,
    draw: random.Random,
    events: list[tuple[int, Callable[[], None]]],
) -> None:
    """Remember all memories, and change many of them, no faster than they are embedded."""

    def is_done_but_for_some() -> bool:
        fleet.check()
        return _progress(database)[0] < BACKLOG

    while len(world.memories) < _MEMORIES or events:
        if len(world.memories) < _MEMORIES:
            world.write(min(draw.choice((1, 1, 1, 20, 60, 150)), _MEMORIES - len(world.memories)))
        for _ in range(draw.randrange(25)):
            world.change()
        while events and events[-1][0] <= len(world.memories):
            events.pop()[1]()
        until(is_done_but_for_some)


def _settle(database: Database, world: World, fleet: Fleet) -> None:
    """Wait until nothing is pending but what is always refused."""
    refused = {memory.id for memory in world.memories if is_refused(accepted(memory.sent))}

    def is_done() -> bool:
        fleet.check()
        # What an operator could do who does not want to wait: the times between attempts are minutes.
        database.rows(
            "UPDATE pgrecall.jobs SET next_attempt_at = clock_timestamp() "
            "WHERE next_attempt_at > clock_timestamp() RETURNING 1"
        )
        for (memory_id,) in database.rows(
            "SELECT memory_id FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
        ):
            if memory_id not in refused:
                database.rows("SELECT pgrecall.retry_failures(memory_id => %s)", [memory_id])
        database.rows("SELECT pg_notify('pgrecall_embed', '')")
        pending, failed = _progress(database)
        return pending == failed

    until(is_done)


def _check_rows(database: Database, world: World) -> None:
    """Whoever is to have an embedding has that of the present text, and nobody else has one."""
    assert database.rows("SELECT * FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL") == []
    by_id = {memory.id: memory for memory in world.memories}
    rows = database.rows(
        """
        SELECT m.id, m.embedding::text, m.is_sensitive, m.deleted_at IS NOT NULL,
               _pgrecall.embedding_text(m.title, m.content, m.expanded_keywords, _pgrecall.embedding_recipe()),
               (SELECT f.cause FROM pgrecall.jobs f WHERE f.memory_id = m.id AND f.kind = 'embedding' AND f.failed_at IS NOT NULL),
               EXISTS (SELECT FROM pgrecall.truncated_embeddings t WHERE t.memory_id = m.id)
        FROM pgrecall.memories m
        """
    )
    assert {row[0] for row in rows} == set(by_id)
    seen: Counter[str] = Counter()
    for memory_id, embedding, is_sensitive, is_forgotten, text, cause, is_truncated in rows:
        memory = by_id[memory_id]
        sent = PROMPT + text
        assert (sent, is_sensitive, is_forgotten) == (memory.sent, memory.is_sensitive, memory.is_forgotten)
        is_eligible = not is_sensitive and not is_forgotten
        if is_eligible and is_refused(accepted(sent)):
            assert (embedding, cause) == (None, "input_refused")
            seen["failed"] += 1
        elif is_eligible:
            assert embedding is not None
            assert cause is None
            assert is_truncated == (accepted(sent) != sent)
            seen["truncated"] += is_truncated
        elif is_sensitive:
            assert (embedding, cause, is_truncated) == (None, None, False)
        if embedding is not None:
            vector = np.array(json.loads(embedding))
            assert np.abs(vector - vector_of(accepted(sent), DIMENSION)).max() < 0.002
            seen["right"] += 1
    assert seen["right"] > 0.8 * _MEMORIES
    assert seen["failed"]
    assert seen["truncated"]


def _check_sent(requests: list[Request], world: World) -> None:
    """Nothing was sent that was not to be embedded then: no text of what was sensitive at the time above all."""
    assert any(memory.sent not in world.eras for memory in world.memories), "some have always been sensitive"
    for request in requests:
        for text in request.texts:
            if MARK in text:
                assert world.was_to_be_embedded(text, request.at)


def _repeats(
    requests: list[Request], world: World, fleet: Fleet, restarts: list[tuple[float, float]]
) -> Counter[str]:
    """For every text that was embedded once more, why: counted by reason.

    An edit back to a former text or a flag that was taken back; a daemon that was killed with the vector, or a server
    that was away when it was to be written. That another request failed is no reason, because what was embedded is
    kept, except for a long memory: if the request for its passages failed, all of it is embedded again.
    """
    failures = [request for request in requests if not request.is_good]
    answers: dict[str, list[Request]] = defaultdict(list)
    for request in requests:
        if request.is_good:
            for text in request.texts:
                answers[text].append(request)
    reasons: Counter[str] = Counter()
    for text, answered in answers.items():
        if MARK not in text:
            continue
        eras = world.eras_of(text)
        moments = [era.end for era in eras[:-1]] + [era.start for era in eras[1:]]
        for first, second in pairwise(answered):
            if any(first.at - LEASE_SECONDS < moment < second.at for moment in moments):
                reasons["changed"] += 1
            elif any(
                number == first.server and first.at - _START_SECONDS <= at <= second.at
                for number, at in fleet.kills
            ):
                reasons["killed"] += 1
            elif any(first.at <= end and start <= second.at for start, end in restarts):
                reasons["restart"] += 1
            elif world.has_passages(text) and any(
                failed.server == first.server and first.at <= failed.at <= second.at for failed in failures
            ):
                reasons["passages failed"] += 1
            else:
                reasons["no reason"] += 1
                print(f"{first.server} at {first.at}, {second.server} at {second.at}, no reason: {text}")
    return reasons


def _figures(world: World, requests: list[Request], fleet: Fleet, log: str) -> str:
    events = Counter(json.loads(line)["event"] for line in log.splitlines())
    sent = sum(len(request.texts) for request in requests)
    good = sum(len(request.texts) for request in requests if request.is_good)
    outcomes = Counter(request.outcome for request in requests)
    times = Counter(text for request in requests if request.is_good for text in request.texts if MARK in text)
    return (
        f"{len(world.memories)} memories, changes {world.changes}, {len(fleet.kills)} kills\n"
        f"{len(requests)} requests, {sent} texts sent, {good} embedded (texts by times: {dict(sorted(Counter(times.values()).items()))}), outcomes {dict(outcomes)}\n"
        f"log {dict(events)}"
    )


def _progress(database: Database) -> tuple[int, int]:
    [(pending, failed)] = database.rows("SELECT pending, failed FROM pgrecall.generation_progress()")
    return pending, failed
