"""Behind PgBouncer in transaction mode: every statement may meet another connection of the server."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall import AsyncClient, Client
from pgrecall.dsn import is_pooled, pooler_problem
from pgrecall.errors import PgrecallError
from pgrecall.query.legs import LEGS
from support import pgbouncer
from support.answering import Model, answering, embed_all

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")

LONG = 30.0
DIMENSION = 384


@pytest.fixture
def front(dsn: str, public_dir: Path) -> Iterator[str]:
    """A pooler with two connections to the test's database."""
    with pgbouncer.pooled(dsn, public_dir) as pooled:
        yield pooled


def _seen(connection: psycopg.Connection[Any]) -> bool:
    row = connection.execute("SELECT pg_backend_pid()").fetchone()
    assert row is not None
    return is_pooled(connection, row[0])


def test_a_pooler_is_noticed(front: str, conn: psycopg.Connection[Any]) -> None:
    with psycopg.connect(front, autocommit=True) as pooled:
        assert _seen(pooled)
    assert not _seen(conn)


def test_the_client_works(front: str) -> None:
    with Client(front) as memory:
        old = memory.remember("Ana lives in Bern.", tags=["Ana"])
        new = memory.supersede(old, "Ana lives in Basel.")
        memory.remember_many({"content": f"tea {number}"} for number in range(20))
        assert [found.id for found in memory.recall("Ana", embed=False)] == [new]
        assert memory.briefing("Ana", embed=False, timeout=LONG)
        assert len(memory.timeline("tea", embed=False)) == 20
        assert memory.admin.status().memories == 22


def test_settings_hold_for_their_call_and_no_longer(front: str) -> None:
    with Client(front, pool_max=1) as memory:
        memory.remember("tea")
        settings: list[dict[str, str | float] | None] = [
            {"fusion": "rrf", "rrf_k": 20},
            None,
        ]
        scores = [memory.recall("tea", embed=False, settings=chosen)[0].score for chosen in settings * 3]
    assert scores == [pytest.approx(1 / 21), pytest.approx(1)] * 3


