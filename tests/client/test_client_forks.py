"""Clients that a process inherits by a fork: each process has connections of its own."""

from __future__ import annotations

import asyncio
import os
import select
import traceback
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient, Client, ConnectionFailed, CrossEncoderReranker, languages
from pgrecall.contrib.offline import OfflineClient
from pgrecall.models import EmbeddingModel
from pgrecall.query import embedding, weights
from pgrecall.query.embedding_models import DEFAULT_MODEL
from support.reranking import make_cross_encoder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

CHILDREN = 4
ROUNDS = 15
SECONDS = 90

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")


def in_children(work: Callable[[int], Any], meanwhile: Callable[[], Any]) -> None:
    """Run `work` in forked processes, and `meanwhile` in this one; a process that hangs is a failure."""
    reading: dict[int, int] = {}
    for number in range(CHILDREN):
        end, start = os.pipe()
        child = os.fork()
        if child == 0:
            said = b"ended"
            try:
                work(number)
                said = b""
            except BaseException:  # noqa: BLE001 - the parent shows it
                said = traceback.format_exc().encode()
            finally:
                os.write(start, said[-60_000:])
                os._exit(0)
        os.close(start)
        reading[child] = end
    meanwhile()
    complaints = []
    for child, end in reading.items():
        if not select.select([end], [], [], SECONDS)[0]:
            os.kill(child, 9)
            complaints.append("hangs")
        else:
            complaints.append(os.read(end, 65_536).decode())
        os.close(end)
        os.waitpid(child, 0)
    assert complaints == [""] * CHILDREN, "\n".join(complaints)


def asked(client: Client, name: str) -> None:
    for number in range(ROUNDS):
        text = f"{name} number {number}"
        id = client.remember(text)
        assert [one.content for one in client.get_many([id])] == [text]
        assert text in [one.content for one in client.recall(text, k=100, embed=False)]


def test_a_client_in_four_children(dsn: str) -> None:
    with Client(dsn, pool_max=2) as client:
        asked(client, "before")
        in_children(lambda number: asked(client, f"child{number}"), lambda: asked(client, "parent"))
        asked(client, "after")
        assert client.count() == (CHILDREN + 3) * ROUNDS


def test_a_model_that_the_parent_has_used_answers_in_children(dsn: str) -> None:
    with Client(dsn) as client:
        client.remember("oolong tea")

        def ask(_: object = None) -> None:
            assert [one.content for one in client.recall("oolong tea", embed=True)] == ["oolong tea"]

        ask()
        in_children(ask, ask)


def test_a_client_that_children_close_or_leave(dsn: str) -> None:
    with Client(dsn) as client:
        client.remember("before")

        def leave(number: int) -> None:
            if number % 2:
                client.close()
                return
            with client:
                client.remember(f"child{number}")

        in_children(leave, lambda: asked(client, "parent"))
        asked(client, "after")


def test_a_client_whose_locks_were_held(dsn: str) -> None:
    client = Client(dsn)
    held = client._database
    with held._opening, held._probing:  # as by another thread of the parent
        in_children(lambda number: asked(client, f"child{number}"), lambda: None)
    client.close()


def test_models_whose_locks_were_held(tmp_path: Path) -> None:
    active = EmbeddingModel(
        name=DEFAULT_MODEL, dimension=384, provider="sentence-transformers", query_prompt=""
    )
    embedding.embed_query("oolong tea", active, None)
    languages.load_detector()
    reranker = CrossEncoderReranker(make_cross_encoder(tmp_path))
    scores = reranker.score("what tea", ["green tea"])

    def ask(_: int) -> None:
        weights.check(tmp_path, {})
        assert len(embedding.embed_query("oolong tea", active, None)) == 384
        assert languages.detect_language("This is a sentence in plain English.") == "english"
        assert reranker.score("what tea", ["green tea"], timeout=SECONDS / 2) == pytest.approx(scores)

    encoding = embedding._loaded[DEFAULT_MODEL]._encoding
    with embedding._loading, encoding, languages._loading, weights._checking, reranker._busy:
        in_children(ask, lambda: None)  # as by other threads of the parent
    ask(0)


def test_an_asynchronous_client(dsn: str) -> None:
    client = AsyncClient(dsn)

    async def ask(name: str) -> None:
        for number in range(ROUNDS):
            text = f"{name} number {number}"
            assert [one.content for one in await client.get_many([await client.remember(text)])] == [text]

    async def use() -> None:
        await ask("before")

        def child(number: int) -> None:
            asyncio.events._set_running_loop(None)
            asyncio.run(ask(f"child{number}"))

        in_children(child, lambda: None)
        await ask("after")
        await client.close()

    asyncio.run(use())


def test_a_client_on_a_connection(conn: psycopg.Connection[Any]) -> None:
    memory = Client.on(conn)
    memory.remember("before")

    def refused(number: int) -> None:
        with pytest.raises(ConnectionFailed, match="forked") as caught:
            memory.recall(f"child{number}", embed=False)
        assert "in each process" in str(caught.value.hint)
        memory.close()

    in_children(refused, lambda: memory.remember("meanwhile"))
    assert memory.count() == 2


def test_a_langgraph_store(dsn: str) -> None:
    langgraph = pytest.importorskip("pgrecall.contrib.langgraph")
    with Client(dsn) as client:
        store = langgraph.PgrecallStore(client)

        def use(name: str) -> None:
            for number in range(ROUNDS):
                store.put((name,), str(number), {"text": f"{name} {number}"})
                assert store.get((name,), str(number)).value == {"text": f"{name} {number}"}

        use("before")
        in_children(lambda number: use(f"child{number}"), lambda: use("parent"))
        use("after")


def test_an_offline_copy(dsn: str, tmp_path: Path) -> None:
    with Client(dsn) as client:
        client.remember("Priya drinks tea")
    path = tmp_path / "copy.db"
    with OfflineClient(path, dsn) as copy:
        copy.pull()

        def use(name: str) -> None:
            for number in range(ROUNDS):
                copy.remember(f"{name} number {number}")
                assert copy.recall("tea")[0].content == "Priya drinks tea"

        use("before")
        in_children(lambda number: use(f"child{number}"), lambda: use("parent"))
        in_children(lambda number: copy.push() if number == 0 else use(f"again{number}"), lambda: None)
        copy.push()
    with Client(dsn) as client:
        assert client.count() == 1 + (CHILDREN + 2 + CHILDREN - 1) * ROUNDS
