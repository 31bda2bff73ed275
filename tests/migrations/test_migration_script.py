"""`pgrecall migrate --sql`: the script does what `pgrecall migrate` does, and printing it changes nothing."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import psycopg
import pytest
from typer.testing import CliRunner

from pgrecall import Client, InvalidInput, PgrecallError
from pgrecall.admin.migrate import check, migrate, migration_script
from pgrecall.cli import app
from pgrecall.server.binaries import binaries
from support.migrating import schema
from tools.release_sql import generate

if TYPE_CHECKING:
    from collections.abc import Callable


def run_script(dsn: str, script: str) -> None:
    done = subprocess.run(
        [str(binaries() / "psql"), "-X", "-q", "--dbname", dsn],
        input=script, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_connection_that_would_be_migrated_is_refused(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    with psycopg.connect(dsn) as conn, pytest.raises(InvalidInput, match="connection string") as caught:
        migration_script(conn)  # type: ignore[arg-type]
    assert caught.value.hint
    assert check(dsn).revision is None


@pytest.mark.slow
@pytest.mark.pg15
def test_a_new_database(new_database: Callable[..., str]) -> None:
    dsn, other = new_database(), new_database()
    script = migration_script(dsn)
    assert check(dsn).revision is None
    assert "CREATE ROLE" in script
    assert "CREATE ROLE" not in migration_script(dsn, with_roles=False)
    run_script(dsn, script)
    assert check(dsn).current
    migrate(other)
    assert schema(dsn) == schema(other)
    with Client(dsn) as client:
        client.remember("Priya drinks green tea")
        assert [one.content for one in client.recall("tea", embed=False)] == ["Priya drinks green tea"]
    assert not migrate(dsn).changed


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("revision", ["0001", "0003", "0005"])
def test_an_upgrade(new_database: Callable[..., str], revision: str) -> None:
    dsn, other = new_database(), new_database()
    migrate(dsn, revision=revision)
    before = schema(dsn)
    script = migration_script(dsn)
    assert schema(dsn) == before
    run_script(dsn, script)
    assert check(dsn).current
    migrate(other)
    assert schema(dsn) == schema(other)


@pytest.mark.slow
@pytest.mark.pg15
def test_the_release_file(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    run_script(dsn, generate())
    assert check(dsn).current
    assert not migrate(dsn).changed


@pytest.mark.slow
@pytest.mark.pg15
def test_a_lock_is_not_waited_for_in_a_dry_run(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    with psycopg.connect(dsn) as holder:
        holder.execute("UPDATE pgrecall.installation SET bundle_hash = NULL")
        holder.commit()
        holder.execute("LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE")
        with pytest.raises(PgrecallError, match="lock"):
            migration_script(dsn)
    run_script(dsn, migration_script(dsn))


def test_a_downgrade(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    empty = schema(dsn)
    migrate(dsn)
    run_script(dsn, migration_script(dsn, revision="base"))
    assert check(dsn).revision is None
    assert schema(dsn) == empty


def test_the_command(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    done = CliRunner().invoke(app, ["migrate", "--sql", "--dsn", dsn])
    assert done.exit_code == 0
    assert "CREATE OR REPLACE" not in done.stdout
    run_script(dsn, done.stdout)
    assert check(dsn).current
    for wrong in (["--without-roles"], ["--sql", "--check"]):
        assert CliRunner().invoke(app, ["migrate", *wrong, "--dsn", dsn]).exit_code == 2
