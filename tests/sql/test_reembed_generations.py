"""Generations of embeddings: their columns, who may fill them, and what they are compared by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.admin.migrate import migrate
from pgrecall.admin.reembed import drop_old
from support.memories import call, refused, remember, rows, scalar
from support.migrating import schema
from support.reembed import NEW, NOISE, OLD, TEXTS, ModelServer, build, change, filled, judge, vector_of
from support.waiting import until

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection


def test_a_shorter_cut_of_the_same_model(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    """Judged queries have vectors of both, though their model has one name."""
    with filled(dsn) as (ids, _):
        judge(conn, TEXTS[:4], ids[:4])
        change(dsn, force=True)
        drop_old(dsn)
        generation = scalar(conn, "SELECT pgrecall.add_generation(%s, 64, 'openai')", NEW)
    for number, text in enumerate(TEXTS[:4]):
        conn.execute(
            "SELECT pgrecall.judge(%s, %s, %s, %s)",
            [f"q{ids[number]}", text, str(vector_of(NEW, text)), [ids[number]]],
        )
    queries = conn.execute("SELECT * FROM pgrecall.unembedded_judged(%s)", [generation]).fetchall()
    assert [row[2] for row in queries] == TEXTS[:4]
    landed = scalar(
        conn,
        "SELECT pgrecall.embed_judged(%s, %s, %s, %s, %s)",
        generation,
        *(list(column) for column in zip(*queries, strict=True)),
        [str(vector_of("words-64", text)) for text in TEXTS[:4]],
    )
    assert landed == 4
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_change(%s)", generation) == 4
    assert conn.execute("SELECT * FROM pgrecall.unembedded_judged(%s)", [generation]).fetchall() == []
    with refused(conn, "22023"):
        conn.execute(
            "SELECT pgrecall.embed_judged(%s, '{default}', '{q}', '{q}', '{\"[1,2]\"}')", [generation]
        )


def test_sensitive_memories_stay_out(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    vec = str(vector_of(NEW, "x"))
    with filled(dsn) as (ids, _):
        secret = remember(conn, "xyzzy password.", is_sensitive=True)
        models.asked.clear()
        change(dsn, switch=False)
        assert not any("xyzzy" in text for _, text in models.asked)
        assert scalar(conn, "SELECT embedding_2 IS NULL FROM pgrecall.memories WHERE id = %s", secret)
        with pytest.raises(psycopg.errors.CheckViolation):
            conn.execute("UPDATE pgrecall.memories SET embedding_2 = %s WHERE id = %s", [vec, secret])
        with pytest.raises(psycopg.errors.CheckViolation):
            conn.execute(
                "INSERT INTO pgrecall.memories (namespace_id, content, language, is_sensitive, embedding_2) "
                "SELECT namespace_id, 'another', language, true, %s FROM pgrecall.memories WHERE id = %s",
                [vec, secret],
            )
        # Both columns follow the text and the flag.
        conn.execute("SELECT update_memory(%s, is_sensitive => true)", [ids[0]])
        filled_columns = "SELECT num_nonnulls(embedding, embedding_2) FROM pgrecall.memories WHERE id = %s"
        assert scalar(conn, filled_columns, ids[0]) == 0
        until(lambda: scalar(conn, filled_columns, ids[1]) == 2)
    conn.execute("SELECT update_memory(%s, content => 'something else')", [ids[1]])
    assert scalar(conn, filled_columns, ids[1]) == 0


WORKER = "00000000-0000-0000-0000-000000000001"


def test_the_embedders_role_fills_it_by_its_functions_alone(conn: Connection[Any]) -> None:
    build(conn)
    memory = remember(conn, "a memory")
    conn.execute("SET ROLE pgrecall_embedder")
    [claimed] = [row for row in rows(conn, "pgrecall.claim", WORKER, 10, "1 minute", 2) if row[0] == memory]
    vector = str(vector_of(NEW, "x"))
    arguments = ([memory], [claimed[4]], [claimed[1]], [vector], 2)
    assert call(conn, "pgrecall.complete_claimed", WORKER, *arguments) == 1
    for forbidden in (
        "UPDATE pgrecall.memories SET embedding_2 = NULL",
        "UPDATE pgrecall.memories SET content = 'x'",
        "SELECT pgrecall.drop_generation(2)",
        "SELECT pgrecall.switch_generation(2)",
        "SELECT pgrecall.add_generation('other', 8)",
        "SELECT * FROM pgrecall.sample_texts(1, 2)",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            conn.execute(forbidden.encode())
    conn.execute("RESET ROLE")
    assert scalar(conn, "SELECT embedding_2 IS NOT NULL FROM pgrecall.memories WHERE id = %s", memory)


def test_migrate_leaves_a_generation_that_is_being_built(dsn: str, conn: Connection[Any]) -> None:
    build(conn)
    before = schema(dsn)
    conn.execute("UPDATE pgrecall.installation SET bundle_hash = NULL")
    assert migrate(dsn).changed
    assert schema(dsn) == before
    conn.execute("SET ROLE pgrecall_embedder")
    assert len(conn.execute("SELECT * FROM pgrecall.embedded_generations()").fetchall()) == 2


def test_embedders_wait_for_the_index_of_their_queue(conn: Connection[Any]) -> None:
    conn.execute("SELECT pgrecall.add_generation(%s, 256)", [NEW])
    assert scalar(conn, "SELECT count(*) FROM pgrecall.embedded_generations()") == 1
    build(conn, search=False)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.embedded_generations()") == 2


def test_two_wide_vectors_fit_a_row(new_database: Callable[..., str]) -> None:
    dsn = new_database()
    migrate(dsn, dim=2000)
    with psycopg.connect(dsn, autocommit=True) as conn:
        memory = remember(conn, "word " * 2000, title="t" * 200)
        conn.execute("SELECT pgrecall.add_generation('wide', 2000)")
        vec = str(vector_of("noise-2000", "x"))
        conn.execute(
            "UPDATE pgrecall.memories SET embedding = %s, embedding_2 = %s WHERE id = %s", [vec, vec, memory]
        )
        assert scalar(conn, "SELECT vector_dims(embedding_2) FROM pgrecall.memories") == 2000


def test_samples_are_titles_or_first_sentences(conn: Connection[Any]) -> None:
    kept = remember(conn, "First thing. Second thing.")
    titled = remember(conn, "Some content.", title="A title")
    remember(conn, "Secret thing.", is_sensitive=True)
    gone = remember(conn, "Gone thing.")
    remember(conn, "Waits for its embedding.")
    for number in range(25):
        remember(conn, f"filler {number}")
    build(conn)
    vec, new_vec = str(vector_of(OLD, "x")), str(vector_of(NEW, "x"))
    conn.execute(
        "UPDATE pgrecall.memories SET embedding = %s, embedding_2 = %s "
        "WHERE NOT is_sensitive AND content <> 'Waits for its embedding.'",
        [vec, new_vec],
    )
    conn.execute("SELECT forget(%s)", [gone])
    rows = conn.execute("SELECT * FROM pgrecall.sample_texts(1000, 2)").fetchall()
    texts = dict(rows)
    assert texts[kept] == "First thing."
    assert texts[titled] == "A title"
    assert len(texts) == 27
    assert rows == conn.execute("SELECT * FROM pgrecall.sample_texts(1000, 2)").fetchall()
    assert len(conn.execute("SELECT * FROM pgrecall.sample_texts(5, 2)").fetchall()) == 5


def test_overlap_is_the_share_in_common(dsn: str, conn: Connection[Any], models: ModelServer) -> None:
    with filled(dsn, 30) as (ids, _):
        change(dsn, NOISE, switch=False, min_overlap=0)

    def overlap(k: int) -> float:
        text = TEXTS[0]
        value = scalar(
            conn,
            "SELECT pgrecall.dense_overlap(%s, %s, %s, 2, %s)",
            ids[0],
            str(vector_of(OLD, text)),
            str(vector_of(NOISE, text)),
            k,
        )
        assert isinstance(value, float)
        return value

    # The 29 others are all there is, whatever the model.
    assert overlap(29) == 1
    assert overlap(10) < 1