def test_settings_of_the_environment_go_along(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_FUSION", "rrf")
    monkeypatch.setenv("PGRECALL_RRF_K", "20")
    with Client(front) as memory:
        memory.remember("tea")
        assert [memory.recall("tea", embed=False)[0].score for _ in range(4)] == [pytest.approx(1 / 21)] * 4


def test_ef_search_holds_for_its_call(front: str, conn: psycopg.Connection[Any]) -> None:
    name = conn.info.dbname
    conn.execute(f'ALTER DATABASE "{name}" SET enable_seqscan = off'.encode())  # so few rows need no index
    with Client(front, pool_max=1) as memory:
        memory.remember_many({"content": f"tea {number}"} for number in range(400))
        conn.execute("SELECT setseed(0.5)")
        conn.execute(
            "UPDATE pgrecall.memories m SET embedding = (SELECT array_agg(random() - 0.5)"
            " FROM generate_series(1, 384) n WHERE n > -m.id)::halfvec"
        )
        conn.execute("ANALYZE pgrecall.memories")
        exact: dict[str, str | float] = {"dense_exact_rows": 10_000, "leg_depth": 1}
        by_index: dict[str, str | float] = {"dense_exact_rows": 0, "leg_depth": 1}
        kinds: dict[str, tuple[dict[str, str | float], int | None]] = {
            "exact": (exact, None),
            "broad": (by_index, 400),
            "narrow": (by_index, 1),
        }
        missed = dict.fromkeys(kinds, 0)
        for place in range(40):
            vector = [float((place * 7 + at * 13) % 17 - 8) for at in range(DIMENSION)]
            nearest = {
                kind: [
                    found.id
                    for found in memory.recall(
                        "", k=1, vector=vector, settings=settings, hnsw_ef_search=effort, strategy="vector"
                    )
                ]
                for kind, (settings, effort) in kinds.items()
            }
            for kind, found in nearest.items():
                missed[kind] += found != nearest["exact"]
    assert missed["broad"] == 0
    assert missed["narrow"] > 0


def test_many_clients_over_few_connections(front: str) -> None:
    async def work(number: int) -> list[int]:
        async with AsyncClient(front, pool_max=2) as memory:
            await memory.remember(f"tea of client {number}")
            counts = [len(await memory.recall(f"client {number}", embed=False, k=1)) for _ in range(8)]
            await memory.recall("tea", embed=False, settings={"rrf_k": 10})
            return counts

    async def everybody() -> list[list[int]]:
        return await asyncio.gather(*(work(number) for number in range(8)))

    assert asyncio.run(everybody()) == [[1] * 8] * 8


def test_an_embedder_is_asked_through_it(dsn: str, front: str, conn: psycopg.Connection[Any]) -> None:
    model = Model()
    with Client(front) as memory:
        memory.remember("The cat sleeps.")
        embed_all(conn, model)
        with answering(dsn, model):
            result = memory.recall("a pet", embed="daemon", embed_timeout=LONG)
        assert (result.notice, result.legs) == (None, LEGS)
        assert memory.recall("a pet", embed="daemon").notice is None
        assert memory.timeline("a pet", embed="daemon").notice is None
    assert model.queries == ["a pet"]


def test_a_server_is_asked_whether_it_is_read_only_still(
    dsn: str, public_dir: Path, conn: psycopg.Connection[Any]
) -> None:
    """The pooler tells every client what it was told once, also when a standby has been promoted since."""
    change = f'ALTER DATABASE "{conn.info.dbname}" {{}} default_transaction_read_only'
    conn.execute(f"{change.format('SET')} = on".encode())
    with pgbouncer.pooled(dsn, public_dir) as front:
        with Client(front) as memory:
            notice = memory.recall("tea", embed="daemon").notice
        assert str(notice).startswith("a read-only server cannot queue queries")
        conn.execute(change.format("RESET").encode())
        conn.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        for _ in range(3):  # the pooler finds out that they are gone
            with suppress(psycopg.OperationalError, psycopg.InternalError), psycopg.connect(front) as pooled:
                pooled.execute("SELECT")
        with psycopg.connect(front) as pooled:
            assert pooled.info.parameter_status("default_transaction_read_only") == "on"
        with Client(front) as memory:
            notice = memory.recall("tea", embed="daemon").notice
    assert str(notice).startswith("no embedder is alive")


def test_a_pooler_that_is_busy_is_to_blame(front: str) -> None:
    with psycopg.connect(front) as one, psycopg.connect(front) as other, Client(front) as memory:
        for holding in (one, other):
            holding.execute("SELECT")
        with pytest.raises(PgrecallError, match="query_wait_timeout") as caught:
            memory.count()
    assert "A pooler is between" in str(caught.value.hint)


def test_who_finds_no_connection_left_has_no_wrong_name(dsn: str, public_dir: Path) -> None:
    with (
        pgbouncer.pooled(dsn, public_dir, clients=1) as front,
        psycopg.connect(front),
        Client(front) as memory,
        pytest.raises(PgrecallError, match="no more connections") as caught,
    ):
        memory.count()
    assert "max_client_conn" in str(caught.value.hint)
    assert "name" not in str(caught.value.hint)


# -- prepared statements


def test_prepared_statements_are_lost_here(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGRECALL_PREPARE", "on")

    async def work(number: int) -> None:
        async with AsyncClient(front, pool_max=1) as memory:
            for _ in range(20):
                await memory.recall(f"tea {number}", embed=False)

    async def everybody() -> None:
        await asyncio.gather(*(work(number) for number in range(6)))

    # 26000 there is no such statement, 42P05 there is one of the name already.
    with pytest.raises(PgrecallError) as caught:
        asyncio.run(everybody())
    assert caught.value.sqlstate in {"26000", "42P05"}


def test_the_doctor_can_tell(
    dsn: str, front: str, conn: psycopg.Connection[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    with psycopg.connect(front, autocommit=True, prepare_threshold=None) as pooled:
        assert pooler_problem(pooled) is None  # off
        for _ in range(2):
            found = pooler_problem(pooled, prepare=True)
            assert found is not None
            assert "PGRECALL_PREPARE" in found
        monkeypatch.setenv("PGRECALL_PREPARE", "on")
        assert pooler_problem(pooled) == found
        assert pooled.prepare_threshold is None
    assert pooler_problem(conn) is None  # no pooler between
