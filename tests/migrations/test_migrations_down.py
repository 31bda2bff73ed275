"""Migrations down and up again: what is taken back, what is left alone, what an older bundle left behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgrecall.admin.code import BUILT_FUNCTIONS, STATE_FUNCTIONS
from pgrecall.admin.migrate import MigrationReport, check, migrate
from pgrecall.errors import PgrecallError
from support.migrating import HEAD, later_revision, run, schema, vector

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["later_revision"]

_SWITCHES = [
    f"extract_{word}"
    for word in ("patterns", "keywords", "names", "spacy", "titles", "speakers", "times", "facts")
]


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
    run(dsn, "SELECT remember('gone with the schema', tags => '{ann,bob}')")
    report = migrate(dsn, revision="base")
    assert report == MigrationReport(None, None, changed=True, messages=())
    assert schema(dsn) == before
    assert not migrate(dsn, revision="base").changed
    assert schema(dsn) == before


@pytest.mark.slow
def test_the_indexes_of_searches_are_made_for_the_model_in_use(new_database: Callable[..., str]) -> None:
    """The first column of embeddings may be gone."""
    dsn = new_database()
    migrate(dsn, dim=4, model="former")
    [(number,)] = run(dsn, "SELECT pgrecall.add_generation('later', 8)")
    for stage in ("fill", "search"):
        for (statement,) in run(dsn, f"SELECT pgrecall.generation_statements({number}, '{stage}')"):
            run(dsn, statement)
    run(dsn, f"SELECT pgrecall.switch_generation({number}, true)")
    run(dsn, "SELECT pgrecall.drop_generation(1)")
    query = "SELECT indexname, indexdef FROM pg_indexes WHERE indexname LIKE '%scan_idx' ORDER BY 1"
    before = run(dsn, query)
    assert len(before) == 1
    migrate(dsn, revision="0003")
    assert run(dsn, query) == []
    migrate(dsn)
    assert run(dsn, query) == before
    assert check(dsn).current


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


def test_downgrade_does_not_take_the_users_views(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    run(dsn, "CREATE VIEW mine AS SELECT id FROM recall('anything')")
    before = schema(dsn)
    with pytest.raises(PgrecallError, match="depend") as caught:
        migrate(dsn, revision="base")
    assert caught.value.sqlstate == "2BP01"
    assert schema(dsn) == before
    assert check(dsn).current


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.usefixtures("later_revision")
def test_one_step_down_and_up_loses_nothing(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
    migrate(dsn)
    before = schema(dsn)
    run(dsn, "SELECT remember('the ferry leaves at nine', tags => '{ferry,morning}')")
    run(dsn, f"UPDATE pgrecall.memories SET embedding = '{vector(384, 1.0)}'")
    report = migrate(dsn, revision="-1")
    assert report.revision == HEAD
    # What is left belongs to columns and indexes, as state.
    left = run(
        dsn,
        "SELECT proname FROM pg_proc WHERE pronamespace IN ('pgrecall'::regnamespace, '_pgrecall'::regnamespace) ORDER BY 1",
    )
    assert [name for (name,) in left] == sorted(set(STATE_FUNCTIONS) - set(BUILT_FUNCTIONS))
    assert run(dsn, "SELECT count(*) FROM pg_proc WHERE proname = 'recall'") == [(0,)]
    migrate(dsn)
    assert schema(dsn) == before
    found = run(dsn, f"SELECT content, lexical_rank, dense_rank FROM recall('ferry', '{vector(384, 1.0)}')")
    assert found == [("the ferry leaves at nine", 1, 1)]
    assert run(dsn, "SELECT count(*) FROM pgrecall.mentions") == [(2,)]


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.usefixtures("later_revision")
@pytest.mark.parametrize("path", [[HEAD, "head"], ["head", HEAD, "head"], ["head", "base", "head"]])
def test_every_way_leads_to_the_same_schema(
    new_database: Callable[..., str], migrated_database: Callable[[], str], path: list[str]
) -> None:
    direct = migrated_database()
    migrate(direct)
    dsn = new_database()
    for revision in path:
        migrate(dsn, revision=revision)
    assert schema(dsn) == schema(direct)
    assert check(dsn).current


@pytest.fixture(scope="module")
def of_switches(migrated_database: Callable[[], str]) -> str:
    """Name of a database at the last revision that had the switches."""
    dsn = migrated_database()
    migrate(dsn, revision="0017")
    return str(conninfo_to_dict(dsn)["dbname"])


@pytest.mark.parametrize(
    ("switches", "value"),
    [
        ({}, None),
        ({"extract_names": "on"}, None),
        (
            {"extract_names": "off", "extract_llm": "on"},
            "patterns, keywords, spacy, titles, speakers, times, facts",
        ),
        (
            {"extract_spacy": "off", "extract_facts": "off"},
            "patterns, keywords, names, titles, speakers, times",
        ),
        (dict.fromkeys(_SWITCHES, "off"), "none"),
    ],
)
def test_the_switches_of_extraction_become_a_list_and_come_back(
    new_database: Callable[..., str], of_switches: str, switches: dict[str, str], value: str | None
) -> None:
    dsn = new_database(of_switches)
    for name, switch in switches.items():
        run(dsn, f"INSERT INTO pgrecall.settings (name, value) VALUES ('{name}', '{switch}')")
    migrate(dsn)
    stored = dict(run(dsn, "SELECT name, value FROM pgrecall.settings"))
    assert stored.pop("extract", None) == value
    assert stored == {name: switch for name, switch in switches.items() if name not in _SWITCHES}
    migrate(dsn, revision="0017")
    back = dict(run(dsn, "SELECT name, value FROM pgrecall.settings"))
    assert back == {
        name: switch for name, switch in switches.items() if (name, switch) != ("extract_names", "on")
    }


# --- Code that an older bundle left behind ---


@pytest.mark.slow
@pytest.mark.pg15
def test_what_a_fresh_install_does_not_have_is_dropped(
    migrated_database: Callable[[], str], fresh: str
) -> None:
    dsn = migrated_database()
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


@pytest.mark.slow
@pytest.mark.pg15
def test_the_users_view_on_a_stale_function_is_not_taken(migrated_database: Callable[[], str]) -> None:
    dsn = migrated_database()
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
