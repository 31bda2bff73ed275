"""recall_embed() by the embedder's socket: from psql to the model and back, and whatever can go wrong on the way."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
import stat
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from pgrecall.errors import InvalidInput
from pgrecall_embedder.jobs.queries.socket import Asked, QuerySocket
from pgrecall_embedder.logger import make_logger
from support.answering import Model, embed_all, embedded
from support.embedder import CANARY, remember
from support.plpython import DEBIAN, answering_at, listens, notices
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from psycopg import Connection

pytestmark = pytest.mark.server_extras

EMBED = "SELECT recall_embed(%s)::text"


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def path(public_dir: Path) -> Iterator[Path]:
    """Where the socket of a test is."""
    place = public_dir / "embedder.sock"
    yield place
    assert not place.exists()


@pytest.fixture
def session(python_dsn: str, path: Path) -> Iterator[Connection[Any]]:
    with psycopg.connect(python_dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.set_setting('embed_socket', %s)", [str(path)])
        conn.execute("SELECT pgrecall.set_setting('embed_timeout', '30000')")
        yield conn


def vector(conn: Connection[Any], query: str) -> Any:
    row = conn.execute(EMBED.encode(), [query]).fetchone()
    assert row is not None
    return None if row[0] is None else np.array(json.loads(row[0]))


def is_of(found: Any, query: str) -> bool:
    return found is not None and bool(np.allclose(found, embedded(query), atol=1e-3))


def talk(path: Path, *lines: bytes) -> list[Any]:
    """Send lines; return what is answered until the other side closes, or has answered each."""
    with socket.socket(socket.AF_UNIX) as link:
        link.settimeout(PATIENCE)
        link.connect(str(path))
        answers = []
        with link.makefile("rwb") as stream:
            for line in lines:
                stream.write(line + b"\n")
                stream.flush()
                answer = stream.readline()
                if not answer:
                    break
                answers.append(json.loads(answer))
    return answers


def psql() -> str:
    found = DEBIAN / "bin" / "psql"
    name = str(found) if found.exists() else shutil.which("psql")
    if name is None:
        pytest.skip("no psql")
    return name


def test_from_psql_to_the_model_and_back(python_dsn: str, public_dir: Path) -> None:
    path = public_dir / "real.sock"
    with psycopg.connect(python_dsn, autocommit=True) as conn:
        likes, sleeps = remember(conn, "Priya likes hiking in the mountains", "The cat sleeps all day")
        embed_all(conn, Model())
        conn.execute("SELECT pgrecall.set_setting('embed_socket', %s)", [str(path)])
        conn.execute("SELECT pgrecall.set_setting('embed_timeout', '30000')")
    command = [sys.executable, "-m", "pgrecall", "embedder", "--dsn", python_dsn, "--only", "embedding"]
    daemon = subprocess.Popen(
        [*command, "--socket", str(path), "--socket-mode", "666"], stderr=subprocess.PIPE, text=True
    )
    try:
        # torch alone may take as long as everything else together.
        until(lambda: daemon.poll() is not None or listens(path))
        asked = "SELECT id, dense_rank FROM recall('outdoor activities', recall_embed('outdoor activities'))"
        done = subprocess.run(
            [psql(), "-XAt", "-v", "ON_ERROR_STOP=1", "-d", python_dsn, "-c", asked],
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
    finally:
        daemon.terminate()
        log = daemon.communicate(timeout=PATIENCE)[1]
    assert done.stdout.splitlines() == [f"{likes}|1", f"{sleeps}|2"]
    assert done.stderr == ""
    assert daemon.returncode == 0, log
    assert "outdoor" not in log
    assert not path.exists()


def test_the_vector_is_the_model_s(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    with answering_at(path, python_dsn, model):
        for query in ("What does Priya like?", 'Ünïcödé – 日本語 \\ " \n line', "x" * 16384):
            assert is_of(vector(session, query), query)
    # The text went nowhere: not into the table of queries, whose answers are kept.
    assert session.execute("SELECT count(*) FROM pgrecall.query_embeddings").fetchone() == (0,)


def test_kept_embeddings_need_no_daemon(session: Connection[Any], path: Path) -> None:
    assert not path.exists()
    session.execute(
        "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query, embedding, answered_at) "
        "SELECT 1, current_user::regrole, sha256('kept'), NULL, (SELECT array_agg(n)::vector(384)::halfvec "
        "FROM generate_series(1, 384) n), now()"
    )
    assert vector(session, "kept")[0] == 1


def test_it_is_null_when_nobody_answers_in_time(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    heard = notices(session)
    with answering_at(path, python_dsn, model):
        assert is_of(vector(session, "first"), "first")
        model.free.clear()
        session.execute("SELECT pgrecall.set_setting('embed_timeout', '60')")
        assert vector(session, "held") is None
        assert vector(session, "held again") is None
        model.free.set()
        session.execute("SELECT pgrecall.set_setting('embed_timeout', '30000')")
        # No late answer is taken for that of another query.
        for query in ("second", "third"):
            assert is_of(vector(session, query), query)
    assert len(heard) == 2
    assert all("in time" in one for one in heard)
    assert not any("held" in one for one in heard)


def test_a_session_outlives_the_daemon(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    heard = notices(session)
    with answering_at(path, python_dsn, model):
        assert is_of(vector(session, "before"), "before")
    assert vector(session, "meanwhile") is None
    assert "cannot be reached" in heard[0]
    with answering_at(path, python_dsn, model):
        assert is_of(vector(session, "after"), "after")
    with answering_at(path, python_dsn, model):
        # Restarted between two calls: the kept connection is dead and is replaced.
        assert is_of(vector(session, "once more"), "once more")
    assert len(heard) == 1


def test_a_session_cannot_send_queries_elsewhere(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    with answering_at(path, python_dsn, model):
        session.execute("SET pgrecall.embed_socket = '/tmp/elsewhere.sock'")
        session.execute("SET pgrecall.embed_timeout = '1'")
        session.execute("SET ROLE pgrecall_reader")
        assert is_of(vector(session, "still here"), "still here")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            session.execute("SELECT pgrecall.set_setting('embed_socket', '/tmp/elsewhere.sock')")


def test_a_statement_that_is_cancelled_does_not_wait(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    with answering_at(path, python_dsn, model):
        model.free.clear()
        session.execute("SET statement_timeout = '300ms'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            vector(session, "held")
        model.free.set()
        session.execute("SET statement_timeout = 0")
        assert is_of(vector(session, "next"), "next")


def test_many_sessions_ask_at_once(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    sessions = [psycopg.connect(python_dsn, autocommit=True) for _ in range(8)]
    try:
        with answering_at(path, python_dsn, model):
            assert vector(session, "warm") is not None
            pipes = [conn.pipeline() for conn in sessions]
            cursors = []
            for number, (conn, pipe) in enumerate(zip(sessions, pipes, strict=True)):
                pipe.__enter__()
                cursors.append(conn.execute(EMBED.encode(), [f"question {number}"]))
            for number, (cursor, pipe) in enumerate(zip(cursors, pipes, strict=True)):
                row = cursor.fetchone()
                assert row is not None
                assert is_of(np.array(json.loads(row[0])), f"question {number}")
                pipe.__exit__(None, None, None)
    finally:
        for conn in sessions:
            conn.close()


def test_what_the_socket_refuses(
    session: Connection[Any], python_dsn: str, path: Path, model: Model, capfd: pytest.CaptureFixture[str]
) -> None:
    good = {"generation": 1, "model": model.name, "seconds": 30, "query": CANARY}
    bad: list[dict[str, Any]] = [
        good | {"generation": 2},
        good | {"model": "another"},
        good | {"query": "x" * 16385},
        good | {"seconds": 0},
        good | {"seconds": 61},
        good | {"seconds": 10**400},
        {"query": CANARY},
    ]
    with answering_at(path, python_dsn, model):
        answers = talk(
            path,
            *(json.dumps(one).encode() for one in bad),
            b"nonsense",
            b"[1]",
            b"[" * 90_000,
            json.dumps(good).encode(),
        )
        assert [list(answer) for answer in answers] == [["error"]] * 10 + [["vector"]]
        assert model.queries == [CANARY]
        assert talk(path, b"x" * 200_000) == []
        model.failure = ValueError(f"cannot embed {CANARY}")
        [failed] = talk(path, json.dumps(good).encode())
        assert failed == {"error": "the embedder's model failed"}
        assert vector(session, CANARY) is None
        model.failure = None
        assert is_of(vector(session, "after"), "after")
    assert CANARY not in "".join(capfd.readouterr())


def refused_socket(path: Path) -> str:
    """Why another daemon cannot have its socket there."""

    async def nobody(_asked: Asked) -> str:
        raise AssertionError("nobody asks")

    async def serve() -> None:
        async with asyncio.timeout(PATIENCE):
            await QuerySocket(path, 0o600, answer=nobody, log=make_logger(as_json=True)).serve()

    with pytest.raises(InvalidInput) as caught:
        asyncio.run(serve())
    assert caught.value.hint
    return caught.value.message


def test_only_one_daemon_has_a_socket(
    session: Connection[Any], python_dsn: str, path: Path, model: Model
) -> None:
    path.write_text("not a socket")
    assert "is there and no socket" in refused_socket(path)
    path.unlink()
    assert "cannot be made" in refused_socket(path.parent / "nowhere" / "embedder.sock")

    left = socket.socket(socket.AF_UNIX)
    left.bind(str(path))
    left.close()  # as a daemon that was killed leaves it
    with answering_at(path, python_dsn, model):
        assert stat.S_IMODE(path.stat().st_mode) == 0o666
        assert "another daemon answers" in refused_socket(path)
        assert is_of(vector(session, "the first one"), "the first one")
