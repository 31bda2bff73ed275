"""An embedder that no notification reaches says so, looks often while somebody asks, and nobody waits in vain."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall import Client
from support import pgbouncer
from support.embedder import Recorder, make_daemon, running
from support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WAIT = 20.0


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture(params=["another database", "a pooler", "no pooler is noticed"])
def deaf_dsn(
    request: pytest.FixtureRequest,
    dsn: str,
    public_dir: Path,
    new_database: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[str]:
    """A connection string on which LISTEN succeeds and nothing arrives."""
    with contextlib.ExitStack() as stack:
        if request.param == "another database":
            yield new_database()
            return
        if pgbouncer.PROGRAM is None:
            assert not os.environ.get("PGRECALL_REQUIRE_PGBOUNCER")
            pytest.skip("there is no pgbouncer here")
        if request.param == "no pooler is noticed":
            monkeypatch.setattr("pgrecall_embedder.connection.is_pooled", lambda *_: False)
        yield stack.enter_context(pgbouncer.pooled(dsn, public_dir))


def _polls(conn: psycopg.Connection[Any]) -> list[float]:
    return [
        pause for (pause,) in conn.execute("SELECT poll_seconds FROM pgrecall.worker_status() WHERE is_alive")
    ]


def _doctor(conn: psycopg.Connection[Any]) -> tuple[str, str]:
    query = "SELECT status, detail FROM pgrecall.health() WHERE check_name = 'notifications'"
    [(status, detail)] = conn.execute(query).fetchall()
    return status, detail


def test_it_says_so_and_answers_who_asks_again(
    dsn: str,
    deaf_dsn: str,
    conn: psycopg.Connection[Any],
    recorder: Recorder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pgrecall_embedder.listening._PROOF_SECONDS", 0.5)

    async def scenario() -> None:
        with Client(dsn) as client:
            client.remember("The cat sleeps.")
            async with running(make_daemon(dsn, recorder, listen_dsn=deaf_dsn)):
                await eventually(lambda: _polls(conn) == [1.0])
                status, detail = _doctor(conn)
                assert status == "warn"
                assert "every 1 s" in detail
                impatient = await asyncio.to_thread(client.recall, "a pet", embed="daemon", embed_timeout=0.3)
                assert "is not notified and looks every 1 s" in str(impatient.notice)
                patient = await asyncio.to_thread(client.recall, "my pet", embed="daemon", embed_timeout=WAIT)
                assert patient.notice is None
                await eventually(lambda: _polls(conn) == [pytest.approx(0.05)])
                for number in range(3):
                    again = await asyncio.to_thread(
                        client.recall, f"pet {number}", embed="daemon", embed_timeout=WAIT
                    )
                    assert again.notice is None

    asyncio.run(scenario())


def test_one_that_hears_says_so(dsn: str, conn: psycopg.Connection[Any], recorder: Recorder) -> None:
    async def scenario() -> None:
        async with running(make_daemon(dsn, recorder)):
            await eventually(lambda: _polls(conn) == [0.0])
            assert _doctor(conn)[0] == "ok"
            with Client(dsn) as client:
                client.remember("The cat sleeps.")
                found = await asyncio.to_thread(client.recall, "a pet", embed="daemon", embed_timeout=WAIT)
                assert found.notice is None

    asyncio.run(scenario())


def test_nobody_waits_for_an_answer_that_cannot_come(dsn: str, conn: psycopg.Connection[Any]) -> None:
    with Client(dsn) as client:
        for pause, said in ((30.0, "every 30 s"), (0.0, "did not answer within 0.2 s")):
            conn.execute(
                "SELECT pgrecall.heartbeat(gen_random_uuid(), 'here', 1, '', 'm', 0, '{1}', poll_seconds => %s::real)",
                [pause],
            )
            assert said in str(client.recall(f"tea {pause}", embed="daemon", embed_timeout=0.2).notice)


@pytest.mark.parametrize("pause", [-1, 86401, float("nan"), float("inf"), None])
def test_a_heartbeat_out_of_range_is_refused(conn: psycopg.Connection[Any], pause: float | None) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        conn.execute(
            "SELECT pgrecall.heartbeat(gen_random_uuid(), 'h', 1, '', 'm', 0, poll_seconds => %s::real)",
            [pause],
        )
