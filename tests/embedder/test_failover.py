"""What a daemon outlasts: statements that are cancelled, and a failover that leads to a standby first."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
import structlog

from pgrecall_embedder.connection import Connection
from pgrecall_embedder.retry import RetryPolicy
from support.embedder import Constant, drain, remember, status

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


def _refusing(conn: psycopg.Connection[Any], state: str, when: str) -> None:
    """Make a function that fails in this state under a condition."""
    conn.execute(
        f"""
        CREATE SEQUENCE public.tries;
        CREATE FUNCTION public.refused() RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            PERFORM nextval('public.tries');
            IF {when} THEN
                RAISE SQLSTATE '{state}' USING MESSAGE = 'not now';
            END IF;
            RETURN currval('public.tries');
        END $$;
    """.encode()
    )


def _on_connection(dsn: str, use: Callable[[Connection], Awaitable[None]]) -> int:
    """Use a connection, and return how often it connected."""

    async def used() -> int:
        connection = Connection(dsn, RetryPolicy(asyncio.Event(), None, structlog.get_logger()))
        try:
            await use(connection)
        finally:
            await connection.close()
        return connection.connections

    return asyncio.run(used())


@pytest.mark.parametrize("state", ["57014", "25006"], ids=["cancelled", "standby"])
def test_what_passes_ends_no_daemon(dsn: str, conn: psycopg.Connection[Any], state: str) -> None:
    _refusing(conn, state, "currval('public.tries') <= 2")
    conn.execute("""
        CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
        BEGIN
            PERFORM public.refused();
            RETURN NULL;
        END $$;
        CREATE TRIGGER refuse AFTER UPDATE OF embedding ON pgrecall.memories FOR EACH STATEMENT EXECUTE FUNCTION public.refuse();
    """)
    remember(conn, "tea")
    drain(dsn, Constant())
    assert status(conn)[:2] == (1, 0)
    assert conn.execute("SELECT last_value FROM public.tries").fetchone() == (3,)


def test_a_statement_that_is_cancelled_again_and_again_fails(dsn: str, conn: psycopg.Connection[Any]) -> None:
    _refusing(conn, "57014", "true")

    async def use(connection: Connection) -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            await connection.fetch("SELECT public.refused()")

    assert _on_connection(dsn, use) == 1
    assert conn.execute("SELECT last_value FROM public.tries").fetchone() == (3,)


def test_a_standby_is_left_for_where_the_address_leads_now(dsn: str, conn: psycopg.Connection[Any]) -> None:
    _refusing(conn, "25006", "current_setting('test.is_standby', true) = 'yes'")

    async def use(connection: Connection) -> None:
        await connection.fetch("SELECT set_config('test.is_standby', 'yes', false)")
        assert await connection.fetch("SELECT public.refused()") == [(2,)]

    assert _on_connection(dsn, use) == 2
