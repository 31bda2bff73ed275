"""Migrations up: fresh, again, by dimension and model, by alembic's own command line; and what is refused."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall.admin.migrate import MAX_DIMENSION, MigrationReport, check, migrate, roles_script
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch
from support.docs import examples
from support.migrating import (
    BGE_LARGE,
    HEAD,
    MINILM,
    NEXT,
    ROOT,
    SECONDS,
    alembic,
    index_is_valid,
    later_revision,
    run,
    schema,
    vector,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["later_revision"]


# --- Up ---


def test_a_fresh_install(new_database: Callable[..., str], fresh: str) -> None:
    dsn = new_database()
    report = migrate(dsn)
    state = check(dsn)
    assert report == MigrationReport(HEAD, state.expected_hash, changed=True, messages=())
    assert state.current
    assert index_is_valid(dsn)
    assert run(dsn, "SELECT name FROM pgrecall.active_model()") == [(MINILM,)]
    assert run(dsn, "SELECT name FROM pgrecall.namespaces") == [("default",)]
    assert schema(dsn) == fresh


def test_the_second_migration_changes_nothing(new_database: Callable[..., str], fresh: str) -> None:
    dsn = new_database()
    migrate(dsn)
    again = migrate(dsn)
    assert not again.changed
    assert again.messages == ()
    assert schema(dsn) == fresh


def test_a_migration_with_nothing_to_do_waits_for_nobody(dsn: str) -> None:
    """Programs migrate at every start; reinstalling would queue recalls behind a running backup."""
    with ThreadPoolExecutor(1) as pool, psycopg.connect(dsn) as backup:
        backup.execute("LOCK TABLE pgrecall.memories IN ACCESS SHARE MODE")
        assert not pool.submit(migrate, dsn).result(SECONDS).changed


def test_a_function_that_was_dropped_comes_back(dsn: str) -> None:
    run(dsn, "DROP FUNCTION public.forget")
    migrate(dsn)
    assert run(dsn, "SELECT public.forget(1)") == [(False,)]


@pytest.mark.usefixtures("later_revision")
def test_check_says_what_to_run(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    before = schema(dsn)
    assert check(dsn).problems == ("the database is not migrated: run `pgrecall migrate`",)
    assert schema(dsn) == before
    report = migrate(dsn, revision=HEAD)
    assert report.messages == (f"revision {HEAD} is not the newest: no SQL functions are installed",)
    assert check(dsn).problems == (f"revision {HEAD} is behind {NEXT}: run `pgrecall migrate`",)
    migrate(dsn)
    assert check(dsn).problems == ()
    run(dsn, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
    assert check(dsn).problems == (
        "the installed SQL code differs from this package's: run `pgrecall migrate`",
    )
    run(dsn, "UPDATE pgrecall.alembic_version SET version_num = '9999'")
    assert check(dsn).problems == ("revision 9999 is newer than this package: upgrade pgrecall",)
    assert not check(dsn).current


@pytest.mark.parametrize(
    ("dimension", "model", "storage"),
    [(1024, BGE_LARGE, "p"), (1024, None, "p"), (MAX_DIMENSION, "an/own-model", "e"), (1, "tiny", "p")],
)
def test_dimensions(
    new_database: Callable[..., str], dimension: int, model: str | None, storage: str
) -> None:
    dsn = new_database()
    report = migrate(dsn, dim=None if model == BGE_LARGE else dimension, model=model)
    assert run(
        dsn,
        "SELECT format_type(atttypid, atttypmod), attstorage::text FROM pg_attribute "
        "WHERE attrelid = 'pgrecall.memories'::regclass AND attname = 'embedding'",
    ) == [(f"halfvec({dimension})", storage)]
    assert bool(report.messages) == (model is None)
    assert run(dsn, "SELECT name, dimension FROM pgrecall.active_model()") == (
        [] if model is None else [(model, dimension)]
    )
    [(stored,)] = run(dsn, "SELECT remember('a long vector')")
    run(dsn, f"UPDATE pgrecall.memories SET embedding = '{vector(dimension, 1.0)}'")
    found = run(dsn, f"SELECT id, dense_rank FROM recall('', '{vector(dimension, 0.5)}')")
    assert found == [(stored, 1)]
    assert not migrate(dsn).changed


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dim": 0}, "between 1 and 4000, not 0"),
        ({"dim": -1}, "between 1 and 4000, not -1"),
        ({"dim": 4001}, "between 1 and 4000, not 4001"),
        ({"model": "nobody/knows"}, "dimension of model nobody/knows is not known"),
        ({"model": MINILM, "dim": 1024}, "has 384 dimensions, not 1024"),
    ],
)
def test_a_bad_dimension_is_refused(
    new_database: Callable[..., str], options: dict[str, Any], words: str
) -> None:
    dsn = new_database()
    before = schema(dsn)
    with pytest.raises(InvalidInput, match=words) as caught:
        migrate(dsn, **options)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint
    assert schema(dsn) == before


@pytest.mark.parametrize("options", [{"dim": 1024}, {"model": BGE_LARGE}, {"model": "own/model", "dim": 768}])
def test_the_column_keeps_its_dimension(dsn: str, options: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="have 384 dimensions") as caught:
        migrate(dsn, **options)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint
    assert run(dsn, "SELECT name FROM pgrecall.active_model()") == [(MINILM,)]


def test_a_model_that_can_be_cut(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    with pytest.raises(InvalidInput, match="has 1536 dimensions, not 384") as caught:
        migrate(dsn, model="text-embedding-3-small", dim=384)
    assert "1536, 1024, 768, 512, 256" in str(caught.value.hint)
    migrate(dsn, model="text-embedding-3-small", dim=256)
    [stored] = run(dsn, "SELECT name, dimension, provider, query_prompt FROM pgrecall.active_model()")
    assert stored == ("text-embedding-3-small", 256, "openai", "")


def test_another_model_of_the_same_dimension(dsn: str) -> None:
    migrate(dsn, model="intfloat/e5-small-v2")
    migrate(dsn)
    assert run(dsn, "SELECT name, query_prompt FROM pgrecall.active_model()") == [
        ("intfloat/e5-small-v2", "query: ")
    ]
    migrate(dsn, model="some/folder")
    assert run(dsn, "SELECT name, dimension FROM pgrecall.active_model()") == [("some/folder", 384)]


def test_a_foreign_client_encoding_changes_nothing(
    new_database: Callable[..., str], fresh: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dsn = new_database()
    monkeypatch.setenv("PGCLIENTENCODING", "LATIN1")
    migrate(dsn)
    monkeypatch.delenv("PGCLIENTENCODING")
    assert schema(dsn) == fresh


# --- alembic's own command line ---


@pytest.mark.slow
@pytest.mark.pg15
def test_alembic_does_the_same(new_database: Callable[..., str], fresh: str) -> None:
    dsn = new_database()
    before = schema(dsn)
    code, output = alembic("current", dsn=dsn)
    assert code == 0, output
    assert HEAD not in output
    assert schema(dsn) == before
    for arguments in (["upgrade", "head"], ["upgrade", "head"], ["downgrade", "-1"], ["upgrade", "+1"]):
        code, output = alembic(*arguments, dsn=dsn)
        assert code == 0, output
    assert check(dsn).current
    assert schema(dsn) == fresh
    code, output = alembic("current", dsn=dsn)
    assert code == 0
    assert f"{HEAD} (head)" in output
    code, output = alembic("downgrade", "base", dsn=dsn)
    assert code == 0, output
    assert schema(dsn) == before


@pytest.mark.slow
@pytest.mark.pg15
def test_alembic_takes_a_dimension_and_a_url(new_database: Callable[..., str], tmp_path: Path) -> None:
    dsn = new_database()
    url = dsn.replace("postgresql://", "postgresql+psycopg://").replace("%", "%%")
    ini = tmp_path / "alembic.ini"
    ini.write_text(
        f"[alembic]\nscript_location = {ROOT / 'migrations'}\npath_separator = os\nsqlalchemy.url = {url}\n"
    )
    code, output = alembic("-x", "dim=1024", "-x", f"model={BGE_LARGE}", "upgrade", "head", dsn=None, ini=ini)
    assert code == 0, output
    assert run(dsn, "SELECT name, dimension FROM pgrecall.active_model()") == [(BGE_LARGE, 1024)]
    for bad in ("dim=384", "dim=x", "dim=0"):
        code, output = alembic("-x", bad, "upgrade", "head", dsn=dsn)
        assert code != 0
        assert "FAILED" in output
        assert "Traceback" not in output
    assert check(dsn).current


def test_alembic_cannot_write_sql(new_database: Callable[..., str]) -> None:
    code, output = alembic("upgrade", "head", "--sql", dsn=new_database())
    assert code != 0
    assert "not supported" in output


# --- Refusals ---


def test_a_foreign_schema_is_refused(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    run(dsn, "CREATE SCHEMA pgrecall")
    run(dsn, "CREATE TABLE pgrecall.memories (mine text)")
    before = schema(dsn)
    with pytest.raises(SchemaMismatch) as caught:
        migrate(dsn)
    assert caught.value.sqlstate == "42P06"
    assert caught.value.hint
    assert schema(dsn) == before
    assert not migrate(dsn, revision="base").changed
    assert schema(dsn) == before


@pytest.mark.parametrize("installed", [False, True])
def test_a_foreign_function_is_refused(new_database: Callable[..., str], installed: bool) -> None:
    dsn = new_database()
    if installed:
        migrate(dsn)
    run(dsn, "CREATE FUNCTION public.recall(what text) RETURNS text LANGUAGE sql RETURN what")
    before = schema(dsn)
    with pytest.raises(SchemaMismatch, match=r"recall\(text\)") as caught:
        migrate(dsn)
    assert caught.value.sqlstate == "42723"
    assert caught.value.hint
    assert schema(dsn) == before


def test_another_encoding_is_refused(new_database: Callable[..., str], server_dsn: str) -> None:
    name = str(conninfo_to_dict(new_database())["dbname"])
    run(server_dsn, f'DROP DATABASE "{name}"')
    run(server_dsn, f"CREATE DATABASE \"{name}\" ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    dsn = make_conninfo(server_dsn, dbname=name)
    with pytest.raises(PgrecallError, match="encoding is SQL_ASCII") as caught:
        migrate(dsn)
    assert caught.value.sqlstate == "0A000"
    assert caught.value.hint
    assert run(dsn, "SELECT to_regnamespace('pgrecall') IS NULL") == [(True,)]


def test_a_database_of_a_newer_package_is_refused(dsn: str) -> None:
    run(dsn, "UPDATE pgrecall.alembic_version SET version_num = '9999'")
    before = schema(dsn)
    for revision in ("head", HEAD, "base", "-1"):
        with pytest.raises(SchemaMismatch, match="9999") as caught:
            migrate(dsn, revision=revision)
        assert caught.value.sqlstate == "55000"
        assert caught.value.hint is not None
        assert "upgrade the package" in caught.value.hint
    code, output = alembic("upgrade", "head", dsn=dsn)
    assert code != 0
    assert "upgrade the package" in output
    assert schema(dsn) == before


def test_an_unknown_revision_is_refused(dsn: str) -> None:
    before = schema(dsn)
    for revision in ("nonsense", "-99", "+99"):
        with pytest.raises(InvalidInput, match=re.escape(revision)) as caught:
            migrate(dsn, revision=revision)
        assert caught.value.sqlstate == "22023"
    assert alembic("downgrade", "nonsense", dsn=dsn)[0] != 0
    assert schema(dsn) == before
    assert check(dsn).current


def test_a_role_that_does_not_own_the_database(
    new_database: Callable[..., str], server_dsn: str, template: str
) -> None:
    """The roles and pgvector are there: it needs CREATE on database and schema, and the roles that own functions."""
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    run(server_dsn, "DROP ROLE IF EXISTS pgrecall_test_guest")
    run(server_dsn, "CREATE ROLE pgrecall_test_guest LOGIN")
    try:
        run(dsn, "CREATE EXTENSION vector")
        run(dsn, f'GRANT CREATE ON DATABASE "{name}" TO pgrecall_test_guest')
        run(dsn, "GRANT CREATE ON SCHEMA public TO pgrecall_test_guest")
        guest = make_conninfo(dsn, user="pgrecall_test_guest")
        with pytest.raises(PgrecallError, match="may not transfer functions") as caught:
            migrate(guest)
        assert "`pgrecall migrate --roles-sql pgrecall_test_guest`" in str(caught.value.hint)
        with psycopg.connect(dsn) as admin:
            admin.execute(roles_script("pgrecall_test_guest").encode())
        [message] = migrate(guest).messages
        assert f'ALTER DATABASE "{name}" SET hnsw.ef_search = 100' in message
        assert "owner" in message
        assert check(guest).current
        assert not migrate(guest).changed
        assert run(guest, "SELECT remember('a guest was here') > 0") == [(True,)]
        # As the owner of the database, who is no superuser: pgvector has to be loaded first.
        run(dsn, f'ALTER DATABASE "{name}" OWNER TO pgrecall_test_guest')
        with psycopg.connect(guest, autocommit=True) as conn:
            text = (ROOT / "docs/managed.md").read_text("utf-8")
            [code] = [one.code for one in examples("docs/managed.md", text) if "hnsw.ef_search" in one.code]
            conn.execute(code.replace("DATABASE app", f'DATABASE "{name}"').encode())
        run(dsn, f'ALTER DATABASE "{name}" OWNER TO CURRENT_USER')
        run(dsn, f'GRANT CREATE ON DATABASE "{name}" TO pgrecall_test_guest')
        assert migrate(guest).messages == ()
        migrate(guest, revision="base")
    finally:
        run(dsn, "DROP OWNED BY pgrecall_test_guest")
        run(server_dsn, "DROP ROLE pgrecall_test_guest")


@pytest.mark.slow
@pytest.mark.pg15
def test_pgvector_in_another_schema(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    run(dsn, "CREATE SCHEMA extensions")
    run(dsn, "CREATE EXTENSION vector SCHEMA extensions")
    migrate(dsn)
    assert not migrate(dsn).changed
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET search_path = pg_temp")
        row = conn.execute(
            "SELECT public.remember('the harbour master knows the tides', tags => '{harbour,tides}')"
        ).fetchone()
        assert row is not None
        [stored] = row
        worker = "00000000-0000-0000-0000-000000000001"
        claimed = conn.execute("SELECT * FROM pgrecall.claim(%s)", (worker,)).fetchall()
        landed = conn.execute(
            "SELECT pgrecall.complete(%s, %s, %s, %s)",
            (worker, [claimed[0][0]], [claimed[0][1]], [vector(384, 1.0)]),
        ).fetchone()
        assert landed == (1,)
        found = conn.execute(
            "SELECT id, lexical_rank, dense_rank, similarity FROM public.recall('harbour', %s)",
            (vector(384, 1.0),),
        ).fetchall()
        assert found == [(stored, 1, 1, 1.0)]
        assert conn.execute("SELECT count(*) FROM public.recall_status()").fetchone() == (1,)
        conn.execute("SELECT * FROM pgrecall.health()").fetchall()
        conn.execute("SELECT * FROM pgrecall.recall_plan('harbour', %s)", (vector(384, 1.0),)).fetchall()
        new = conn.execute("SELECT public.supersede(%s, 'the tide table knows')", (stored,)).fetchone()
        assert new is not None
        assert conn.execute("SELECT public.forget(%s)", new).fetchone() == (True,)
    migrate(dsn, revision="base")
    migrate(dsn)
    assert check(dsn).current


def test_pgvector_that_moved_to_another_schema(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    run(dsn, "CREATE SCHEMA extensions")
    run(dsn, "ALTER EXTENSION vector SET SCHEMA extensions")
    migrate(dsn)
    assert run(dsn, f"SELECT count(*) FROM recall('', '{vector(384, 1.0)}')") == [(0,)]
