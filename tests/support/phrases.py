"""Phrases of time, and what they mean at one moment."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import psycopg

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.types.range import Range

ANCHOR = "2026-05-13 15:30"  # a Wednesday


def parse(
    conn: Connection[Any], text: str | None, anchor: str | None = ANCHOR, zone: str | None = "UTC"
) -> Range[datetime] | None:
    """Read a phrase, None if it is not understood; the anchor is local time of the zone."""
    try:
        row = conn.execute(
            "SELECT parse_timeframe(%s, %s::timestamp AT TIME ZONE %s, %s)",
            (text, anchor, zone or "UTC", zone),
        ).fetchone()
    except psycopg.errors.InvalidParameterValue as error:
        if "time phrase" not in str(error) or not error.diag.message_hint:
            raise
        return None
    assert row is not None
    found: Range[datetime] | None = row[0]
    return found


def in_question(conn: Connection[Any], query: str, anchor: str = ANCHOR) -> Range[datetime] | None:
    """The period that recall reads from a question, with the test that goes first; the anchor is in UTC."""
    row = conn.execute(
        "SELECT CASE WHEN ' ' || lower(_pgrecall.fold_digits(%s)) LIKE ANY (_pgrecall.question_time_hints())"
        " THEN _pgrecall.question_period(%s, %s::timestamptz) END",
        (query, query, f"{anchor}+00"),
    ).fetchone()
    assert row is not None
    found: Range[datetime] | None = row[0]
    return found


def moment(text: str, zone: str) -> datetime | None:
    return None if text == "-" else datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def check(conn: Connection[Any], text: str, expected: str, anchor: str = ANCHOR, zone: str = "UTC") -> None:
    found = parse(conn, text, anchor, zone)
    begins, ends = expected.split(" ")
    assert found is not None, text
    assert (found.lower, found.upper) == (moment(begins, zone), moment(ends, zone)), text
    assert found.bounds == ("[)" if found.lower is not None else "()")


FORMS = {
    # notations with one meaning
    "25/12/2025": "2025-12-25 2025-12-26",
    "12/25/2025": "2025-12-25 2025-12-26",
    "17-12-2025": "2025-12-17 2025-12-18",
    "5/5/2026": "2026-05-05 2026-05-06",
    "20251109": "2025-11-09 2025-11-10",
    "since 25/12/2025": "2025-12-25 -",
    "24h": "2026-05-12T15:30 2026-05-13T15:30",
    "last 48 hrs": "2026-05-11T15:30 2026-05-13T15:30",
    "this past weekend": "2026-05-09 2026-05-11",
    "this past month": "2026-04-01 2026-05-01",
    "the week before last": "2026-04-27 2026-05-04",
    "the month before last": "2026-03-01 2026-04-01",
    "last Christmas": "2025-12-25 2025-12-26",
    "Christmas 2024": "2024-12-25 2024-12-26",
    "May 1-5": "2026-05-01 2026-05-06",
    "1-5 May 2024": "2024-05-01 2024-05-06",
    "March 3 to 7, 2024": "2024-03-03 2024-03-08",
    "Nov '25": "2025-11-01 2025-12-01",
    "Nov \u201924": "2024-11-01 2024-12-01",
    # days and their parts
    "now": "2026-05-13T15:30 2026-05-13T15:31",
    "today": "2026-05-13 2026-05-14",
    "Yesterday": "2026-05-12 2026-05-13",
    "TOMORROW": "2026-05-14 2026-05-15",
    "the day before yesterday": "2026-05-11 2026-05-12",
    "day after tomorrow": "2026-05-15 2026-05-16",
    "tonight": "2026-05-13T18:00 2026-05-14T06:00",
    "last night": "2026-05-12T18:00 2026-05-13T06:00",
    "this morning": "2026-05-13T06:00 2026-05-13T12:00",
    "yesterday evening": "2026-05-12T18:00 2026-05-13",
    "Monday morning": "2026-05-11T06:00 2026-05-11T12:00",
    "last Friday night": "2026-05-08T18:00 2026-05-09T06:00",
    # ago, and in
    "3 days ago": "2026-05-10 2026-05-11",
    "0 days ago": "2026-05-13 2026-05-14",
    "two weeks ago": "2026-04-27 2026-05-04",
    "a week ago": "2026-05-04 2026-05-11",
    "a couple of weeks ago": "2026-04-27 2026-05-04",
    "a few months ago": "2026-02-01 2026-03-01",
    "several years ago": "2021-01-01 2022-01-01",
    "2 quarters ago": "2025-10-01 2026-01-01",
    "an hour ago": "2026-05-13T14:00 2026-05-13T15:00",
    "10 minutes ago": "2026-05-13T15:20 2026-05-13T15:21",
    "in two weeks": "2026-05-25 2026-06-01",
    "in 3 days": "2026-05-16 2026-05-17",
    # rolling
    "last 24 hours": "2026-05-12T15:30 2026-05-13T15:30",
    "in the last 90 minutes": "2026-05-13T14:00 2026-05-13T15:30",
    "past 3 days": "2026-05-10T15:30 2026-05-13T15:30",
    "the last 2 weeks": "2026-04-29T15:30 2026-05-13T15:30",
    "over the past six months": "2025-11-13T15:30 2026-05-13T15:30",
    "last 2 years": "2024-05-13T15:30 2026-05-13T15:30",
    "the last couple of days": "2026-05-11T15:30 2026-05-13T15:30",
    "past week": "2026-05-06T15:30 2026-05-13T15:30",
    "last hour": "2026-05-13T14:30 2026-05-13T15:30",
    "next 3 days": "2026-05-13T15:30 2026-05-16T15:30",
    # the calendar's units
    "last week": "2026-05-04 2026-05-11",
    "this week": "2026-05-11 2026-05-18",
    "next week": "2026-05-18 2026-05-25",
    "during the last month": "2026-04-01 2026-05-01",
    "this month": "2026-05-01 2026-06-01",
    "last quarter": "2026-01-01 2026-04-01",
    "next quarter": "2026-07-01 2026-10-01",
    "last year": "2025-01-01 2026-01-01",
    "the current year": "2026-01-01 2027-01-01",
    "last decade": "2010-01-01 2020-01-01",
    "last weekend": "2026-05-09 2026-05-11",
    "this weekend": "2026-05-16 2026-05-18",
    # weekdays
    "Monday": "2026-05-11 2026-05-12",
    "on Wednesday": "2026-05-13 2026-05-14",
    "Thursday": "2026-05-07 2026-05-08",
    "last Wednesday": "2026-05-06 2026-05-07",
    "last Mon.": "2026-05-11 2026-05-12",
    "this Monday": "2026-05-11 2026-05-12",
    "this Friday": "2026-05-15 2026-05-16",
    "next Monday": "2026-05-18 2026-05-19",
    "next Friday": "2026-05-15 2026-05-16",
    "Monday of last week": "2026-05-04 2026-05-05",
    # of no year
    "in March": "2026-03-01 2026-04-01",
    "last March": "2026-03-01 2026-04-01",
    "in May": "2026-05-01 2026-06-01",
    "in June": "2025-06-01 2025-07-01",
    "next March": "2027-03-01 2027-04-01",
    "this December": "2026-12-01 2027-01-01",
    "March 3": "2026-03-03 2026-03-04",
    "the 3rd of March": "2026-03-03 2026-03-04",
    "Dec. 25": "2025-12-25 2025-12-26",
    "May 13": "2026-05-13 2026-05-14",
    "May 14": "2025-05-14 2025-05-15",
    "February 29": "2024-02-29 2024-03-01",
    "Q3": "2025-07-01 2025-10-01",
    "last summer": "2025-06-01 2025-09-01",
    "last spring": "2025-03-01 2025-06-01",
    "spring": "2026-03-01 2026-06-01",
    "this winter": "2026-12-01 2027-03-01",
    # dates
    "in March 2024": "2024-03-01 2024-04-01",
    "March 3rd, 2024": "2024-03-03 2024-03-04",
    "3 March 2024": "2024-03-03 2024-03-04",
    "on Sunday, March 3rd, 2024": "2024-03-03 2024-03-04",
    "Sept 2024": "2024-09-01 2024-10-01",
    "Q3 2024": "2024-07-01 2024-10-01",
    "2024 Q1": "2024-01-01 2024-04-01",
    "summer 2023": "2023-06-01 2023-09-01",
    "winter of 2023": "2023-12-01 2024-03-01",
    "2024": "2024-01-01 2025-01-01",
    "in the 1990s": "1990-01-01 2000-01-01",
    "2024-03-05": "2024-03-05 2024-03-06",
    "2024-02-29": "2024-02-29 2024-03-01",
    "2024-12": "2024-12-01 2025-01-01",
    "2024/3/5": "2024-03-05 2024-03-06",
    "5.3.2024": "2024-03-05 2024-03-06",
    "2024-03-05T10:30": "2024-03-05T10:30 2024-03-05T10:31",
    "2024-03-05 10:30:15": "2024-03-05T10:30:15 2024-03-05T10:30:16",
    "2024-03-05T10:00:00Z": "2024-03-05T10:00 2024-03-05T10:00:01",
    "2024-03-05T10:00:00.25+02:00": "2024-03-05T08:00 2024-03-05T08:00:01",
    "2024-03-05T10:00-0530": "2024-03-05T15:30 2024-03-05T15:31",
    # ranges
    "2024-03-01/2024-03-31": "2024-03-01 2024-04-01",
    "2024-03-01 to 2024-03-31": "2024-03-01 2024-04-01",
    "2024-03-01T10:00/2024-03-01T12:00": "2024-03-01T10:00 2024-03-01T12:00",
    "between March and May": "2026-03-01 2026-06-01",
    "between November and February": "2025-11-01 2026-03-01",
    "between March 3 and March 5, 2024": "2024-03-03 2024-03-06",
    "from March to May 2024": "2024-03-01 2024-06-01",
    "November 2024 – February 2025": "2024-11-01 2025-03-01",
    "Friday to Monday": "2026-05-08 2026-05-12",
    "from yesterday until now": "2026-05-12 2026-05-13T15:30",
    "since 2019 till 2021": "2019-01-01 2022-01-01",
    # open
    "before yesterday": "- 2026-05-12",
    "prior to 2020": "- 2020-01-01",
    "after March 2024": "2024-04-01 -",
    "since Monday": "2026-05-11 -",
    "since 2024-03-05T10:30": "2024-03-05T10:30 -",
    "from Monday onwards": "2026-05-11 -",
    "until Friday": "- 2026-05-09",
    "up to last week": "- 2026-05-11",
    "by March 5": "- 2026-03-06",
    "until 2024-03-05T10:30": "- 2024-03-05T10:30",
}  # fmt: skip
