"""Attacks on the embeddings of queries: nobody is served before his turn, or answers for the embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import ONE, table
from support.memories import call, rows, scalar
from support.ranking import NORTH
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

FLOODER, ASKER = "pgrecall_reader", "pgrecall_writer"


@pytest.fixture
def alive(conn: Connection[Any]) -> Connection[Any]:
    """A database for whose model an embedder is alive."""
    rows(conn, "pgrecall.heartbeat", ONE, "host", 1, "bundle", "model", 0, [1])
    return conn


def ask(conn: Connection[Any], who: str, query: str) -> int:
    with role(conn, who):
        return int(rows(conn, "pgrecall.request_query_embedding", query)[0][0])


def claim(conn: Connection[Any], batch: int = 1) -> list[int]:
    with role(conn, "pgrecall_embedder"):
        return [row[0] for row in rows(conn, "pgrecall.claim_query_embeddings", 1, batch)]


def flood(conn: Connection[Any], count: int) -> None:
    with role(conn, FLOODER):
        conn.execute(
            "SELECT count(a.id) FROM generate_series(1, %s) n CROSS JOIN LATERAL pgrecall.request_query_embedding('flood ' || n) a",
            (count,),
        )


def test_who_asks_much_holds_up_nobody(alive: Connection[Any]) -> None:
    first = ask(alive, ASKER, "the first question")
    flood(alive, 900)
    # One is the batch of a daemon: after at most one of the flood it is the other's turn.
    assert first in claim(alive) + claim(alive)
    second = ask(alive, ASKER, "the second question")
    flood(alive, 950)
    assert second in claim(alive) + claim(alive)
    third, fourth = ask(alive, ASKER, "the third question"), ask(alive, ASKER, "the fourth question")
    flood(alive, 999)
    assert {third, fourth} <= set(claim(alive, batch=4))


def test_a_role_has_so_many_questions_and_no_more(alive: Connection[Any]) -> None:
    flood(alive, 1000)
    with role(alive, FLOODER), pytest.raises(psycopg.errors.ProgramLimitExceeded) as refused:
        rows(alive, "pgrecall.request_query_embedding", "one more")
    assert refused.value.diag.message_hint
    # The same question again is none more, and others have their own thousand.
    assert ask(alive, FLOODER, "flood 7") > 0
    assert ask(alive, ASKER, "a question") > 0


def test_who_is_answered_much_pushes_out_nobody(alive: Connection[Any]) -> None:
    kept = ask(alive, ASKER, "a question")
    flood(alive, 50)
    numbers = claim(alive, batch=100)
    with role(alive, "pgrecall_embedder"):
        rows(alive, "pgrecall.complete_query_embeddings", numbers, [NORTH] * 51, [None] * 51)
    call(alive, "pgrecall.set_setting", "query_cache_size", "10")
    with role(alive, "pgrecall_embedder"):
        assert call(alive, "pgrecall.purge_query_embeddings") == 41
    assert kept in [row["id"] for row in table(alive, "query_embeddings")]


@pytest.mark.parametrize("who", ["pgrecall_reader", "pgrecall_writer"])
@pytest.mark.parametrize(
    "forged",
    [
        "UPDATE pgrecall.query_embeddings SET requested_at = 'infinity'",
        "UPDATE pgrecall.query_embeddings SET used_at = 'infinity'",
        "UPDATE pgrecall.query_embeddings SET lease_expires_at = 'infinity'",
        "UPDATE pgrecall.query_embeddings SET query = NULL, answered_at = now(), error = 'forged'",
        "UPDATE pgrecall.query_embeddings SET embedding = array_fill(1, ARRAY[384])::halfvec",
        "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query) VALUES (1, 'pgrecall_writer', 'x', 'x')",
        "INSERT INTO pgrecall.query_embeddings (generation_id, role, query_hash, query, requested_at) "
        "VALUES (1, 'pgrecall_reader', 'x', 'x', 'infinity')",
        "SELECT pgrecall.complete_query_embeddings('{1}', '{NULL}', '{forged}')",
        "UPDATE pgrecall.query_expansions SET made_at = 'infinity'",
        "INSERT INTO pgrecall.query_expansions (role, query_hash, language, terms, made_at) "
        "VALUES ('pgrecall_writer', sha256('x'), 'english', '{x}', 'infinity')",
    ],
)
def test_times_roles_and_answers_are_not_a_readers_to_set(
    alive: Connection[Any], who: str, forged: str
) -> None:
    ask(alive, who, "a question")
    before = table(alive, "query_embeddings")
    with role(alive, who), pytest.raises(psycopg.errors.InsufficientPrivilege):
        alive.execute(forged.encode())
    assert table(alive, "query_embeddings") == before


def test_a_time_that_never_comes_is_no_time(alive: Connection[Any]) -> None:
    number = ask(alive, FLOODER, "a question")
    for column in ("requested_at", "used_at", "claimed_at"):
        with pytest.raises(psycopg.errors.CheckViolation):
            alive.execute(f"UPDATE pgrecall.query_embeddings SET {column} = 'infinity'".encode())
    # A clock that was set back.
    alive.execute("UPDATE pgrecall.query_embeddings SET requested_at = now() + interval '1 day'")
    assert claim(alive) == []
    assert scalar(alive, "SELECT count(*) FROM pgrecall.query_embeddings WHERE id = %s", number) == 0


def test_an_answer_is_of_who_asked(alive: Connection[Any]) -> None:
    number = ask(alive, ASKER, "a question")
    # Nobody has claimed it, so nobody answers it.
    with role(alive, "pgrecall_embedder"):
        rows(alive, "pgrecall.complete_query_embeddings", [number], [None], ["forged"])
        assert claim(alive) == [number]
        rows(alive, "pgrecall.complete_query_embeddings", [number], [NORTH], [None])
        # What has been answered stays so.
        rows(alive, "pgrecall.complete_query_embeddings", [number], [None], ["forged"])
    with role(alive, FLOODER):
        assert rows(alive, "pgrecall.get_query_embedding", number) == []
        assert rows(alive, "pgrecall.wait_query_embedding", number, 0) == []
        assert call(alive, "pgrecall.cached_query_embedding", "a question") is None
    with role(alive, ASKER):
        ((embedding, error),) = rows(alive, "pgrecall.get_query_embedding", number)
    assert embedding is not None
    assert error is None
