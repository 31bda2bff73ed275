"""Which indexes recall uses, and that it never gives fewer rows than there are, over namespaces of very different sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from pgrecall.admin.code import DATABASE_DEFAULTS
from support import pgbouncer
from support.corpus import analyze, fill, vector
from support.plans import LARGE, SIZES, assert_stable, questions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from psycopg import Connection

QUESTION = "word3 word77 word1900 word12"


@pytest.fixture(scope="module")
def restored_dsn(database: Callable[..., AbstractContextManager[str]], template: str) -> Iterator[str]:
    """20,000 embedded memories as in a database just restored: one large namespace, ten small ones."""
    with database(template, DATABASE_DEFAULTS) as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            fill(conn, SIZES, analyzed=False)
        yield dsn


@pytest.fixture(scope="module")
def skewed_dsn(database: Callable[..., AbstractContextManager[str]], restored_dsn: str) -> Iterator[str]:
    """The same after the server has come to analyze it."""
    with database(str(conninfo_to_dict(restored_dsn)["dbname"]), DATABASE_DEFAULTS) as dsn:
        with psycopg.connect(dsn, autocommit=True) as conn:
            analyze(conn)
        yield dsn


@pytest.fixture
def skewed(skewed_dsn: str) -> Iterator[Connection[Any]]:
    """A connection of its own: what a session caches starts empty."""
    with psycopg.connect(skewed_dsn, autocommit=True) as conn:
        yield conn


def hnsw_scans(conn: Connection[Any]) -> int:
    """How often this session has begun to scan the HNSW index, lately: take the difference within a transaction."""
    row = conn.execute(
        "SELECT pg_stat_get_xact_numscans('pgrecall.memories_embedding_idx'::regclass)"
    ).fetchone()
    assert row is not None
    return int(row[0])


def ask(
    conn: Connection[Any], vec: str, k: int = 10, namespace: str = "large", query: str = QUESTION
) -> list[Any]:
    return conn.execute(
        "SELECT id, dense_rank, similarity FROM recall(%s, %s, k => %s, namespace => %s)",
        (query, vec, k, namespace),
        prepare=True,
    ).fetchall()


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan", "force_custom_plan"])
def test_the_large_namespace_uses_hnsw_on_the_first_and_the_hundredth_call(
    skewed: Connection[Any], mode: str
) -> None:
    vec = vector(skewed, 7)
    with skewed.transaction():
        skewed.execute("SELECT set_config('plan_cache_mode', %s, true)", (mode,))
        for call in range(100):
            # k, depth and namespace all vary, as they do for a server with many tenants.
            skewed.execute("SELECT set_config('pgrecall.leg_depth', %s, true)", (str(40 + call % 3 * 10),))
            before = hnsw_scans(skewed)
            assert len(ask(skewed, vec, k=5 + call % 3)) == 5 + call % 3
            assert hnsw_scans(skewed) == before + 1, f"call {call + 1} did not use the index"
            if call % 10 == 0:
                ask(skewed, vec, namespace="small 3")
                assert hnsw_scans(skewed) == before + 1, "a small namespace is searched exactly"


@pytest.mark.parametrize("mode", ["auto", "force_generic_plan", "force_custom_plan"])
def test_a_small_namespace_is_read_from_its_index(skewed: Connection[Any], mode: str) -> None:
    """Its embeddings are on as many pages of the table as it has memories."""
    scans = "SELECT pg_stat_get_xact_numscans('pgrecall.memories_embedding_scan_idx'::regclass)"
    fetched = "SELECT pg_stat_get_xact_tuples_fetched('pgrecall.memories'::regclass)"
    vec = vector(skewed, 7)
    with skewed.transaction():
        skewed.execute("SELECT set_config('plan_cache_mode', %s, true)", (mode,))
        for call in range(20):
            before = skewed.execute(f"SELECT ({scans}), ({fetched})".encode()).fetchone() or (0, 0)
            found = ask(skewed, vec, namespace=f"small {call % 10}", query="")
            after = skewed.execute(f"SELECT ({scans}), ({fetched})".encode()).fetchone() or (0, 0)
            assert len(found) == 10
            assert after[0] == before[0] + 1
            assert after[1] - before[1] < 200


@pytest.mark.parametrize("k", [1, 10, 200])
def test_a_small_namespace_returns_k_rows(skewed: Connection[Any], k: int) -> None:
    skewed.execute("SET pgrecall.graph_weight = 0")  # else it moves some of them up
    rows = ask(skewed, vector(skewed, 7), k=k, namespace="small 3", query="qqq")
    assert len(rows) == k
    assert [row[1] for row in rows] == list(range(1, k + 1))
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


def test_a_large_namespace_returns_k_rows_whatever_the_filter_leaves(skewed: Connection[Any]) -> None:
    vec = vector(skewed, 7)
    for condition, matching in (
        ("categories => ARRAY['rare']", LARGE // 1000),
        ("tags_any => ARRAY['topic 5']", 19),
    ):
        for k in (5, 50):
            rows = skewed.execute(
                f"SELECT id FROM recall('qqq', %s, k => %s, namespace => 'large', {condition})".encode(),
                (vec, k),
            ).fetchall()
            assert len(rows) == min(k, matching)


def test_what_a_filter_leaves_is_found_by_its_own_index(skewed: Connection[Any]) -> None:
    """Not by visiting thousands of entries of the HNSW index."""
    vec = vector(skewed, 7)
    with skewed.transaction():
        for condition in (
            "since => timestamptz '2025-01-01 UTC' + interval '17000 minutes'",
            "tags_any => ARRAY(SELECT 'topic ' || i FROM generate_series(1, 50) i)",
        ):
            before = hnsw_scans(skewed)
            rows = skewed.execute(
                f"SELECT id FROM recall('word1 word2 word3', %s, namespace => 'large', {condition})".encode(),
                (vec,),
            ).fetchall()
            assert len(rows) == 10
            assert hnsw_scans(skewed) == before


@pytest.mark.parametrize(
    "setting", ["hnsw.ef_search = 1", "hnsw.iterative_scan = off", "hnsw.max_scan_tuples = 1"]
)
def test_no_setting_of_the_index_makes_recall_return_too_few(skewed: Connection[Any], setting: str) -> None:
    vec = vector(skewed, 7)
    skewed.execute("SET pgrecall.graph_weight = 0")
    skewed.execute(f"SET {setting}".encode())
    rows = ask(skewed, vec, k=50, query="qqq")
    assert len(rows) == 50
    assert [row[2] for row in rows] == sorted((row[2] for row in rows), reverse=True)


def test_set_local_ef_search_has_its_effect(skewed: Connection[Any]) -> None:
    """More effort finds more of the true neighbours; the database's default finds nearly all."""
    found: dict[str, float] = {}
    for effort in ("50", "400"):
        hits = 0
        for cluster in range(10):
            vec = vector(skewed, cluster)
            exact = skewed.execute(
                "SELECT id FROM _pgrecall.dense_leg(pgrecall.namespace_id('large'), %s, NULL, 50, 1000000)",
                (vec,),
            ).fetchall()
            with skewed.transaction():
                skewed.execute("SELECT set_config('hnsw.ef_search', %s, true)", (effort,))
                before = hnsw_scans(skewed)
                index = skewed.execute(
                    "SELECT id FROM _pgrecall.dense_leg(pgrecall.namespace_id('large'), %s, NULL, 50, 5000)",
                    (vec,),
                ).fetchall()
                assert hnsw_scans(skewed) == before + 1
            hits += len(set(exact) & set(index))
        found[effort] = hits / 500
    assert found["400"] >= found["50"]
    assert found["400"] >= 0.95


