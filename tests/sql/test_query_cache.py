"""Embeddings of queries that embedders make for clients without a model: asked, answered, kept, trimmed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import ONE, OTHER, begin, table, vector
from support.memories import call, contents, refused, rows, scalar
from support.migrating import MINILM
from support.ranking import NORTH
from support.roles import role

if TYPE_CHECKING:
    from uuid import UUID

    from psycopg import Connection

QUERY = "where is the canary?"


def beat(conn: Connection[Any], worker: UUID = ONE, generations: list[int] | None = None) -> None:
    """An embedder says that it is alive."""
    rows(conn, "pgrecall.heartbeat", worker, "host", 1, "bundle", "model", 0, generations or [1])


def ask(conn: Connection[Any], query: str = QUERY) -> tuple[int | None, str | None, str | None, str | None]:
    """Ask as a reader does: id, embedding, model, error."""
    with role(conn, "pgrecall_reader"):
        found = conn.execute(
            "SELECT id, embedding::text, model, error FROM pgrecall.request_query_embedding(%s)", (query,)
        ).fetchone()
    assert found is not None
    return found[0], found[1], found[2], found[3]


def answered(conn: Connection[Any], number: int | None) -> list[Any]:
    with role(conn, "pgrecall_reader"):
        return conn.execute(
            "SELECT (embedding <=> %s::halfvec)::float8, error FROM pgrecall.get_query_embedding(%s)",
            (NORTH, number),
        ).fetchall()


def claim(conn: Connection[Any], generation: int = 1, batch: int = 16) -> list[tuple[int, str]]:
    with role(conn, "pgrecall_embedder"):
        return rows(conn, "pgrecall.claim_query_embeddings", generation, batch)


def answer(
    conn: Connection[Any], number: int | None, embedding: str | None, error: str | None = None
) -> None:
    """Answer as an embedder that has claimed it."""
    conn.execute(
        "UPDATE pgrecall.query_embeddings SET lease_expires_at = clock_timestamp() WHERE id = %s AND answered_at IS NULL",
        (number,),
    )
    with role(conn, "pgrecall_embedder"):
        rows(conn, "pgrecall.complete_query_embeddings", [number], [embedding], [error])


@pytest.fixture
def alive(conn: Connection[Any]) -> Connection[Any]:
    beat(conn)
    return conn


def test_a_question_and_its_answer(alive: Connection[Any], dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as listener:
        listener.execute("LISTEN pgrecall_query")
        listener.execute("LISTEN pgrecall_answer")
        number, embedding, model, error = ask(alive)
        assert number is not None
        assert (embedding, model, error) == (None, MINILM, None)
        assert answered(alive, number) == []
        assert claim(alive) == [(number, QUERY)]
        # It is that worker's for a few seconds.
        assert claim(alive) == []
        answer(alive, number, NORTH)
        heard = [(note.channel, note.payload) for note in listener.notifies(timeout=60, stop_after=2)]
    assert heard == [("pgrecall_query", ""), ("pgrecall_answer", str(number))]
    assert answered(alive, number) == [(0.0, None)]
    assert ask(alive)[0] == number
    assert scalar(alive, "SELECT (%s::halfvec <=> %s::halfvec)::float8", ask(alive)[1], NORTH) == 0
    assert claim(alive) == []


def test_the_text_goes_with_the_answer(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    assert "canary" in str(contents(alive)["query_embeddings"])
    answer(alive, number, NORTH)
    assert "canary" not in str(contents(alive))
    other = ask(alive, "another canary")[0]
    answer(alive, other, None, "too long")
    assert "canary" not in str(contents(alive))
    assert (
        scalar(
            alive,
            "SELECT relpersistence::text FROM pg_class WHERE oid = 'pgrecall.query_embeddings'::regclass",
        )
        == "u"
    )


def test_the_text_of_a_question_that_nobody_answers_goes_with_the_next_question(
    alive: Connection[Any],
) -> None:
    ask(alive)
    alive.execute("SELECT pgrecall.request_query_embedding('what the owner asks')")
    alive.execute("UPDATE pgrecall.query_embeddings SET requested_at = now() - interval '2 minutes'")
    alive.execute("DELETE FROM pgrecall.workers")
    assert ask(alive, "and now")[0] is None
    texts = scalar(alive, "SELECT array_agg(query) FROM pgrecall.query_embeddings")
    assert texts == ["what the owner asks"]


def test_nobody_reads_what_others_ask(alive: Connection[Any]) -> None:
    asked = ask(alive)[0]
    answer(alive, asked, NORTH)
    for name in ("pgrecall_reader", "pgrecall_writer"):
        with role(alive, name):
            for query in (
                "SELECT * FROM pgrecall.claim_query_embeddings(1)",
                "SELECT pgrecall.complete_query_embeddings('{1}', '{NULL}', '{NULL}')",
                "SELECT pgrecall.purge_query_embeddings()",
            ):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    alive.execute(query.encode())
    with role(alive, "pgrecall_writer"):
        assert rows(alive, "pgrecall.get_query_embedding", asked) == []
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            alive.execute("SELECT * FROM pgrecall.query_embeddings")
        # The same question of another role is one of its own, and not answered yet.
        (found,) = rows(alive, "pgrecall.request_query_embedding", QUERY)
        assert (found[0] != asked, found[1]) == (True, None)
    with role(alive, "pgrecall_embedder"), pytest.raises(psycopg.errors.InsufficientPrivilege):
        rows(alive, "pgrecall.request_query_embedding", QUERY)


def test_without_an_embedder_nothing_is_written(conn: Connection[Any]) -> None:
    assert ask(conn) == (None, None, MINILM, "no embedder is alive")
    beat(conn, generations=[7])
    assert ask(conn)[3] == "no embedder is alive"
    beat(conn)
    conn.execute("UPDATE pgrecall.workers SET last_seen_at = now() - interval '31 seconds'")
    assert ask(conn)[3] == "no embedder is alive"
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    beat(conn)
    assert ask(conn) == (None, None, None, "the database has no embedding model")
    assert table(conn, "query_embeddings") == []


def test_what_is_known_needs_no_embedder_and_no_write(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    answer(alive, number, NORTH)
    call(alive, "pgrecall.retire", ONE)
    before = contents(alive)
    with alive.transaction():
        alive.execute("SET TRANSACTION READ ONLY")
        assert ask(alive)[0] == number
    assert contents(alive) == before


def test_two_who_ask_the_same_share_one_row(alive: Connection[Any], dsn: str) -> None:
    number = ask(alive)[0]
    with psycopg.connect(dsn, autocommit=True) as other:
        assert ask(other)[0] == number
        assert claim(alive) == [(number, QUERY)]
        # Asked once more while it is worked on: nobody works on it twice.
        assert ask(other)[0] == number
        assert claim(other) == []
    assert len(table(alive, "query_embeddings")) == 1
    answer(alive, number, NORTH)
    assert answered(alive, number) == [(0.0, None)]


def test_an_error_holds_for_a_moment(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    answer(alive, number, None, "too long")
    assert answered(alive, number) == [(None, "too long")]
    assert ask(alive)[3] == "too long"
    assert claim(alive) == []
    alive.execute("UPDATE pgrecall.query_embeddings SET answered_at = answered_at - interval '11 seconds'")
    assert ask(alive) == (number, None, MINILM, None)
    assert claim(alive) == [(number, QUERY)]
    answer(alive, number, NORTH)
    assert answered(alive, number) == [(0.0, None)]


def test_a_lost_worker_holds_up_no_question(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    claim(alive)
    alive.execute("UPDATE pgrecall.query_embeddings SET lease_expires_at = clock_timestamp()")
    assert claim(alive) == [(number, QUERY)]


def test_who_has_gone_is_not_answered(alive: Connection[Any]) -> None:
    ask(alive)
    alive.execute("UPDATE pgrecall.query_embeddings SET requested_at = requested_at - interval '61 seconds'")
    assert claim(alive) == []
    assert table(alive, "query_embeddings") == []


def test_the_newest_come_first(alive: Connection[Any]) -> None:
    ids = [ask(alive, f"query {place}")[0] for place in range(5)]
    assert {number for number, _ in claim(alive, batch=2)} == set(ids[3:])
    assert {number for number, _ in claim(alive, batch=2)} == set(ids[1:3])


def test_each_generation_has_its_own(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    answer(alive, number, NORTH)
    begin(alive)
    call(alive, "pgrecall.switch_generation", 2)
    beat(alive, OTHER, [2])
    other, embedding, model, _ = ask(alive)
    assert (other != number, embedding, model) == (True, None, "second/model")
    assert claim(alive, 1) == []
    assert claim(alive, 2) == [(other, QUERY)]
    answer(alive, other, vector(8, 1.0))
    call(alive, "pgrecall.drop_generation", 1)
    assert [row["id"] for row in table(alive, "query_embeddings")] == [other]


def test_what_is_no_answer_is_refused(alive: Connection[Any]) -> None:
    number = ask(alive)[0]
    for bad in (vector(8, 1.0), str([0.0] * 384), "[1,2", "", str([70_000.0] * 384)):
        with refused(alive, "22023"):
            rows(alive, "pgrecall.complete_query_embeddings", [number], [bad], [None])
    with refused(alive, "22023"):
        rows(alive, "pgrecall.complete_query_embeddings", [number], [], [None])
    # What has been answered stays so.
    answer(alive, number, NORTH)
    answer(alive, number, vector(384, 0.0, 1.0))
    assert answered(alive, number) == [(0.0, None)]


@pytest.mark.parametrize(
    ("query", "sqlstate"),
    [("", "22023"), (" \n", "22023"), ("\u200b\ufeff", "22023"), (None, "22023"), ("x" * 16_385, "54000")],
)
def test_what_cannot_be_asked(alive: Connection[Any], query: str | None, sqlstate: str) -> None:
    with refused(alive, sqlstate):
        rows(alive, "pgrecall.request_query_embedding", query)


def test_what_nobody_asks_again_is_forgotten(alive: Connection[Any]) -> None:
    ids = [ask(alive, f"query {place}")[0] for place in range(5)]
    for number in ids:
        answer(alive, number, NORTH)
    with role(alive, "pgrecall_embedder"):
        assert call(alive, "pgrecall.purge_query_embeddings") == 0
    alive.execute(
        "UPDATE pgrecall.query_embeddings SET used_at = used_at - interval '6 days' WHERE id = %s", (ids[0],)
    )
    # Being asked again keeps it.
    ask(alive, "query 0")
    alive.execute("UPDATE pgrecall.query_embeddings SET used_at = used_at - interval '3 days'")
    alive.execute(
        "UPDATE pgrecall.query_embeddings SET used_at = used_at - interval '5 days' WHERE id = %s", (ids[1],)
    )
    assert call(alive, "pgrecall.purge_query_embeddings") == 1
    assert [row["id"] for row in table(alive, "query_embeddings")].count(ids[1]) == 0
    call(alive, "pgrecall.set_setting", "query_cache_size", "2")
    assert call(alive, "pgrecall.purge_query_embeddings") == 2
    assert ids[0] in [row["id"] for row in table(alive, "query_embeddings")]
    call(alive, "pgrecall.set_setting", "query_cache_size", "0")
    assert call(alive, "pgrecall.purge_query_embeddings") == 2
