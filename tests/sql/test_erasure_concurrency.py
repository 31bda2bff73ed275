"""erase() under concurrency: nothing of the memory comes back, and no receipt is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.declarations import declarations
from support.extraction import claimed, complete, fact, mention
from support.memories import call, contents, remember, remember_many, rows, scalar, stored, waits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from psycopg import Connection

WORKER = "11111111-1111-4111-8111-111111111111"
CANARY = "quokka"


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    """A second session, in a transaction."""
    with psycopg.connect(dsn) as connection:
        yield connection


def leftovers(conn: Connection[Any]) -> dict[str, list[str]]:
    found = {
        table: [row for row in texts if CANARY in row.lower()] for table, texts in contents(conn).items()
    }
    return {table: texts for table, texts in found.items() if texts}


def erased(conn: Connection[Any], memory: int) -> None:
    """The memory is gone, and nothing of it is left anywhere."""
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories WHERE id = %s", memory) == 0
    while scalar(conn, "SELECT pgrecall.flush_pending_postings(1)"):
        pass
    assert leftovers(conn) == {}
    referring = declarations(conn)
    for table, texts in contents(conn).items():
        # Ids in no row but the receipt.
        if referring[table].columns_of_memories and not referring[table].is_kept:
            assert texts == [], table


def test_an_embedding_that_comes_too_late_is_dropped(conn: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    ((_, hashed),) = conn.execute(
        "SELECT m.id, m.content_hash FROM pgrecall.claim(%s) c JOIN pgrecall.memories m ON m.id = %s",
        (WORKER, number),
    ).fetchall()
    rows(conn, "erase", number)
    conn.execute(
        "SELECT pgrecall.complete(%s, ARRAY[%s::bigint], ARRAY[%s::bytea], "
        "ARRAY[array_fill(0.5::real, ARRAY[384])::halfvec::text])",
        (WORKER, number, hashed),
    )
    conn.execute("SELECT pgrecall.fail(%s, %s, 'the quokka is too late')", (WORKER, number))
    erased(conn, number)


def test_an_embedding_in_the_act_is_waited_for(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    conn.execute("SELECT pgrecall.claim(%s)", (WORKER,))
    other.execute(
        "SELECT pgrecall.complete(%s, ARRAY[m.id], ARRAY[m.content_hash], "
        "ARRAY[array_fill(0.5::real, ARRAY[384])::halfvec::text]) FROM pgrecall.memories m WHERE m.id = %s",
        (WORKER, number),
    )
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    assert second()[0][5]["memories"] == 1
    erased(conn, number)


def read(number: int, ticket: int) -> dict[str, Any]:
    return {
        "memory_id": number,
        "ticket": ticket,
        "mentions": [mention("Jane Quokka", "PERSON"), mention("Quokka Inc", "ORG")],
        "times": [],
        "facts": [fact("Jane Quokka", "works at", "Quokka Inc", statement="the quokka sentence")],
    }


def test_an_extraction_that_comes_too_late_is_dropped(conn: Connection[Any]) -> None:
    number = remember(conn, "Jane Quokka works at Quokka Inc")
    ((_, ticket, *_),) = claimed(conn)
    rows(conn, "erase", number)
    assert complete(conn, [read(number, ticket)]) == 0
    answer = [{"key": "00", "memory_id": number, "ticket": ticket, "answer": {CANARY: 1}}]
    assert scalar(conn, "SELECT pgrecall.cache_llm_answers(%s)", Jsonb(answer)) == 0
    erased(conn, number)


def test_an_extraction_in_the_act_is_waited_for(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "Jane Quokka works at Quokka Inc", tags=["quokka"])
    ((_, ticket, *_),) = claimed(conn)
    assert complete(other, [read(number, ticket)]) == 1
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    assert second()[0][5]["relationship_evidence"] == 1
    erased(conn, number)


def test_a_fold_in_the_act_is_waited_for(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    assert scalar(other, "SELECT pgrecall.flush_pending_postings(1)") == 1
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    assert second()[0][5]["postings"] == 1
    erased(conn, number)


def test_a_bulk_write_in_the_act_is_waited_for(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    remember_many(other, [{"content": f"a wombat {n}"} for n in range(300)])
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    assert second()[0][5]["memories"] == 1
    assert scalar(conn, "SELECT count(*) FROM pgrecall.postings WHERE term = 'wombat'") > 0
    assert leftovers(conn) == {}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda conn, number: rows(conn, "update_memory", number, content="a quokka once more"),
            psycopg.errors.NoDataFound,
        ),
        (lambda conn, number: rows(conn, "supersede", number, "another"), psycopg.errors.NoDataFound),
        (lambda conn, number: rows(conn, "erase", number), psycopg.errors.NoDataFound),
        (lambda conn, number: rows(conn, "forget", number), None),
    ],
    ids=["update", "supersede", "erase", "forget"],
)
def test_who_comes_later_finds_nothing(
    conn: Connection[Any],
    other: Connection[Any],
    change: Callable[[Connection[Any], int], Any],
    expected: type[psycopg.Error] | None,
) -> None:
    number = remember(conn, "a quokka", tags=["quokka"])
    rows(other, "erase", number)
    second = waits(conn, lambda: change(conn, number))
    other.commit()
    if expected is None:
        assert second() == [False]
    else:
        with pytest.raises(expected):
            second()
    erased(conn, number)


def test_what_comes_earlier_goes_with_it(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a wombat")
    rows(other, "update_memory", number, content="a quokka", tags=["quokka"])
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    assert second()[0][5]["memories"] == 1
    erased(conn, number)


def test_a_successor_that_is_being_stored_stays(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    successor = call(other, "supersede", number, "a wombat")
    second = waits(conn, lambda: rows(conn, "erase", number))
    other.commit()
    second()
    assert leftovers(conn) == {}
    assert stored(conn, successor)["deleted_at"] is None


def test_who_is_to_be_superseded_by_what_is_erased_meanwhile(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    old, number = remember(conn, "a wombat"), remember(conn, "a quokka")
    rows(other, "erase", number)
    second = waits(conn, lambda: rows(conn, "supersede", old, successor=number))
    other.commit()
    with pytest.raises(psycopg.errors.NoDataFound):
        second()
    assert stored(conn, old)["superseded_by"] is None
    assert leftovers(conn) == {}


def _erase(conn: Connection[Any], number: int) -> object:
    return rows(conn, "erase", number)


def _erase_by_filter(conn: Connection[Any], _: int) -> object:
    return rows(conn, "erase_many", tags_all=["animal"])


def _feedback(conn: Connection[Any], number: int) -> object:
    return call(conn, "recall_feedback", "a quokka", number, True)


def _take_back(conn: Connection[Any], number: int) -> object:
    return call(conn, "recall_feedback", "a quokka", number, None)


def _judge(conn: Connection[Any], number: int) -> object:
    return call(conn, "pgrecall.judge", "q", "a quokka", None, [number])


@pytest.mark.parametrize("judging", [_feedback, _take_back, _judge])
@pytest.mark.parametrize("going", [_erase, _erase_by_filter])
def test_what_goes_meanwhile_is_judged_by_nobody(
    conn: Connection[Any],
    other: Connection[Any],
    judging: Callable[[Connection[Any], int], object],
    going: Callable[[Connection[Any], int], object],
) -> None:
    number = remember(conn, "a quokka", tags=["animal"])
    going(other, number)
    second = waits(conn, lambda: judging(conn, number))
    other.commit()
    with pytest.raises(psycopg.errors.NoDataFound) as caught:
        second()
    assert caught.value.diag.message_hint
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_queries") == 0


@pytest.mark.parametrize("judging", [_feedback, _judge])
def test_what_is_being_judged_is_erased_with_its_judgement(
    conn: Connection[Any], other: Connection[Any], judging: Callable[[Connection[Any], int], object]
) -> None:
    number = remember(conn, "a quokka")
    judging(other, number)
    second = waits(conn, lambda: _erase(conn, number))
    other.commit()
    second()
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judgements") == 0


def test_a_recall_that_began_before_goes_on(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    other.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    assert [row[0] for row in rows(other, "recall", CANARY)] == [number]
    rows(conn, "erase", number)
    assert [row[0] for row in rows(other, "recall", CANARY)] == [number]
    other.commit()
    assert rows(other, "recall", CANARY) == []


def test_a_writer_who_waits_for_a_namespace_that_goes_is_refused(
    conn: Connection[Any], other: Connection[Any]
) -> None:
    call(conn, "pgrecall.create_namespace", "doomed")
    remember(conn, "a quokka", namespace="doomed")
    rows(other, "erase_namespace", "doomed")
    second = waits(conn, lambda: remember(conn, "a late quokka", tags=["quokka"], namespace="doomed"))
    other.commit()
    with pytest.raises(psycopg.Error):
        second()
    assert leftovers(conn) == {}
    assert scalar(conn, "SELECT count(*) FROM pgrecall.namespaces WHERE name = 'doomed'") == 0


def test_a_writer_in_the_act_is_waited_for(conn: Connection[Any], other: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "doomed")
    remember(other, "a quokka", tags=["quokka"], namespace="doomed")
    second = waits(conn, lambda: rows(conn, "erase_namespace", "doomed"))
    other.commit()
    assert second()[0][4]["memories"] == 1
    assert leftovers(conn) == {}


@pytest.mark.slow
def test_it_does_not_wait_for_ever(conn: Connection[Any], other: Connection[Any]) -> None:
    number = remember(conn, "a quokka")
    other.execute("SELECT _pgrecall.try_lock_postings(%s)", (stored(conn, number)["namespace_id"],))
    with pytest.raises(psycopg.errors.LockNotAvailable) as caught:
        rows(conn, "erase", number)
    assert caught.value.diag.message_hint
    assert stored(conn, number)["deleted_at"] is None