def test_a_hub_costs_no_more_than_another_concept(skewed: Connection[Any]) -> None:
    """The graph leg reads a bounded number of pages, though one concept is in every memory."""
    namespace = "SELECT pgrecall.namespace_id('small 1')"
    with skewed.transaction(force_rollback=True):
        (concept,) = skewed.execute(
            f"INSERT INTO pgrecall.concepts (namespace_id, name, key) VALUES (({namespace}), 'hub', 'hub') RETURNING id".encode()
        ).fetchone() or (0,)
        skewed.execute(
            f"INSERT INTO pgrecall.concept_aliases (namespace_id, alias, concept_id, name) SELECT ({namespace}), 'hub', %s, 'hub'".encode(),
            (concept,),
        )
        skewed.execute(
            "INSERT INTO pgrecall.mentions (namespace_id, concept_id, memory_id, alias_id, source) "
            "SELECT a.namespace_id, a.concept_id, m.id, a.id, 'tag' FROM pgrecall.concept_aliases a, pgrecall.memories m "
            "WHERE a.concept_id = %s AND m.namespace_id = pgrecall.namespace_id('large')",
            (concept,),
        )
        rows = skewed.execute(
            "SELECT plan FROM pgrecall.recall_plan('hub word3', namespace => 'small 1')"
        ).fetchall()
        mentions = [row[0] for row in rows if "mentions" in row[0] and "rows=" in row[0]]
        assert mentions
        assert max(float(line.split("rows=")[1].split()[0]) for line in mentions) <= 51


@pytest.mark.parametrize("hops", [1, 3])
def test_the_recursion_of_the_graph_leg_is_not_expected_to_be_dear(
    skewed: Connection[Any], hops: int
) -> None:
    """However many steps: a plan that seems dear is compiled, which takes longer than a hundred walks."""
    seeds = skewed.execute(
        "SELECT array_agg(id) FROM (SELECT id FROM pgrecall.memories LIMIT 5) m"
    ).fetchone()
    assert seeds is not None
    skewed.execute("SET plan_cache_mode = force_generic_plan")
    skewed.execute(
        "PREPARE walk (bigint[], integer) AS SELECT * FROM _pgrecall.graph_walk("
        "1, $1, ARRAY[1, 0.9, 0.8, 0.7, 0.6], NULL, $1, 50, 20, $2, 0.95, 50, 1.4, 0.4)"
    )
    (plan,) = skewed.execute(
        f"EXPLAIN (FORMAT json) EXECUTE walk ('{{{','.join(map(str, seeds[0]))}}}', {hops})".encode()
    ).fetchone() or ([],)
    (limit,) = skewed.execute("SELECT current_setting('jit_above_cost')::double precision").fetchone() or (0,)
    assert 0 < plan[0]["Plan"]["Total Cost"] < limit / 10


