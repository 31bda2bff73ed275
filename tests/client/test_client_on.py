"""`Client.on`: a client on the application's own connection, in the application's transaction."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import ClientCursor
from psycopg.pq import TransactionStatus
from psycopg.rows import namedtuple_row, tuple_row

from pgrecall import AsyncClient, Client, Conflict, ConnectionFailed, InvalidInput, PgrecallError
from support.answering import Model, answering

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

IDLE, WITHIN = TransactionStatus.IDLE, TransactionStatus.INTRANS
ON_DEMAND = (
    "pgrecall.k",
    "pgrecall.query_model",
    "hnsw.ef_search",
    "statement_timeout",
    "transaction_read_only",
)


@pytest.fixture
def app(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """The application's connection, not in autocommit mode, with a table of its own."""
    with psycopg.connect(dsn) as connection:
        connection.execute("CREATE TABLE orders (id integer)")
        connection.commit()
        yield connection
        if not connection.closed:
            connection.rollback()


def contents(dsn: str) -> list[str]:
    with Client(dsn) as other:
        return [one.content for one in other.list()]


def orders(dsn: str) -> int:
    with psycopg.connect(dsn) as other:
        return int(other.execute("SELECT count(*) FROM orders").fetchall()[0][0])


def test_a_memory_and_a_row_are_committed_together(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app)
    app.execute("INSERT INTO orders VALUES (1)")
    memory.remember("Priya ordered green tea")
    assert [one.content for one in memory.recall("tea", embed=False)] == ["Priya ordered green tea"]
    assert (contents(dsn), orders(dsn)) == ([], 0)
    app.commit()
    assert (contents(dsn), orders(dsn)) == (["Priya ordered green tea"], 1)


@pytest.mark.parametrize("first", ["memory", "row"])
def test_a_rollback_takes_both(app: psycopg.Connection[Any], dsn: str, first: str) -> None:
    memory = Client.on(app)
    steps: list[Callable[[], object]] = [
        lambda: memory.remember("tea"),
        lambda: app.execute("INSERT INTO orders VALUES (1)"),
    ]
    for step in steps if first == "memory" else reversed(steps):
        step()
    memory.close()
    assert not app.closed
    app.rollback()
    assert (contents(dsn), orders(dsn)) == ([], 0)


def test_a_block_of_the_application_decides(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app)
    with app.transaction():
        memory.remember("kept")
        with app.transaction(force_rollback=True):
            memory.remember_many([{"content": "lost"}, {"content": "lost too"}], batch_size=1)
    assert app.info.transaction_status == IDLE
    assert contents(dsn) == ["kept"]


