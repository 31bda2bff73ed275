"""Query vectors go to the server in pgvector's binary format, wherever pgvector is and whoever is between."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import sql
from psycopg.adapt import PyFormat

from pgrecall import AsyncClient, Client
from pgrecall.admin.migrate import migrate
from pgrecall.arguments import HalfVector, as_vector
from support import pgbouncer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.pg15

DIMENSION = 384
WORKER = "00000000-0000-0000-0000-000000000001"
AXES = [[1.0 if place == axis else 0.0 for place in range(DIMENSION)] for axis in range(3)]


def _fill(conn: psycopg.Connection[Any]) -> list[int]:
    """Store a memory for each axis."""
    for number, _ in enumerate(AXES):
        conn.execute("SELECT public.remember(%s)", [f"memory {number}"])
    claimed = conn.execute("SELECT memory_id, content_hash FROM pgrecall.claim(%s, 3)", [WORKER]).fetchall()
    ids, hashes = zip(*sorted(claimed), strict=True)
    conn.execute(
        "SELECT pgrecall.complete(%s, %s, %s, %s)", [WORKER, list(ids), list(hashes), list(map(str, AXES))]
    )
    return list(ids)


def _nearest(memory: Client, axis: int) -> list[int]:
    found = memory.recall("", vector=AXES[axis], strategy="vector", k=1)
    assert [one.similarity for one in found] == [1.0]
    return [one.id for one in found]


@pytest.mark.parametrize("schema", [None, "public", "extensions", "memory_types"])
def test_wherever_pgvector_is(new_database: Callable[..., str], schema: str | None) -> None:
    dsn = new_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        if schema is not None:
            conn.execute(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'.encode())
            conn.execute(f'CREATE EXTENSION vector SCHEMA "{schema}"'.encode())
        migrate(dsn)
        ids = _fill(conn)
    with Client(dsn) as memory:
        for axis, id in enumerate(ids):
            # Often enough that psycopg prepares the statement.
            assert all(_nearest(memory, axis) == [id] for _ in range(8))
        assert len(memory.timeline("", vector=AXES[0], k=3)) == 3
        assert len(memory.explain("", vector=AXES[0], ids=ids)) == 3


def test_the_asynchronous_client_too(dsn: str, conn: psycopg.Connection[Any]) -> None:
    ids = _fill(conn)

    async def ask() -> list[int]:
        async with AsyncClient(dsn) as memory:
            found = [await memory.recall("", vector=one, strategy="vector", k=1) for one in AXES]
            return [one[0].id for one in found]

    assert asyncio.run(ask()) == ids


@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")
def test_behind_a_pooler(dsn: str, conn: psycopg.Connection[Any], public_dir: Path) -> None:
    ids = _fill(conn)
    with pgbouncer.pooled(dsn, public_dir) as front, Client(front) as memory:
        for _ in range(8):
            for axis, id in enumerate(ids):
                assert _nearest(memory, axis) == [id]


@pytest.mark.parametrize("registers", [False, True], ids=["", "the application registers pgvector's types"])
def test_on_the_applications_connection(dsn: str, conn: psycopg.Connection[Any], registers: bool) -> None:
    from pgvector.psycopg import register_vector

    ids = _fill(conn)
    with psycopg.connect(dsn) as app:
        app.execute("SELECT set_config('search_path', n.nspname || ', public', false) FROM pg_extension e "
                    "JOIN pg_namespace n ON n.oid = e.extnamespace WHERE extname = 'vector'")  # fmt: skip
        app.commit()
        if registers:
            register_vector(app)
        memory = Client.on(app)
        for axis, id in enumerate(ids):
            assert _nearest(memory, axis) == [id]
        for adapters in (app.adapters, psycopg.adapters):
            with pytest.raises(psycopg.ProgrammingError):
                adapters.get_dumper(type("Unknown", (), {}), PyFormat.AUTO)
            assert adapters.get_dumper(HalfVector, PyFormat.AUTO) is adapters.get_dumper(bytes, PyFormat.AUTO)


@pytest.mark.parametrize(
    "values",
    [
        [1, -2, 3],
        [65504.0, -65504.0, 1.0],
        [6e-8, 1e-7, 1.0],
        [0.1, 0.2, 0.30000001],
        [-0.0, 1e-30, 1.0],
        [2049.0, 2051.0, 0.33325195],
    ],
    ids=["integers", "largest", "smallest", "rounded", "vanishing", "to even"],
)
def test_the_server_reads_what_it_would_read_of_the_text(
    conn: psycopg.Connection[Any], values: list[float]
) -> None:
    vector = as_vector(values)
    assert vector.dimension == len(values)
    [(schema,)] = conn.execute(
        "SELECT extnamespace::regnamespace::text FROM pg_extension WHERE extname = 'vector'"
    )
    statement = sql.SQL("SELECT encode({0}.halfvec_send(%s::{0}.halfvec), 'hex')").format(sql.SQL(schema))
    [(sent,)] = conn.execute(statement, [str(values)]).fetchall()
    assert vector.hex() == sent
