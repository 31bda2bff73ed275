"""A daemon through changes of the model: it fills the next generation, follows the switch, and goes on."""

from __future__ import annotations

import asyncio
import json
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.query.embedding_models import DEFAULT_MODEL
from pgrecall_embedder.providers.base import DocumentVectors
from support.embedder import CANARY, make_daemon, remember, running, sentences, status
from support.provider_servers import vector_of
from support.waiting import PATIENCE, eventually

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg
    from numpy.typing import NDArray

    from pgrecall_embedder.providers import EmbeddingProvider, ModelSpec

NEXT = "the-next-model"


class Hashed:
    """A model by a hash of the text, which can be held."""

    token_budget = 512
    is_hosted = False

    def __init__(self, name: str, dimension: int) -> None:
        self.name = name
        self.dimension = dimension
        self.is_closed = False
        self.texts: list[str] = []
        self.entered = threading.Event()
        self.free = threading.Event()
        self.free.set()

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        return [len(text.split()) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        assert not self.is_closed
        self.texts += texts
        self.entered.set()
        assert self.free.wait(PATIENCE)
        return DocumentVectors(np.stack([self.embed_query(text) for text in texts]), [False] * len(texts))

    def embed_query(self, text: str) -> NDArray[np.float32]:
        return np.asarray(vector_of(self.name + text, self.dimension), dtype=np.float32)

    def close(self) -> None:
        self.is_closed = True


class Models:
    """Loads models, all but those that are said to be missing."""

    def __init__(self) -> None:
        self.loaded: dict[str, Hashed] = {}
        self.missing: set[str] = set()

    def load(self, model: ModelSpec, _threads: int) -> EmbeddingProvider:
        if model.name in self.missing:
            raise EmbeddingUnavailable(f"{model.name} is missing", hint="Bring it.")
        self.loaded[model.name] = Hashed(model.name, model.dimension)
        return self.loaded[model.name]


@pytest.fixture
def models() -> Models:
    return Models()


def begin_next(conn: psycopg.Connection[Any], dimension: int = 16) -> int:
    [(number,)] = conn.execute("SELECT pgrecall.add_generation(%s, %s)", [NEXT, dimension]).fetchall()
    build(conn, number, "fill")
    return int(number)


def build(conn: psycopg.Connection[Any], generation: int, what: str) -> None:
    for (statement,) in conn.execute(
        "SELECT s FROM pgrecall.generation_statements(%s, %s) s", [generation, what]
    ).fetchall():
        conn.execute(statement)


def switch(conn: psycopg.Connection[Any], generation: int) -> None:
    build(conn, generation, "search")
    conn.execute("SELECT pgrecall.switch_generation(%s)", [generation])


def progress(conn: psycopg.Connection[Any]) -> dict[int, tuple[int, int]]:
    query = "SELECT generation, embedded, pending FROM pgrecall.generation_progress()"
    return {number: (embedded, pending) for number, embedded, pending in conn.execute(query)}


def workers(conn: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    return conn.execute("SELECT id, model, generations FROM pgrecall.workers").fetchall()


def vector(conn: psycopg.Connection[Any], memory: int, column: str) -> NDArray[np.float32]:
    [(text,)] = conn.execute(
        f"SELECT {column}::text FROM pgrecall.memories WHERE id = %s", [memory]
    ).fetchall()
    return np.asarray(json.loads(text), dtype=np.float32)


def test_a_switch_under_a_running_daemon(
    dsn: str, conn: psycopg.Connection[Any], models: Models, capfd: pytest.CaptureFixture[str]
) -> None:
    first, *_ = remember(conn, *sentences(40))

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, poll_seconds=PATIENCE, heartbeat_seconds=1.0)):
            await eventually(lambda: progress(conn) == {1: (40, 0)})
            [(worker, model, served)] = workers(conn)
            assert (model, served) == (DEFAULT_MODEL, [1])

            number = begin_next(conn)
            assert number == 2
            await eventually(lambda: progress(conn)[2] == (40, 0))
            await eventually(lambda: workers(conn) == [(worker, DEFAULT_MODEL, [1, 2])])

            switch(conn, 2)
            await eventually(lambda: workers(conn) == [(worker, NEXT, [2])])
            await eventually(lambda: models.loaded[DEFAULT_MODEL].is_closed)
            after = remember(conn, "written afterwards")[0]
            await eventually(lambda: progress(conn)[2] == (41, 0))
            assert progress(conn)[1] == (40, 1)

            conn.execute("SELECT pgrecall.drop_generation(1)")
            remember(conn, "and once more")
            await eventually(lambda: progress(conn) == {2: (42, 0)})
            assert workers(conn) == [(worker, NEXT, [2])]
            wanted = models.loaded[NEXT].embed_query("written afterwards")
            assert vector(conn, after, "embedding_2") @ wanted > 0.999
            assert vector(conn, first, "embedding_2").shape == (16,)

    asyncio.run(scenario())
    assert models.loaded[NEXT].is_closed
    events = [json.loads(line)["event"] for line in capfd.readouterr().err.splitlines()]
    assert events.count("embedder started") == 1
    assert "generation dropped" in events


