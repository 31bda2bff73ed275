"""A migration that fails on a connection of the application leaves it as it was."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from pgrecall import InvalidInput, PgrecallError
from pgrecall.admin import environment
from pgrecall.admin.migrate import check, migrate
from pgrecall.upgrading import LOCK_KEY
from support.migrating import HEAD, NEXT, later_revision

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["later_revision"]

FAILING = f'''
from alembic import op

from pgrecall.admin.migrate import run_sql

revision, down_revision = "{NEXT}", "{HEAD}"


def upgrade() -> None:
    run_sql(op.get_bind(), "CREATE TABLE pgrecall.halfway ()")
    {{body}}
'''
BODIES = {
    "an SQL error": 'run_sql(op.get_bind(), "SELECT 1 / 0")',
    "an error of Python": 'raise RuntimeError("stop")',
    "an interrupt": 'raise KeyboardInterrupt("stop")',
}
# The host's own, other than those of a new session and those of the installer.
OWN = {"search_path": "pg_temp, public", "statement_timeout": "77s", "plpgsql.extra_errors": "all"}


@pytest.fixture
def app(dsn: str) -> Iterator[psycopg.Connection[Any]]:
    """A connection in autocommit with settings of its own."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("DO 'BEGIN END'")
        for name, value in OWN.items():
            conn.execute("SELECT set_config(%s, %s, false)", (name, value))
        yield conn


def check_is_as_before(app: psycopg.Connection[Any], dsn: str) -> None:
    """Whether the application can go on: no transaction, its settings, no lock, and what it writes stays."""
    assert app.info.transaction_status == TransactionStatus.IDLE
    assert {name: app.execute(f"SHOW {name}").fetchall()[0][0] for name in OWN} == OWN
    with psycopg.connect(dsn) as other:
        assert other.execute("SELECT pg_try_advisory_xact_lock(%s)", (LOCK_KEY,)).fetchone() == (True,)
    app.execute("CREATE TABLE public.written_later ()")
    app.close()
    with psycopg.connect(dsn) as other:
        assert other.execute("SELECT to_regclass('public.written_later') IS NOT NULL").fetchone() == (True,)
        assert other.execute("SELECT to_regclass('pgrecall.halfway') IS NULL").fetchone() == (True,)


def test_an_unknown_revision(app: psycopg.Connection[Any], dsn: str) -> None:
    for _ in range(2):
        with pytest.raises(InvalidInput, match="nonsense"):
            migrate(app, revision="nonsense")
    check_is_as_before(app, dsn)


@pytest.mark.parametrize("body", BODIES)
def test_a_revision_that_fails(
    app: psycopg.Connection[Any], dsn: str, later_revision: Path, body: str
) -> None:
    (later_revision / "versions" / "0005_later.py").write_text(FAILING.format(body=BODIES[body]))
    with pytest.raises((PgrecallError, RuntimeError, KeyboardInterrupt), match=r"stop|division by zero"):
        migrate(app)
    check_is_as_before(app, dsn)
    assert check(dsn).revision == HEAD


def test_a_downgrade_that_fails(app: psycopg.Connection[Any], dsn: str) -> None:
    app.execute("CREATE TABLE public.notes (memory bigint REFERENCES pgrecall.memories)")
    with pytest.raises(PgrecallError, match="depend"):
        migrate(app, revision="base")
    check_is_as_before(app, dsn)


@pytest.mark.parametrize("failure", [RuntimeError("stop"), KeyboardInterrupt("stop"), None])
def test_code_that_cannot_be_installed(
    app: psycopg.Connection[Any], dsn: str, monkeypatch: pytest.MonkeyPatch, failure: BaseException | None
) -> None:
    def fail(conn: psycopg.Connection[Any], **_: object) -> None:
        with conn.transaction():
            conn.execute("CREATE TABLE pgrecall.halfway ()")
            if failure is not None:
                raise failure
            conn.execute("SELECT 1 / 0")

    monkeypatch.setattr(environment, "install_code", fail)
    app.execute("UPDATE pgrecall.installation SET bundle_hash = 'another'")
    with pytest.raises((PgrecallError, RuntimeError, KeyboardInterrupt), match=r"stop|division by zero"):
        migrate(app)
    check_is_as_before(app, dsn)


def test_an_asynchronous_connection(dsn: str) -> None:
    async def run() -> None:
        app = await psycopg.AsyncConnection.connect(dsn, autocommit=True)
        with pytest.raises(InvalidInput, match="nonsense"):
            migrate(app, revision="nonsense")
        assert app.info.transaction_status == TransactionStatus.IDLE
        await app.execute("CREATE TABLE public.written_later ()")
        await app.close()

    asyncio.run(run())
    with psycopg.connect(dsn) as other:
        assert other.execute("SELECT to_regclass('public.written_later') IS NOT NULL").fetchone() == (True,)


@pytest.mark.parametrize("is_autocommit", [True, False])
def test_a_transaction_of_the_application_stays(dsn: str, is_autocommit: bool) -> None:
    with psycopg.connect(dsn, autocommit=is_autocommit) as app:
        if is_autocommit:
            app.execute("BEGIN")
        app.execute("CREATE TABLE public.written_before ()")
        with pytest.raises(InvalidInput, match="nonsense"):
            migrate(app, revision="nonsense")
        assert app.info.transaction_status == TransactionStatus.INTRANS
        app.execute("CREATE TABLE public.written_later ()")
        app.execute("COMMIT")
    with psycopg.connect(dsn) as other:
        found = other.execute("SELECT count(*) FROM pg_class WHERE relname LIKE 'written\\_%'").fetchone()
    assert found == (2,)
