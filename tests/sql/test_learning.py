"""recall_feedback() and learn(): what feedback changes, and what it cannot change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import psycopg
import pytest

from support.judging import DIMENSION, angle, embed_as
from support.memories import call, refused, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

QUERIES = 44


@dataclass(frozen=True)
class Contest:
    """Memories for which the default settings put a memory with the words above the one with the meaning.

    Attributes:
        ids: A memory for each number.
        queries: For each number a query with the words of another memory and a vector near this one.
    """

    ids: list[int]
    queries: list[tuple[str, str]]

    def best(self, conn: Connection[Any], number: int, **options: object) -> int:
        query, vector = self.queries[number]
        return int(rows(conn, "recall", query, vector, 1, **options)[0][0])

    def feedback(self, conn: Connection[Any], number: int, memory: int, useful: bool | None = True) -> None:
        query, vector = self.queries[number]
        rows(conn, "recall_feedback", query, self.ids[memory], useful, vector)


@pytest.fixture
def contest(conn: Connection[Any]) -> Contest:
    draw = np.random.default_rng(4)
    vectors = draw.normal(size=(QUERIES, DIMENSION))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = remember_many(conn, [{"content": f"alpha{number} beta{number}"} for number in range(QUERIES)])
    for memory_id, vector in zip(ids, vectors, strict=True):
        embed_as(conn, memory_id, str(vector.tolist()))
    call(conn, "_pgrecall.refresh_background", 1, 1)
    queries = []
    for number in range(QUERIES):
        noise = draw.normal(size=DIMENSION)
        noise /= np.linalg.norm(noise)
        other = (number + 1) % QUERIES
        queries.append((f"alpha{other} beta{other}", str((0.34 * vectors[number] + 0.94 * noise).tolist())))
    # Otherwise a test would wait for seven settings with thirty values.
    conn.execute(
        "CREATE OR REPLACE VIEW pgrecall.learnable_settings AS "
        "SELECT 1 AS place, 'cc_alpha' AS name, '{0.4, 0.55, 0.7}'::text[] AS tried"
    )
    return Contest(ids, queries)


def learned(conn: Connection[Any], **options: object) -> dict[str, Any]:
    (row,) = rows(conn, "pgrecall.learn", **options)
    return dict(
        zip(("is_adopted", "settings", "queries", "before", "after", "low", "high"), row, strict=True)
    )


def ends(conn: Connection[Any]) -> list[str | None]:
    """Why the learned settings ended, the newest first; None: they have not."""
    return [row[-1] for row in rows(conn, "pgrecall.list_learned")]


def test_it_learns_what_helps_and_forgets_it_on_request(conn: Connection[Any], contest: Contest) -> None:
    for number in range(QUERIES):
        contest.feedback(conn, number, number)
    before = [contest.best(conn, number) for number in range(QUERIES)]
    assert learned(conn, dry_run=True)["settings"] == {"cc_alpha": "0.7"}
    assert [contest.best(conn, number) for number in range(QUERIES)] == before

    found = learned(conn)
    assert (found["is_adopted"], found["settings"], found["queries"]) == (True, {"cc_alpha": "0.7"}, QUERIES)
    assert found["before"] < found["after"]
    assert 0 < found["low"] < found["after"] - found["before"] < found["high"]
    right = [contest.best(conn, number) == contest.ids[number] for number in range(QUERIES)]
    assert sum(right) > sum(one == two for one, two in zip(before, contest.ids, strict=True)) + 10

    # Another namespace has not learned it, and the caller's own setting counts more.
    used = "SELECT settings_in_force ->> 'cc_alpha' FROM recall_explain('alpha1', NULL, %s, namespace => %s)"
    assert scalar(conn, used, [contest.ids[1]], "default") == "0.7"
    remember(conn, "alpha1", namespace="other", create_namespace=True)
    assert scalar(conn, used, [remember(conn, "alpha1 gamma", namespace="other")], "other") == "0.55"
    assert contest.best(conn, 3, settings={"cc_alpha": 0.55}) == before[3]
    conn.execute("SET LOCAL pgrecall.cc_alpha = 0.55")
    assert [contest.best(conn, number) for number in range(QUERIES)] == before
    conn.execute("RESET pgrecall.cc_alpha")

    # Learned again, it compares with the settings that were in force without it.
    assert learned(conn)["before"] == pytest.approx(found["before"])
    assert ends(conn) == [None, "replaced"]
    assert call(conn, "pgrecall.unlearn")
    assert not call(conn, "pgrecall.unlearn")
    assert [contest.best(conn, number) for number in range(QUERIES)] == before
    assert ends(conn) == ["undone", "replaced"]


@pytest.mark.parametrize("kind", ["random", "inverted"])
def test_wrong_feedback_changes_nothing(conn: Connection[Any], contest: Contest, kind: str) -> None:
    draw = np.random.default_rng(8)
    for number in range(QUERIES):
        if kind == "random":
            contest.feedback(conn, number, int(draw.integers(QUERIES)))
        else:
            query, vector = contest.queries[number]
            for row in rows(conn, "recall", query, vector, 10):
                contest.feedback(conn, number, contest.ids.index(row[0]), row[0] != contest.ids[number])
    found = learned(conn)
    assert not found["is_adopted"]
    assert ends(conn) == []


@pytest.mark.pg15  # the one of this file that calls everything
def test_what_turns_out_worse_is_taken_back(conn: Connection[Any], contest: Contest) -> None:
    for number in range(QUERIES):
        contest.feedback(conn, number, number)
    assert learned(conn)["is_adopted"]
    # The transaction has one now(): what follows is to be later.
    conn.execute("UPDATE pgrecall.learned_settings SET learned_at = now() - interval '1 second'")
    conn.execute("UPDATE pgrecall.judged_queries SET judged_at = now() - interval '2 seconds'")
    # From now on the words are right.
    for number in range(20):
        query, vector = contest.queries[number]
        other = contest.ids[(number + 1) % QUERIES]
        assert ends(conn) == [None]
        rows(conn, "recall_feedback", f"{query} {number}", other, True, vector)
    assert ends(conn) == ["worse"]


def test_a_flood_counts_no_more_than_the_median_role(conn: Connection[Any], contest: Contest) -> None:
    conn.execute("CREATE ROLE flooder IN ROLE pgrecall_writer")
    call(conn, "pgrecall.grant_namespace", "flooder", "default", "write")
    query = (
        "SELECT judged_by::text, count(*) FROM _pgrecall.training_queries(1) t "
        "JOIN pgrecall.judged_queries q USING (query_id) GROUP BY 1 ORDER BY 1"
    )
    for number in range(QUERIES):
        contest.feedback(conn, number, number)
    conn.execute("SET LOCAL ROLE flooder")
    conn.execute(
        "SELECT recall_feedback('flood ' || i, %s, true, %s) FROM generate_series(1, 1100) i",
        (contest.ids[0], angle(0)),
    )
    conn.execute("RESET ROLE")
    mine = scalar(conn, "SELECT current_user::text")
    assert dict(conn.execute(query.encode()).fetchall()) == {"flooder": 50, mine: QUERIES}
    kept = "SELECT count(*) FROM pgrecall.judged_queries WHERE judged_by = 'flooder'"
    assert scalar(conn, kept) == 1000


def test_each_role_has_one_opinion(conn: Connection[Any], contest: Contest) -> None:
    contest.feedback(conn, 0, 0)
    contest.feedback(conn, 0, 0, useful=False)
    contest.feedback(conn, 0, 1)
    opinions = "SELECT memory_id, is_useful FROM pgrecall.judgements ORDER BY 1"
    assert conn.execute(opinions.encode()).fetchall() == [(contest.ids[0], False), (contest.ids[1], True)]
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_vectors") == 1
    # recall_eval() measures what judge() recorded.
    assert rows(conn, "pgrecall.judged_recall") == []
    contest.feedback(conn, 0, 1, useful=None)
    contest.feedback(conn, 0, 0, useful=None)
    assert scalar(conn, "SELECT count(*) FROM pgrecall.judged_queries") == 0


def test_a_query_without_a_vector_teaches_nothing(conn: Connection[Any], contest: Contest) -> None:
    for number in range(QUERIES):
        rows(conn, "recall_feedback", contest.queries[number][0], contest.ids[number], True)
    assert scalar(conn, "SELECT count(*) FROM _pgrecall.training_queries(1)") == 0
    assert list(learned(conn).values()) == [False, {}, 0, None, None, None, None]


@pytest.mark.parametrize(
    ("sqlstate", "options"),
    [
        ("P0002", {"id": None}),
        ("P0002", {"id": 999_999}),
        ("P0002", {"namespace": "other"}),
        ("42704", {"namespace": "nowhere"}),
        ("22023", {"query": " "}),
        ("22023", {"query_vec": "[1,2,3]"}),
        ("54000", {"query": "x" * 16_385}),
    ],
)
def test_what_feedback_refuses(conn: Connection[Any], sqlstate: str, options: dict[str, Any]) -> None:
    number = remember(conn, "a yellow submarine")
    remember(conn, "another", namespace="other", create_namespace=True)
    with refused(conn, sqlstate):
        rows(conn, "recall_feedback", **{"query": "submarine", "id": number, "useful": True, **options})


def test_a_reader_cannot_teach(conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    conn.execute("CREATE ROLE reading IN ROLE pgrecall_writer")
    call(conn, "pgrecall.grant_namespace", "reading", "default", "read")
    conn.execute("SET LOCAL ROLE reading")
    for function, arguments in (
        ("recall_feedback", ["submarine", number, True]),
        ("pgrecall.learn", []),
        ("pgrecall.unlearn", []),
        ("pgrecall.judge", ["q", "submarine", None, [number]]),
    ):
        with (
            pytest.raises(psycopg.errors.InsufficientPrivilege, match='may only read namespace "default"'),
            conn.transaction(),
        ):
            rows(conn, function, *arguments)
