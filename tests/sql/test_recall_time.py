"""Recall by time: timeframe, as_of, include_sensitive, and recall_timeline()."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.range import Range

from support.memories import call, refused, remember, remember_many, rows, scalar, share, stored

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

DAY = timedelta(days=1)
MARCH = datetime(2024, 3, 1, tzinfo=UTC)
VECTOR = str([1.0] + [0.0] * 383)


def found(conn: Connection[Any], query: str = "tea", **options: object) -> set[int]:
    options.setdefault("k", 100)
    return {row[0] for row in rows(conn, "recall", query, **options)}


def period(begins: datetime | None, ends: datetime | None, bounds: str = "[)") -> Range[datetime]:
    return Range(begins, ends, bounds)


# --- timeframe ---


def test_what_happened_then_or_speaks_of_it(conn: Connection[Any]) -> None:
    then = remember(conn, "tea for two", occurred_at=MARCH + DAY)
    recorded = remember(conn, "tea for one", created_at=MARCH + 2 * DAY)
    speaks = remember(conn, "that tea on March 3rd, 2024", occurred_at=MARCH + 400 * DAY)
    overlaps = remember(conn, "all the tea in Q1 2024", occurred_at=MARCH + 400 * DAY)
    later = remember(conn, "tea, last week", occurred_at=MARCH + 30 * DAY)
    secret = remember(conn, "that tea of 2024-03-03", occurred_at=MARCH + 400 * DAY, is_sensitive=True)
    remember(conn, "tea without a date", occurred_at=MARCH - DAY)
    remember(conn, "tea on 2024-03-03", namespace="there", create_namespace=True)
    week = period(MARCH, MARCH + 7 * DAY)
    assert found(conn, timeframe=week) == {then, recorded, speaks, overlaps}
    assert found(conn, "", query_vec=VECTOR, timeframe=week) == set()  # nothing is embedded
    assert found(conn, timeframe=week, since=MARCH + 300 * DAY) == {speaks, overlaps}
    assert found(conn, timeframe=period(MARCH + 20 * DAY, MARCH + 31 * DAY)) == {later, overlaps}
    everything = found(conn)
    assert len(everything) == 7
    assert secret in everything
    assert found(conn, timeframe=period(None, None)) == everything
    assert found(conn, timeframe=period(MARCH + 300 * DAY, None)) == {speaks, overlaps, secret}
    assert then not in found(conn, timeframe=period(None, MARCH))
    row = conn.execute("SELECT count(*) FROM recall('tea', timeframe => 'empty')").fetchone()
    assert row == (0,)


def test_the_ends_of_a_timeframe(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", occurred_at=MARCH)
    said = remember(conn, "tea 2024-03-02", occurred_at=MARCH + 100 * DAY)
    for bounds, first, last in (
        ("[)", True, False),
        ("[]", True, True),
        ("()", False, False),
        ("(]", False, True),
    ):
        assert (number in found(conn, timeframe=period(MARCH, MARCH + DAY, bounds))) is first
        assert (number in found(conn, timeframe=period(MARCH - DAY, MARCH, bounds))) is last
        # What is spoken of begins at midnight, and has ended at the next.
        assert (said in found(conn, timeframe=period(MARCH, MARCH + DAY, bounds))) is last
        assert said not in found(conn, timeframe=period(MARCH + 2 * DAY, MARCH + 3 * DAY, bounds))
    assert found(conn, timeframe=period(MARCH, MARCH, "[]")) == {number}


@pytest.mark.parametrize("mode", ["bm25", "ts_rank", "prefix", "websearch"])
def test_a_timeframe_never_costs_results(conn: Connection[Any], mode: str) -> None:
    """Fewer than k come back only if fewer match, however far down they are without the filter."""
    remember_many(
        conn,
        [{"content": "tea tea tea", "occurred_at": str(MARCH + n * DAY)} for n in range(400)]
        + [{"content": f"tea of a distant {n}th day", "occurred_at": str(MARCH + 2000 * DAY + n * DAY)} for n in range(30)]
        + [{"content": f"tea which was here on 2030-01-{n:02}", "occurred_at": str(MARCH)} for n in range(1, 31)],
    )  # fmt: skip
    conn.execute("SELECT set_config('pgrecall.lexical_mode', %s, false)", (mode,))
    conn.execute("SET pgrecall.leg_depth = 10")
    conn.execute("SET pgrecall.bm25_max_postings = 100")
    far = period(MARCH + 2000 * DAY, MARCH + 2100 * DAY)
    said = period(datetime(2030, 1, 1, tzinfo=UTC), datetime(2030, 2, 1, tzinfo=UTC))
    for k in (1, 7, 30, 60):
        assert len(found(conn, k=k, timeframe=far)) == min(k, 30)
        assert len(found(conn, k=k, timeframe=said)) == min(k, 30)
        assert len(found(conn, k=k, timeframe=period(MARCH, said.upper))) == k


def test_the_dense_leg_keeps_to_it_too(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"note {n}", "occurred_at": str(MARCH + n * DAY)} for n in range(50)])
    said = remember(conn, "a note about 2023-01-01", occurred_at=MARCH + 20 * DAY)
    conn.execute("UPDATE pgrecall.memories SET embedding = %s", (VECTOR,))
    assert len(found(conn, "", query_vec=VECTOR, timeframe=period(MARCH, MARCH + 7 * DAY))) == 7
    assert found(conn, "", query_vec=VECTOR, timeframe=period(None, MARCH)) == {said}


def test_parse_timeframe_gives_what_recall_takes(conn: Connection[Any]) -> None:
    number = remember(conn, "tea", occurred_at=datetime.now(UTC) - timedelta(hours=1))
    remember(conn, "tea", occurred_at=datetime.now(UTC) - timedelta(days=40))
    query = "SELECT id FROM recall('tea', timeframe => parse_timeframe('last 2 days'))"
    assert conn.execute(query).fetchall() == [(number,)]


def test_both_halves_of_a_timeframe_use_an_index(conn: Connection[Any]) -> None:
    contents = [
        {"content": f"note {n}", "occurred_at": str(MARCH + n * timedelta(hours=1))} for n in range(5000)
    ]
    remember_many(conn, contents + [{"content": f"on 2020-01-{n:02}"} for n in range(1, 31)])
    conn.execute("ANALYZE pgrecall.memories, pgrecall.temporal_refs")
    # As the legs plan it: the filter is an argument, known to the planner.
    value = scalar(
        conn,
        "SELECT jsonb_populate_record(NULL::pgrecall.recall_filter, %s::jsonb)::text",
        '{"timeframe": "[2024-03-05, 2024-03-06)", "referring": [5001, 5002, 5003]}',
    )
    query = (
        "EXPLAIN SELECT m.id FROM pgrecall.memories m WHERE m.namespace_id = 1 "
        f"AND _pgrecall.matches_filter(m, '{value}'::pgrecall.recall_filter)"
    ).encode()
    plan = "\n".join(line for (line,) in conn.execute(query))
    assert "BitmapOr" in plan
    assert "memories_namespace_time_idx" in plan
    assert "id = ANY" in plan
    assert "Seq Scan" not in plan


def test_without_them_the_filters_leave_no_trace(conn: Connection[Any]) -> None:
    query = "EXPLAIN SELECT m.id FROM pgrecall.memories m WHERE _pgrecall.matches_filter(m, NULL)"
    plan = "\n".join(line for (line,) in conn.execute(query))
    assert "superseded_by IS NULL" in plan
    for name in ("occurred_at", "created_at", "superseded_at", "is_sensitive", "ANY"):
        assert name not in plan


# --- as_of ---


def test_superseding_is_recorded_when_it_is_said(conn: Connection[Any]) -> None:
    old = remember(conn, "tea in Rome")
    with conn.transaction():
        row = conn.execute("SELECT now()").fetchone()
        call(conn, "supersede", old, "tea in Oslo", occurred_at=MARCH)
    assert row is not None
    after = stored(conn, old)
    assert (after["superseded_at"], after["valid_to"]) == (row[0], MARCH)
    call(conn, "supersede", old, successor=after["superseded_by"])  # said again
    assert stored(conn, old)["superseded_at"] == row[0]


@pytest.mark.parametrize("include_superseded", [False, True])
def test_as_of(conn: Connection[Any], include_superseded: bool) -> None:
    """Recorded on day 0, superseded by another on day 10, that by a third on day 20; the facts are older."""
    ids = [
        remember(conn, f"tea {n}", created_at=MARCH + 10 * n * DAY, occurred_at=MARCH - 100 * DAY,
                 valid_from=MARCH + 500 * DAY)
        for n in range(3)
    ]  # fmt: skip
    for place in (0, 1):
        call(conn, "supersede", ids[place], successor=ids[place + 1], occurred_at=MARCH - 50 * DAY)
        conn.execute(
            "UPDATE pgrecall.memories SET superseded_at = %s WHERE id = %s",
            (MARCH + 10 * (place + 1) * DAY, ids[place]),
        )
    forgotten = remember(conn, "tea 4", created_at=MARCH)
    call(conn, "forget", forgotten)

    def known(at: datetime | None) -> list[int]:
        matching = found(conn, as_of=at, include_superseded=include_superseded)
        return [place for place, number in enumerate(ids) if number in matching]

    table = [  # before anything; the moment of recording; between; the moment of superseding; ...; now; unasked
        (MARCH - timedelta(microseconds=1), [], []),
        (MARCH, [0], [0]),
        (MARCH + 5 * DAY, [0], [0]),
        (MARCH + 10 * DAY, [1], [0, 1]),
        (MARCH + 15 * DAY, [1], [0, 1]),
        (MARCH + 20 * DAY - timedelta(microseconds=1), [1], [0, 1]),
        (MARCH + 20 * DAY, [2], [0, 1, 2]),
        (datetime.now(UTC), [2], [0, 1, 2]),
        (None, [2], [0, 1, 2]),
    ]
    for at, current, all_of_them in table:
        assert known(at) == (all_of_them if include_superseded else current), at
        assert forgotten not in found(conn, as_of=at, include_superseded=include_superseded)


def test_as_of_with_an_unknown_superseding(conn: Connection[Any]) -> None:
    """A row that another program marked, without saying when, is superseded at any time."""
    old, new = remember(conn, "tea", created_at=MARCH), remember(conn, "tea", created_at=MARCH)
    conn.execute("UPDATE pgrecall.memories SET superseded_by = %s WHERE id = %s", (new, old))
    assert found(conn, as_of=MARCH + DAY) == {new}


# --- include_sensitive ---


def test_sensitive_memories_can_be_left_out(conn: Connection[Any]) -> None:
    open_, secret = remember(conn, "tea"), remember(conn, "tea secret", is_sensitive=True)
    assert found(conn) == found(conn, include_sensitive=True) == {open_, secret}
    assert found(conn, include_sensitive=None) == {open_, secret}
    assert found(conn, include_sensitive=False) == {open_}


# --- recall_timeline ---


def test_the_same_memories_in_the_order_of_time(conn: Connection[Any]) -> None:
    one = remember(conn, "tea tea", occurred_at=MARCH + 2 * DAY, session="a", speaker="Ann", title="t")
    two = remember(conn, "tea tea tea", occurred_at=MARCH, session="a")
    three = remember(conn, "tea and milk", occurred_at=MARCH + 2 * DAY, session="b")
    four = remember(conn, "the tea", created_at=MARCH + 3 * DAY)
    five = remember(conn, "a tea", created_at=MARCH + 4 * DAY)
    scores = {row[0]: row[4] for row in rows(conn, "recall", "tea")}
    cursor = conn.execute("SELECT * FROM recall_timeline('tea')")
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == [
        "id", "happened_at", "session", "speaker", "title", "content", "score", "gap", "is_new_session",
        "origin", "namespace_name",
    ]  # fmt: skip
    zero = timedelta(0)
    assert cursor.fetchall() == [
        (two, MARCH, "a", None, None, "tea tea tea", scores[two], None, True, "agent", "default"),
        (one, MARCH + 2 * DAY, "a", "Ann", "t", "tea tea", scores[one], 2 * DAY, False, "agent", "default"),
        (
            three,
            MARCH + 2 * DAY,
            "b",
            None,
            None,
            "tea and milk",
            scores[three],
            zero,
            True,
            "agent",
            "default",
        ),
        (four, MARCH + 3 * DAY, None, None, None, "the tea", scores[four], DAY, True, "agent", "default"),
        (five, MARCH + 4 * DAY, None, None, None, "a tea", scores[five], DAY, False, "agent", "default"),
    ]


def test_the_timeline_takes_the_filters(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "tea", "occurred_at": str(MARCH + n * DAY), "metadata": {"n": n % 2},
                          "tags": ["x", f"t{n % 3}"], "category": f"c{n % 2}"} for n in range(30)])  # fmt: skip
    secret = remember(conn, "tea", occurred_at=MARCH, is_sensitive=True)
    old = remember(conn, "tea", created_at=MARCH)
    call(conn, "supersede", old, "milk")
    there = remember(conn, "tea", namespace="there", create_namespace=True)
    week = period(MARCH, MARCH + 7 * DAY)
    cases: tuple[dict[str, Any], ...] = (
        {}, {"k": 3}, {"timeframe": week}, {"timeframe": week, "include_sensitive": False}, {"as_of": MARCH},
        {"since": MARCH + DAY, "until": MARCH + 4 * DAY}, {"include_superseded": True, "k": 100},
        {"namespace": "there"}, {"tags_any": ["t1"]}, {"tags_all": ["x", "t2"]}, {"categories": ["c1"]},
        {"metadata_contains": {"n": 0}}, {"query_vec": VECTOR},
    )  # fmt: skip
    for options in cases:
        timeline = rows(conn, "recall_timeline", "tea", **options)
        assert {row[0] for row in timeline} == found(conn, **{"k": 20, **options}), options
        assert [row[1] for row in timeline] == sorted(row[1] for row in timeline)
    assert {row[0] for row in rows(conn, "recall_timeline", "tea", namespace="there")} == {there}
    assert secret in {row[0] for row in rows(conn, "recall_timeline", "tea", k=100)}
    assert old in {row[0] for row in rows(conn, "recall_timeline", "tea", k=100, include_superseded=True)}


def test_the_timeline_refuses_what_recall_refuses(conn: Connection[Any]) -> None:
    for options in ({"topic": ""}, {"topic": "tea", "k": 0}, {"topic": "tea", "query_vec": "[1,2]"}):
        with refused(conn, "22023"):
            rows(conn, "recall_timeline", **options)


def test_readers_have_a_timeline(conn: Connection[Any]) -> None:
    number = remember(conn, "tea yesterday")
    share(conn)
    conn.execute("SET ROLE pgrecall_reader")
    conn.execute("SET default_transaction_read_only = on")
    assert [row[0] for row in rows(conn, "recall_timeline", "tea", timeframe=period(MARCH, None))] == [number]


def test_no_timeframe_is_none(conn: Connection[Any]) -> None:
    """Not the time without ends: that would look every reference up, and leave infinite times out."""
    number = remember(conn, "tea")
    conn.execute("ALTER TABLE pgrecall.memories DROP CONSTRAINT memories_times")
    conn.execute("UPDATE pgrecall.memories SET occurred_at = 'infinity'")
    assert scalar(conn, "SELECT _pgrecall.to_half_open(NULL) IS NULL") is True
    assert [row[0] for row in conn.execute("SELECT id FROM recall('tea')")] == [number]