def test_a_model_that_is_chosen_while_another_embeds(
    dsn: str, conn: psycopg.Connection[Any], models: Models
) -> None:
    """Nothing is stored yet, so the model may change: no vector of the former one comes later."""

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, poll_seconds=0.1, heartbeat_seconds=0.3)):
            await eventually(lambda: len(workers(conn)) == 1)
            former = models.loaded[DEFAULT_MODEL]
            former.free.clear()
            ids = remember(conn, *sentences(3))
            await asyncio.to_thread(former.entered.wait, PATIENCE)
            conn.execute("SELECT pgrecall.activate_model('another', 384)")
            former.free.set()
            await eventually(lambda: progress(conn) == {1: (3, 0)})
            for memory, text in zip(ids, sentences(3), strict=True):
                assert vector(conn, memory, "embedding") @ models.loaded["another"].embed_query(text) > 0.999
            await eventually(lambda: former.is_closed)

    asyncio.run(scenario())


@pytest.mark.parametrize("prompt", ["passage: ", ""])
def test_a_claim_for_a_model_that_is_no_longer_chosen_is_given_back(
    dsn: str, conn: psycopg.Connection[Any], models: Models, prompt: str
) -> None:
    """The daemon has not looked yet: it looks rarely."""

    async def scenario() -> None:
        daemon = make_daemon(dsn, models, poll_seconds=0.2, heartbeat_seconds=PATIENCE)
        async with running(daemon):
            await eventually(lambda: len(workers(conn)) == 1)
            name = DEFAULT_MODEL if prompt else "another"
            conn.execute("SELECT pgrecall.activate_model(%s, 384, document_prompt => %s)", [name, prompt])
            former = models.loaded[DEFAULT_MODEL]
            [memory] = remember(conn, "Priya drinks tea")
            await eventually(lambda: progress(conn) == {1: (1, 0)})
            assert former.texts == []
            assert models.loaded[name] is not former
            assert vector(conn, memory, "embedding") is not None

    asyncio.run(scenario())


def test_a_lease_is_renewed_while_its_texts_are_embedded(
    dsn: str, conn: psycopg.Connection[Any], models: Models
) -> None:
    taken = "SELECT count(*) FROM pgrecall.claim(gen_random_uuid(), 10, '1 second')"

    async def scenario() -> None:
        daemon = make_daemon(dsn, models, poll_seconds=0.1, lease_seconds=3.0)
        async with running(daemon):
            await eventually(lambda: len(workers(conn)) == 1)
            model = models.loaded[DEFAULT_MODEL]
            model.free.clear()
            remember(conn, "a text that takes long")
            await asyncio.to_thread(model.entered.wait, PATIENCE)
            for _ in range(30):
                await asyncio.sleep(0.2)
                assert conn.execute(taken).fetchall() == [(0,)]
            assert conn.execute("SELECT attempts FROM pgrecall.jobs WHERE kind = 'embedding'").fetchall() == [
                (0,)
            ]
            model.free.set()
            await eventually(lambda: progress(conn) == {1: (1, 0)})
            assert len(model.texts) == 1
        assert daemon.sums()["stale"] == 0

    asyncio.run(scenario())


