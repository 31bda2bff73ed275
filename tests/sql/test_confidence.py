"""The confidence that recall returns with every memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

ASKED = "which submarine is yellow?"


def _confidences(conn: Connection[Any], query: str = ASKED, **settings: Any) -> list[float | None]:
    given = "".join(f", {name} => %({name})s" for name in settings)
    statement = f"SELECT confidence FROM recall(%(query)s{given})"
    return [one for (one,) in conn.execute(statement.encode(), {"query": query, **settings})]


def _fill(conn: Connection[Any]) -> int:
    for number in range(12):
        remember(conn, f"a submarine of the year {1950 + number}")
    return remember(conn, "the yellow submarine, which is yellow")


def test_it_falls_when_the_answer_goes(conn: Connection[Any]) -> None:
    answer = _fill(conn)
    known, *others = _confidences(conn)
    assert known is not None
    assert all(one is not None and 0 < one < known < 1 for one in others)
    conn.execute("SELECT forget(%s)", (answer,))
    unknown = _confidences(conn)[0]
    assert unknown is not None
    assert unknown < known / 2


def test_it_does_not_depend_on_what_is_returned(conn: Connection[Any]) -> None:
    _fill(conn)
    first = _confidences(conn)[0]
    assert _confidences(conn, k=1) == [first]
    assert _confidences(conn, k=50)[0] == first
    assert _confidences(conn, min_score=0.3)[0] == first


def test_importance_and_age_leave_it_alone(conn: Connection[Any]) -> None:
    answer = _fill(conn)
    first = _confidences(conn)[0]
    conn.execute("UPDATE pgrecall.memories SET importance = 0.1 WHERE id = %s", (answer,))
    conn.execute("SET pgrecall.importance_weight = 1")
    assert first in _confidences(conn)


def test_fusion_by_ranks_has_none(conn: Connection[Any]) -> None:
    _fill(conn)
    assert set(_confidences(conn, fusion="rrf")) == {None}


def test_a_memory_alone_and_a_query_of_stop_words(conn: Connection[Any]) -> None:
    remember(conn, "the yellow submarine")
    assert scalar(conn, "SELECT count(*) FROM recall('is it the')") >= 0
    (alone,) = _confidences(conn)
    assert alone is not None
    assert 0 < alone < 1
