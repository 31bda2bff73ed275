"""No tenant's mass of work, history or judgements keeps another waiting or grows without a limit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.embedding_queue import ONE, OTHER, claim
from support.extraction import claimed
from support.memories import call, refused, remember, remember_many, rows, scalar, share
from support.roles import role

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

LARGE = "tea is hot " * 20000


def of(conn: Connection[Any], ids: list[int]) -> set[str]:
    query = "SELECT DISTINCT n.name FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id WHERE m.id = ANY (%s)"
    return {name for (name,) in conn.execute(query.encode(), (ids,))}


def fill(conn: Connection[Any], name: str, count: int, content: str = "tea") -> list[int]:
    return remember_many(
        conn,
        [{"content": f"{content} {name} {n}"} for n in range(count)],
        namespace=name,
        create_namespace=True,
    )


def enqueue(conn: Connection[Any], enricher: str) -> None:
    """Queue everything for another enricher, as complete_extractions() does."""
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, %s, namespace_id FROM pgrecall.memories "
        "ON CONFLICT DO NOTHING",
        (enricher,),
    )


@pytest.mark.parametrize("enricher", ["text", "llm", "notes"])
def test_every_namespace_is_read_in_turn(conn: Connection[Any], enricher: str) -> None:
    quiet = [number for name in "bcd" for number in fill(conn, name, 3)]
    fill(conn, "a", 100)
    enqueue(conn, enricher)
    seen: set[int] = set()
    for _ in range(6):
        # The writer is as fast as the reader.
        fill(conn, "a", 16)
        enqueue(conn, enricher)
        found = [row[0] for row in rows(conn, "pgrecall.claim_extractions", ONE, enricher, 16)]
        assert (len(found), "a" in of(conn, found)) == (16, True)
        seen |= set(found)
    assert set(quiet) <= seen


def test_a_moved_memory_takes_the_turn_of_its_new_namespace(conn: Connection[Any]) -> None:
    (number,) = fill(conn, "a", 1)
    fill(conn, "b", 1)
    conn.execute(
        "UPDATE pgrecall.memories SET namespace_id = (SELECT id FROM pgrecall.namespaces WHERE name = 'b') WHERE id = %s",
        (number,),
    )
    query = "SELECT count(DISTINCT namespace_id) FROM pgrecall.jobs"
    assert scalar(conn, query) == 1
    assert len(claimed(conn)) == 2


def test_every_namespace_is_curated_in_turn(conn: Connection[Any]) -> None:
    fill(conn, "a", 200)
    quiet = [number for name in "bcd" for number in fill(conn, name, 2)]
    conn.execute("UPDATE pgrecall.memories SET embedding = array_fill(0.5::real, ARRAY[384])::halfvec")
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id) SELECT id, 'curation', namespace_id FROM pgrecall.memories"
    )
    first = [row[0] for row in rows(conn, "pgrecall.claim_curations", ONE, 16)]
    assert (len(first), set(quiet) - set(first)) == (16, set())
    assert len(rows(conn, "pgrecall.claim_curations", OTHER, 300)) == 190


@pytest.mark.slow
def test_large_memories_are_claimed_a_few_at_a_time_beside_others(conn: Connection[Any]) -> None:
    small = fill(conn, "b", 5)
    large = fill(conn, "a", 8, LARGE)
    sizes = "SELECT COALESCE(sum(octet_length(content)), 0) FROM pgrecall.memories WHERE id = ANY (%s)"
    for claims in (lambda: claim(conn, batch=256), lambda: [row[0] for row in claimed(conn, batch=256)]):
        seen: list[int] = []
        for turn in range(20):
            found = claims()
            assert scalar(conn, sizes, found) <= 2 * (131072 + len(LARGE) + 100)
            if turn == 1:
                assert set(small) <= {*seen, *found}
            if not found:
                break
            seen += found
        assert sorted(seen) == sorted(small + large)


def test_the_history_of_a_memory_and_the_answer_about_it_are_limited(conn: Connection[Any]) -> None:
    number = remember(conn, "first")
    for n in range(20):
        call(conn, "update_memory", number, content=f"{n} {LARGE}"[:200000])
    assert scalar(conn, "SELECT sum(bytes) FROM pgrecall.memory_changes") < 2200000
    found = rows(conn, "memory_history", number)
    assert len(found) == 21
    size = sum(len(str(row)) for row in found)
    assert size < 8_000_000
    assert found[-1][5].startswith("19 ")
    assert found[-2][5].startswith("18 ")
    # What is no longer kept is not replaced by another text; the change itself still shows.
    assert [row[5] for row in found[1:10]] == [None] * 9
    assert all("content" in row[6] for row in found[1:])
    call(conn, "update_memory", number, is_sensitive=True)
    call(conn, "update_memory", number, is_sensitive=False)
    assert all(row[5] is None or row[1] == "update" for row in rows(conn, "memory_history", number, False))


@pytest.mark.slow
def test_old_changes_of_a_memory_go(conn: Connection[Any]) -> None:
    number = remember(conn, "first", is_sensitive=True)
    call(conn, "update_memory", number, is_sensitive=False)
    for n in range(520):
        call(conn, "update_memory", number, importance=n / 1000)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memory_changes") in (500, 501)
    # That it was sensitive is not forgotten.
    assert len(rows(conn, "memory_history", number, False)) < len(rows(conn, "memory_history", number))


@pytest.mark.slow
def test_the_answer_about_a_long_line_of_memories_is_limited(conn: Connection[Any]) -> None:
    number = remember(conn, LARGE)
    for n in range(25):
        number = call(conn, "supersede", number, f"{n} {LARGE}")
    found = rows(conn, "memory_history", number)
    assert sum(len(row[5] or "") for row in found) < 4_500_000
    assert found[-1][5].startswith("24 ")


def test_a_role_replaces_no_judgement_of_another(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    share(conn)
    conn.execute("CREATE ROLE test_one IN ROLE pgrecall_writer; CREATE ROLE test_two IN ROLE pgrecall_writer")
    with role(conn, "test_one"):
        for _ in range(2):
            call(conn, "pgrecall.judge", "q", "tea", None, [number])
    with role(conn, "test_two"):
        with pytest.raises(psycopg.errors.UniqueViolation), conn.transaction():
            call(conn, "pgrecall.judge", "q", "coffee", None, [number])
        assert call(conn, "pgrecall.unjudge", "q") is False
        call(conn, "pgrecall.judge", "mine", "coffee", None, [number])
        assert call(conn, "pgrecall.unjudge", "mine") is True
    assert scalar(conn, "SELECT query FROM pgrecall.judged_queries") == "tea"
    call(conn, "pgrecall.judge", "q", "milk", None, [number])
    assert call(conn, "pgrecall.unjudge", "q") is True


def test_a_namespace_has_a_limited_number_of_judged_queries(conn: Connection[Any]) -> None:
    number = remember(conn, "tea")
    other = remember(conn, "tea", namespace="other", create_namespace=True)
    conn.execute(
        "INSERT INTO pgrecall.judged_queries (namespace_id, query_id, query, stratum, owner) "
        "SELECT m.namespace_id, 'q' || n, 'tea', 'all', 'x' FROM generate_series(1, 10000) n, pgrecall.memories m WHERE m.id = %s",
        (number,),
    )
    with refused(conn, "54000"), conn.transaction():
        call(conn, "pgrecall.judge", "another", "tea", None, [number])
    call(conn, "pgrecall.judge", "another", "tea", None, [other], namespace="other")
    conn.execute("SELECT pgrecall.unjudge('q1')")
    call(conn, "pgrecall.judge", "q2", "tea", None, [number])
    call(conn, "pgrecall.judge", "another", "tea", None, [number])