def test_back_to_the_generation_before(dsn: str, conn: psycopg.Connection[Any], models: Models) -> None:
    remember(conn, *sentences(5))

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, heartbeat_seconds=0.3)):
            begin_next(conn)
            await eventually(lambda: progress(conn).get(2) == (5, 0))
            switch(conn, 2)
            await eventually(lambda: models.loaded[DEFAULT_MODEL].is_closed)
            remember(conn, "only in the second")
            await eventually(lambda: progress(conn)[2] == (6, 0))
            conn.execute("SELECT pgrecall.switch_generation(1)")
            await eventually(lambda: progress(conn)[1] == (6, 0))
            assert not models.loaded[DEFAULT_MODEL].is_closed

    asyncio.run(scenario())


def test_what_is_built_waits_for_the_active_one(
    dsn: str, conn: psycopg.Connection[Any], models: Models
) -> None:
    def held() -> list[tuple[Any, ...]]:
        query = "SELECT DISTINCT generation_id FROM pgrecall.jobs WHERE kind = 'embedding' AND failed_at IS NULL AND worker_id IS NOT NULL ORDER BY 1"
        return conn.execute(query).fetchall()

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, poll_seconds=0.1, heartbeat_seconds=0.2)):
            await eventually(lambda: len(workers(conn)) == 1)
            active = models.loaded[DEFAULT_MODEL]
            active.free.clear()
            remember(conn, *sentences(3))
            await asyncio.to_thread(active.entered.wait, PATIENCE)
            begin_next(conn)
            await eventually(lambda: workers(conn)[0][2] == [1, 2])
            # The next model is there, has work, and takes none of it as long as the active one is at it.
            remember(conn, "one more")
            await eventually(lambda: status(conn)[2] == 4)
            assert held() == [(1,)]
            assert models.loaded[NEXT].texts == []
            active.free.set()
            await eventually(lambda: progress(conn) == {1: (4, 0), 2: (4, 0)})

    asyncio.run(scenario())


def test_a_model_that_cannot_be_loaded_stops_nothing(
    dsn: str, conn: psycopg.Connection[Any], models: Models, capfd: pytest.CaptureFixture[str]
) -> None:
    def pauses() -> list[tuple[str, str]]:
        query = "SELECT p ->> 'model', p ->> 'cause' FROM pgrecall.workers, jsonb_array_elements(pauses) p"
        return conn.execute(query).fetchall()

    models.missing.add(NEXT)
    remember(conn, *sentences(3))
    begin_next(conn)

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, heartbeat_seconds=0.3)):
            await eventually(lambda: progress(conn)[1] == (3, 0))
            await eventually(lambda: pauses() == [(NEXT, "not_loaded")])
            assert workers(conn)[0][2] == [1]
            models.missing.clear()
            await eventually(lambda: progress(conn)[2] == (3, 0))
            await eventually(lambda: pauses() == [])

    asyncio.run(scenario())
    said = [json.loads(line) for line in capfd.readouterr().err.splitlines()]
    told = [line for line in said if line["event"] == "a model cannot be loaded"]
    assert told
    assert {(line["model"], line["error"], line["hint"]) for line in told} == {
        (NEXT, f"{NEXT} is missing", "Bring it.")
    }


