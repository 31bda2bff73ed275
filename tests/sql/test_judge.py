"""judge() and unjudge(): what is kept of a judgement, what is refused, what happens at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.judging import DIMENSION, angle, judge, measured, remember_fan
from support.memories import call, contents, refused, remember, rows, scalar, waits

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

ID = "the id of a memory"
KEPT = "SELECT query FROM pgrecall.judged_queries"


def test_each_namespace_has_its_own(conn: Connection[Any]) -> None:
    here = remember(conn, "a yellow submarine")
    there = remember(conn, "a yellow submarine", namespace="other", create_namespace=True)
    judge(conn, "q", [here], query="submarine")
    judge(conn, "q", [there], query="yellow", namespace="other")
    judge(conn, "r", [there], query="red", namespace="other")
    assert measured(conn)["overall"][:2] == (1, 1)
    assert measured(conn, namespace="other")["overall"][:2] == (2, 1 / 2)
    assert call(conn, "pgrecall.unjudge", "q")
    assert measured(conn)["overall"][0] == 0
    assert measured(conn, namespace="other")["overall"][0] == 2
    assert not call(conn, "pgrecall.unjudge", "q")
    assert not call(conn, "pgrecall.unjudge", "q", namespace="nowhere")
    assert contents(conn)["judgements"] == [f"(2,q,{there},t)", f"(2,r,{there},t)"]


def test_judging_again_replaces(conn: Connection[Any]) -> None:
    fan = remember_fan(conn)
    judge(
        conn, "q", [fan[0], fan[1], fan[1]], query="first", query_vec=angle(0), stratum="s", exclude=[fan[5]]
    )
    once = contents(conn)
    judge(
        conn, "q", [fan[1], fan[0]], query="first", query_vec=angle(0), stratum="s", exclude=[fan[5], fan[5]]
    )
    assert contents(conn) == once
    assert len(once["judgements"]) == 2
    judge(conn, "q", [fan[1], fan[2]], query="second")
    assert contents(conn)["judgements"] == [f"(1,q,{fan[1]},t)", f"(1,q,{fan[2]},t)"]
    assert scalar(conn, KEPT) == "second"


@pytest.mark.parametrize(
    ("sqlstate", "options"),
    [
        ("22023", {"relevant": []}),
        ("22023", {"relevant": None}),
        ("22023", {"relevant": [ID, None]}),
        ("22023", {"exclude": [None]}),
        ("22023", {"exclude": [ID]}),
        ("22023", {"query_id": ""}),
        ("22023", {"query_id": None}),
        ("22023", {"query_id": "x" * 201}),
        ("22023", {"stratum": "overall"}),
        ("22023", {"stratum": ""}),
        ("22023", {"stratum": None}),
        ("22023", {"query": " "}),
        ("22023", {"query": None}),
        ("22023", {"query_vec": "[1,2,3]"}),
        ("22023", {"query_vec": str([0.0] * DIMENSION)}),
        ("54000", {"query": "x" * 16_385}),
        ("54000", {"exclude": list(range(10_000, 10_501))}),
        ("42704", {"namespace": "nowhere"}),
        ("P0002", {"relevant": [ID, 999_999]}),
        ("P0002", {"namespace": "other"}),
    ],
)
def test_what_judge_refuses(conn: Connection[Any], sqlstate: str, options: dict[str, Any]) -> None:
    number = remember(conn, "a yellow submarine")
    remember(conn, "another", namespace="other", create_namespace=True)
    judge(conn, "before", [number], query="submarine")
    given = {"query_id": "q", "query": "submarine", "query_vec": None, "relevant": [number], **options}
    for name in ("relevant", "exclude"):
        if given.get(name):
            given[name] = [number if item is ID else item for item in given[name]]
    with refused(conn, sqlstate):
        rows(conn, "pgrecall.judge", **given)


def test_a_vector_needs_a_model(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    conn.execute("UPDATE pgrecall.generations SET model_id = NULL")
    with refused(conn, "55000"):
        judge(conn, "q", [number], query_vec=angle(0))
    judge(conn, "q", [number], query="submarine")
    assert contents(conn)["judged_vectors"] == []


def test_a_forgotten_memory_is_no_answer(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    call(conn, "forget", number)
    with refused(conn, "P0002"):
        judge(conn, "q", [number], query="submarine")


def test_two_at_once_leave_the_judgements_of_one(conn: Connection[Any], dsn: str) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    with psycopg.connect(dsn) as first, psycopg.connect(dsn, autocommit=True) as second:
        judge(first, "q", [one], query="one")
        done = waits(second, lambda: judge(second, "q", [two], query="two"))
        first.commit()
        done()
    assert contents(conn)["judgements"] == [f"(1,q,{two},t)"]
    assert scalar(conn, KEPT) == "two"


def test_what_is_deleted_takes_its_judgements_along(conn: Connection[Any]) -> None:
    one, two = remember(conn, "one"), remember(conn, "two")
    judge(conn, "q", [one, two], query="one")
    conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (two,))
    assert contents(conn)["judgements"] == [f"(1,q,{one},t)"]
    conn.execute("DELETE FROM pgrecall.memories")
    conn.execute("DELETE FROM pgrecall.namespaces")
    assert contents(conn)["judged_queries"] == []
