"""The embedder daemon at work: real servers and the real model."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from psycopg.conninfo import make_conninfo

from pgrecall.errors import EmbeddingUnavailable, PgrecallError
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.jobs.embed.batching import PROBE
from pgrecall_embedder.metrics import NoMetrics
from pgrecall_embedder.providers.base import DocumentVectors
from support.embedder import (
    CANARY,
    Recorder,
    drain,
    leases,
    make_daemon,
    real_model,
    remember,
    running,
    sentences,
    status,
    stored,
)
from support.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from numpy.typing import NDArray


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def test_drain_fills_everything(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    texts = sentences(300)
    ids = remember(conn, *texts)
    drain(dsn, recorder)
    assert status(conn) == (300, 0, 0, 0)
    assert sorted(recorder.texts) == sorted(texts)
    sample = (0, 150, 299)
    expected = recorder.model.embed_documents([texts[position] for position in sample]).vectors
    for position, wanted in zip(sample, expected, strict=True):
        vector = stored(conn, ids[position])
        assert vector is not None
        assert vector @ wanted > 0.999


@pytest.mark.slow
def test_the_command_drains(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(3))
    done = subprocess.run(
        [sys.executable, "-m", "pgrecall_embedder", "--drain", "--log-json"],
        env=os.environ | {"PGRECALL_DSN": dsn},
        stderr=subprocess.PIPE,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    # Progress is logged every ten seconds, which a busy machine may need.
    assert [event for event in events if event not in ("embedding", "reading")] == [
        "model loaded",
        "embedder started",
        "extraction ready",
        "embedder stopped",
    ]
    assert status(conn) == (3, 0, 0, 0)


def test_drain_of_nothing_returns(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    drain(dsn, recorder)
    assert status(conn) == (0, 0, 0, 0)


def test_title_and_content_are_embedded(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    conn.execute("SELECT remember('We went up by the north ridge.', title => 'The walk')")
    drain(dsn, recorder)
    assert recorder.texts == ["The walk\nWe went up by the north ridge."]


def test_a_long_memory_has_its_passages_embedded(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    content = "".join(f"On day {day} we walked up the ridge and back again. " for day in range(40))
    conn.execute("SELECT remember(%s, title => 'The walk')", [content])
    drain(dsn, recorder)
    query = "SELECT substr(%s, starts_at + 1, ends_at - starts_at) FROM pgrecall.passages ORDER BY number"
    passages = [text for (text,) in conn.execute(query, [content]).fetchall()]
    assert len(passages) > 2
    assert "".join(passages) == content
    assert sorted(recorder.texts) == sorted([f"The walk\n{text}" for text in (content, *passages)])
    vector = str(real_model().embed_query("The walk\nOn day 37 we walked up the ridge").tolist())
    found = conn.execute("SELECT passage, dense_rank FROM recall('', %s)", [vector]).fetchone()
    assert found is not None
    assert "day 37" in content[found[0].lower : found[0].upper]
    assert found[1] == 1


def test_a_passage_that_the_model_cannot_take_is_left_out(dsn: str, conn: psycopg.Connection[Any]) -> None:
    content = "".join(f"On day {day} we walked up the ridge and back again. " for day in range(40))
    conn.execute("SELECT remember(%s)", [content])
    provider = Recorder()
    whole = provider.embed_documents

    def refuse(texts: Sequence[str]) -> DocumentVectors:
        if any("day 39" in text and "day 1 " not in text for text in texts):
            raise ValueError("cannot take it")
        return whole(texts)

    provider.embed_documents = refuse  # type: ignore[method-assign]
    drain(dsn, provider)
    numbers = [number for (number,) in conn.execute("SELECT number FROM pgrecall.passages ORDER BY 1")]
    (count,) = conn.execute("SELECT count(*) FROM _pgrecall.passage_bounds(%s)", [content]).fetchone() or (0,)
    assert numbers == list(range(1, count))
    assert status(conn) == (1, 0, 0, 0)


def test_sensitive_and_forgotten_memories_are_never_claimed(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder, capfd: pytest.CaptureFixture[str]
) -> None:
    remember(conn, "plain")
    conn.execute("SELECT remember(%s, is_sensitive => true)", [CANARY])
    conn.execute("SELECT forget(remember(%s))", [f"{CANARY} forgotten"])
    drain(dsn, recorder)
    assert recorder.texts == ["plain"]
    assert CANARY not in capfd.readouterr().err


def test_the_role_of_the_embedder_is_enough(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    long = "On Sundays we walked up the ridge and back again. " * 30
    remember(conn, "plain", long)
    conn.execute("SELECT remember(%s, is_sensitive => true)", [CANARY])
    role = f"embedder_{os.getpid()}"
    conn.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{role}' IN ROLE pgrecall_embedder")
    try:
        drain(make_conninfo(dsn, user=role, password=role), recorder)
    finally:
        conn.execute(f"DROP ROLE {role}")
    passages = [text for text in recorder.texts if text not in ("plain", long)]
    assert "".join(passages) == long
    assert conn.execute("SELECT count(*) FROM pgrecall.passages").fetchone() == (len(passages),)
    assert status(conn) == (2, 0, 0, 0)


def test_a_poison_row_does_not_keep_the_others(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    ids = remember(conn, *sentences(20), f"{CANARY} breaks it", *sentences(20))
    drain(dsn, Recorder(poison=CANARY))
    assert stored(conn, ids[20]) is None
    assert status(conn)[0] == 40
    query = "SELECT memory_id, attempts, last_error, next_attempt_at > now() FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL"
    [(memory, attempts, error, later)] = conn.execute(query).fetchall()
    assert (memory, attempts, later) == (ids[20], 1, True)
    assert error.startswith("ValueError at embedder.py:")
    log = capfd.readouterr().err
    assert CANARY not in log
    assert f'"memory_id": {ids[20]}' in log


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((1, 384)),
        np.full((1, 384), np.nan),
        np.full((1, 384), 1e30),
        np.full((1, 383), 0.1),
        np.full((2, 384), 0.1),
    ],
    ids=["zero", "nan", "huge", "narrow", "too-many"],
)
def test_a_useless_vector_is_a_failure_of_its_row(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder, wrong: NDArray[np.float64]
) -> None:
    remember(conn, "something")

    class Useless(Recorder):
        def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
            if texts == [PROBE]:
                return super().embed_documents(texts)
            return DocumentVectors(wrong.astype(np.float32), [False] * len(wrong))

    with pytest.raises(EmbeddingUnavailable, match="none of 1"):
        drain(dsn, Useless())
    assert status(conn)[0] == 0
    assert conn.execute(
        "SELECT attempts FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL"
    ).fetchall() == [(1,)]


def test_two_workers_share_the_work(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    texts = sentences(400)
    remember(conn, *texts)

    async def both() -> None:
        await asyncio.gather(*(make_daemon(dsn, recorder, drain=True).run() for _ in range(2)))

    asyncio.run(both())
    assert status(conn) == (400, 0, 0, 0)
    assert sorted(recorder.texts) == sorted(texts)


def test_a_notification_wakes_the_daemon(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, poll_seconds=PATIENCE * 2)):
            await eventually(lambda: status(conn)[3] == 1)
            for number in range(3):
                remember(conn, f"fresh {number}")
                await eventually(lambda: status(conn)[1] == 0)

    asyncio.run(scenario())
    assert recorder.texts == ["fresh 0", "fresh 1", "fresh 2"]


def test_without_notifications_it_polls(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    conn.execute("ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_50_notify_insert")

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, poll_seconds=0.2)):
            await eventually(lambda: status(conn)[3] == 1)
            remember(conn, "unannounced")
            await eventually(lambda: status(conn)[1] == 0)

    asyncio.run(scenario())


def test_an_edit_during_embedding_wins(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    [edited, untouched] = remember(conn, "the old text", "another text")
    recorder.free.clear()

    async def scenario() -> None:
        daemon = make_daemon(dsn, recorder, drain=True)
        task = asyncio.create_task(daemon.run())
        await asyncio.to_thread(recorder.entered.wait, PATIENCE)
        conn.execute("SELECT update_memory(%s, content => 'the new text')", [edited])
        recorder.free.set()
        await task

    asyncio.run(scenario())
    assert status(conn) == (2, 0, 0, 0)
    assert sorted(recorder.texts) == ["another text", "the new text", "the old text"]
    vector = stored(conn, edited)
    assert vector is not None
    assert vector @ recorder.model.embed_documents(["the new text"]).vectors[0] > 0.999
    assert stored(conn, untouched) is not None


def test_flagged_sensitive_during_embedding(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    [memory] = remember(conn, "soon a secret")
    recorder.free.clear()

    async def scenario() -> None:
        task = asyncio.create_task(make_daemon(dsn, recorder, drain=True).run())
        await asyncio.to_thread(recorder.entered.wait, PATIENCE)
        conn.execute("SELECT update_memory(%s, is_sensitive => true)", [memory])
        recorder.free.set()
        await task

    asyncio.run(scenario())
    assert stored(conn, memory) is None
    assert leases(conn) == 0


def test_the_heartbeat_counts_and_the_row_goes_at_the_end(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    def beats() -> list[tuple[Any, ...]]:
        return conn.execute("SELECT pid, model, embedded FROM pgrecall.workers").fetchall()

    remember(conn, *sentences(5))

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, heartbeat_seconds=0.1)):
            await eventually(lambda: beats() == [(os.getpid(), DEFAULT_MODEL, 5)])

    asyncio.run(scenario())
    assert beats() == []


def test_no_transaction_is_open_while_the_model_works(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    remember(conn, *sentences(3))
    recorder.free.clear()

    def in_transaction() -> int:
        query = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name = 'pgrecall-embedder' AND xact_start IS NOT NULL"
        )
        row = conn.execute(query).fetchone()
        assert row is not None
        return int(row[0])

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder)):
            await asyncio.to_thread(recorder.entered.wait, PATIENCE)
            await eventually(lambda: in_transaction() == 0)
            assert leases(conn) == 3
            recorder.free.set()

    asyncio.run(scenario())
    assert status(conn) == (3, 0, 0, 0)


def test_a_text_that_is_too_long_is_marked(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    _, long = remember(conn, "A short one.", "walk " * 2000)
    drain(dsn, recorder)
    assert conn.execute("SELECT memory_id FROM pgrecall.truncated_embeddings").fetchall() == [(long,)]
    assert status(conn) == (2, 0, 0, 0)


def test_whoever_measures_is_told(dsn: str, conn: psycopg.Connection[Any]) -> None:
    told: list[tuple[str, Any]] = []

    class Told(NoMetrics):
        def embedded(self, memories: int) -> None:
            told.append(("embedded", memories))

        def failed(self, cause: str) -> None:
            told.append(("failed", cause))

        def batch(self, seconds: float, texts: int) -> None:
            assert seconds > 0
            told.append(("batch", texts))

    remember(conn, *sentences(3), CANARY)
    asyncio.run(make_daemon(dsn, Recorder(poison=CANARY), drain=True, metrics=Told()).run())
    assert sum(value for name, value in told if name == "embedded") == 3
    assert ("failed", "value_error") in told
    assert ("batch", 4) in told


def test_a_sensitive_memory_in_hand_stops_the_daemon(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder, capfd: pytest.CaptureFixture[str]
) -> None:
    conn.execute(
        """
        DROP FUNCTION pgrecall.claim;
        CREATE FUNCTION pgrecall.claim(
            worker uuid, batch integer DEFAULT 64, lease interval DEFAULT '2 minutes', generation integer DEFAULT NULL
        )
        RETURNS TABLE (
            memory_id bigint, content_hash bytea, content text, is_sensitive boolean, ticket bigint, passages text[]
        )
        LANGUAGE sql VOLATILE SECURITY DEFINER ROWS 64
        AS $$SELECT m.id, m.content_hash, m.content, true, 1::bigint, NULL::text[] FROM pgrecall.memories m$$
        """
    )
    remember(conn, CANARY)
    with pytest.raises(ExceptionGroup) as failure:
        drain(dsn, recorder)
    assert failure.group_contains(PgrecallError, match="sensitive")
    assert recorder.texts == []
    assert CANARY not in capfd.readouterr().err
