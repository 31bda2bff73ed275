"""Providers that are away, busy or broken: memories wait, and none is given up for it."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall_embedder import retry
from pgrecall_embedder.daemon import Daemon
from pgrecall_embedder.jobs.embed.batching import PROBE, Made, Rejected, embed, embed_memories
from pgrecall_embedder.logger import make_logger
from pgrecall_embedder.providers.base import DocumentVectors
from pgrecall_embedder.providers.errors import ProviderPaused
from pgrecall_embedder.retry import Backoff
from support.embedder import (
    CANARY,
    Constant,
    Recorder,
    drain,
    leases,
    make_daemon,
    remember,
    running,
    sentences,
    status,
)
from support.provider_servers import Asked, Fault, ProviderServer
from support.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import psycopg

ADDRESS = "PGRECALL_EMBEDDER_OPENAI_URL"


@pytest.fixture
def elsewhere(conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that has the memories embedded by a server."""
    conn.execute("SELECT pgrecall.activate_model('some-model', 384, provider => 'openai')")

    def use(address: str) -> None:
        monkeypatch.setenv(ADDRESS, address)

    return use


def daemon_of(dsn: str, **options: Any) -> Daemon:
    """A daemon with one thread and the provider that the database names."""
    common: dict[str, Any] = {"only": "embedding", "concurrency": 1, "heartbeat_seconds": 0.2}
    return Daemon(dsn, log=make_logger(as_json=True), **common | options)


def pauses(conn: psycopg.Connection[Any]) -> list[tuple[str, str]]:
    query = "SELECT p ->> 'model', p ->> 'cause' FROM pgrecall.workers, jsonb_array_elements(pauses) p"
    return conn.execute(query).fetchall()


def jobs(conn: psycopg.Connection[Any]) -> int:
    [(count,)] = conn.execute(
        "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL"
    ).fetchall()
    return int(count)


def events(log: str, event: str) -> list[dict[str, Any]]:
    return [said for line in log.splitlines() if (said := json.loads(line))["event"] == event]