def test_the_next_generation_is_built_while_the_active_model_is_missing(
    dsn: str, conn: psycopg.Connection[Any], models: Models
) -> None:
    models.missing.add(DEFAULT_MODEL)
    remember(conn, *sentences(3))
    begin_next(conn)

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, heartbeat_seconds=0.3)):
            await eventually(lambda: progress(conn) == {1: (0, 3), 2: (3, 0)})
            models.missing.clear()
            await eventually(lambda: progress(conn)[1] == (3, 0))

    asyncio.run(scenario())


def test_no_model_at_all_is_refused(dsn: str, conn: psycopg.Connection[Any], models: Models) -> None:
    models.missing |= {DEFAULT_MODEL, NEXT}
    begin_next(conn)
    with pytest.raises(EmbeddingUnavailable, match=DEFAULT_MODEL):
        asyncio.run(make_daemon(dsn, models).run())
    assert workers(conn) == []


def test_a_drain_fills_every_generation(dsn: str, conn: psycopg.Connection[Any], models: Models) -> None:
    remember(conn, *sentences(30))
    begin_next(conn)
    asyncio.run(make_daemon(dsn, models, drain=True).run())
    assert progress(conn) == {1: (30, 0), 2: (30, 0)}


def test_a_drain_says_what_it_could_not_load(dsn: str, conn: psycopg.Connection[Any], models: Models) -> None:
    models.missing.add(NEXT)
    remember(conn, *sentences(3))
    begin_next(conn)
    with pytest.raises(ExceptionGroup) as failure:
        asyncio.run(make_daemon(dsn, models, drain=True).run())
    assert failure.group_contains(EmbeddingUnavailable, match=NEXT)
    assert progress(conn) == {1: (3, 0), 2: (0, 3)}


def test_another_prompt_is_another_model(dsn: str, conn: psycopg.Connection[Any], models: Models) -> None:
    async def scenario() -> None:
        async with running(make_daemon(dsn, models, heartbeat_seconds=0.2)):
            await eventually(lambda: len(workers(conn)) == 1)
            before = models.loaded[DEFAULT_MODEL]
            conn.execute(
                "SELECT pgrecall.activate_model(%s, 384, document_prompt => 'passage: ')", [DEFAULT_MODEL]
            )
            await eventually(lambda: before.is_closed)
            remember(conn, "by the new one")
            await eventually(lambda: status(conn)[0] == 1)
            assert models.loaded[DEFAULT_MODEL] is not before

    asyncio.run(scenario())


def test_queries_are_answered_by_the_active_model(
    dsn: str, conn: psycopg.Connection[Any], models: Models, capfd: pytest.CaptureFixture[str]
) -> None:
    def answer(query: str) -> list[Any]:
        [(number, embedding, _, error)] = conn.execute(
            "SELECT id, embedding::text, model, error FROM pgrecall.request_query_embedding(%s)", [query]
        ).fetchall()
        assert error is None
        return [number, embedding]

    async def ask(query: str) -> NDArray[np.float32]:
        number, _ = answer(query)
        query_of = "SELECT embedding::text FROM pgrecall.get_query_embedding(%s)"
        await eventually(lambda: bool(conn.execute(query_of, [number]).fetchall()))
        [(text,)] = conn.execute(query_of, [number]).fetchall()
        return np.asarray(json.loads(text), dtype=np.float32)

    remember(conn, *sentences(3))

    async def scenario() -> None:
        async with running(make_daemon(dsn, models, poll_seconds=PATIENCE, heartbeat_seconds=0.5)):
            await eventually(lambda: status(conn)[0] == 3)
            assert await ask(CANARY) @ models.loaded[DEFAULT_MODEL].embed_query(CANARY) > 0.999
            begin_next(conn)
            await eventually(lambda: progress(conn)[2] == (3, 0))
            switch(conn, 2)
            await eventually(lambda: workers(conn)[0][2] == [2])
            assert await ask(CANARY) @ models.loaded[NEXT].embed_query(CANARY) > 0.999

    asyncio.run(scenario())
    assert CANARY not in capfd.readouterr().err
