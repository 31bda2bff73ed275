"""parse_timeframe(): what English phrases mean, in which zone, and that no text is an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.phrases import FORMS, check, parse

if TYPE_CHECKING:
    from psycopg import Connection


@pytest.mark.parametrize(("text", "expected"), FORMS.items())
def test_forms(read_only: Connection[Any], text: str, expected: str) -> None:
    check(read_only, text, expected)
    check(read_only, f'  "{text.upper()}?" ', expected)


@pytest.mark.parametrize(
    "text",
    [
        "the other day", "recently", "1/2/2026", "31/02/2026", "20261332", "May 5-1-3", "a while back", "", " ", "the", "of the", "foo", "last", "last foo", "to", "from to", "between", "between and",
        "between March", "between March and", "before", "since", "by by", "from", "in", "ago", "3 ago",
        "three", "may I ask", "2023-02-29", "2024-13", "2024-00-10", "2024-03-32", "31.2.2024", "3/5/2024",
        "March 32", "March 0", "April 31", "Q5 2024", "Q3 5", "5 Q3 2024", "summer 5", "10:30",
        "2024-03-05T24:00", "2024-03-05T10:60", "99999 years ago", "9999 years ago", "last 999 decades",
        "0000-01-01", "9999-12-31", "next March 2024", "week before yesterday", "Monday last month",
        "last 3 weekends", "last 0 days", "night", "March night", "May 2024 to March 2024",
        "today to tomorrow to Monday", "in the afternoon of March 3rd", "yesterday " * 30, "🦆", "\u0085\u2028",
    ],
)  # fmt: skip
def test_what_is_not_understood_is_an_error(read_only: Connection[Any], text: str) -> None:
    assert parse(read_only, text) is None


@pytest.mark.parametrize(
    ("text", "anchor", "zone", "expected"),
    [
        # ends of years, months and weeks
        ("last week", "2026-01-01", "UTC", "2025-12-22 2025-12-29"),
        ("this week", "2026-01-01", "UTC", "2025-12-29 2026-01-05"),
        ("last month", "2026-01-31", "UTC", "2025-12-01 2026-01-01"),
        ("last quarter", "2026-02-15", "UTC", "2025-10-01 2026-01-01"),
        ("tomorrow", "2025-12-31T23:59", "UTC", "2026-01-01 2026-01-02"),
        ("last month", "2024-03-31", "UTC", "2024-02-01 2024-03-01"),
        ("past month", "2024-03-31", "UTC", "2024-02-29 2024-03-31"),
        ("last weekend", "2026-05-17T12:00", "UTC", "2026-05-09 2026-05-11"),
        ("this weekend", "2026-05-17T12:00", "UTC", "2026-05-16 2026-05-18"),
        ("Sunday", "2026-05-17T12:00", "UTC", "2026-05-17 2026-05-18"),
        ("last Sunday", "2026-05-17T12:00", "UTC", "2026-05-10 2026-05-11"),
        ("this winter", "2026-01-15", "UTC", "2025-12-01 2026-03-01"),
        ("last winter", "2026-01-15", "UTC", "2024-12-01 2025-03-01"),
        ("last December", "2026-01-01", "UTC", "2025-12-01 2026-01-01"),
        # leap years
        ("yesterday", "2024-03-01", "UTC", "2024-02-29 2024-03-01"),
        ("Feb 29", "2023-06-01", "UTC", "2020-02-29 2020-03-01"),
        ("Feb 29", "1903-06-01", "UTC", "1896-02-29 1896-03-01"),
        ("a year ago", "2024-02-29", "UTC", "2023-01-01 2024-01-01"),
        ("past year", "2024-02-29", "UTC", "2023-02-28 2024-02-29"),
        # zones: which day it is
        ("today", "2026-05-13T23:30", "Pacific/Auckland", "2026-05-13 2026-05-14"),
        ("today", "2026-05-13T00:30", "America/Los_Angeles", "2026-05-13 2026-05-14"),
        ("an hour ago", "2026-05-13T15:45", "Asia/Kolkata", "2026-05-13T14:00 2026-05-13T15:00"),
        ("last March", "2026-03-01T00:00", "Asia/Tokyo", "2026-03-01 2026-04-01"),
        ("2024-03-05T10:00", "2026-05-13", "Asia/Tokyo", "2024-03-05T10:00 2024-03-05T10:01"),
        ("today", "2026-05-13T12:00", "europe/berlin", "2026-05-13 2026-05-14"),
        ("today", "2026-05-13T12:00", "EST", "2026-05-13 2026-05-14"),
        # the clocks change
        ("today", "2026-03-29T12:00", "Europe/Berlin", "2026-03-29 2026-03-30"),
        ("yesterday", "2026-10-26T00:30", "Europe/Berlin", "2026-10-25 2026-10-26"),
        ("this morning", "2026-03-29T12:00", "Europe/Berlin", "2026-03-29T06:00 2026-03-29T12:00"),
        ("last week", "2026-03-30T01:00", "Europe/Berlin", "2026-03-23 2026-03-30"),
        ("past 1 day", "2026-03-08T12:00", "America/New_York", "2026-03-07T12:00 2026-03-08T12:00"),
        ("last 24 hours", "2026-03-08T12:00", "America/New_York", "2026-03-07T11:00 2026-03-08T12:00"),
        ("3 hours ago", "2026-03-08T04:10", "America/New_York", "2026-03-08T00:00 2026-03-08T01:00"),
        ("today", "2018-11-04T12:00", "America/Sao_Paulo", "2018-11-04T01:00 2018-11-05"),
        ("today", "2026-10-04T12:00", "Australia/Lord_Howe", "2026-10-04 2026-10-05"),
    ],
)  # fmt: skip
def test_zones_and_edges(
    read_only: Connection[Any], text: str, anchor: str, zone: str, expected: str
) -> None:
    check(read_only, text, expected, anchor, {"europe/berlin": "Europe/Berlin"}.get(zone, zone))
    if zone == "europe/berlin":
        assert parse(read_only, text, anchor, zone) == parse(read_only, text, anchor, "Europe/Berlin")


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        ("2026-03-29", "Europe/Berlin", 23), ("2026-10-25", "Europe/Berlin", 25), ("2026-05-13", "Europe/Berlin", 24),
        ("2026-03-08", "America/New_York", 23), ("2026-11-01", "America/New_York", 25),
        ("2026-04-05", "Australia/Lord_Howe", 24.5), ("2018-11-04", "America/Sao_Paulo", 23),
        # Midnight comes twice.
        ("2026-10-24", "Atlantic/Azores", 24), ("2026-10-25", "Atlantic/Azores", 25), ("2026-10-26", "Atlantic/Azores", 24),
        ("2026-10-31", "America/Havana", 24), ("2026-11-01", "America/Havana", 25), ("2026-11-02", "America/Havana", 24),
        # The hour before midnight comes twice.
        ("2026-10-24", "Asia/Beirut", 25), ("2026-10-25", "Asia/Beirut", 24),
    ],
)  # fmt: skip
def test_how_long_a_day_is(read_only: Connection[Any], day: str, zone: str, hours: float) -> None:
    found = parse(read_only, day, zone=zone)
    assert found is not None
    assert found.upper is not None
    assert found.lower is not None
    assert found.upper.astimezone(UTC) - found.lower.astimezone(UTC) == timedelta(hours=hours)
    within = parse(read_only, f"{day}T02:30", zone=zone)  # a time that the clocks may leave out
    assert within is not None
    assert within.lower is not None
    assert found.lower <= within.lower < found.upper


def test_a_day_that_a_zone_left_out(read_only: Connection[Any]) -> None:
    assert parse(read_only, "2011-12-30", zone="Pacific/Apia") is None


def test_the_session_is_the_default(read_only: Connection[Any]) -> None:
    with read_only.transaction():
        read_only.execute("SET LOCAL TimeZone = 'Asia/Tokyo'")
        row = read_only.execute(
            "SELECT parse_timeframe('today') = parse_timeframe('today', now(), 'Asia/Tokyo'),"
            " parse_timeframe('today') @> now(), parse_timeframe('today') = parse_timeframe('today', now(), 'UTC')"
        ).fetchone()
        assert row is not None
        assert row[:2] == (True, True)
        assert row[2] is False
    assert parse(read_only, "today", zone=None) == parse(read_only, "today", zone="UTC")


def test_null_in_null_out(read_only: Connection[Any]) -> None:
    assert parse(read_only, None) is None
    assert parse(read_only, "today", anchor=None) is None
    for anchor in ("infinity", "-infinity", "0001-01-01", "9999-01-01", "0100-01-01 BC"):
        for text in ("today", "last 3 days", "Feb 29", "since last year", "999 years ago", "in 999 years"):
            assert parse(read_only, text, anchor) is None


@pytest.mark.parametrize("zone", ["Nowhere/Land", "", "+2", "UTC; SELECT 1", "x" * 100, "Europe/", "'"])
def test_an_unknown_zone_is_refused(read_only: Connection[Any], zone: str) -> None:
    for text in ("today", "no time at all", None):
        with pytest.raises(psycopg.Error) as caught:
            read_only.execute("SELECT parse_timeframe(%s, now(), %s)", (text, zone))
        assert caught.value.sqlstate == "22023"
        assert caught.value.diag.message_hint


def test_only_the_beginning_is_looked_at(read_only: Connection[Any]) -> None:
    assert parse(read_only, "last week" + " " * 10_000 + "foo") is not None
    assert parse(read_only, "x" * 10_000_000) is None


def test_is_parallel_safe(read_only: Connection[Any]) -> None:
    row = read_only.execute(
        "SELECT provolatile, proparallel FROM pg_proc WHERE oid = 'parse_timeframe'::regproc"
    ).fetchone()
    assert row == ("s", "s")


WORDS = [
    *sorted({word for text in FORMS for word in text.split()}), "a", "9999", "0", "12", "100", "9999-12-31", "0001-01-01", "1999", "2999", "999", "decades", "/", "-", "31", "-05:00",
]  # fmt: skip
ANCHORS = st.datetimes(datetime(2, 1, 2), datetime(9989, 12, 31)).map(str)  # noqa: DTZ001


@pytest.mark.slow
@pytest.mark.pg15
@settings(max_examples=1500)
@given(
    text=st.one_of(
        st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40),
        st.lists(st.sampled_from(WORDS), max_size=7).map(" ".join),
        st.tuples(st.sampled_from(WORDS), st.sampled_from(WORDS)).map("/".join),
    ),
    anchor=ANCHORS,
    zone=st.sampled_from(["UTC", "Europe/Berlin", "America/Sao_Paulo", "Pacific/Apia", "Asia/Kolkata"]),
)
def test_no_text_is_an_error(read_only: Connection[Any], text: str, anchor: str, zone: str) -> None:
    row = read_only.execute(
        "SELECT r IS NULL OR (NOT isempty(r) AND (lower(r) < upper(r)) IS NOT FALSE AND NOT upper_inc(r))"
        " FROM pgrecall.english_timeframe(%s, %s::timestamp AT TIME ZONE %s, %s) r",
        (text, anchor, zone, zone),
    ).fetchone()
    assert row == (True,)
