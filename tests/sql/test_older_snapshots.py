"""Transactions whose snapshot is older than what others have committed: what they cannot see, they do not contradict."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.facts import fact, read
from support.memories import call, concepts, remember, scalar, stored, waits

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psycopg import Connection

LEVELS = ("REPEATABLE READ", "SERIALIZABLE")
REFUSED = psycopg.errors.SerializationFailure


@pytest.fixture
def other(dsn: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(dsn, autocommit=True) as opened:
        yield opened


@pytest.fixture(params=LEVELS)
def older(dsn: str, conn: Connection[Any], request: pytest.FixtureRequest) -> Iterator[Connection[Any]]:
    """A session whose next transaction keeps the snapshot of its first statement."""
    conn.execute("SET statement_timeout = '20s'")
    with psycopg.connect(dsn) as opened:
        opened.execute(f"SET TRANSACTION ISOLATION LEVEL {request.param}")
        opened.execute("SET LOCAL statement_timeout = '20s'")
        yield opened


def look(conn: Connection[Any]) -> None:
    """Take the snapshot."""
    conn.execute("SELECT FROM pgrecall.namespaces").fetchall()


def label(conn: Connection[Any], alias: str, canonical: str) -> int:
    return int(call(conn, "pgrecall.set_relation_label", 1, alias, canonical))


def concept(conn: Connection[Any], name: str) -> int:
    return int(scalar(conn, "SELECT concept_id FROM pgrecall.concept_aliases WHERE alias = %s", name))


def follow(conn: Connection[Any], old: int, new: int) -> None:
    call(conn, "supersede", old, successor=new)


def test_labels_do_not_map_to_one_another(conn: Connection[Any], older: Connection[Any]) -> None:
    look(older)
    label(conn, "works at", "employed by")
    with pytest.raises(REFUSED):
        label(older, "employed by", "works at")
    assert call(conn, "pgrecall.canonical_label", 1, "works at") == "employed by"


def test_a_fact_is_not_stored_under_a_label_that_was_mapped(
    conn: Connection[Any], older: Connection[Any]
) -> None:
    number = remember(conn)
    look(older)
    label(conn, "works at", "employed by")
    with pytest.raises(REFUSED):
        read(older, number, fact("Ana", "works at", "Acme"))


def test_labels_that_map_to_one_another_end_and_are_repaired(conn: Connection[Any]) -> None:
    """As an older release left them."""
    read(conn, remember(conn), fact("Ana", "a", "Acme"))
    read(conn, remember(conn), fact("Bo", "b", "Acme"))
    conn.execute(
        "INSERT INTO pgrecall.relation_labels (namespace_id, alias, label, method)"
        " VALUES (1, 'a', 'b', 'rule'), (1, 'b', 'c', 'rule'), (1, 'c', 'a', 'rule'), (1, 'tail', 'a', 'rule')"
    )
    conn.execute("SET statement_timeout = '5s'")
    for word in ("a", "b", "c", "tail"):
        assert call(conn, "pgrecall.canonical_label", 1, word) in ("a", "b", "c")
    assert label(conn, "b", "b") == 1
    assert {call(conn, "pgrecall.canonical_label", 1, word) for word in ("a", "b", "c", "tail")} == {"b"}
    assert scalar(conn, "SELECT array_agg(DISTINCT label) FROM pgrecall.relationships") == ["b"]


def test_memories_do_not_supersede_one_another(conn: Connection[Any], older: Connection[Any]) -> None:
    a, b, c = (remember(conn, text) for text in "abc")
    follow(conn, a, b)
    look(older)
    follow(conn, b, c)
    with pytest.raises(REFUSED):
        follow(older, c, a)
    assert stored(conn, c)["superseded_by"] is None


def awaiting(conn: Connection[Any], *numbers: int) -> None:
    """Leave memories as import_memories() does those whose successor comes later."""
    conn.execute(
        "UPDATE pgrecall.memories SET deleted_at = _pgrecall.awaits_successor() WHERE id = ANY (%s)",
        [list(numbers)],
    )


def link(conn: Connection[Any], old: int, new: int) -> int:
    pair = {"id": old, "superseded_by": new, "superseded_at": "2025-01-01T00:00:00Z"}
    return int(call(conn, "pgrecall.link_imported_memories", Jsonb([pair])))


def test_imported_memories_do_not_supersede_one_another(
    conn: Connection[Any], older: Connection[Any]
) -> None:
    a, b, c = (remember(conn, text) for text in "abc")
    awaiting(conn, a, b, c)
    assert link(conn, a, b) == 1
    look(older)
    assert link(conn, b, c) == 1
    with pytest.raises(REFUSED):
        link(older, c, a)


def test_imports_that_would_close_a_circle_take_turns(conn: Connection[Any], other: Connection[Any]) -> None:
    w, x, y, z = (remember(conn, text) for text in "wxyz")
    follow(conn, x, y)
    follow(conn, z, w)
    awaiting(conn, y, w)
    with conn.transaction():
        assert link(conn, y, z) == 1
        closed = waits(other, lambda: link(other, w, x))
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        closed()


def test_four_calls_that_would_close_a_circle_take_turns(conn: Connection[Any], dsn: str) -> None:
    """Two of them wait for the rows of the two others, which have become superseded when they get them."""
    w, x, y, z = (remember(conn, text) for text in "wxyz")
    with ExitStack() as stack:
        one, two, three, four = (
            stack.enter_context(psycopg.connect(dsn, autocommit=autocommit))
            for autocommit in (False, False, False, True)
        )
        follow(one, y, z)
        follow(two, w, x)
        closes = [waits(three, lambda: follow(three, x, y)), waits(four, lambda: follow(four, z, w))]
        one.commit()
        two.commit()
        # Whichever gets its rows first closes nothing.
        refusals = 0
        for close, connection in zip(closes, (three, four), strict=True):
            try:
                close()
            except psycopg.errors.InvalidParameterValue:
                refusals += 1
            connection.commit()
        assert refusals == 1


@pytest.mark.parametrize("change", ["forget", "update_memory"])
def test_a_name_that_another_uses_stays(conn: Connection[Any], older: Connection[Any], change: str) -> None:
    number = remember(conn, "one", tags=["sea"])
    look(older)
    second = remember(conn, "two", tags=["sea"])
    call(older, change, number, **({"tags": []} if change == "update_memory" else {}))
    older.commit()
    assert concepts(conn, second) == ["sea"]
    call(conn, "forget", second)
    assert concepts(conn) == []


def test_a_concept_that_took_over_another_stays(conn: Connection[Any], older: Connection[Any]) -> None:
    number = remember(conn, "one", tags=["sea"])
    remember(conn, "two", tags=["ocean"])
    look(older)
    sea, ocean = concept(conn, "sea"), concept(conn, "ocean")
    call(conn, "pgrecall.merge_concepts", ocean, sea, method="manual")
    with pytest.raises(REFUSED):
        call(older, "forget", number)


def test_a_name_that_was_moved_is_not_used(conn: Connection[Any], older: Connection[Any]) -> None:
    remember(conn, "one", tags=["sea"])
    remember(conn, "two", tags=["ocean"])
    look(older)
    sea, ocean = concept(conn, "sea"), concept(conn, "ocean")
    call(conn, "pgrecall.merge_concepts", ocean, sea, method="manual")
    with pytest.raises(REFUSED):
        remember(older, "three", tags=["ocean"])


def test_a_merge_moves_what_it_does_not_see(conn: Connection[Any], older: Connection[Any]) -> None:
    remember(conn, "one", tags=["sea"])
    remember(conn, "two", tags=["ocean"])
    look(older)
    sea, ocean = concept(conn, "sea"), concept(conn, "ocean")
    remember(conn, "three", tags=["ocean"])
    with pytest.raises(REFUSED):
        call(older, "pgrecall.merge_concepts", ocean, sea, method="manual")