def test_recall_plan_shows_three_index_scans(skewed: Connection[Any]) -> None:
    rows = skewed.execute(
        "SELECT plan FROM pgrecall.recall_plan(%s, %s, namespace => 'large')",
        ("word1900 word15000", vector(skewed, 7)),
    ).fetchall()
    plan = "\n".join(row[0] for row in rows)
    assert "Index Scan using postings_term_key" in plan
    assert "Index Scan using memories_embedding_idx" in plan
    assert "using mentions_" in plan
    # What is not posted yet is a short list, or none as here.
    assert "Seq Scan" not in plan.replace("Seq Scan on pending_postings", "")


def test_planning_time_does_not_grow_with_namespaces(skewed: Connection[Any]) -> None:
    """One index serves them all: the plan of a recall touches no more relations with 2,000 namespaces."""
    query = "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid()"
    with skewed.transaction(force_rollback=True):
        assert len(ask(skewed, vector(skewed, 7))) == 10
        (few,) = skewed.execute(query).fetchone() or (0,)
        skewed.execute(
            "INSERT INTO pgrecall.namespaces (name) SELECT 'tenant ' || i FROM generate_series(1, 2000) i"
        )
        assert len(ask(skewed, vector(skewed, 7))) == 10
        (many,) = skewed.execute(query).fetchone() or (0,)
    assert few < 100
    assert many - few < 10, "except what the insertion itself takes"


def test_the_large_namespace_is_not_read_whole_among_thousands_of_small_ones(skewed: Connection[Any]) -> None:
    """A plan that is kept expects a namespace of average size: of a large one it must not read every memory."""
    read = "SELECT seq_tup_read + idx_tup_fetch FROM pg_stat_xact_all_tables WHERE relid = 'pgrecall.memories'::regclass"
    with skewed.transaction(force_rollback=True):
        skewed.execute(
            "INSERT INTO pgrecall.namespaces (name) SELECT 'tenant ' || i FROM generate_series(1, 5000) i"
        )
        skewed.execute(
            "INSERT INTO pgrecall.memories (namespace_id, content, language) "
            "SELECT n.id, 'word3', 'english' FROM pgrecall.namespaces n WHERE n.name LIKE 'tenant %'"
        )
        skewed.execute(
            "ANALYZE pgrecall.memories, pgrecall.namespaces, pgrecall.postings, pgrecall.pending_postings"
        )
        for call in range(12):
            (before,) = skewed.execute(read).fetchone() or (0,)
            assert len(ask(skewed, vector(skewed, call))) == 10
            (after,) = skewed.execute(read).fetchone() or (0,)
            assert after - before < LARGE // 4, f"call {call + 1}"


@pytest.mark.rollback
@pytest.mark.parametrize(
    ("rows", "exact_rows", "depth", "dimension", "expected"),
    [
        (-1, 5000, 50, 384, 5000),
        (20_000, 5000, 50, 384, 5000),
        (1e6, 5000, 50, 384, 30_000),
        (1e6, 5000, 50, 3072, 17_321),
        (1e12, 1, 1000, 384, 10**6),
        (1e6, 0, 50, 384, 0),
    ],
)
def test_a_namespace_is_searched_exactly_where_that_costs_less(
    conn: Connection[Any], rows: float, exact_rows: int, depth: int, dimension: int, expected: int
) -> None:
    """Beside many others: the index covers all namespaces, and a scan has to skip the others' memories."""
    conn.execute("UPDATE pg_class SET reltuples = %s WHERE oid = 'pgrecall.memories'::regclass", (rows,))
    query = "SELECT _pgrecall.dense_exact_limit(%s, %s, %s)"
    assert conn.execute(query, (exact_rows, depth, dimension)).fetchone() == (expected,)


# --- The same with and without statistics, however the server keeps its plans ---


def test_plans_are_stable_with_fresh_statistics(skewed: Connection[Any]) -> None:
    assert_stable(skewed, questions(skewed), rows=LARGE // 6)


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.skipif(pgbouncer.PROGRAM is None, reason="there is no pgbouncer here")
def test_plans_are_stable_behind_a_pooler(skewed: Connection[Any], skewed_dsn: str, public_dir: Path) -> None:
    asked = questions(skewed)
    with (
        pgbouncer.pooled(skewed_dsn, public_dir) as pooled,
        psycopg.connect(pooled, autocommit=True, prepare_threshold=None) as conn,
    ):
        assert_stable(conn, asked, rows=LARGE // 6, prepare=False)


@pytest.mark.slow
@pytest.mark.pg15
def test_plans_are_stable_in_a_database_just_restored(restored_dsn: str) -> None:
    with psycopg.connect(restored_dsn, autocommit=True) as conn:
        # The planner takes a namespace for small, and reads it in each leg rather than the index on tags.
        assert_stable(conn, questions(conn), rows=LARGE // 6, rows_of_a_tag=3 * LARGE)
