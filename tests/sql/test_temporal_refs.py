"""The times that memories speak of: found in their text, kept true to it, never kept of a sensitive one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.memories import call, embed, refused, remember, remember_many, rows, share

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

NOON = datetime(2026, 5, 13, 12, tzinfo=UTC)


def read(conn: Connection[Any], text: str, anchor: datetime = NOON) -> list[tuple[str, str]]:
    """The stretches of a text that name a time, each with its period in UTC."""
    conn.execute("SET TimeZone = 'UTC'")
    found = conn.execute("SELECT span, period FROM _pgrecall.temporal_references(%s, %s)", (text, anchor))
    return [
        (text[span.lower : span.upper], f"{period.lower:%Y-%m-%dT%H:%M} {period.upper:%Y-%m-%dT%H:%M}")
        for span, period in found
    ]


def refs(conn: Connection[Any], memory_id: int | None = None) -> list[str]:
    """The days on which the stored references begin."""
    conn.execute("SET TimeZone = 'UTC'")
    query = """
        SELECT r.from_at FROM pgrecall.temporal_refs r
        JOIN pgrecall.memories m ON m.id = r.memory_id AND m.namespace_id = r.namespace_id
        WHERE r.memory_id = COALESCE(%s, r.memory_id) ORDER BY r.memory_id, r.span
    """
    return [f"{begins:%Y-%m-%d}" for (begins,) in conn.execute(query, (memory_id,))]


# --- In a text ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We met yesterday.", [("yesterday", "2026-05-12T00:00 2026-05-13T00:00")]),
        ("We met on Friday, March 3rd, 2023, at noon", [("Friday, March 3rd, 2023", "2023-03-03T00:00 2023-03-04T00:00")]),
        ("Ö: due 2024-03-05T10:00Z", [("2024-03-05T10:00Z", "2024-03-05T10:00 2024-03-05T10:01")]),
        ("in Q3 2024 and summer 2023", [("Q3 2024", "2024-07-01T00:00 2024-10-01T00:00"),
                                         ("summer 2023", "2023-06-01T00:00 2023-09-01T00:00")]),
        ("TWO WEEKS AGO", [("TWO WEEKS AGO", "2026-04-27T00:00 2026-05-04T00:00")]),
        ("a couple of days ago", [("couple of days ago", "2026-05-11T00:00 2026-05-12T00:00")]),
        ("last weekend, or last night", [("last weekend", "2026-05-09T00:00 2026-05-11T00:00"),
                                          ("last night", "2026-05-12T18:00 2026-05-13T06:00")]),
        ("in the 1990s; in 2019", [("1990s", "1990-01-01T00:00 2000-01-01T00:00"),
                                    ("in 2019", "2019-01-01T00:00 2020-01-01T00:00")]),
        ("over the last three months", [("last three months", "2026-02-13T12:00 2026-05-13T12:00")]),
        # without a year the nearest is meant, whether it is over or to come
        ("to Goa in March", [("in March", "2026-03-01T00:00 2026-04-01T00:00")]),
        ("to Goa in July", [("in July", "2026-07-01T00:00 2026-08-01T00:00")]),
        ("to Goa in March 2024", [("in March 2024", "2024-03-01T00:00 2024-04-01T00:00")]),
        ("to Goa last July", [("last July", "2025-07-01T00:00 2025-08-01T00:00")]),
        ("her birthday, 20 May", [("20 May", "2026-05-20T00:00 2026-05-21T00:00")]),
    ],
)  # fmt: skip
def test_what_is_found(conn: Connection[Any], text: str, expected: list[tuple[str, str]]) -> None:
    assert read(conn, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "", "nothing", "may I march? the second of them", "2024 people and 1234 more", "now", "since then",
        "1234-56-78", "2023-02-30", "March 32", "order 4711-99", "Monda", "yesterdays", "dismay 5", "thursdays",
        "5 days later", "the fall of Rome", "a summer dress",
    ],
)  # fmt: skip
def test_what_names_no_time(conn: Connection[Any], text: str) -> None:
    assert read(conn, text) == []


def test_at_most_twenty(conn: Connection[Any]) -> None:
    assert len(read(conn, "yesterday and today " * 50)) == 20
    assert len(read(conn, "x" * 25_000 + " yesterday")) == 0


def test_the_hint_misses_nothing(conn: Connection[Any]) -> None:
    """Whatever the pattern finds, the cheaper look before it lets through."""
    months = [
        "jan",
        "February",
        "mar.",
        "April",
        "may",
        "june",
        "Jul",
        "aug",
        "sept",
        "OCTOBER",
        "nov.",
        "dec",
    ]
    weekdays = ["Monday", "tuesday", "Wednesday", "Thursday", "friday", "Saturday", "sunday"]
    units = ["hour", "hours", "day", "days", "week", "weeks", "month", "months", "year", "years"]
    which = ["week", "weekend", "month", "year", "quarter", "decade", "spring", "summer", "autumn", "fall", "winter"]  # fmt: skip
    numbers = ["a", "an", "7", "two", "ten", "few", "several", "couple of"]
    texts = [form for month in months for form in (f"{month} 5", f"5th of {month}", f"{month} 2024", f"in {month}", f"next {month}")]  # fmt: skip
    texts += [form for day in weekdays for form in (day, f"last {day}", f"{day} next week", f"this {day} morning")]  # fmt: skip
    texts += [f"{number} {unit} ago" for number in numbers for unit in units]
    texts += [f"{word} {unit}" for word in ("last", "this", "next", "past", "previous") for unit in which]
    texts += [f"{word} {number} {unit}" for word in ("last", "past", "next", "in") for number in ("7", "two", "a few") for unit in units if unit.endswith("s") and unit != "hours"]  # fmt: skip
    texts += ["yesterday", "day before yesterday", "tomorrow night", "tonight", "last night", "this evening"]
    texts += ["2024-03", "2024-03-05", "q1 2024", "autumn of 2024", "in 2019", "1980s"]
    row = conn.execute(
        "SELECT array_agg(t) FILTER (WHERE t !~* _pgrecall.date_hint()),"
        " array_agg(t) FILTER (WHERE t !~* _pgrecall.date_pattern()) FROM unnest(%s::text[]) t",
        (texts,),
    ).fetchone()
    assert row is not None
    hidden, unseen = row
    assert hidden is None
    # Bare "mar." has its dot only before something else.
    assert {text.rstrip(".") for text in unseen or []} <= {
        text.rstrip(".") for text in texts if text[-1] == "."
    }


# --- Kept true to the memories ---


def test_stored_with_the_memory(conn: Connection[Any]) -> None:
    one = remember(conn, "we sailed yesterday", occurred_at=NOON)
    assert refs(conn, one) == ["2026-05-12"]
    two = remember(conn, "nothing")
    ids = remember_many(
        conn, [{"content": f"on March {day}, 2024"} for day in range(1, 29)] + [{"content": "x"}]
    )
    assert refs(conn, two) == []
    assert refs(conn, ids[27]) == ["2024-03-28"]
    assert len(refs(conn)) == 29


def test_without_an_occurrence_the_recording_counts(conn: Connection[Any]) -> None:
    number = remember(conn, "we sailed yesterday", created_at=NOON - timedelta(days=10))
    assert refs(conn, number) == ["2026-05-02"]
    call(conn, "update_memory", number, occurred_at=NOON)
    assert refs(conn, number) == ["2026-05-12"]


def test_the_same_in_every_zone(conn: Connection[Any]) -> None:
    late = datetime(2026, 5, 13, 23, 30, tzinfo=UTC)
    for zone in ("Pacific/Auckland", "America/Los_Angeles"):
        conn.execute(f"SET TimeZone = '{zone}'".encode())
        assert refs(conn, remember(conn, "today", occurred_at=late)) == ["2026-05-13"]


def test_revised(conn: Connection[Any]) -> None:
    number = remember(conn, "we sailed yesterday", occurred_at=NOON)
    call(conn, "update_memory", number, content="we sailed on 2024-03-05 and in June 2023")
    assert refs(conn, number) == ["2024-03-05", "2023-06-01"]
    call(conn, "update_memory", number, content="we sailed")
    assert refs(conn, number) == []


@pytest.mark.usefixtures("dsn")
def test_sensitive_memories_have_none(conn: Connection[Any]) -> None:
    secret = remember(conn, "the key of 2024-03-05", is_sensitive=True)
    open_ = remember(conn, "the key of 2024-03-06")
    assert refs(conn) == ["2024-03-06"]
    call(conn, "update_memory", open_, is_sensitive=True)
    assert refs(conn) == []
    call(conn, "update_memory", secret, content="the key of 2024-03-07")
    call(conn, "update_memory", secret, occurred_at=NOON)
    conn.execute("CALL pgrecall.refresh_temporal_refs()")
    assert refs(conn) == []
    call(conn, "update_memory", open_, is_sensitive=False)
    assert refs(conn) == ["2024-03-06"]


def test_forgotten_memories_have_none(conn: Connection[Any]) -> None:
    number = remember(conn, "the key of 2024-03-05", external_id="e")
    call(conn, "forget", number)
    assert refs(conn) == []
    assert remember(conn, "the key of 2024-03-05", external_id="e", on_conflict="update") == number
    assert refs(conn) == ["2024-03-05"]


def test_superseded_memories_keep_theirs(conn: Connection[Any]) -> None:
    number = remember(conn, "moved on 2024-03-05")
    new = call(conn, "supersede", number, "moved on 2024-03-06")
    assert (refs(conn, number), refs(conn, new)) == (["2024-03-05"], ["2024-03-06"])


def test_deleted_moved_and_truncated(conn: Connection[Any]) -> None:
    number, other = remember(conn, "in June 2023"), remember(conn, "in July 2023")
    namespace = call(conn, "pgrecall.create_namespace", "elsewhere")
    conn.execute("UPDATE pgrecall.memories SET namespace_id = %s WHERE id = %s", (namespace, number))
    assert refs(conn, number) == ["2023-06-01"]  # of the memory's namespace
    conn.execute("DELETE FROM pgrecall.memories WHERE id = %s", (other,))
    assert refs(conn) == ["2023-06-01"]
    conn.execute("TRUNCATE pgrecall.memories CASCADE")
    assert conn.execute("SELECT count(*) FROM pgrecall.temporal_refs").fetchone() == (0,)


def test_writing_back_an_embedding_leaves_them_alone(conn: Connection[Any]) -> None:
    number = remember(conn, "in June 2023")
    query = "SELECT ctid::text FROM pgrecall.temporal_refs"
    before = conn.execute(query).fetchall()
    embed(conn, number)
    call(conn, "update_memory", number, tags=["sailing"], importance=0.9)
    assert conn.execute(query).fetchall() == before


@pytest.mark.usefixtures("dsn")
def test_refresh_makes_them_anew(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "in June 2023"}] * 1100)
    there = remember(conn, "in July 2023", namespace="there", create_namespace=True)
    conn.execute("DELETE FROM pgrecall.temporal_refs")
    conn.execute("CALL pgrecall.refresh_temporal_refs('there')")
    assert refs(conn) == refs(conn, there) == ["2023-07-01"]
    conn.execute("CALL pgrecall.refresh_temporal_refs()")
    assert refs(conn) == ["2023-06-01"] * 1100 + ["2023-07-01"]
    with refused(conn, "42704"):
        conn.execute("CALL pgrecall.refresh_temporal_refs('nowhere')")


@pytest.mark.usefixtures("dsn")
def test_refresh_keeps_what_a_daemon_has_read(conn: Connection[Any]) -> None:
    read_by_daemon, stored_only = remember(conn, "im Juni 2023"), remember(conn, "in June 2023")
    conn.execute(
        "INSERT INTO pgrecall.extractions (memory_id, enricher, version) VALUES (%s, 'text', '1')",
        (read_by_daemon,),
    )
    conn.execute(
        "INSERT INTO pgrecall.temporal_refs (memory_id, namespace_id, span, from_at, to_at) "
        "VALUES (%s, 1, '[0,12)', '2023-06-01Z', '2023-07-01Z')",
        (read_by_daemon,),
    )
    conn.execute("CALL pgrecall.refresh_temporal_refs()")
    assert refs(conn, read_by_daemon) == refs(conn, stored_only) == ["2023-06-01"]


# --- Who may ---


def test_roles(conn: Connection[Any]) -> None:
    number = remember(conn, "in June 2023")
    share(conn)
    for role in ("pgrecall_reader", "pgrecall_writer", "pgrecall_admin"):
        conn.execute(f"SET ROLE {role}".encode())
        found = rows(conn, "recall", "June", timeframe="[2023-06-01,2023-07-01)")
        assert [row[0] for row in found] == [number]
        assert rows(conn, "parse_timeframe", "last week", NOON, "Europe/Berlin")
    conn.execute("SET ROLE pgrecall_reader")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("DELETE FROM pgrecall.temporal_refs")
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        conn.execute("CALL pgrecall.refresh_temporal_refs()")


@pytest.mark.usefixtures("dsn")
def test_a_writer_keeps_them(conn: Connection[Any]) -> None:
    share(conn)
    with conn.transaction():
        conn.execute("SET LOCAL ROLE pgrecall_writer")
        number = remember(conn, "in June 2023")
        call(conn, "update_memory", number, content="in July 2023")
    assert refs(conn, number) == ["2023-07-01"]
    with conn.transaction():
        conn.execute("SET LOCAL ROLE pgrecall_writer")
        call(conn, "forget", number)
    assert refs(conn, number) == []


# --- Finding and upgrading ---


def test_overlap_is_an_index_scan(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": f"on 2024-{n % 12 + 1:02}-{n % 28 + 1:02}"} for n in range(5000)])
    conn.execute("ANALYZE pgrecall.temporal_refs")
    plan = conn.execute(
        "EXPLAIN SELECT DISTINCT r.memory_id FROM pgrecall.temporal_refs r WHERE r.namespace_id = 1"
        " AND r.to_at > '2024-12-24' AND r.from_at < '2024-12-25'"
    ).fetchall()
    assert "temporal_refs_period_idx" in "\n".join(line for (line,) in plan)
    count = "SELECT cardinality(_pgrecall.referring_memories(pgrecall.namespace_id(), %s::tstzrange))"
    periods = [
        ("2024-01-01", "2025-01-01"),
        ("2024-03-03", "2024-03-04"),
        ("2020-01-01", "2024-01-01"),
        (None, None),
    ]
    for begins, ends in periods:
        expected = conn.execute(
            "SELECT count(DISTINCT memory_id) FROM pgrecall.temporal_refs"
            " WHERE tstzrange(from_at, to_at) && tstzrange(%s, %s)",
            (begins, ends),
        ).fetchone()
        assert conn.execute(count.encode(), (f"[{begins or ''},{ends or ''})",)).fetchone() == expected
