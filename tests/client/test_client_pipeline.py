"""`Client.on` within `connection.pipeline()` of the application, which sends statements without waiting for answers."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import PipelineStatus, TransactionStatus

from pgrecall import AsyncClient, Client, Conflict, PgrecallError

if TYPE_CHECKING:
    from collections.abc import Iterator

IDLE, WITHIN = TransactionStatus.IDLE, TransactionStatus.INTRANS


@pytest.fixture(params=[True, False], ids=["autocommit", "transaction"])
def app(dsn: str, request: pytest.FixtureRequest) -> Iterator[psycopg.Connection[Any]]:
    """The application's connection, with a table of its own."""
    with psycopg.connect(dsn, autocommit=request.param) as connection:
        connection.execute("CREATE TABLE orders (id integer)")
        connection.commit()
        yield connection


def seen(dsn: str) -> tuple[list[str], int]:
    """The memories, oldest first, and the number of orders that others see."""
    with Client(dsn) as other, psycopg.connect(dsn) as connection:
        found = [one.content for one in other.list(oldest_first=True)]
        return found, int(connection.execute("SELECT count(*) FROM orders").fetchall()[0][0])


def test_calls_are_answered_between_the_statements_of_the_application(
    app: psycopg.Connection[Any], dsn: str
) -> None:
    memory = Client.on(app)
    with app.pipeline():
        counted = app.execute("INSERT INTO orders VALUES (1) RETURNING id")
        id = memory.remember("Priya drinks green tea", external_id="one")
        # The answers to what was sent before are still the application's.
        assert counted.fetchall() == [(1,)]
        calls: list[Any] = [
            lambda: [one.id for one in memory.recall("tea", embed=False)] == [id],
            lambda: [one.id for one in memory.recall("tea", embed=False, settings={"rrf_k": 10})] == [id],
            lambda: len(memory.recall("tea", vector=[1.0] * 384, hnsw_ef_search=77, timeframe="today")) == 1,
            lambda: memory.recall("tea", embed="daemon").notice,
            lambda: memory.update(id, content="Priya drinks black tea"),
            lambda: "black tea" in memory.briefing("tea", embed=False, timeout=60),
            lambda: memory.history(id),
            lambda: memory.learning.learned() == [],
            lambda: memory.erase(id, dry_run=True).counts,
            lambda: memory.count() == 1,
        ]
        for call in calls:
            app.execute("INSERT INTO orders VALUES (1)")
            assert call()
            assert app.info.transaction_status == (IDLE if app.autocommit else WITHIN)
            assert app.info.pipeline_status == PipelineStatus.ON
        if not app.autocommit:
            assert seen(dsn) == ([], 0)
            app.commit()
    assert seen(dsn) == (["Priya drinks black tea"], 1 + len(calls))


def test_a_call_that_fails_leaves_the_pipeline_usable(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app)
    with app.pipeline():
        memory.remember("tea", external_id="one")
        for _ in range(2):
            with pytest.raises(Conflict) as caught:
                memory.remember("coffee", external_id="one")
            assert caught.value.hint
            with pytest.raises(PgrecallError):
                memory.recall("tea", k=100_000, embed=False)
            app.execute("INSERT INTO orders VALUES (1)")
        memory.remember("milk")
        app.execute("INSERT INTO orders VALUES (1)")
        app.commit()
    assert seen(dsn) == (["tea", "milk"], 3)


def test_a_call_that_might_have_met_a_migration_does_too(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as app:
        memory = Client.on(app)
        with app.pipeline():
            assert memory.count() == 0
            app.execute("ALTER FUNCTION count_memories RENAME TO count_later")
            with pytest.raises(PgrecallError):
                memory.count()
            app.execute("ALTER FUNCTION count_later RENAME TO count_memories")
            assert memory.count() == 0


def test_an_error_of_the_application_is_not_said_to_be_ours(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app)
    memory.count()
    with app.pipeline():
        app.execute("SELECT 1 / 0")
        with pytest.raises(PgrecallError, match="the application sent") as caught:
            memory.remember("tea")
        assert isinstance(caught.value.__cause__, psycopg.errors.DivisionByZero)
        assert (caught.value.sqlstate, bool(caught.value.hint)) == ("22012", True)
        if not app.autocommit:
            with pytest.raises(PgrecallError, match="has failed"):
                memory.remember("tea")
            app.rollback()
        memory.remember("milk")
        app.commit()
    assert seen(dsn) == (["milk"], 0)


def test_blocks_of_the_application_decide(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app)
    with app.pipeline():
        with app.transaction():
            app.execute("INSERT INTO orders VALUES (1)")
            memory.remember("kept", external_id="one")
            with app.transaction(force_rollback=True):
                memory.remember("lost")
                app.execute("INSERT INTO orders VALUES (2)")
            with pytest.raises(Conflict):
                memory.remember("other", external_id="one")
            with app.transaction():
                memory.remember("kept too")
        app.commit()
    assert seen(dsn) == (["kept", "kept too"], 1)


def test_an_export_says_where_it_can_run(app: psycopg.Connection[Any]) -> None:
    memory = Client.on(app)
    memory.remember("tea")
    with app.pipeline():
        for export in (memory.transfer.export, memory.transfer.export_memories):
            with pytest.raises(PgrecallError, match="cannot run in a pipeline") as caught:
                next(export())
            assert caught.value.hint
        assert memory.count() == 1
    assert len(list(memory.transfer.export_memories())) == 1


def test_the_asynchronous_client(dsn: str) -> None:
    async def use() -> None:
        async with await psycopg.AsyncConnection.connect(dsn, autocommit=True) as app:
            await app.execute("CREATE TABLE orders (id integer)")
            memory = AsyncClient.on(app)
            async with app.pipeline():
                await app.execute("INSERT INTO orders VALUES (1)")
                await memory.remember("tea", external_id="one")
                with pytest.raises(Conflict):
                    await memory.remember("other", external_id="one")
                await memory.remember("milk")
                await app.execute("SELECT 1 / 0")
                with pytest.raises(PgrecallError, match="the application sent"):
                    await memory.count()
                async with app.transaction(force_rollback=True):
                    await memory.remember("lost")
                with pytest.raises(PgrecallError, match="cannot run in a pipeline"):
                    [line async for line in memory.transfer.export_memories()]
                assert await memory.count() == 2

    asyncio.run(use())
    assert seen(dsn) == (["tea", "milk"], 1)
