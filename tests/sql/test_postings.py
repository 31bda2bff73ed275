"""The postings are what search_vector says, whatever was done to the memories, in whatever order."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from support.memories import call, embed, remember, remember_many, rows, scalar, stored
from support.postings import assert_same_as_rebuilt, fold, frequencies, noted, postings, problems

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

# Common words first; the last is a stop word, so that some memories have no words at all.
WORDS = ["tea", "tea", "tea", "milk", "milk", "harbour", "crane", "night", "report", "the"]
NAMESPACES = ("default", "other")
AT_ONCE = 300

ROWS = """
    SELECT coalesce((%(ids)s::bigint[])[i], nextval('pgrecall.memories_id_seq')), n.id, %(prefix)s || i,
           coalesce((SELECT string_agg(w, ' ' ORDER BY j) FROM (
               SELECT j, (%(words)s::text[])[1 + abs(hashint4(i * 31 + j + %(seed)s)) %% cardinality(%(words)s::text[])] AS w
               FROM generate_series(0, abs(hashint4(i + %(seed)s)) %% 9) j) w), 'tea'),
           CASE i %% 4 WHEN 0 THEN ARRAY['milk', 'pier'] ELSE '{}'::text[] END, CASE i %% 5 WHEN 0 THEN 'crane' END,
           'english', ''::bytea, ''::tsvector, CASE WHEN i %% 10 = %(seed)s THEN now() END
    FROM generate_series(1, %(count)s) i
    JOIN pgrecall.namespaces n ON n.name = CASE WHEN %(mixed)s AND i %% 2 = 0 THEN 'other' ELSE %(namespace)s END
