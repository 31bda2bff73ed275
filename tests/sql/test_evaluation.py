"""judged_recall() and recall_eval(): recall measured in the database on its own judged queries."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from benchmarks.quality.datasets import Query, load_dataset
from benchmarks.quality.metrics import evaluate
from pgrecall.admin.migrate import migrate
from support.corpus import fill, vector
from support.judging import DIMENSION, angle, embed_as, judge, measured, remember_fan
from support.memories import call, contents, refused, remember, remember_many, rows, scalar, share
from support.migrating import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

pytestmark = pytest.mark.rollback

SAMPLE = Path(__file__).resolve().parents[2] / "examples" / "sample"


@pytest.fixture
def fan(conn: Connection[Any]) -> list[int]:
    return remember_fan(conn)


# --- By hand ---


def test_the_figures_by_hand(conn: Connection[Any], fan: list[int]) -> None:
    here = angle(0)
    judge(conn, "second and sixth", [fan[1], fan[5]], query_vec=here, stratum="two")
    judge(conn, "first", [fan[0]], query_vec=here, stratum="one")
    judge(conn, "twenty-first", [fan[20]], query_vec=here, stratum="one")
    judge(conn, "twentieth", [fan[19]], query_vec=here, stratum="one")
    gain = (1 / math.log2(3) + 1 / math.log2(7)) / (1 + 1 / math.log2(3))
    found = measured(conn, k=5)
    assert list(found) == ["one", "two", "overall"]
    assert found["two"] == pytest.approx((1, 1 / 2, gain, 1 / 2, 1))
    # Places 1, 20 and 21: MRR looks at 20, nDCG at 10.
    assert found["one"] == pytest.approx((3, 1 / 3, 1 / 3, (1 + 1 / 20) / 3, 1))
    assert found["overall"] == pytest.approx(
        (4, (1 / 2 + 1) / 4, (gain + 1) / 4, (1 / 2 + 1 + 1 / 20) / 4, 1)
    )
    assert measured(conn, k=21)["one"][1] == 1
    assert measured(conn, k=1)["overall"][1] == pytest.approx(1 / 4)

    by_query = {row[0]: row[1:] for row in rows(conn, "pgrecall.judged_recall", k=5)}
    assert list(by_query) == sorted(by_query)
    assert by_query["second and sixth"] == pytest.approx(("two", 2, 1, 1 / 2, gain, 1 / 2, 1))
    assert by_query["twenty-first"] == ("one", 1, 0, 0, 0, 0, 1)


def test_the_best_possible_ndcg_is_one_however_many_are_relevant(
    conn: Connection[Any], fan: list[int]
) -> None:
    for count in (1, 3, 10, 15):
        judge(conn, "q", list(fan[:count]), query_vec=angle(0))
        assert measured(conn, k=20)["overall"][1:4] == pytest.approx((1, 1, 1))
        assert measured(conn, k=1)["overall"][1] == pytest.approx(1 / count)


def test_excluded_memories_are_dropped_before_ranks_are_counted(
    conn: Connection[Any], fan: list[int]
) -> None:
    judge(conn, "q", [fan[25]], query_vec=angle(0))
    assert measured(conn, k=10)["overall"] == pytest.approx((1, 0, 0, 0, 1))
    # All but the last of those before it: now it is the second, though recall() alone gives it at place 26.
    judge(conn, "q", [fan[25]], query_vec=angle(0), exclude=[*fan[:24], fan[0]])
    assert measured(conn, k=10)["overall"] == pytest.approx((1, 1, 1 / math.log2(3), 1 / 2, 1))
    assert measured(conn, k=1)["overall"][1] == 0


def test_queries_that_find_nothing_count(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    judge(conn, "hit", [number], query="submarine")
    judge(conn, "miss", [number], query="zeppelin")
    assert measured(conn)["overall"] == pytest.approx((2, 1 / 2, 1 / 2, 1 / 2, None))


def test_nothing_judged_is_no_figure(conn: Connection[Any]) -> None:
    assert measured(conn) == {"overall": (0, None, None, None, None)}
    assert rows(conn, "pgrecall.judged_recall") == []


# --- As benchmarks/quality/metrics.py ---


def words_vector(text: str) -> str:
    """An embedding of a kind: how often each word is in it, words of one hash together."""
    counts = np.full(DIMENSION, 0.01)
    for word in text.lower().split():
        counts[sum(map(ord, word)) * 7919 % DIMENSION] += 1
    return str((counts / np.linalg.norm(counts)).tolist())


@pytest.fixture
def sample(conn: Connection[Any]) -> tuple[list[Query], dict[str, int]]:
    """The sample in the database, every third question excluding the first wrong answer; ids by those of the sample."""
    dataset = load_dataset(SAMPLE)
    lines = (SAMPLE / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    fields = [json.loads(line) for line in lines]
    ids = remember_many(
        conn,
        [
            {"content": row["content"], "tags": row["tags"], "is_sensitive": row.get("is_sensitive", False)}
            for row in fields
        ],
    )
    numbers = {memory.id: id for memory, id in zip(dataset.memories, ids, strict=True)}
    for row, id in zip(fields, ids, strict=True):
        if not row.get("is_sensitive"):
            embed_as(conn, id, words_vector(row["content"]))
    names = {id: name for name, id in numbers.items()}
    queries = []
    for place, query in enumerate(dataset.queries):
        exclude: frozenset[str] = frozenset()
        if place % 3 == 0:
            found = (names[id] for id in ranking(conn, query, {}, numbers))
            exclude = frozenset([next(name for name in found if name not in query.relevant)])
        queries.append(Query(query.id, query.text, "default", query.stratum, query.relevant, exclude))
    for query in queries:
        judge(
            conn, query.id, [numbers[name] for name in sorted(query.relevant)], query=query.text,
            query_vec=words_vector(query.text), stratum=query.stratum,
            exclude=[numbers[name] for name in query.exclude],
        )  # fmt: skip
    return queries, numbers


def ranking(
    conn: Connection[Any], query: Query, settings: dict[str, str], numbers: dict[str, int]
) -> list[int]:
    """The ids that recall() gives for a question, as the benchmark asks it."""
    with conn.transaction():
        for name, value in settings.items():
            conn.execute("SELECT set_config(%s, %s, true)", (f"pgrecall.{name}", value))
        found = conn.execute(
            "SELECT id FROM recall(%s, %s, %s)",
            (query.text, words_vector(query.text), 20 + len(query.exclude)),
        ).fetchall()
    excluded = {numbers[name] for name in query.exclude}
    return [id for (id,) in found if id not in excluded]


@pytest.mark.slow
@pytest.mark.pg15
@pytest.mark.parametrize("settings", [{}, {"rrf_k": "5", "graph_weight": "0"}, {"dense_weight": "0"}])
def test_the_figures_are_those_of_the_benchmark(
    conn: Connection[Any], sample: tuple[list[Query], dict[str, int]], settings: dict[str, str]
) -> None:
    queries, numbers = sample
    names = {id: name for name, id in numbers.items()}
    rankings = {query.id: [names[id] for id in ranking(conn, query, settings, numbers)] for query in queries}
    values = evaluate(queries, rankings)
    strata = np.array([query.stratum for query in queries])
    for k in (5, 10, 20):
        with conn.transaction():
            for name, value in settings.items():
                conn.execute("SELECT set_config(%s, %s, true)", (f"pgrecall.{name}", value))
            found = measured(conn, k=k)
        assert set(found) == {*strata, "overall"}
        for stratum, figures in found.items():
            chosen = strata == stratum if stratum != "overall" else np.full(len(queries), True)
            expected = [values[name][chosen].mean() for name in (f"recall@{k}", "ndcg@10", "mrr")]
            assert figures[0] == chosen.sum()
            assert figures[1:4] == pytest.approx(expected, abs=1e-9), (stratum, k)
            assert figures[4] == 1  # a small namespace is searched exactly
    assert 0.1 < found["overall"][1] < 1  # there was something to measure


# --- What the settings in force and the index do ---


def test_set_local_counts(conn: Connection[Any], fan: list[int]) -> None:
    """Words find one memory, the vector another: the weights decide which is first."""
    judge(conn, "q", [fan[29]], query="zeppelin word29", query_vec=angle(0))
    with conn.transaction():
        conn.execute("SET LOCAL pgrecall.dense_weight = 0")
        assert measured(conn)["overall"][3] == 1
    with conn.transaction():
        conn.execute("SET LOCAL pgrecall.lexical_weight = 0")
        assert measured(conn)["overall"][3] == 0
    with conn.transaction():
        conn.execute("SET LOCAL pgrecall.namespace = 'nowhere'")
        with pytest.raises(psycopg.errors.UndefinedObject):
            measured(conn)
    conn.execute("SET pgrecall.rrf_k = 'many'")
    with refused(conn, "22023"):
        measured(conn)


@pytest.fixture(scope="module")
def large(migrated_database: Callable[[], str]) -> Iterator[Connection[Any]]:
    """6,000 memories in a namespace, more than are searched exactly, and judged queries with vectors."""
    dsn = migrated_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        fill(conn, {"large": 6_000}, tagged=False)
        (first,) = conn.execute("SELECT min(id) FROM pgrecall.memories").fetchone() or (0,)
        for cluster in range(8):
            # Far from every cluster: within one, the shortest list may find all that the longest does.
            judge(conn, f"q{cluster}", [first], query_vec=vector(conn, cluster, 6.0), namespace="large")
        yield conn


@pytest.mark.slow
@pytest.mark.pg15
def test_the_overlap_with_the_exact_search_is_measured(large: Connection[Any]) -> None:
    def index_scans() -> int:
        return int(
            scalar(large, "SELECT pg_stat_get_xact_numscans('pgrecall.memories_embedding_idx'::regclass)")
        )

    def leg(vec: str, exact_rows: int) -> set[int]:
        found = large.execute(
            "SELECT id FROM _pgrecall.dense_leg(pgrecall.namespace_id('large'), %s, NULL, 50, %s)",
            (vec, exact_rows),
        )
        return {id for (id,) in found}

    vectors = [vec for (vec,) in large.execute("SELECT query_vec::text FROM pgrecall.judged_vectors")]
    overlaps = {}
    for effort in ("1", "1000"):
        with large.transaction():
            large.execute("SELECT set_config('hnsw.ef_search', %s, true)", (effort,))
            before = index_scans()
            found = measured(large, namespace="large")
            assert index_scans() > before, "there was no index to measure"
            expected = [len(leg(vec, 5_000) & leg(vec, 1_000_000)) / 50 for vec in vectors]
        overlaps[effort] = found["overall"][4]
        assert overlaps[effort] == pytest.approx(np.mean(expected))
    assert overlaps["1"] < overlaps["1000"]
    assert overlaps["1000"] > 0.99
    large.execute("SET pgrecall.dense_exact_rows = 6000")
    assert measured(large, namespace="large")["overall"][4] == 1
    large.execute("RESET pgrecall.dense_exact_rows")


def test_twins_at_the_end_of_the_list_are_no_miss(dsn: str, conn: Connection[Any]) -> None:
    """Which of equally near memories are listed is chance: the index need not choose as the exact search does."""
    ids = remember_many(conn, [{"content": f"word{place}"} for place in range(6)])
    for id in ids:
        embed_as(conn, id, angle(10))
    judge(conn, "q", [ids[0]], query_vec=angle(0))
    conn.execute("SET pgrecall.leg_depth = 3")
    conn.execute("SET pgrecall.dense_exact_rows = 0")
    conn.execute("SET enable_seqscan = off")
    leg = "SELECT id FROM _pgrecall.dense_leg(pgrecall.namespace_id(), %s, NULL, 3, %s)"
    chosen, exact = (set(conn.execute(leg, (angle(0), most)).fetchall()) for most in (0, 1_000))
    assert chosen != exact
    assert measured(conn, k=1)["overall"][4] == 1


def test_memories_without_an_embedding_and_sensitive_ones_are_found_by_words(conn: Connection[Any]) -> None:
    plain = remember(conn, "the ferry leaves at nine")
    secret = remember(conn, "the safe opens with 7-22-31", is_sensitive=True)
    vectored = remember(conn, "the lighthouse is painted red")
    embed_as(conn, vectored, angle(0))
    judge(conn, "plain", [plain], query="ferry", query_vec=angle(1))
    judge(conn, "secret", [secret], query="safe", query_vec=angle(1))
    judge(conn, "vectored", [vectored], query="zeppelin", query_vec=angle(1))
    found = measured(conn, k=2)["overall"]
    assert (found[:2], found[4]) == ((3, 1), 1)
    conn.execute("UPDATE pgrecall.memories SET embedding = NULL")
    assert measured(conn, k=2)["overall"] == pytest.approx((3, 2 / 3, 2 / 3, 2 / 3, None))


def test_what_recall_never_gives_is_not_looked_for(conn: Connection[Any], fan: list[int]) -> None:
    judge(conn, "one left", [fan[0], fan[1]], query_vec=angle(0))
    judge(conn, "none left", [fan[2]], query_vec=angle(0))
    call(conn, "forget", fan[0])
    call(conn, "supersede", fan[2], "something else")
    assert measured(conn)["overall"] == pytest.approx((1, 1, 1, 1, 1))
    assert [row[:4] for row in rows(conn, "pgrecall.judged_recall")] == [("one left", "all", 1, 1)]


def test_it_reads_only(conn: Connection[Any], fan: list[int]) -> None:
    judge(conn, "q", [fan[3]], query="word3", query_vec=angle(0))
    before = contents(conn)
    with conn.transaction():
        conn.execute("SET TRANSACTION READ ONLY")
        assert measured(conn)["overall"][:2] == (1, 1)
        assert len(rows(conn, "pgrecall.judged_recall")) == 1
    assert contents(conn) == before


# --- What is refused ---


@pytest.mark.parametrize("k", [0, -1, 501, None])
def test_k_out_of_range(conn: Connection[Any], k: int | None) -> None:
    with refused(conn, "22023"):
        measured(conn, k=k)


def test_the_largest_k_and_exclude_go_together(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    judge(conn, "q", [number], query="submarine", exclude=list(range(10_000, 10_500)))
    assert measured(conn, k=500)["overall"][:2] == (1, 1)


def test_vectors_of_another_model_are_refused(conn: Connection[Any], fan: list[int]) -> None:
    judge(conn, "q", [fan[0]], query_vec=angle(0))
    judge(conn, "words only", [fan[1]], query="word1")
    conn.execute("UPDATE pgrecall.memories SET embedding = NULL")
    call(conn, "pgrecall.activate_model", "another", DIMENSION)
    with refused(conn, "55000"):
        measured(conn)
    judge(conn, "q", [fan[0]], query="word0")
    assert measured(conn)["overall"][:2] == (2, 1)


# --- Who may ---


def test_reader_measures_writer_judges_embedder_sees_nothing(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    share(conn)
    conn.execute("SET ROLE pgrecall_writer")
    judge(conn, "q", [number], query="submarine")
    judge(conn, "p", [number], query="canary")
    assert call(conn, "pgrecall.unjudge", "p")
    assert measured(conn)["overall"][:2] == (1, 1)
    conn.execute("SET ROLE pgrecall_reader")
    assert measured(conn)["overall"][:2] == (1, 1)
    writing = ("SELECT pgrecall.judge('q', 'x', NULL, '{1}')", "SELECT pgrecall.unjudge('q')",
               "DELETE FROM pgrecall.judged_queries", "DELETE FROM pgrecall.judgements")  # fmt: skip
    reading = ("SELECT * FROM pgrecall.recall_eval()", "SELECT * FROM pgrecall.judged_recall()",
               "SELECT * FROM pgrecall.judged_queries", "SELECT * FROM pgrecall.judgements",
               "SELECT * FROM pgrecall.judged_vectors")  # fmt: skip
    for role, denied in (("pgrecall_reader", writing), ("pgrecall_embedder", (*writing, *reading))):
        conn.execute(f"SET ROLE {role}".encode())
        for query in denied:
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                conn.execute(query.encode())
    conn.execute("RESET ROLE")
    # Not even a grant given by mistake shows it a query.
    conn.execute("GRANT SELECT ON pgrecall.judged_queries, pgrecall.judgements TO pgrecall_embedder")
    conn.execute("SET ROLE pgrecall_embedder")
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_queries") == 0
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judgements") == 0
    conn.execute("SET ROLE pgrecall_admin")
    judge(conn, "r", [number], query="yellow")
    assert measured(conn)["overall"][:2] == (2, 1)


# --- Installed anywhere ---


def test_another_dimension(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    run(dsn, "CREATE SCHEMA extensions")
    run(dsn, "CREATE EXTENSION vector SCHEMA extensions")
    migrate(dsn, dim=3, model="three")
    tables = "SELECT count(*) FROM pg_tables WHERE schemaname = 'pgrecall' AND tablename LIKE 'judge%'"
    assert run(dsn, tables) == [(3,)]
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SET search_path = pg_temp")
        (number,) = conn.execute("SELECT public.remember('a yellow submarine')").fetchone() or (0,)
        conn.execute("SELECT pgrecall.judge('q', 'submarine', '[1,0,0]', %s)", ([number],))
        found = conn.execute("SELECT * FROM pgrecall.recall_eval()").fetchall()
        assert found == [("all", 1, 1, 1, 1, None), ("overall", 1, 1, 1, 1, None)]
        with pytest.raises(psycopg.DataError):
            conn.execute("SELECT pgrecall.judge('r', 'submarine', '[1,0]', %s)", ([number],))