def test_every_call_leaves_the_transaction_open_and_usable(app: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(app, strict=True)
    id = memory.remember("Priya drinks green tea", external_id="one")
    calls: list[Any] = [
        lambda: memory.recall("tea", embed=False, settings={"rrf_k": 10}, hnsw_ef_search=77),
        lambda: memory.recall("tea", vector=[1.0] * 384, timeframe="last week"),
        lambda: memory.timeline("tea", embed=False),
        lambda: memory.recall_facts("tea", embed=False),
        lambda: memory.explain("tea", embed=False),
        lambda: memory.briefing("tea", embed=False),
        lambda: memory.briefing("tea", embed=False, timeout=0.000001),
        lambda: memory.update(id, content="Priya drinks black tea"),
        lambda: memory.learning.feedback("tea", id, True, embed=False),
        lambda: list(memory.transfer.export_memories(include_sensitive=True)),
        lambda: memory.admin.status(),
        lambda: memory.history(id),
        lambda: memory.remember_messages([{"role": "user", "content": "hello"}], "chat"),
    ]
    for call in calls:
        app.execute("INSERT INTO orders VALUES (1)")  # refused if the transaction were left read-only
        call()
        assert app.info.transaction_status == WITHIN
    for wrong in (
        lambda: memory.remember("other text", external_id="one"),
        lambda: memory.recall("tea", k=100_000, embed=False),
        lambda: memory.recall("tea", vector=[1.0] * 3),
        lambda: memory.remember("x", namespace="nowhere"),
        lambda: memory.update(10**9, content="x"),
    ):
        with pytest.raises(PgrecallError):
            wrong()
        app.execute("INSERT INTO orders VALUES (1)")
    app.commit()
    assert orders(dsn) == len(calls) + 5
    assert "Priya drinks black tea" in contents(dsn)


def test_settings_of_the_session_and_the_transaction_stay(
    app: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_RRF_K", "20")
    app.execute("SET statement_timeout = '50s'")
    app.execute("SET LOCAL pgrecall.k = 3")
    shown = "SELECT name, NULLIF(current_setting(name, true), '') FROM unnest(%s::text[]) name"
    names = [*ON_DEMAND, "pgrecall.rrf_k", "search_path", "timezone"]
    memory = Client.on(app)
    memory.remember("green tea")
    before = app.execute(shown, [names]).fetchall()
    memory.recall("tea", vector=[1.0] * 384, hnsw_ef_search=77, settings={"rrf_k": 10})
    memory.briefing("tea", embed=False, timeout=60)
    memory.timeline("tea", embed=False)
    assert app.execute(shown, [names]).fetchall() == before
    app.commit()
    memory.recall("tea", embed=False)
    app.rollback()
    assert dict(app.execute(shown, [names]).fetchall()) == dict(before) | {"pgrecall.k": None}


def test_what_the_application_has_set_on_the_connection(app: psycopg.Connection[Any]) -> None:
    from pgvector.psycopg import register_vector
    from psycopg.types.string import TextLoader

    register_vector(app)
    for name in ("jsonb", "timestamptz", "int8", "halfvec"):
        app.adapters.register_loader(name, TextLoader)
    app.adapters.register_dumper(str, psycopg.types.string.StrDumperVarchar)
    heard: list[str] = []
    app.add_notice_handler(lambda diag: heard.append(str(diag.message_primary)))
    for factory, cursors in ((tuple_row, ClientCursor), (namedtuple_row, psycopg.RawCursor)):
        app.row_factory, app.cursor_factory = factory, cursors
        memory = Client.on(app)
        id = memory.remember("green tea", metadata={"a": 1}, tags=["x"])
        found = memory.get(id)
        assert found is not None
        assert (found.metadata, found.created_at.year > 2000, found.id) == ({"a": 1}, True, id)
        assert memory.recall("tea", embed=False)[0].metadata == {"a": 1}
        assert len(list(memory.transfer.export_memories())) > 0
        assert (app.row_factory, app.cursor_factory) == (factory, cursors)
        assert app.execute("SELECT 1::bigint").fetchall() == [("1",)]
        app.execute("DO 'BEGIN RAISE NOTICE ''mine''; END'")
        app.rollback()
    assert heard == ["mine", "mine"]


def test_autocommit_commits_each_call(conn: psycopg.Connection[Any], dsn: str) -> None:
    memory = Client.on(conn)
    memory.remember("one")
    memory.recall("one", embed=False, settings={"rrf_k": 10})
    assert conn.info.transaction_status == IDLE
    with conn.transaction(force_rollback=True):
        memory.remember("two")
    assert contents(dsn) == ["one"]


def test_a_daemon_is_asked_only_where_it_can_see_the_question(
    dsn: str, conn: psycopg.Connection[Any]
) -> None:
    model = Model()
    with answering(dsn, model), psycopg.connect(dsn) as app:
        memory = Client.on(app)
        memory.remember("Priya takes the train")
        found = memory.recall("how does she travel, by train?", embed="daemon", embed_timeout=30)
        assert len(found) == 1
        assert "an embedder cannot see a question of an open transaction" in str(found.notice)
        assert app.execute("SELECT count(*) FROM pgrecall.query_embeddings").fetchone() == (0,)
        app.commit()
        assert model.queries == []
        outside = Client.on(conn).recall("how does she travel, by train?", embed="daemon", embed_timeout=30)
        assert outside.notice is None
        assert model.queries == ["how does she travel, by train?"]
        # What was answered before is known within a transaction, too.
        assert memory.recall("how does she travel, by train?", embed="daemon").notice is None
        app.rollback()
    assert model.queries == ["how does she travel, by train?"]


def test_a_question_of_an_open_transaction_holds_up_nobody(dsn: str) -> None:
    with answering(dsn, Model()), psycopg.connect(dsn) as app, Client(dsn) as other:
        Client.on(app).recall("what?", embed="daemon")
        assert other.recall("what?", embed="daemon", embed_timeout=30).notice is None
        app.rollback()


def test_a_transaction_that_has_failed_and_connections_that_are_none(
    app: psycopg.Connection[Any], dsn: str
) -> None:
    memory = Client.on(app)
    with pytest.raises(psycopg.errors.DivisionByZero):
        app.execute("SELECT 1 / 0")
    with pytest.raises(PgrecallError, match="has failed") as caught:
        memory.remember("tea")
    assert caught.value.sqlstate == "25P02"
    app.rollback()
    memory.remember("tea")
    memory.close()
    with pytest.raises(ConnectionFailed, match="client is closed"):
        memory.remember("tea")
    app.close()
    with pytest.raises(ConnectionFailed, match="connection is closed"):
        Client.on(app).remember("tea")
    for wrong in (None, dsn, app.cursor, object()):
        with pytest.raises(InvalidInput, match=r"is not a psycopg\.Connection") as refused:
            Client.on(wrong)  # type: ignore[arg-type]
        assert "driver_connection" in str(refused.value.hint)


def test_the_asynchronous_client(dsn: str) -> None:
    async def use() -> None:
        async with await psycopg.AsyncConnection.connect(dsn) as app:
            with (
                psycopg.connect(dsn) as other,
                pytest.raises(InvalidInput, match=r"is not a psycopg\.AsyncConnection"),
            ):
                AsyncClient.on(other)  # type: ignore[arg-type]
            memory = AsyncClient.on(app)
            await memory.remember("lost", external_id="one")
            await app.rollback()
            await memory.remember("kept", external_id="one")
            with pytest.raises(Conflict):
                await memory.remember("other", external_id="one")
            assert await memory.briefing("kept", embed=False, timeout=60)
            assert len([line async for line in memory.transfer.export_memories()]) > 0
            await app.commit()
            async with app.transaction(force_rollback=True):
                await memory.remember("undone")
            assert app.info.transaction_status == IDLE

    asyncio.run(use())
    assert contents(dsn) == ["kept"]


def test_a_session_of_sqlalchemy(dsn: str) -> None:
    from sqlalchemy import create_engine, text
    from sqlalchemy.orm import Session

    engine = create_engine("postgresql+psycopg://", creator=lambda: psycopg.connect(dsn))
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE orders (id integer)"))
    for ending in ("rollback", "commit"):
        with Session(engine) as session:
            driver = session.connection().connection.driver_connection
            assert isinstance(driver, psycopg.Connection)
            Client.on(driver).remember(f"to {ending}")
            session.execute(text("INSERT INTO orders VALUES (1)"))
            getattr(session, ending)()
    assert (contents(dsn), orders(dsn)) == (["to commit"], 1)
    engine.dispose()


def test_a_call_that_meets_a_migration_keeps_the_applications_statements(dsn: str) -> None:
    """The client's own connections drop their plans, and make the call again."""
    with psycopg.connect(dsn, autocommit=True) as app:
        memory = Client.on(app)
        assert memory.count() == 0
        app.execute("PREPARE mine AS SELECT 1")
        app.execute("ALTER FUNCTION count_memories RENAME TO count_later")
        with pytest.raises(PgrecallError):
            memory.count()
        app.execute("ALTER FUNCTION count_later RENAME TO count_memories")
        assert memory.count() == 0
        assert app.execute("EXECUTE mine").fetchone() == (1,)


@pytest.mark.parametrize("is_autocommit", [True, False])
def test_what_needs_a_level_of_isolation_leaves_the_applications_alone(dsn: str, is_autocommit: bool) -> None:
    """An erasure and an export have their own level in a transaction of their own only."""
    level = psycopg.IsolationLevel.REPEATABLE_READ
    with psycopg.connect(dsn, autocommit=is_autocommit) as app:
        app.isolation_level = level if is_autocommit else psycopg.IsolationLevel.READ_COMMITTED
        before = app.isolation_level
        memory = Client.on(app)
        id = memory.remember("tea")
        assert next(is_memory for _, is_memory in memory.transfer.export() if is_memory)
        memory.erase(id)
        assert memory.get_many([id]) == []
        assert app.isolation_level == before
        assert app.info.transaction_status == (IDLE if is_autocommit else WITHIN)
        app.rollback()
    assert contents(dsn) == []