"""
COLUMNS = "id, namespace_id, external_id, content, tags, category, language, content_hash, search_vector, deleted_at"

# What a transaction does, step by step. `place` picks memories among those there are.


def chosen(conn: Connection[Any], place: int, count: int = 1) -> list[int]:
    """Ids of up to `count` memories, from a place on."""
    query = """
        SELECT id FROM pgrecall.memories
        ORDER BY id OFFSET %s %% (SELECT greatest(count(*), 1) FROM pgrecall.memories) LIMIT %s
    """
    return [number for (number,) in conn.execute(query, (place, count))]


def bulk(
    seed: int, count: int, namespace: str, *, mixed: bool = False, prefix: str | None = None
) -> dict[str, Any]:
    return {
        "seed": seed, "count": count, "namespace": namespace, "mixed": mixed, "words": WORDS, "prefix": prefix, "ids": [],
    }  # fmt: skip


def insert(
    conn: Connection[Any], text: str, tags: list[str], namespace: str, external_id: str | None
) -> None:
    remember(
        conn,
        text,
        tags=tags,
        namespace=namespace,
        external_id=external_id,
        on_conflict="update",
        create_namespace=True,
    )


def insert_many(conn: Connection[Any], seed: int, count: int, namespace: str, mixed: bool) -> None:
    conn.execute(
        f"INSERT INTO pgrecall.memories ({COLUMNS}) {ROWS}", bulk(seed, count, namespace, mixed=mixed)
    )


def copy(conn: Connection[Any], seed: int, count: int, namespace: str) -> None:
    made = conn.execute(ROWS, bulk(seed, count, namespace)).fetchall()
    with conn.cursor().copy(f"COPY pgrecall.memories ({COLUMNS}) FROM STDIN") as stream:
        for row in made:
            stream.write_row(row)


def insert_on_conflict(conn: Connection[Any], seed: int, count: int, namespace: str) -> None:
    conn.execute(
        f"""
        INSERT INTO pgrecall.memories ({COLUMNS}) {ROWS}
        ON CONFLICT (namespace_id, external_id) WHERE external_id IS NOT NULL
        DO UPDATE SET content = excluded.content, tags = excluded.tags, deleted_at = excluded.deleted_at
        """,
        bulk(seed, count, namespace, prefix="e"),
    )


def merge(conn: Connection[Any], seed: int, count: int, namespace: str) -> None:
    conn.execute(
        f"""
        MERGE INTO pgrecall.memories m
        USING ({ROWS}) s ({COLUMNS}) ON m.namespace_id = s.namespace_id AND m.external_id = s.external_id
        WHEN MATCHED AND m.id %% 3 = 0 THEN DELETE
        WHEN MATCHED THEN UPDATE SET content = s.content, category = s.category, deleted_at = s.deleted_at
        WHEN NOT MATCHED THEN INSERT ({COLUMNS}) VALUES (s.{COLUMNS.replace(", ", ", s.")})
        """,
        bulk(seed, count, namespace, prefix="e"),
    )


def remember_again(conn: Connection[Any], seed: int, count: int, namespace: str) -> None:
    memories = [
        {
            "content": f"{WORDS[(seed + n) % len(WORDS)]} tea",
            "external_id": f"e{seed + n}",
            "category": "milk",
        }
        for n in range(count)
    ]
    remember_many(conn, memories, namespace=namespace, on_conflict="update", create_namespace=True)


def update(conn: Connection[Any], change: str, text: str, place: int, count: int) -> None:
    conn.execute(
        f"UPDATE pgrecall.memories SET {change} WHERE id = ANY (%(ids)s)",
        {"ids": chosen(conn, place, count), "text": text},
    )


def delete(conn: Connection[Any], place: int, count: int) -> None:
    conn.execute("DELETE FROM pgrecall.memories WHERE id = ANY (%s)", (chosen(conn, place, count),))


def insert_again(conn: Connection[Any], seed: int, place: int, count: int) -> None:
    """Delete memories and store others under their ids."""
    ids = chosen(conn, place, count)
    conn.execute("DELETE FROM pgrecall.memories WHERE id = ANY (%s)", (ids,))
    values = bulk(seed, len(ids), "default") | {"ids": ids}
    conn.execute(f"INSERT INTO pgrecall.memories ({COLUMNS}) {ROWS}", values)


def truncate(conn: Connection[Any]) -> None:
    conn.execute("TRUNCATE pgrecall.memories CASCADE")


def fold_once(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.flush_pending_postings(1)")


def store(conn: Connection[Any], name: str, value: str | None) -> None:
    # Under repeatable read it has to wait for better times.
    with suppress(psycopg.errors.ObjectInUse), conn.transaction():
        conn.execute("SELECT pgrecall.set_setting(%s, %s)", (name, value))


NEW_WORDS = [
    "content = %(text)s", "title = %(text)s", "tags = ARRAY[%(text)s]", "category = %(text)s", "expanded_keywords = ARRAY[%(text)s]",
    "language = 'simple'", "content_hash = '', importance = 1 - importance",
]  # fmt: skip
NEW_STATES = [
    "deleted_at = now()",
    "deleted_at = NULL",
    "deleted_at = NULL, title = %(text)s",
    "is_sensitive = NOT is_sensitive",
]
NEW_PLACES = [
    "namespace_id = (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = 'other'), external_id = NULL",
    "namespace_id = (SELECT n.id FROM pgrecall.namespaces n WHERE n.name = 'default'), external_id = NULL, content = %(text)s",
    "id = id + 1000000, tags = '{}'", "id = id - 1000000, content = %(text)s",
]  # fmt: skip

texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map(" ".join)
seeds = st.integers(0, 9)
places = st.integers(0, 2000)
few = st.sampled_from([1, 2, 7, 40])
many = st.sampled_from([3, 40, AT_ONCE, AT_ONCE])
namespaces = st.sampled_from(NAMESPACES)


def step(action: Callable[..., None], *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(action), *arguments)


def changes(ways: list[str]) -> st.SearchStrategy[Any]:
    return step(update, st.sampled_from(ways), texts, places, st.sampled_from([1, 2, 7, 40, 400]))


STEPS = st.one_of(
    step(insert, texts, st.lists(st.sampled_from(WORDS), max_size=2), namespaces, st.sampled_from([None, "e1", "e2", "e3"])),
    step(insert_many, seeds, many, namespaces, st.booleans()),
    step(copy, seeds, many, namespaces),
    step(insert_on_conflict, seeds, many, namespaces),
    step(merge, seeds, many, namespaces),
    step(remember_again, seeds, few, namespaces),
    changes(NEW_WORDS),
    changes(NEW_STATES),
    changes(NEW_PLACES),
    step(delete, places, st.sampled_from([1, 7, 400])),
    step(insert_again, seeds, places, many),
    step(fold_once),
    st.sampled_from([(fold_once,), (fold_once,), (truncate,)]),
    step(store, st.sampled_from(["bm25_b", "field_weight_c"]), st.sampled_from(["0", "0.5", None])),
)  # fmt: skip
TRANSACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["READ COMMITTED", "READ COMMITTED", "REPEATABLE READ"]),
        st.sampled_from(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]),
        # Each step with whether it is taken back, and whether it has to wait for the commit to be folded.
        st.lists(st.tuples(STEPS, st.sampled_from([False, False, False, True])), min_size=1, max_size=4),
    ),
    min_size=15,
    max_size=30,
)  # fmt: skip


def run(conn: Connection[Any], isolation: str, end: str, steps: list[tuple[Any, bool]]) -> None:
    """Run a transaction; what breaks a constraint is taken back, as any application would."""
    conn.execute(f"BEGIN ISOLATION LEVEL {isolation}")
    for (action, *arguments), is_taken_back in steps:
        with (
            suppress(psycopg.errors.UniqueViolation, psycopg.errors.ForeignKeyViolation),
            conn.transaction() as savepoint,
        ):
            action(conn, *arguments)
            if is_taken_back:
                raise psycopg.Rollback(savepoint)
    conn.execute(end)


def committed(*steps: Any) -> tuple[str, str, list[tuple[Any, bool]]]:
    return "READ COMMITTED", "COMMIT", [(taken, False) for taken in steps]


@pytest.mark.slow
@pytest.mark.pg15
@settings(max_examples=20)
@given(transactions=TRANSACTIONS)
@example(
    transactions=[
        committed(
            (insert_many, 1, 100, "default", False), (truncate,), (insert_many, 2, 100, "default", False)
        )
    ]
)
@example(
    transactions=[
        committed((store, "field_weight_c", "0")),
        committed((insert, "the", ["tea"], "default", None), (fold_once,)),
        committed((update, "content = %(text)s", "milk", 0, 1)),
        committed((fold_once,)),
        committed((update, "content = %(text)s", "the", 0, 1), (fold_once,)),
    ]
)
def test_any_sequence_of_changes(conn: Connection[Any], transactions: list[Any]) -> None:
    conn.rollback()  # of an example that failed
    conn.execute("TRUNCATE pgrecall.memories CASCADE")
    for name in ("bm25_b", "field_weight_c"):
        store(conn, name, None)
    conn.execute("SELECT pgrecall.create_namespace('other')")
    for isolation, end, steps in transactions:
        run(conn, isolation, end, steps)
        assert problems(conn) == {}
    assert_same_as_rebuilt(conn)


def test_a_statement_of_many_posts_at_once_and_one_of_few_notes(conn: Connection[Any]) -> None:
    few = remember_many(conn, [{"content": f"tea {number}"} for number in range(30)])
    assert noted(conn) == few
    many = remember_many(conn, [{"content": f"milk {number}"} for number in range(AT_ONCE)])
    assert noted(conn) == few
    assert dict(frequency[1:] for frequency in frequencies(conn))["milk"] == AT_ONCE
    assert {row[2] for row in postings(conn)} == set(many)
    assert problems(conn) == {}


def test_under_repeatable_read_everything_is_noted(conn: Connection[Any]) -> None:
    with conn.transaction():
        conn.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        many = remember_many(conn, [{"content": f"milk {number}"} for number in range(AT_ONCE)])
        assert call(conn, "pgrecall.flush_pending_postings", 1) == 0
    assert noted(conn) == many
    assert postings(conn) == []
    assert_same_as_rebuilt(conn)


def test_writing_back_an_embedding_does_nothing_for_postings(conn: Connection[Any]) -> None:
    number = remember(conn, "tea with milk", tags=["harbour"])
    fold(conn)
    before = postings(conn), scalar(conn, "SELECT array_agg(block) FROM pgrecall.postings")
    embed(conn, number)
    conn.execute(
        "UPDATE pgrecall.memories SET importance = 0.1, metadata = '{\"a\": 1}', content = content, tags = tags"
    )
    assert noted(conn) == []
    assert (postings(conn), scalar(conn, "SELECT array_agg(block) FROM pgrecall.postings")) == before
    assert stored(conn, number)["embedding"] is not None
    calls = """
        SELECT coalesce(pg_stat_get_xact_function_calls('_pgrecall.queue_postings()'::regprocedure), 0),
               (SELECT count(*) FROM pgrecall.pending_postings)
    """
    with conn.transaction():
        conn.execute("SET LOCAL track_functions = 'all'")
        conn.execute("UPDATE pgrecall.memories SET embedding = embedding")
        assert conn.execute(calls).fetchone() == (0, 0)
        conn.execute("UPDATE pgrecall.memories SET title = 'crane'")
        assert conn.execute(calls).fetchone() == (1, 1)


def test_what_is_forgotten_is_in_no_posting_and_counts_nowhere(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", external_id="a")
    remember(conn, "milk")
    fold(conn)
    assert call(conn, "forget", number)
    fold(conn)
    assert {row[1] for row in postings(conn)} == {"milk"}
    assert [row[1:] for row in frequencies(conn)] == [("", 1), ("milk", 1)]
    assert remember(conn, "tea", external_id="a", on_conflict="update") == number
    fold(conn)
    assert [row[1:] for row in frequencies(conn)] == [("", 2), ("milk", 1), ("tea", 1)]
    assert problems(conn) == {}


def test_a_sensitive_memory_keeps_its_postings(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    fold(conn)
    before = postings(conn)
    assert call(conn, "update_memory", number, is_sensitive=True)
    assert noted(conn) == []
    assert postings(conn) == before
    assert [row[0] for row in rows(conn, "recall", "tea")] == [number]


@pytest.mark.slow
@pytest.mark.pg15
def test_a_change_of_everything_makes_postings_anew_once(conn: Connection[Any]) -> None:
    count = 10_300
    conn.execute(f"INSERT INTO pgrecall.memories ({COLUMNS}) {ROWS}", bulk(11, count, "default"))
    calls = "SELECT coalesce(pg_stat_get_xact_function_calls(p.oid), 0) FROM pg_proc p WHERE p.proname = %s"
    with conn.transaction():
        conn.execute("SET LOCAL track_functions = 'all'")
        conn.execute("UPDATE pgrecall.memories SET category = 'night'")
        assert len(noted(conn)) == count
        conn.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as at commit
        assert scalar(conn, calls, "rebuild_postings") == 1
        assert scalar(conn, calls, "remove_postings") == 0
        assert noted(conn) == []
    assert dict(frequency[1:] for frequency in frequencies(conn))["night"] == count
    assert problems(conn) == {}


def test_blocks_of_a_word_become_fewer_when_there_are_many_small_ones(conn: Connection[Any]) -> None:
    sizes = []
    for place in range(40):
        remember(conn, f"tea number {place}")
        fold(conn)
        sizes.append(scalar(conn, "SELECT count(*) FROM pgrecall.postings WHERE term = 'tea'"))
        assert problems(conn) == {}
    assert max(sizes) == 16
    assert sizes[16] == 1


def test_blocks_are_merged_term_by_term_where_nothing_was_analyzed(conn: Connection[Any]) -> None:
    # The planner takes a namespace without statistics for small. It would read the postings of every term there, and
    # compare each of them with each term in question.
    conn.execute("ALTER TABLE pgrecall.postings SET (autovacuum_enabled = off)")
    words = [f"word{number}" for number in range(600)]
    batches = [
        [
            {"content": " ".join([*(words[number * 2 :] + words)[:10], f"only{batch}x{number}"])}
            for number in range(AT_ONCE)
        ]
        for batch in range(17)
    ]
    for batch in batches[:-1]:
        remember_many(conn, batch)
    scans = "SELECT idx_scan FROM pg_stat_xact_all_tables WHERE relid = 'pgrecall.postings'::regclass"
    with conn.transaction():
        before = scalar(conn, scans)
        remember_many(conn, batches[-1])
        assert scalar(conn, scans) - before >= len(words)
    assert problems(conn) == {}


def test_refreshing_repairs(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"tea milk {number}"} for number in range(AT_ONCE)])
    call(conn, "pgrecall.create_namespace", "other")
    remember(conn, "crane", namespace="other")
    fold(conn)
    right = postings(conn), frequencies(conn)
    conn.execute("DELETE FROM pgrecall.postings WHERE term = 'tea' OR block % 2 = 0")
    conn.execute("UPDATE pgrecall.term_stats SET documents = documents + 7")
    conn.execute("INSERT INTO pgrecall.term_stats SELECT id, 'ghost', 3, 1 FROM pgrecall.namespaces")
    assert problems(conn) != {}
    conn.execute("CALL pgrecall.rebuild_all_postings('other')")
    assert problems(conn) != {}
    conn.execute("CALL pgrecall.rebuild_all_postings('default')")
    assert problems(conn) == {}
    assert (postings(conn), frequencies(conn)) == right
    with pytest.raises(psycopg.errors.UndefinedObject):
        conn.execute("CALL pgrecall.rebuild_all_postings('nowhere')")
