"""Migrating real databases: up, down, again, at once, interrupted, and where it must refuse."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from pgrecall._environment import LOCK_KEY
from pgrecall.errors import InvalidInput, PgrecallError, SchemaMismatch
from pgrecall.install import MAX_DIMENSION, MigrationReport, check, migrate
from pgrecall.server import binaries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent
HEAD = "0002"
BEFORE_INDEX = "0001"
BGE_LARGE = "BAAI/bge-large-en-v1.5"
MINILM = "sentence-transformers/all-MiniLM-L6-v2"
SECONDS = 60
MIGRATE = "import sys; from pgrecall.install import migrate; migrate(sys.argv[1])"


def run(dsn: str, statement: str) -> list[tuple[Any, ...]]:
    """Run one statement on a connection of its own; return its rows."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        cursor = conn.execute(statement.encode())
        return cursor.fetchall() if cursor.description else []


def schema(dsn: str) -> str:
    """Return everything but data that a dump of the database holds, and the settings of the database."""
    dumped = subprocess.run(
        [binaries() / "pg_dump", "--schema-only", "--dbname", dsn],
        check=True,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    ).stdout
    settings = run(
        dsn,
        "SELECT setconfig FROM pg_db_role_setting s JOIN pg_database d ON d.oid = setdatabase "
        "WHERE datname = current_database()",
    )
    # \restrict and \unrestrict carry a random word.
    return re.sub(r"(?m)^\\(un)?restrict .*\n", "", dumped) + f"-- settings {settings}\n"


def vector(dimension: int, *values: float) -> str:
    return str([*values, *[0.0] * (dimension - len(values))])


def index_is_valid(dsn: str) -> bool:
    rows = run(
        dsn, "SELECT indisvalid FROM pg_index WHERE indexrelid = 'pgrecall.memories_embedding_idx'::regclass"
    )
    return rows == [(True,)]


def wait_for(dsn: str, condition: str) -> None:
    deadline = time.monotonic() + SECONDS
    while run(dsn, f"SELECT {condition}") != [(True,)]:
        assert time.monotonic() < deadline, condition
        time.sleep(0.02)


def installer(dsn: str) -> subprocess.Popen[bytes]:
    """Start a process that migrates."""
    return subprocess.Popen([sys.executable, "-c", MIGRATE, dsn], stderr=subprocess.PIPE)


