"""recall_plan() shows the plans that the very same recall runs: compared with what auto_explain logs of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.corpus import fill, vector
from support.searches import executed, scans, shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection
    from psycopg.errors import Diagnostic

SIZES = {"large": 2000, "small": 300, "tiny": 3}
QUESTION = "word3 word77 word1900 word12"


@pytest.fixture(scope="module")
def sized_dsn(migrated_database: Callable[[], str]) -> str:
    """A namespace that is searched with the HNSW index, and two that are searched exactly; statistics stay as they are."""
    dsn = migrated_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.set_setting('dense_exact_rows', '1000')")
        for (table,) in conn.execute(
            "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind = 'r' AND c.relnamespace = 'pgrecall'::regnamespace"
        ).fetchall():
            conn.execute(f"ALTER TABLE {table} SET (autovacuum_enabled = off)".encode())
        fill(conn, SIZES)
        conn.execute("SELECT pgrecall.analyze()")
    return dsn


@pytest.fixture
def sized(sized_dsn: str) -> Iterator[Connection[Any]]:
    """A connection of its own: what a session caches starts empty."""
    with psycopg.connect(sized_dsn, autocommit=True) as conn:
        yield conn


CALLS = {
    "no filter": "",
    "tag": "tags_any => '{topic 7}'",
    "all tags": "tags_all => '{topic 7}'",
    "common tag": "tags_any => '{person 1}'",
    "category": "categories => '{rare}'",
    "common category": "categories => '{common}'",
    "time": "since => '2025-01-01 12:00+00', until => '2025-01-01 15:00+00'",
    "timeframe": "timeframe => '[2025-01-02, 2025-01-03)'",
    "as of": "as_of => now()",
    "superseded": "include_superseded => true",
    "metadata": """metadata_where => '{"colour": "red"}'""",
    "no vector": "query_vec => NULL",
    "no words": "query => ''",
    "many": "k => 200",
    "fulltext": "strategy => 'fulltext'",
    "prefilter": "strategy => 'prefilter'",
    "vector": "strategy => 'vector'",
    "rrf": "fusion => 'rrf'",
    "pools": """settings => '{"lexical_pool": 2, "dense_pool": 30, "graph_pool": 3}'""",
    "lookback": """settings => '{"lexical_lookback": "7 days"}'""",
    "ts_rank": """settings => '{"lexical_mode": "ts_rank"}'""",
    "prefix": """settings => '{"lexical_mode": "prefix"}'""",
    "few postings": """settings => '{"bm25_max_postings": 100}'""",
    "no graph": """settings => '{"graph_weight": 0}'""",
    "two hops": """settings => '{"graph_hops": 2, "graph_seeds": 2}'""",
    "no HNSW": """settings => '{"dense_exact_rows": 1000000}'""",
    "only HNSW": """settings => '{"dense_exact_rows": 0}'""",
}


def call_of(options: str) -> str:
    """The arguments of a call; an option replaces the argument of its name."""
    given = {"query": "%(query)s", "query_vec": "%(vec)s", "namespace": "%(namespace)s"}
    arguments = [f"{name} => {value}" for name, value in given.items() if f"{name} =>" not in options]
    return ", ".join([*arguments, options] if options else arguments)


def assert_same(conn: Connection[Any], namespace: str, options: str, role: str = "postgres") -> set[str]:
    """Check that both show the same plans, to the number of rows of each node; return what was scanned."""
    values = {"query": QUESTION, "vec": vector(conn, 7), "namespace": namespace}
    with conn.transaction(force_rollback=True):
        ran = executed(conn, call_of(options), values, role)
        assert scans(ran)
        told = shown(conn, call_of(options), values, role)
        assert scans(told) == scans(ran)
        assert told == ran
    return scans(ran)


@pytest.mark.parametrize("namespace", SIZES)
@pytest.mark.parametrize("options", CALLS.values(), ids=CALLS)
def test_recall_plan_shows_what_the_recall_runs(sized: Connection[Any], namespace: str, options: str) -> None:
    assert_same(sized, namespace, options)


def test_the_calls_take_every_search_of_an_administrator(sized: Connection[Any]) -> None:
    """Else the comparison above would say nothing about one of them."""
    titles = {
        line.split(", ")[1]
        for namespace in SIZES
        for options in CALLS.values()
        for (line,) in sized.execute(
            f"SELECT plan FROM pgrecall.recall_plan({call_of(options)})".encode(),
            {"query": QUESTION, "vec": vector(sized, 7), "namespace": namespace},
        )
        if " leg, " in line
    }
    assert titles == {
        "bm25_postings:", "bm25_scan:", "ts_rank_leg:", "nearest_embeddings:", "scan_embeddings:", "nearest_filtered:",
        "scan_filtered:", "graph_search:",
    }  # fmt: skip


@pytest.mark.parametrize("options", [CALLS["no filter"], CALLS["tag"], CALLS["time"]])
def test_an_administrator_sees_the_plans_of_its_own_recall(sized: Connection[Any], options: str) -> None:
    assert_same(sized, "large", options, role="pgrecall_admin")


@pytest.mark.parametrize("options", [CALLS["no filter"], CALLS["tag"]])
@pytest.mark.parametrize("exact_rows", [0, 1000000])
def test_recall_plan_shows_the_search_of_passages(
    sized: Connection[Any], options: str, exact_rows: int
) -> None:
    with sized.transaction(force_rollback=True):
        sized.execute(
            "INSERT INTO pgrecall.passages (memory_id, generation_id, number, namespace_id, starts_at, ends_at, embedding) "
            "SELECT m.id, 1, 1, m.namespace_id, 0, 10, m.embedding FROM pgrecall.memories m WHERE m.id % 3 = 0"
        )
        sized.execute("SELECT set_config('pgrecall.dense_exact_rows', %s, true)", (str(exact_rows),))
        assert any("passages" in scan for scan in assert_same(sized, "large", options))


def test_recall_plan_shows_the_statements_under_the_sessions_settings(sized: Connection[Any]) -> None:
    sized.execute("SET enable_hashjoin = off")
    sized.execute("SET pgrecall.leg_depth = 20")
    assert_same(sized, "large", "")


def test_recall_plan_takes_every_argument_of_recall(sized: Connection[Any]) -> None:
    (recall,), (plan,) = sized.execute(
        "SELECT pg_get_function_arguments(p.oid) FROM pg_proc p WHERE p.oid IN ('public.recall'::regproc, 'pgrecall.recall_plan'::regproc)"
    ).fetchall()
    assert plan == recall


def test_recall_plan_leaves_nothing_behind(sized: Connection[Any]) -> None:
    """Nor does what an interrupted call left behind disturb the next one."""
    values = {"query": QUESTION, "vec": vector(sized, 7), "namespace": "large"}
    settings = "SELECT name, setting FROM pg_settings WHERE name NOT LIKE 'transaction%' ORDER BY 1"
    sized.execute(f"SELECT id FROM recall({call_of('')})".encode(), values)
    before = sized.execute(settings).fetchall()
    sized.execute("PREPARE pgrecall_plan AS SELECT 1")
    with sized.transaction():
        sized.execute(f"SELECT * FROM pgrecall.recall_plan({call_of('')})".encode(), values)
        assert sized.execute(settings).fetchall() == before
    assert sized.execute("SELECT name FROM pg_prepared_statements WHERE from_sql").fetchall() == []
    assert sized.execute("SELECT current_setting('pgrecall_plan.arguments', true)").fetchone() in {
        ("",),
        (None,),
    }


def test_no_statement_of_recall_plan_holds_the_query(sized: Connection[Any]) -> None:
    """A statement's text stands in the log after an error in it, such as a time-out."""
    texts: list[str] = []

    def note(told: Diagnostic) -> None:
        """Keep the statement; the plan below it and parameters may hold the query."""
        statement = re.split(r"\(cost|Query Parameters", told.message_primary or "")[0]
        texts.append(f"{statement} {told.context or ''}")

    sized.add_notice_handler(note)
    values = {"query": QUESTION, "vec": vector(sized, 7), "namespace": "large"}
    sized.execute("LOAD 'auto_explain'")
    for name, value in (("min_duration", "0"), ("nested_statements", "on")):
        sized.execute("SELECT set_config('auto_explain.log_' || %s, %s, false)", (name, value))
    sized.execute("SET client_min_messages = log")
    sized.execute(f"SELECT * FROM pgrecall.recall_plan({call_of('')})".encode(), values)
    assert any("EXECUTE pgrecall_plan" in text for text in texts)
    for text in texts:
        assert not any(word in text for word in QUESTION.split()), text
        assert values["vec"][:20] not in text