def test_memories_wait_for_a_server_that_is_away(
    dsn: str,
    conn: psycopg.Connection[Any],
    elsewhere: Callable[[str], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    away = ProviderServer(dimension=384)
    port = int(away.url.rsplit(":", 1)[1].split("/")[0])
    away._server.server_close()
    elsewhere(away.url)
    remember(conn, *sentences(29), CANARY)

    async def scenario() -> None:
        async with running(daemon_of(dsn)):
            await eventually(lambda: pauses(conn) == [("some-model", "outage")])
            # Others may have them meanwhile; and it has cost no memory an attempt.
            await eventually(lambda: leases(conn) == 0)
            assert jobs(conn) == 0
            with ProviderServer(dimension=384, port=port):
                await eventually(lambda: status(conn)[0] == 30)
            await eventually(lambda: pauses(conn) == [])

    asyncio.run(scenario())
    assert conn.execute(
        "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
    ).fetchall() == [(0,)]
    assert jobs(conn) == 0
    log = capfd.readouterr().err
    told = events(log, "provider paused")
    assert told
    assert all(one["cause"] == "outage" and one["model"] == "some-model" for one in told)
    assert CANARY not in log


def test_a_rate_limit_is_waited_for_whatever_happens(
    dsn: str, conn: psycopg.Connection[Any], elsewhere: Callable[[str], None]
) -> None:
    asked_at: list[float] = []

    def limited(_: Asked) -> Fault | None:
        asked_at.append(time.monotonic())
        return Fault.RATE_LIMIT if len(asked_at) == 1 else None

    with ProviderServer(dimension=384, faults=limited, retry_after=3) as server:
        elsewhere(server.url)

        async def scenario() -> None:
            async with running(daemon_of(dsn)):
                remember(conn, "first")
                await eventually(lambda: pauses(conn) == [("some-model", "rate_limit")])
                for number in range(20):
                    remember(conn, f"more {number}")
                await eventually(lambda: status(conn)[0] == 21)

        asyncio.run(scenario())
    assert asked_at[1] - asked_at[0] >= 3


def test_a_text_that_the_server_refuses_is_parked_in_the_end(
    dsn: str,
    conn: psycopg.Connection[Any],
    elsewhere: Callable[[str], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    def has_tried(times: int) -> bool:
        query = "SELECT attempts FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL AND next_attempt_at IS NOT NULL"
        return conn.execute(query).fetchall() == [(times,)]

    def failures() -> list[tuple[Any, ...]]:
        return conn.execute(
            "SELECT memory_id, attempts, cause FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
        ).fetchall()

    ids = remember(conn, *sentences(10), f"say {CANARY}", *sentences(10))
    with ProviderServer(dimension=384, refused=CANARY) as server:
        elsewhere(server.url)

        async def scenario() -> None:
            async with running(daemon_of(dsn, poll_seconds=0.2)):
                await eventually(lambda: status(conn)[0] == 20)
                for attempt in range(1, 5):
                    await eventually(partial(has_tried, attempt))
                    conn.execute(
                        "UPDATE pgrecall.jobs SET next_attempt_at = now() WHERE kind = 'embedding' AND failed_at IS NULL"
                    )
                await eventually(lambda: failures() == [(ids[10], 5, "input_refused")])
                conn.execute("SELECT update_memory(%s, content => 'say nothing')", [ids[10]])
                await eventually(lambda: status(conn)[0] == 21)

        asyncio.run(scenario())
    assert CANARY not in capfd.readouterr().err
    assert failures() == []


def test_a_drain_does_not_wait_for_a_key(
    dsn: str, conn: psycopg.Connection[Any], elsewhere: Callable[[str], None]
) -> None:
    remember(conn, *sentences(3))
    with ProviderServer(dimension=384, key="another") as server:
        elsewhere(server.url)
        with pytest.raises(ExceptionGroup) as failure:
            asyncio.run(daemon_of(dsn, drain=True).run())
    assert failure.group_contains(EmbeddingUnavailable, match="refused")
    assert (leases(conn), jobs(conn)) == (0, 0)


def test_a_model_that_fails_altogether_uses_up_no_attempt(dsn: str, conn: psycopg.Connection[Any]) -> None:
    class Broken(Recorder):
        is_broken = True

        def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
            if self.is_broken:
                raise RuntimeError(CANARY)
            return super().embed_documents(texts)

    broken = Broken()
    remember(conn, *sentences(5))

    async def scenario() -> None:
        async with running(make_daemon(dsn, broken, heartbeat_seconds=0.2)):
            await eventually(lambda: [cause for _, cause in pauses(conn)] == ["outage"])
            await eventually(lambda: jobs(conn) == 0)
            broken.is_broken = False
            await eventually(lambda: status(conn)[0] == 5)

    asyncio.run(scenario())
    assert sorted(broken.texts) == sorted(sentences(5))


class Scripted(Recorder):
    """Refuses one text, and is away once it has been asked so often."""

    def __init__(self, refused: str, calls: int) -> None:
        super().__init__()
        self.refused = refused
        self.calls = calls
        self.asked: list[list[str]] = []

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        self.asked.append(list(texts))
        self.calls -= 1
        if self.calls < 0:
            raise ProviderPaused("outage", "away")
        if self.refused in texts:
            raise ValueError(texts)
        return DocumentVectors(np.full((len(texts), 384), 0.05, dtype=np.float32), [False] * len(texts))


def test_only_the_text_to_blame_is_rejected() -> None:
    provider = Scripted("c", calls=100)
    result = embed(provider, ["a", "b", "c", "d"])
    assert result.pause is None
    assert [type(outcome) for outcome in result.outcomes] == [Made, Made, Rejected, Made]
    rejected = result.outcomes[2]
    assert isinstance(rejected, Rejected)
    assert rejected.cause == "value_error"
    assert rejected.error.startswith("ValueError at test_embedder_outages.py:")
    assert [PROBE] in provider.asked


def test_what_was_embedded_before_the_provider_went_away_is_kept() -> None:
    # The batch, the probe, its first half; the second half meets an outage.
    result = embed(Scripted("c", calls=3), ["a", "b", "c", "d"])
    assert result.pause is not None
    assert result.pause.cause == "outage"
    assert [type(outcome) for outcome in result.outcomes] == [Made, Made, type(None), type(None)]


def test_a_memory_is_made_with_all_its_passages_or_not_yet() -> None:
    """A passage that cannot be embedded is left out; a provider that goes away leaves the whole memory."""
    passages = [["b1", "b2"], [], ["c1", "x"]]
    result = embed_memories(Scripted("x", calls=100), ["b", "s", "c"], passages)
    made = [outcome for outcome in result.outcomes if isinstance(outcome, Made)]
    assert [[vector is not None for vector in one.passages] for one in made] == [
        [True, True],
        [],
        [True, False],
    ]
    assert result.pause is None
    result = embed_memories(Scripted("none", calls=1), ["b", "s", "c"], passages)
    assert result.pause is not None
    assert [type(outcome) for outcome in result.outcomes] == [type(None), Made, type(None)]


@pytest.mark.parametrize(("calls", "is_alive"), [(0, False), (1, False), (2, True), (3, True)])
def test_a_provider_that_fails_on_the_way_is_alive(calls: int, is_alive: bool) -> None:
    # The batch is refused, the probe is not; so the next pause is short, however long the last one was.
    result = embed(Scripted("a", calls), ["a", "b"])
    assert result.pause is not None
    assert result.is_alive == is_alive


def test_pauses_grow_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(retry, "time", SimpleNamespace(monotonic=lambda: now))
    pause = Backoff(first=0.02, longest=0.3)
    lengths = []
    for _ in range(6):
        seconds = pause.begin("outage")
        assert seconds is not None
        assert pause.begin("outage") is None
        lengths.append(seconds)
        now += seconds
        assert not pause.seconds_left
    assert all(0.015 * 2**n <= seconds <= 0.02 * 2**n for n, seconds in enumerate(lengths[:4]))
    assert 0.2 < lengths[5] <= 0.3
    pause.succeed()
    assert pause.seconds_failing == 0
    assert (pause.begin("outage") or 1) <= 0.02


@pytest.mark.parametrize(("asked_for", "least", "most"), [(5, 5, 5.5), (3600, 600, 601), (0, 0.5, 0.55)])
def test_a_pause_lasts_as_long_as_it_was_asked_for(asked_for: float, least: float, most: float) -> None:
    pause = Backoff()
    seconds = pause.begin("rate_limit", asked_for)
    assert seconds is not None
    assert least <= seconds <= most


def test_a_drain_of_what_fails_for_now_ends(dsn: str, conn: psycopg.Connection[Any]) -> None:
    remember(conn, *sentences(4), CANARY)
    drain(dsn, Recorder(poison=CANARY))
    conn.execute("UPDATE pgrecall.jobs SET attempts = 4, next_attempt_at = now() WHERE kind = 'embedding'")
    with pytest.raises(EmbeddingUnavailable, match="none of 1"):
        drain(dsn, Recorder(poison=CANARY))
    drain(dsn, Recorder(poison=CANARY))
    assert status(conn)[:3] == (4, 1, 0)


class PausesAndHolds(Recorder):
    """Asks for a pause on each text with one word, and takes longer than the pause over the text with the other."""

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        if any("limited" in text for text in texts) and not self.entered.is_set():
            self.entered.set()
            raise ProviderPaused("rate_limit", "the provider wants fewer requests", 0.0)
        if any("slow" in text for text in texts):
            time.sleep(1.5)  # a pause that names no time lasts half a second
        return self.model.embed_documents(texts)


@pytest.mark.parametrize("first", ["limited", "slow"])
def test_memories_of_a_pause_that_ends_early_do_not_wait_for_their_lease(
    dsn: str, conn: psycopg.Connection[Any], first: str
) -> None:
    """A pause may end while another batch is still computed: its memories return as after any other pause."""
    provider = PausesAndHolds()
    provider.token_budget = 1  # a batch for each text
    other = "slow" if first == "limited" else "limited"
    # The longest text is embedded first.
    remember(conn, *(f"a text that is {first} and longer {number}" for number in range(2)), f"{other} one")

    async def scenario() -> None:
        async with running(make_daemon(dsn, provider, concurrency=2, lease_seconds=600)):
            await eventually(lambda: status(conn)[0] == 3)

    asyncio.run(scenario())
    assert jobs(conn) == 0


@pytest.mark.slow
def test_two_daemons_and_a_provider_that_comes_and_goes(
    dsn: str, conn: psycopg.Connection[Any], elsewhere: Callable[[str], None]
) -> None:
    asked = 0

    def now_and_then(_: Asked) -> Fault | None:
        nonlocal asked
        asked += 1
        # To blame a text takes a failure and three answers. After as many requests as there are here it must not
        # meet the same again: it would be to blame each time.
        return (Fault.ERROR, Fault.RATE_LIMIT, Fault.CLOSED, None, None, None, None)[asked % 7]

    contents = [f"text {number}" for number in range(300)]
    remember(conn, *contents)
    with ProviderServer(dimension=384, faults=now_and_then, retry_after=0.1) as server:
        elsewhere(server.url)

        async def scenario() -> None:
            async with running(daemon_of(dsn)), running(daemon_of(dsn)):
                async with asyncio.timeout(2 * PATIENCE):
                    while status(conn)[0] < len(contents):
                        await asyncio.sleep(0.2)

        asyncio.run(scenario())
    assert conn.execute(
        "SELECT count(*) FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NOT NULL"
    ).fetchall() == [(0,)]
    assert jobs(conn) == 0


def test_a_full_disk_is_reported_by_doctor(dsn: str, conn: psycopg.Connection[Any]) -> None:
    """A trigger refuses what the server would refuse; heartbeats get through, as on a disk with a little room."""
    conn.execute("""
        CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file: No space left on device';
        END $$;
        CREATE TRIGGER refuse BEFORE UPDATE OF embedding ON pgrecall.memories FOR EACH ROW EXECUTE FUNCTION public.refuse();
    """)
    remember(conn, "tea")

    def disk() -> tuple[str, str]:
        query = "SELECT status, detail FROM pgrecall.health() WHERE check_name = 'disk'"
        [(status, detail)] = conn.execute(query).fetchall()
        return status, detail

    async def work() -> None:
        async with running(make_daemon(dsn, Constant(), heartbeat_seconds=0.2)):
            assert disk()[0] == "ok"
            await eventually(lambda: disk()[0] == "fail")
            assert "full" in disk()[1]
            conn.execute("DROP TRIGGER refuse ON pgrecall.memories")
            await eventually(lambda: status(conn)[:2] == (1, 0))

    asyncio.run(work())
