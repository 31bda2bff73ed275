"""Generations of embeddings: begun, filled, switched to and back, dropped; which one a recall reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from support.corpus import fill, indexed_afterwards
from support.embedding_queue import ONE, SECOND, begin, build, claim, complete, embed_all, jobs, vector
from support.memories import call, concepts, refused, remember, remember_many, rows, scalar, stored
from support.migrating import MINILM
from support.ranking import NORTH, at, recalled
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

STATES = "SELECT id, state FROM pgrecall.generations ORDER BY id"
NEAR = vector(8, 1.0)


def states(conn: Connection[Any]) -> dict[int, str]:
    return dict(conn.execute(STATES).fetchall())


def second(conn: Connection[Any], number: int) -> str | None:
    value: str | None = scalar(conn, "SELECT embedding_2::text FROM pgrecall.memories WHERE id = %s", number)
    return value


@pytest.fixture
def both(conn: Connection[Any]) -> dict[str, int]:
    """Three memories with embeddings of two generations, which order them in opposite ways."""
    ids = {name: remember(conn, f"memory {name}") for name in ("a", "b", "c")}
    begin(conn)
    for place, number in enumerate(ids.values()):
        conn.execute(
            "UPDATE pgrecall.memories SET embedding = %s, embedding_2 = %s WHERE id = %s",
            (at(0.9 - 0.3 * place), vector(8, 1.0, 2.0 - place), number),
        )
    return ids


def order(conn: Connection[Any], query_vec: str, **settings: object) -> list[int]:
    found = recalled(conn, None, query_vec, settings={"graph_weight": 0, "session_share": 0, **settings})
    return [row["id"] for row in found]


# --- Beginning ---


def test_a_generation_begins_empty_and_under_the_same_rules(conn: Connection[Any]) -> None:
    number, secret = remember(conn), remember(conn, "secret", is_sensitive=True)
    assert call(conn, "pgrecall.add_generation", SECOND, 8, "somewhere", "q: ", "d: ") == 2
    assert states(conn) == {1: "active", 2: "building"}
    # Once more it is the same one.
    assert call(conn, "pgrecall.add_generation", SECOND, 8) == 2
    assert second(conn, number) is None
    for bad in (vector(7, 1.0), vector(9, 1.0)):
        with pytest.raises(psycopg.errors.DataException):
            conn.execute("UPDATE pgrecall.memories SET embedding_2 = %s WHERE id = %s", (bad, number))
    with pytest.raises(psycopg.errors.CheckViolation):
        conn.execute("UPDATE pgrecall.memories SET embedding_2 = %s WHERE id = %s", (NEAR, secret))
    # Embedders are notified once they can find what is missing.
    assert [row[0:2] for row in rows(conn, "pgrecall.embedded_generations")] == [(1, "active")]
    for (statement,) in conn.execute("SELECT pgrecall.generation_statements(2, 'fill')").fetchall():
        conn.execute(statement)
    assert [row[0:2] for row in rows(conn, "pgrecall.embedded_generations")] == [
        (1, "active"),
        (2, "building"),
    ]


@pytest.mark.parametrize(("model", "dimension"), [("third", 8), (SECOND, 16)])
def test_there_is_no_third_before_one_is_dropped(conn: Connection[Any], model: str, dimension: int) -> None:
    begin(conn)
    with refused(conn, "55000"):
        call(conn, "pgrecall.add_generation", model, dimension)
    call(conn, "pgrecall.switch_generation", 2)
    with refused(conn, "55000"):
        call(conn, "pgrecall.add_generation", model, dimension)
    call(conn, "pgrecall.drop_generation", 1)
    assert begin(conn, model, dimension) == 3
    assert states(conn) == {2: "active", 3: "building"}


def test_the_one_before_may_have_had_no_model(conn: Connection[Any]) -> None:
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    begin(conn)
    call(conn, "pgrecall.switch_generation", 2)
    with refused(conn, "55000"):
        call(conn, "pgrecall.add_generation", "third", 8)


@pytest.mark.parametrize("dimension", [0, -1, 4001, None])
def test_a_bad_dimension_is_refused(conn: Connection[Any], dimension: int | None) -> None:
    with refused(conn, "22023"):
        call(conn, "pgrecall.add_generation", SECOND, dimension)


def test_two_wide_embeddings_fit_one_row(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, dim=2000, model="wide")
    with psycopg.connect(dsn, autocommit=True) as conn:
        number = remember(
            conn, " ".join(f"word{place}" for place in range(3000)), tags=["a", "b"], title="t" * 400
        )
        generation = begin(conn, "as wide", 2000)
        for each in (1, generation):
            assert claim(conn, generation=each) == [number]
            wide = str([1.0 + place / 1000 for place in range(2000)])
            assert complete(conn, [number], generation=each, embedding=wide) == 1


def test_statements_come_until_all_is_there(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.add_generation", SECOND, 8)
    assert rows(conn, "pgrecall.generation_statements", 1, "fill") == []
    assert len(rows(conn, "pgrecall.generation_statements", 2, "fill")) == 5
    # What an interrupted build leaves is dropped first.
    conn.execute("CREATE INDEX memories_pending_2_idx ON pgrecall.memories (id)")
    conn.execute(
        "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'pgrecall.memories_pending_2_idx'::regclass"
    )
    build(conn, 2)
    definition = scalar(conn, "SELECT pg_get_indexdef('pgrecall.memories_pending_2_idx'::regclass)")
    assert "embedding_2 IS NULL" in definition
    for stage in ("fill", "search"):
        assert rows(conn, "pgrecall.generation_statements", 2, stage) == []


# --- What changes with a memory ---


@pytest.mark.parametrize("change", [{"content": "new"}, {"is_sensitive": True}, {"title": "new"}])
def test_an_edit_empties_every_generation(
    conn: Connection[Any], both: dict[str, int], change: dict[str, object]
) -> None:
    call(conn, "update_memory", both["a"], **change)
    assert (stored(conn, both["a"])["embedding"], second(conn, both["a"])) == (None, None)
    assert second(conn, both["b"]) is not None
    pending = [] if "is_sensitive" in change else [both["a"]]
    assert (claim(conn), claim(conn, generation=2)) == (pending, pending)


def test_what_is_not_embedded_keeps_every_generation(conn: Connection[Any], both: dict[str, int]) -> None:
    before = stored(conn, both["a"])["embedding"], second(conn, both["a"])
    call(conn, "update_memory", both["a"], tags=["x"], importance=1, category="fact")
    assert (stored(conn, both["a"])["embedding"], second(conn, both["a"])) == before


def test_a_concepts_new_name_empties_every_generation(conn: Connection[Any]) -> None:
    remember(conn, "one", tags=["Goa"])
    begin(conn)
    conn.execute("UPDATE pgrecall.concepts SET embedding = %s, embedding_2 = %s", (NORTH, NEAR))
    query = "SELECT embedding IS NULL, embedding_2 IS NULL FROM pgrecall.concepts"
    conn.execute("UPDATE pgrecall.concepts SET type = 'PLACE'")
    assert conn.execute(query).fetchone() == (False, False)
    conn.execute("UPDATE pgrecall.concepts SET name = 'Panjim'")
    assert conn.execute(query).fetchone() == (True, True)
    assert len(concepts(conn)) == 1


# --- Which one a recall reads ---


def test_a_recall_reads_the_active_one_unless_told(conn: Connection[Any], both: dict[str, int]) -> None:
    a, b, c = both.values()
    assert order(conn, NORTH) == [a, b, c]
    assert order(conn, NEAR, query_model=SECOND) == [c, b, a]
    conn.execute("SELECT set_config('pgrecall.query_model', %s, false)", (SECOND,))
    assert order(conn, NEAR) == [c, b, a]
    # A vector of the other model is not for this one.
    with refused(conn, "22023"):
        order(conn, NORTH, query_model=SECOND)
    conn.execute("SELECT set_config('pgrecall.query_model', '', false)")
    # What is being built is found by its name alone.
    with refused(conn, "22023"):
        order(conn, NEAR)
    with refused(conn, "55000"):
        order(conn, NORTH, query_model="no/such")


@pytest.mark.parametrize("source", ["session", "stored", "profile"])
def test_a_judgement_is_of_the_model_that_a_recall_would_read(
    conn: Connection[Any], both: dict[str, int], source: str
) -> None:
    """Wherever the setting query_model has its value from."""
    if source == "session":
        conn.execute("SELECT set_config('pgrecall.query_model', %s, false)", (SECOND,))
    elif source == "stored":
        call(conn, "pgrecall.set_setting", "query_model", SECOND)
    else:
        call(conn, "pgrecall.set_profile", "old", psycopg.types.json.Jsonb({"query_model": SECOND}))
        conn.execute("SELECT set_config('pgrecall.profile', 'old', false)")
    assert order(conn, NEAR) == list(reversed(both.values()))
    call(conn, "pgrecall.judge", "q", "", NEAR, [both["c"]])
    call(conn, "recall_feedback", "", both["c"], True, NEAR)
    query = """
        SELECT m.name FROM pgrecall.judged_vectors v JOIN pgrecall.embedding_models m ON m.id = v.embedding_model_id
    """
    assert conn.execute(query).fetchall() == [(SECOND,)] * 2
    assert rows(conn, "pgrecall.recall_eval")[0][1] == 1


def test_after_a_switch_those_with_the_old_model_are_answered(
    conn: Connection[Any], both: dict[str, int]
) -> None:
    a, b, c = both.values()
    call(conn, "pgrecall.switch_generation", 2)
    assert order(conn, NEAR) == [c, b, a]
    assert order(conn, NORTH) == [a, b, c]
    assert order(conn, NORTH, query_model=MINILM) == [a, b, c]
    assert rows(conn, "pgrecall.active_model")[0][1:3] == (SECOND, 8)
    call(conn, "pgrecall.drop_generation", 1)
    with refused(conn, "22023"):
        order(conn, NORTH)
    with refused(conn, "55000"):
        order(conn, NORTH, query_model=MINILM)
    assert order(conn, NEAR) == [c, b, a]


def test_explanations_name_the_scores_of_the_chosen_one(conn: Connection[Any], both: dict[str, int]) -> None:
    query = """
        SELECT memory_id, (parts -> 'similarity')::float8 FROM (
            SELECT (x ->> 'id')::bigint AS memory_id, x AS parts
            FROM jsonb_array_elements(to_jsonb(ARRAY(SELECT to_jsonb(e) FROM recall_explain('', %s, settings => %s) e))) x
        ) e
    """
    found = dict(conn.execute(query, (NEAR, psycopg.types.json.Jsonb({"query_model": SECOND}))).fetchall())
    assert found[both["c"]] == pytest.approx(1.0, abs=1e-3)
    assert found[both["a"]] == pytest.approx(1 / 5**0.5, abs=1e-3)


def test_duplicates_and_diversity_go_by_the_chosen_one(conn: Connection[Any], both: dict[str, int]) -> None:
    conn.execute("UPDATE pgrecall.memories SET embedding_2 = %s", (NEAR,))
    assert len(order(conn, NORTH, collapse_duplicates=True)) == 3
    assert len(order(conn, NEAR, collapse_duplicates=True, query_model=SECOND)) == 1
    ids = list(both.values())
    likeness = "SELECT _pgrecall.pairwise_similarity(%s, false, %s)"
    assert scalar(conn, likeness, ids, 2) == pytest.approx([1.0] * 9, abs=1e-3)
    assert min(scalar(conn, likeness, ids, 1)) < 0.96


def test_a_snapshot_keeps_its_generation(conn: Connection[Any], dsn: str, both: dict[str, int]) -> None:
    a, b, c = both.values()
    with psycopg.connect(dsn) as reader:
        reader.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        assert order(reader, NORTH) == [a, b, c]
        call(conn, "pgrecall.switch_generation", 2)
        assert order(reader, NORTH) == [a, b, c]
        assert rows(reader, "pgrecall.active_model")[0][1] == MINILM
        reader.rollback()
        assert order(reader, NEAR) == [c, b, a]


# --- Switching and dropping ---


def test_it_is_not_switched_to_before_it_is_ready(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "one"}, {"content": "two"}])
    call(conn, "pgrecall.add_generation", SECOND, 8)
    for force in (False, True):
        with refused(conn, "55000"):
            call(conn, "pgrecall.switch_generation", 2, force)
    build(conn, 2)
    with refused(conn, "55000"):
        call(conn, "pgrecall.switch_generation", 2)
    embed_all(conn, 2)
    call(conn, "pgrecall.switch_generation", 2)
    assert states(conn) == {1: "retired", 2: "active"}
    assert call(conn, "pgrecall.switch_generation", 2) == ""


def test_by_force_it_is_switched_to_unfilled(conn: Connection[Any]) -> None:
    remember(conn)
    begin(conn)
    call(conn, "pgrecall.switch_generation", 2, True)
    assert states(conn) == {1: "retired", 2: "active"}


def test_what_was_given_up_holds_up_no_switch(conn: Connection[Any]) -> None:
    number = remember(conn)
    begin(conn)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, generation_id, attempts, cause, last_error, namespace_id, failed_at) "
        "SELECT id, 'embedding', 2, 5, '', '', namespace_id, now() FROM pgrecall.memories WHERE id = %s",
        (number,),
    )
    call(conn, "pgrecall.switch_generation", 2)


def test_there_and_back_again(conn: Connection[Any], dsn: str, both: dict[str, int]) -> None:
    a, b, c = both.values()
    with psycopg.connect(dsn, autocommit=True) as listener:
        listener.execute("LISTEN pgrecall_embed")
        call(conn, "pgrecall.switch_generation", 2)
        assert len(list(listener.notifies(timeout=60, stop_after=1))) == 1
    late = remember(conn, "written since")
    assert [row[0] for row in rows(conn, "pgrecall.embedded_generations")] == [2]
    # Whoever has not heard of the switch yet gets nothing for the model of before.
    assert claim(conn, generation=1) == []
    embed_all(conn, 2)
    call(conn, "pgrecall.switch_generation", 1)
    assert order(conn, NORTH) == [a, b, c]
    assert claim(conn) == [late]
    assert states(conn) == {1: "active", 2: "retired"}


def test_dropping(conn: Connection[Any], both: dict[str, int]) -> None:
    for generation, sqlstate in ((1, "55000"), (3, "P0002"), (None, "P0002")):
        with refused(conn, sqlstate):
            call(conn, "pgrecall.drop_generation", generation)
    call(conn, "pgrecall.switch_generation", 2)
    call(conn, "pgrecall.drop_generation", 1)
    columns = """
        SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.oid IN ('pgrecall.memories'::regclass, 'pgrecall.concepts'::regclass)
          AND a.attname LIKE 'embedding%' AND NOT a.attisdropped ORDER BY 1
    """
    assert conn.execute(columns).fetchall() == [("concepts", "embedding_2"), ("memories", "embedding_2")]
    # Everything goes on without the first column.
    number = remember(conn, "after it", tags=["Goa"])
    call(conn, "update_memory", both["a"], content="new")
    with role(conn, "pgrecall_embedder"):
        assert sorted(claim(conn)) == sorted([both["a"], number])
    assert complete(conn, [number], generation=2) == 1
    assert number in order(conn, NEAR)
    assert rows(conn, "recall_status")[0][2:4] == (SECOND, 8)


def test_a_claim_under_way_is_waited_for(conn: Connection[Any], dsn: str, both: dict[str, int]) -> None:
    call(conn, "update_memory", both["a"], content="new")
    with psycopg.connect(dsn) as worker:
        assert claim(worker, generation=2) == [both["a"]]
        conn.execute("SET lock_timeout = '200ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            call(conn, "pgrecall.drop_generation", 2)
        worker.commit()
    call(conn, "pgrecall.drop_generation", 2)
    assert jobs(conn) == []
    assert rows(conn, "pgrecall.claim", ONE, generation=2) == []


# --- Plans, over many rows ---


@pytest.fixture(scope="module")
def large(migrated_database: Callable[[], str]) -> Iterator[Connection[Any]]:
    """8,000 memories of one namespace and 100 of another, with embeddings of two generations."""
    dsn = migrated_database()
    with psycopg.connect(dsn, autocommit=True) as conn:
        fill(conn, {"large": 8000, "small": 100}, tagged=False)
        call(conn, "pgrecall.add_generation", SECOND, 8)
        conn.execute("SET session_replication_role = replica")
        with indexed_afterwards(conn):
            conn.execute(
                "UPDATE pgrecall.memories SET embedding_2 = "
                "ARRAY[1, sin(id), cos(id), sin(id * 7), cos(id * 3), 0, 0, 1]::real[]::halfvec"
            )
        conn.execute("SET session_replication_role = origin")
        build(conn, 2)
        conn.execute("VACUUM ANALYZE pgrecall.memories")
        yield conn


@pytest.mark.parametrize(
    ("generation", "dimension", "index"),
    [(1, 384, "memories_embedding_idx"), (2, 8, "memories_embedding_2_idx")],
)
def test_each_generation_has_its_index(
    large: Connection[Any], generation: int, dimension: int, index: str
) -> None:
    scans = "SELECT pg_stat_get_xact_numscans(%s::regclass)"
    with large.transaction():
        before = scalar(large, scans, f"pgrecall.{index}")
        home = call(large, "pgrecall.namespace_id", "large")
        query_vec = vector(dimension, 1.0, 0.5)
        found = rows(large, "_pgrecall.dense_leg", home, query_vec, None, 20, 100, generation)
        assert len(found) == 20
        assert scalar(large, scans, f"pgrecall.{index}") > before


def test_no_fewer_than_there_are_in_the_second_generation(large: Connection[Any]) -> None:
    options = {"settings": {"query_model": SECOND, "dense_exact_rows": 50, "graph_weight": 0}}
    for namespace, k, count in (("small", 100, 100), ("small", 10, 10), ("large", 50, 50)):
        found = recalled(large, None, NEAR, namespace=namespace, k=k, **options)
        assert len(found) == count
    rare = recalled(large, None, NEAR, namespace="large", k=8, categories=["rare"], **options)
    assert len(rare) == 8