def alembic(*arguments: str, dsn: str | None, ini: Path = ROOT / "alembic.ini") -> tuple[int, str]:
    environment = {name: value for name, value in os.environ.items() if name != "PGRECALL_DSN"}
    done = subprocess.run(
        [sys.executable, "-m", "alembic", "-c", str(ini), *arguments],
        env=environment if dsn is None else environment | {"PGRECALL_DSN": dsn},
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module")
def fresh(new_database: Callable[..., str]) -> str:
    """The schema of a database that was migrated in one go."""
    dsn = new_database()
    migrate(dsn)
    return schema(dsn)


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


def test_check_says_what_to_run(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    before = schema(dsn)
    assert check(dsn).problems == ("the database is not migrated: run `pgrecall migrate`",)
    assert schema(dsn) == before
    report = migrate(dsn, revision=BEFORE_INDEX)
    assert report.messages == (f"revision {BEFORE_INDEX} is not the newest: no SQL functions are installed",)
    assert check(dsn).problems == (f"revision {BEFORE_INDEX} is behind {HEAD}: run `pgrecall migrate`",)
    migrate(dsn)
    assert check(dsn).problems == ()
    run(dsn, "UPDATE pgrecall.installation SET bundle_hash = 'another'")
    assert check(dsn).problems == ("the installed SQL is not this package's: run `pgrecall migrate`",)
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
    with pytest.raises(InvalidInput, match=r"halfvec\(384\)") as caught:
        migrate(dsn, **options)
    assert caught.value.sqlstate == "22023"
    assert caught.value.hint
    assert run(dsn, "SELECT name FROM pgrecall.active_model()") == [(MINILM,)]


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


# --- Down ---


@pytest.mark.parametrize("pgvector", [None, "public", "extensions"])
def test_downgrade_to_base_leaves_the_database_as_it_was(
    new_database: Callable[..., str], pgvector: str | None
) -> None:
    dsn = new_database()
    run(dsn, f"ALTER DATABASE \"{conninfo_to_dict(dsn)['dbname']}\" SET work_mem = '8MB'")
    if pgvector is not None:
        run(dsn, f"CREATE SCHEMA IF NOT EXISTS {pgvector}")
        run(dsn, f"CREATE EXTENSION vector SCHEMA {pgvector}")
        run(dsn, f"CREATE TABLE own (v {pgvector}.vector(3))")
    before = schema(dsn)
    migrate(dsn)
    run(dsn, "SELECT remember('gone with the schema', tags => '{a,b}')")
    report = migrate(dsn, revision="base")
    assert report == MigrationReport(None, None, changed=True, messages=())
    assert schema(dsn) == before
    assert not migrate(dsn, revision="base").changed
    assert schema(dsn) == before


def test_downgrade_to_base_of_a_database_without_pgrecall(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    before = schema(dsn)
    assert not migrate(dsn, revision="base").changed
    assert schema(dsn) == before


def test_downgrade_leaves_what_others_came_to_use(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    migrate(dsn)
    run(dsn, "CREATE TABLE own (v vector(3))")
    run(dsn, f'ALTER DATABASE "{name}" SET hnsw.ef_search = 77')
    migrate(dsn, revision="base")
    assert run(dsn, "SELECT extname FROM pg_extension WHERE extname = 'vector'") == [("vector",)]
    assert "hnsw.ef_search=77" in schema(dsn)
    assert "hnsw.iterative_scan" not in schema(dsn)


def test_migrate_leaves_the_operators_settings(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    run(dsn, "CREATE EXTENSION vector")
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT '[1]'::vector")
        conn.execute(f'ALTER DATABASE "{name}" SET hnsw.ef_search = 300'.encode())
    before = schema(dsn)
    migrate(dsn)
    assert run(dsn, "SELECT '[1]'::vector")
    assert "hnsw.ef_search=300" in schema(dsn)
    assert "hnsw.iterative_scan=relaxed_order" in schema(dsn)
    migrate(dsn, revision="base")
    assert schema(dsn) == before


def test_downgrade_does_not_take_the_users_views(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn)
    run(dsn, "CREATE VIEW mine AS SELECT id FROM recall('anything')")
    before = schema(dsn)
    with pytest.raises(PgrecallError, match="depend") as caught:
        migrate(dsn, revision="base")
    assert caught.value.sqlstate == "2BP01"
    assert schema(dsn) == before
    assert check(dsn).current


def test_one_step_down_and_up_loses_nothing(new_database: Callable[..., str], fresh: str) -> None:
    dsn = new_database()
    migrate(dsn)
    run(dsn, "SELECT remember('the ferry leaves at nine', tags => '{ferry,morning}')")
    run(dsn, f"UPDATE pgrecall.memories SET embedding = '{vector(384, 1.0)}'")
    report = migrate(dsn, revision="-1")
    assert report.revision == BEFORE_INDEX
    assert run(dsn, "SELECT count(*) FROM pg_proc WHERE pronamespace = 'pgrecall'::regnamespace") == [(0,)]
    assert run(dsn, "SELECT count(*) FROM pg_proc WHERE proname = 'recall'") == [(0,)]
    migrate(dsn)
    assert schema(dsn) == fresh
    found = run(dsn, f"SELECT content, lexical_rank, dense_rank FROM recall('ferry', '{vector(384, 1.0)}')")
    assert found == [("the ferry leaves at nine", 1, 1)]
    assert run(dsn, "SELECT count(*) FROM pgrecall.mentions") == [(2,)]


@pytest.mark.parametrize(
    "path", [[BEFORE_INDEX, "head"], ["head", BEFORE_INDEX, "head"], ["head", "base", "head"]]
)
def test_every_way_leads_to_the_same_schema(
    new_database: Callable[..., str], fresh: str, path: list[str]
) -> None:
    dsn = new_database()
    for revision in path:
        migrate(dsn, revision=revision)
    assert schema(dsn) == fresh
    assert check(dsn).current


# --- Code that an older bundle left behind ---


def test_what_a_fresh_install_does_not_have_is_dropped(new_database: Callable[..., str], fresh: str) -> None:
    dsn = new_database()
    migrate(dsn)
    run(
        dsn,
        """
        CREATE FUNCTION pgrecall.stale(n integer) RETURNS integer LANGUAGE sql RETURN n;
        CREATE VIEW pgrecall.stale_view AS SELECT pgrecall.stale(1) AS n;
        CREATE FUNCTION pgrecall.stale_twice() RETURNS bigint LANGUAGE sql
            RETURN (SELECT sum(n) FROM pgrecall.stale_view);
        CREATE FUNCTION pgrecall.stale_trigger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
        CREATE TRIGGER stale AFTER INSERT ON pgrecall.memories EXECUTE FUNCTION pgrecall.stale_trigger();
        CREATE POLICY stale ON pgrecall.memories USING (pgrecall.stale(id::integer) = 1);
        CREATE FUNCTION public.recollect(id text) RETURNS boolean LANGUAGE sql RETURN true;
        UPDATE pgrecall.installation SET public_functions = public_functions || '{recollect(text)}'::text[];
        GRANT DELETE ON pgrecall.memories TO pgrecall_reader;
        GRANT UPDATE (content) ON pgrecall.memories TO pgrecall_embedder;
        """,
    )
    assert schema(dsn) != fresh
    migrate(dsn)
    assert schema(dsn) == fresh


def test_the_users_view_on_a_stale_function_is_not_taken(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn)
    run(dsn, "CREATE FUNCTION pgrecall.stale() RETURNS integer LANGUAGE sql RETURN 1")
    run(dsn, "CREATE VIEW mine AS SELECT pgrecall.stale()")
    before = schema(dsn)
    with pytest.raises(PgrecallError, match="depend") as caught:
        migrate(dsn)
    assert caught.value.sqlstate == "2BP01"
    assert schema(dsn) == before
    run(dsn, "DROP VIEW mine")
    migrate(dsn)
    assert check(dsn).current


# --- At once, and interrupted ---


@pytest.mark.parametrize("pending", ["everything", "the index only"])
def test_twenty_at_once(new_database: Callable[..., str], fresh: str, pending: str) -> None:
    dsn = new_database()
    if pending == "the index only":
        migrate(dsn)
        run(dsn, "SELECT remember('row ' || n) FROM generate_series(1, 200) n")
        run(dsn, "UPDATE pgrecall.memories SET embedding = array_fill(id::real, ARRAY[384])::vector::halfvec")
        migrate(dsn, revision=BEFORE_INDEX)
    with psycopg.connect(dsn, autocommit=True) as gate:
        gate.execute("SELECT pg_advisory_lock(%s)", (LOCK_KEY,))
        processes = [installer(dsn) for _ in range(20)]
        wait_for(
            dsn,
            "count(*) = 20 FROM pg_stat_activity "
            "WHERE application_name = 'pgrecall-migrate' AND datname = current_database()",
        )
    errors = [process.communicate(timeout=SECONDS)[1].decode() for process in processes]
    assert [process.returncode for process in processes] == [0] * 20, errors
    assert index_is_valid(dsn)
    assert check(dsn).current
    assert schema(dsn) == fresh


def test_threads_of_one_process(new_database: Callable[..., str], fresh: str) -> None:
    targets = [new_database(), new_database()]
    threads = [threading.Thread(target=migrate, args=(target,)) for target in targets * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SECONDS)
    assert [schema(target) == fresh for target in targets] == [True, True]


def test_migrating_under_load_does_not_deadlock(dsn: str) -> None:
    """Clients whose transactions lock settings and memories in either order lose nothing, nor does the installer."""
    settings_first = ["SELECT * FROM recall('load')", "SELECT remember('load', tags => '{load}')"]
    memories_first = ["SELECT count(*) FROM pgrecall.memories", "SELECT * FROM recall('load')"]
    stop = threading.Event()
    errors: list[psycopg.Error] = []

    def work(number: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as conn:
            while not stop.is_set():
                try:
                    with conn.transaction():
                        for statement in memories_first if number % 2 else settings_first:
                            conn.execute(statement.encode())
                except psycopg.Error as error:
                    errors.append(error)
                    return

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(5):
            migrate(dsn)
    finally:
        stop.set()
        for thread in threads:
            thread.join(SECONDS)
    assert errors == []


@pytest.fixture
def half_built(new_database: Callable[..., str]) -> Iterator[tuple[str, psycopg.Connection[Any]]]:
    """A database whose installer was killed while its server process waits in CREATE INDEX CONCURRENTLY.

    The index is there and invalid; the connection holds what the index build waits for.
    """
    dsn = new_database()
    migrate(dsn, revision=BEFORE_INDEX)
    with psycopg.connect(dsn) as blocker:
        blocker.execute("LOCK TABLE pgrecall.memories IN ROW EXCLUSIVE MODE")
        process = installer(dsn)
        wait_for(dsn, "EXISTS (SELECT FROM pg_index WHERE NOT indisvalid)")
        process.kill()
        process.communicate(timeout=SECONDS)
        yield dsn, blocker


def test_a_build_that_died_is_repaired(half_built: tuple[str, psycopg.Connection[Any]], fresh: str) -> None:
    dsn, blocker = half_built
    run(
        dsn,
        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
        "WHERE query LIKE '%CREATE INDEX CONCURRENTLY%' AND pid <> pg_backend_pid()",
    )
    blocker.rollback()
    assert check(dsn).revision == BEFORE_INDEX
    assert not index_is_valid(dsn)
    migrate(dsn)
    assert index_is_valid(dsn)
    assert schema(dsn) == fresh


def test_a_build_that_goes_on_without_its_installer_is_waited_for(
    half_built: tuple[str, psycopg.Connection[Any]], fresh: str
) -> None:
    dsn, blocker = half_built
    process = installer(dsn)
    wait_for(
        dsn,
        "count(*) = 2 FROM pg_stat_activity "
        "WHERE application_name = 'pgrecall-migrate' AND datname = current_database()",
    )
    assert process.poll() is None
    blocker.rollback()
    _, errors = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, errors.decode()
    assert index_is_valid(dsn)
    assert schema(dsn) == fresh


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
    for revision in ("head", HEAD, BEFORE_INDEX, "base", "-1"):
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
    for revision in ("nonsense", "-9", "+9"):
        with pytest.raises(InvalidInput, match=re.escape(revision)) as caught:
            migrate(dsn, revision=revision)
        assert caught.value.sqlstate == "22023"
    assert alembic("downgrade", "nonsense", dsn=dsn)[0] != 0
    assert schema(dsn) == before
    assert check(dsn).current


def test_a_role_that_does_not_own_the_database(
    new_database: Callable[..., str], server_dsn: str, template: str
) -> None:
    """The roles exist, pgvector is a trusted extension: CREATE on database and schema is enough to migrate."""
    dsn = new_database()
    name = conninfo_to_dict(dsn)["dbname"]
    run(server_dsn, "DROP ROLE IF EXISTS pgrecall_test_guest")
    run(server_dsn, "CREATE ROLE pgrecall_test_guest LOGIN")
    try:
        run(dsn, "CREATE EXTENSION vector")
        run(dsn, f'GRANT CREATE ON DATABASE "{name}" TO pgrecall_test_guest')
        run(dsn, "GRANT CREATE ON SCHEMA public TO pgrecall_test_guest")
        guest = make_conninfo(dsn, user="pgrecall_test_guest")
        [message] = migrate(guest).messages
        assert f'ALTER DATABASE "{name}" SET hnsw.ef_search = 100' in message
        assert "owner" in message
        assert check(guest).current
        assert not migrate(guest).changed
        assert run(guest, "SELECT remember('a guest was here') > 0") == [(True,)]
        run(dsn, f'ALTER DATABASE "{name}" SET hnsw.ef_search = 100')
        run(dsn, f'ALTER DATABASE "{name}" SET hnsw.iterative_scan = relaxed_order')
        assert migrate(guest).messages == ()
        migrate(guest, revision="base")
    finally:
        run(dsn, "DROP OWNED BY pgrecall_test_guest")
        run(server_dsn, "DROP ROLE pgrecall_test_guest")


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
    migrate(dsn, revision=BEFORE_INDEX)
    migrate(dsn)
    assert check(dsn).current


def test_pgvector_that_moved_to_another_schema(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn)
    run(dsn, "CREATE SCHEMA extensions")
    run(dsn, "ALTER EXTENSION vector SET SCHEMA extensions")
    migrate(dsn)
    assert run(dsn, f"SELECT count(*) FROM recall('', '{vector(384, 1.0)}')") == [(0,)]
