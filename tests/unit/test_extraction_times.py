"""The times that a text in English speaks of: which stretches, which periods, and what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from pgrecall_extract.temporal import grammar
from pgrecall_extract.temporal.references import LONGEST_CONTENT, MOST_REFERENCES, temporal_references
from support.time_reading import NOON, at, one, read

# --- What is found ---

FOUND = [
    # written in numbers
    ("due 2024-03-05", "2024-03-05", "2024-03-05 2024-03-06", "day"),
    ("Ö: due 2024-03-05T10:00Z", "2024-03-05T10:00Z", "2024-03-05T10:00 2024-03-05T10:01", "minute"),
    ("at 2024-03-05 10:00+02:00.", "2024-03-05 10:00+02:00", "2024-03-05T08:00 2024-03-05T08:01", "minute"),
    ("log of 2024-03", "2024-03", "2024-03-01 2024-04-01", "month"),
    ("2024-03-01/2024-03-31", "2024-03-01/2024-03-31", "2024-03-01 2024-04-01", "day"),
    ("2024-03-01T10:00/2024-03-01T12:00", "2024-03-01T10:00/2024-03-01T12:00", "2024-03-01T10:00 2024-03-01T12:00", "minute"),
    ("in 2024-W01", "2024-W01", "2024-01-01 2024-01-08", "week"),
    ("on 2024/3/5", "2024/3/5", "2024-03-05 2024-03-06", "day"),
    ("on 5.3.2024", "5.3.2024", "2024-03-05 2024-03-06", "day"),
    ("on 3/25/2024", "3/25/2024", "2024-03-25 2024-03-26", "day"),
    ("on 25/3/2024", "25/3/2024", "2024-03-25 2024-03-26", "day"),
    ("Q3 2024 was good", "Q3 2024", "2024-07-01 2024-10-01", "quarter"),
    ("the fourth quarter of 2024", "fourth quarter of 2024", "2024-10-01 2025-01-01", "quarter"),
    ("we ship in Q3", "Q3", "2026-07-01 2026-10-01", "quarter"),
    ("in the 1990s", "1990s", "1990-01-01 2000-01-01", "year"),
    ("until the mid-1950s", "1950s", "1950-01-01 1960-01-01", "year"),
    ("in the late '80s", "the late '80s", "1980-01-01 1990-01-01", "year"),
    ("since 2019", "2019", "2019-01-01 2020-01-01", "year"),
    ("by mid-2001", "2001", "2001-01-01 2002-01-01", "year"),
    ("(1994)", "1994", "1994-01-01 1995-01-01", "year"),
    ("(born 1952)", "1952", "1952-01-01 1953-01-01", "year"),
    ("Smith 1994–1998", "1994–1998", "1994-01-01 1999-01-01", "year"),
    ("the 1998-99 snowfall", "1998-99", "1998-01-01 2000-01-01", "year"),
    ("the 2010-11 season", "2010-11", "2010-01-01 2012-01-01", "year"),
    ("from 2004 to 2011", "2004 to 2011", "2004-01-01 2012-01-01", "year"),
    ("between 1994 and 1998", "1994 and 1998", "1994-01-01 1999-01-01", "year"),
    # dates in words
    ("on Friday, March 3rd, 2023,", "Friday, March 3rd, 2023", "2023-03-03 2023-03-04", "day"),
    ("3 May 2024", "3 May 2024", "2024-05-03 2024-05-04", "day"),
    ("the 5th of December 1999", "5th of December 1999", "1999-12-05 1999-12-06", "day"),
    ("July the 4th", "July the 4th", "2026-07-04 2026-07-05", "day"),
    ("5-Mar-24", "5-Mar-24", "2024-03-05 2024-03-06", "day"),
    ("Dec. 5, '23", "Dec. 5, '23", "2023-12-05 2023-12-06", "day"),
    ("16 March 1827", "16 March 1827", "1827-03-16 1827-03-17", "day"),
    ("her birthday, 20 May", "20 May", "2026-05-20 2026-05-21", "day"),
    ("the party on 24 December", "24 December", "2025-12-24 2025-12-25", "day"),
    ("August 2018", "August 2018", "2018-08-01 2018-09-01", "month"),
    ("in June of 2021", "June of 2021", "2021-06-01 2021-07-01", "month"),
    ("in December", "December", "2025-12-01 2026-01-01", "month"),
    ("in July", "July", "2026-07-01 2026-08-01", "month"),
    ("by mid-September", "September", "2026-09-01 2026-10-01", "month"),
    ("in may we met", "may", "2026-05-01 2026-06-01", "month"),
    ("last July", "last July", "2025-07-01 2025-08-01", "month"),
    ("next May", "next May", "2027-05-01 2027-06-01", "month"),
    ("August last year", "August last year", "2025-08-01 2025-09-01", "month"),
    ("on 3 May of last year", "3 May of last year", "2025-05-03 2025-05-04", "day"),
    ("the summer of 2021", "summer of 2021", "2021-06-01 2021-09-01", "month"),
    ("winter 2023", "winter 2023", "2023-12-01 2024-03-01", "month"),
    ("last summer", "last summer", "2025-06-01 2025-09-01", "month"),
    ("this winter", "this winter", "2026-12-01 2027-03-01", "month"),
    ("we met on the 15th.", "15th", "2026-05-15 2026-05-16", "day"),
    ("Sunday 17th", "Sunday 17th", "2026-05-17 2026-05-18", "day"),
    ("Friday the 13th", "Friday the 13th", "2026-03-13 2026-03-14", "day"),
    ("the last week of May", "May", "2026-05-01 2026-06-01", "month"),
    ("the year 2020", "2020", "2020-01-01 2021-01-01", "year"),
    ("the week of 3 May", "week of 3 May", "2026-04-27 2026-05-04", "week"),
    # seen from the anchor
    ("We met yesterday.", "yesterday", "2026-05-12 2026-05-13", "day"),
    ("the day before yesterday", "day before yesterday", "2026-05-11 2026-05-12", "day"),
    ("the day after tomorrow", "day after tomorrow", "2026-05-15 2026-05-16", "day"),
    ("last week", "last week", "2026-05-04 2026-05-11", "week"),
    ("this week", "this week", "2026-05-11 2026-05-18", "week"),
    ("next month", "next month", "2026-06-01 2026-07-01", "month"),
    ("last quarter", "last quarter", "2026-01-01 2026-04-01", "quarter"),
    ("last decade", "last decade", "2010-01-01 2020-01-01", "year"),
    ("last weekend", "last weekend", "2026-05-09 2026-05-11", "day"),
    ("the week before last", "week before last", "2026-04-27 2026-05-04", "week"),
    ("TWO WEEKS AGO", "TWO WEEKS AGO", "2026-04-27 2026-05-04", "week"),
    ("two months ago", "two months ago", "2026-03-01 2026-04-01", "month"),
    ("3 days ago", "3 days ago", "2026-05-10 2026-05-11", "day"),
    ("two weekends ago", "two weekends ago", "2026-05-02 2026-05-04", "day"),
    ("a couple of days ago", "a couple of days ago", "2026-05-11 2026-05-12", "day"),
    ("half a year ago", "half a year ago", "2025-11-01 2025-12-01", "month"),
    ("a few years back", "a few years back", "2023-01-01 2024-01-01", "year"),
    ("an hour ago", "an hour ago", "2026-05-13T11:00 2026-05-13T12:00", "hour"),
    ("10 minutes ago", "10 minutes ago", "2026-05-13T11:50 2026-05-13T11:51", "minute"),
    ("I will go in two weeks", "in two weeks", "2026-05-27 2026-05-28", "day"),
    ("in 3 months", "in 3 months", "2026-08-01 2026-09-01", "month"),
    ("a week from today", "a week from today", "2026-05-20 2026-05-21", "day"),
    ("over the last three months", "last three months", "2026-02-13T12:00 2026-05-13T12:00", "month"),
    ("in the past week", "past week", "2026-05-06T12:00 2026-05-13T12:00", "week"),
    ("by the end of the year", "end of the year", "2026-01-01 2027-01-01", "year"),
    # weekdays by the tense
    ("We met on Friday", "Friday", "2026-05-08 2026-05-09", "day"),
    ("We will meet on Friday", "Friday", "2026-05-15 2026-05-16", "day"),
    ("by Friday", "Friday", "2026-05-15 2026-05-16", "day"),
    ("On Friday I finished it", "Friday", "2026-05-08 2026-05-09", "day"),
    ("We decided to go on Friday", "Friday", "2026-05-15 2026-05-16", "day"),
    ("I've got a match on Friday", "Friday", "2026-05-15 2026-05-16", "day"),
    ("the call was postponed to Friday", "Friday", "2026-05-15 2026-05-16", "day"),
    ("I met Ann. See you Monday!", "Monday", "2026-05-18 2026-05-19", "day"),
    ("ill since Monday", "Monday", "2026-05-11 2026-05-12", "day"),
    ("we talked on Wednesday", "Wednesday", "2026-05-13 2026-05-14", "day"),
    ("we talk on Wednesday", "Wednesday", "2026-05-13 2026-05-14", "day"),
    ("last Wednesday", "last Wednesday", "2026-05-06 2026-05-07", "day"),
    ("next Wednesday", "next Wednesday", "2026-05-20 2026-05-21", "day"),
    ("last Fri", "last Fri", "2026-05-08 2026-05-09", "day"),
    ("this coming Monday", "this coming Monday", "2026-05-18 2026-05-19", "day"),
    ("Tuesday next week", "Tuesday next week", "2026-05-19 2026-05-20", "day"),
    ("next week on Friday", "next week on Friday", "2026-05-22 2026-05-23", "day"),
    ("I slept over the weekend", "over the weekend", "2026-05-09 2026-05-11", "day"),
    ("I will sleep over the weekend", "over the weekend", "2026-05-16 2026-05-18", "day"),
    # times of day
    ("this morning", "this morning", "2026-05-13T06:00 2026-05-13T12:00", "hour"),
    ("tonight", "tonight", "2026-05-13T18:00 2026-05-14", "hour"),
    ("last night", "last night", "2026-05-12T18:00 2026-05-13T06:00", "hour"),
    ("tomorrow evening", "tomorrow evening", "2026-05-14T18:00 2026-05-15", "hour"),
    ("at 5pm on 3 May", "5pm on 3 May", "2026-05-03T17:00 2026-05-03T18:00", "hour"),
    ("tomorrow at 10:30", "tomorrow at 10:30", "2026-05-14T10:30 2026-05-14T10:31", "minute"),
    ("at noon", "noon", "2026-05-13T12:00 2026-05-13T13:00", "hour"),
    ("at 12 am", "12 am", "2026-05-13 2026-05-13T01:00", "hour"),
    ("from 3pm to 5pm", "3pm to 5pm", "2026-05-13T15:00 2026-05-13T17:00", "hour"),
    ("from 10pm to 2am tomorrow", "10pm to 2am tomorrow", "2026-05-14T22:00 2026-05-15T02:00", "hour"),
    ("11-1pm tomorrow", "11-1pm tomorrow", "2026-05-14T11:00 2026-05-14T13:00", "hour"),
    ("last night at 11:30", "last night at 11:30", "2026-05-12T23:30 2026-05-12T23:31", "minute"),
    ("last night at 1am", "last night at 1am", "2026-05-13T01:00 2026-05-13T02:00", "hour"),
    # ranges
    ("from 3 to 7 May", "3 to 7 May", "2026-05-03 2026-05-08", "day"),
    ("between 3 and 7 May", "3 and 7 May", "2026-05-03 2026-05-08", "day"),
    ("May 3–17, 2024", "May 3–17, 2024", "2024-05-03 2024-05-18", "day"),
    ("17 September -- 2 October 2024", "17 September -- 2 October 2024", "2024-09-17 2024-10-03", "day"),
    ("16 May 1937 – 1938", "16 May 1937 – 1938", "1937-05-16 1939-01-01", "year"),
    ("27 to 28 February", "27 to 28 February", "2026-02-27 2026-03-01", "day"),
    ("28 February - 3 March 2024", "28 February - 3 March 2024", "2024-02-28 2024-03-04", "day"),
    ("from March to May 2024", "March to May 2024", "2024-03-01 2024-06-01", "month"),
    ("from Dec to Feb 2024", "Dec to Feb 2024", "2023-12-01 2024-03-01", "month"),
    ("between March and May", "March and May", "2026-03-01 2026-06-01", "month"),
    ("away from Monday to Friday", "Monday to Friday", "2026-05-18 2026-05-23", "day"),
    ("I was away from Monday to Friday", "Monday to Friday", "2026-05-04 2026-05-09", "day"),
    ("Friday 5pm to Saturday 3pm", "Friday 5pm to Saturday 3pm", "2026-05-15T17:00 2026-05-16T15:00", "hour"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "stretch", "period", "granularity"), FOUND, ids=[row[0] for row in FOUND])
def test_what_is_found(text: str, stretch: str, period: str, granularity: str) -> None:
    assert read(text) == [(stretch, period, granularity)]


@pytest.mark.parametrize(
    ("text", "stretches"),
    [
        ("on May 3 and 7", ["May 3", "7"]),
        ("in 1999 and 2003, or 2005", ["1999", "2003", "2005"]),
        ("from Q3 2024 on, and summer 2023", ["Q3 2024", "summer 2023"]),
        ("yesterday, today\nand last\nweek", ["yesterday", "today", "last\nweek"]),
        ("2023-05-08 - 2024 review", ["2023-05-08"]),
        ("this week starting 11 May", ["this week starting 11 May"]),
        ("in May\u00a02024", ["May\u00a02024"]),
        ("this morning we met Ann, at 5 pm Bob", ["this morning", "5 pm"]),
    ],
)
def test_several_in_one_text(text: str, stretches: list[str]) -> None:
    assert [found[0] for found in read(text)] == stretches


@pytest.mark.parametrize(
    "text",
    [
        "", "nothing", "may I march? the second of them", "you may 5 times", "this may be it", "on march", "now", "just a minute",
        "in a minute", "a second ago", "sun and sat", "the sun sat", "April said hi", "an august body", "the May family",
        "2024 people", "room 2019", "order 4711-99", "call 555-1994-1998", "$2019", "€ 1999.50", "v2019.3", "version 2.0.2019.1",
        "of 2000 soldiers", "in 2000 years", "by 2019%", "grew by 2000", "from 2000 to 2500", "2019,500", "pp. 1994-1998", "since 1850",
        "1234-56-78", "2023-02-30", "2024-13-01", "24:00", "John 3:16", "a ratio of 16:9", "3/5/2024", "31.4.2024",
        "29 February 2023", "31 April", "March 32", "February 30, 2024", "2023-W53", "2024-03-05T25:00", "13:99 pm",
        "Monda", "yesterdays", "dismay 5", "on thursdays", "every Friday", "every other Sunday", "Black Friday", "on Saturday mornings", "the following Thursday",
        "the next Winter Olympics", "he ruled for the next 24 years", "Sunday Times",
        "each week in December", "every day at 5pm", "the annual 4 July parade", "twice in a year", "once in two weeks",
        "finished it in two days", "the first in twelve years", "5 days later", "the next day", "the following week",
        "the fall of Rome", "a fall of 1500 metres", "a summer dress", "spring water", "in her late 70s", "10,000 years ago",
        "2.5 years ago", "two and a half years ago", "a while ago", "back to the wall", "the past", "next to it", "the last day",
        "the weekend of her life", "morning coffee", "the end", "foo/2024-03-05/bar", "a@2024.com", "İ 5 ſept", "٢٠٢٤-٠٣-٠٥",
    ],
)  # fmt: skip
def test_what_names_no_time(text: str) -> None:
    assert read(text) == []


# --- The calendar ---


@pytest.mark.parametrize(
    ("text", "anchor", "period", "granularity"),
    [
        # year boundaries and ISO weeks
        ("last week", "2026-01-01", "2025-12-22 2025-12-29", "week"),
        ("this week", "2026-01-01", "2025-12-29 2026-01-05", "week"),
        ("next week", "2025-12-31", "2026-01-05 2026-01-12", "week"),
        ("in 2020-W53", "2026-01-01", "2020-12-28 2021-01-04", "week"),
        ("last quarter", "2026-02-15", "2025-10-01 2026-01-01", "quarter"),
        ("last month", "2026-01-31", "2025-12-01 2026-01-01", "month"),
        ("tomorrow", "2025-12-31T23:59", "2026-01-01 2026-01-02", "day"),
        ("last Monday", "2026-01-01", "2025-12-29 2025-12-30", "day"),
        ("in December", "2026-01-10", "2025-12-01 2026-01-01", "month"),
        ("in January", "2025-12-20", "2026-01-01 2026-02-01", "month"),
        ("on 2 January", "2025-12-20", "2026-01-02 2026-01-03", "day"),
        ("on 30 December", "2026-01-10", "2025-12-30 2025-12-31", "day"),
        ("30 December to 2 January", "2026-01-10", "2025-12-30 2026-01-03", "day"),
        ("from December to February", "2026-01-10", "2025-12-01 2026-03-01", "month"),
        ("this winter", "2026-01-15", "2025-12-01 2026-03-01", "month"),
        ("last winter", "2026-01-15", "2024-12-01 2025-03-01", "month"),
        # month ends and leap days
        ("last month", "2024-03-31", "2024-02-01 2024-03-01", "month"),
        ("the past month", "2024-03-31", "2024-02-29 2024-03-31", "month"),
        ("the past year", "2024-02-29", "2023-02-28 2024-02-29", "year"),
        ("a month ago", "2024-03-31", "2024-02-01 2024-03-01", "month"),
        ("a year ago", "2024-02-29", "2023-01-01 2024-01-01", "year"),
        ("in 1 month", "2024-01-31", "2024-02-01 2024-03-01", "month"),
        ("yesterday", "2024-03-01", "2024-02-29 2024-03-01", "day"),
        ("yesterday", "2023-03-01", "2023-02-28 2023-03-01", "day"),
        ("in February 2024", "2026-01-01", "2024-02-01 2024-03-01", "month"),
        ("29 February 2024", "2026-01-01", "2024-02-29 2024-03-01", "day"),
        ("on 29 February", "2023-06-01", "2024-02-29 2024-03-01", "day"),
        ("on 29 February", "1903-06-01", "1904-02-29 1904-03-01", "day"),
        ("on 29 February", "1898-06-01", "1896-02-29 1896-03-01", "day"),
        ("on the 31st.", "2026-02-05", "2026-01-31 2026-02-01", "day"),
        # weekends
        ("last weekend", "2026-05-17T12:00", "2026-05-09 2026-05-11", "day"),
        ("this weekend", "2026-05-17T12:00", "2026-05-16 2026-05-18", "day"),
        ("I ran over the weekend", "2026-05-17T12:00", "2026-05-16 2026-05-18", "day"),
        ("anything fun over the weekend?", "2026-05-18T12:00", "2026-05-16 2026-05-18", "day"),
        # the nearest of a month without a year, half a year away
        ("in November", "2023-05-08", "2023-11-01 2023-12-01", "month"),
        ("in November", "2023-05-01", "2022-11-01 2022-12-01", "month"),
    ],
)  # fmt: skip
def test_the_calendar(text: str, anchor: str, period: str, granularity: str) -> None:
    assert one(text, at(anchor)) == (period, granularity)


@pytest.mark.parametrize("hours", [5.5, -8, 14, -12, 0, 5.75])
def test_days_are_those_of_the_anchors_offset(hours: float) -> None:
    zone = timezone(timedelta(hours=hours))
    for anchor in (datetime(2026, 5, 13, 23, 30, tzinfo=zone), datetime(2026, 5, 13, 0, 30, tzinfo=zone)):
        (today,) = temporal_references("today", anchor)
        assert today.from_at == datetime(2026, 5, 13, tzinfo=zone)
        assert today.to_at == datetime(2026, 5, 14, tzinfo=zone)
        assert today.from_at.utcoffset() == timedelta(hours=hours)
    assert (
        one("an hour ago", datetime(2026, 5, 13, 15, 45, tzinfo=zone))[0]
        == "2026-05-13T14:00 2026-05-13T15:00"
    )


def test_an_offset_in_the_text_counts() -> None:
    (found,) = temporal_references("at 2024-03-05T23:00-08:00", at("2026-05-13", "Asia/Kolkata"))
    assert found.from_at == datetime(2024, 3, 6, 7, tzinfo=UTC)
    assert found.from_at.utcoffset() == timedelta(hours=5.5)


@pytest.mark.parametrize(
    ("text", "anchor", "zone", "hours"),
    [
        ("today", "2026-03-29T12:00", "Europe/Berlin", 23), ("today", "2026-10-25T12:00", "Europe/Berlin", 25),
        ("yesterday", "2026-10-26T00:30", "Europe/Berlin", 25), ("today", "2026-03-08T12:00", "America/New_York", 23),
        ("today", "2026-04-05T12:00", "Australia/Lord_Howe", 24.5), ("today", "2018-11-04T12:00", "America/Sao_Paulo", 23),
        ("last week", "2026-03-30T01:00", "Europe/Berlin", 167), ("last 24 hours", "2026-03-08T12:00", "America/New_York", 24),
        ("last 3 days", "2026-03-09T12:00", "America/New_York", 71), ("an hour ago", "2026-10-25T02:30", "Europe/Berlin", 1),
        ("this morning", "2026-03-29T12:00", "Europe/Berlin", 6), ("last night", "2026-03-29T12:00", "Europe/Berlin", 11),
    ],
)  # fmt: skip
def test_days_at_which_the_clocks_change(text: str, anchor: str, zone: str, hours: float) -> None:
    (found,) = temporal_references(text, at(anchor, zone))
    assert found.to_at - found.from_at == timedelta(hours=hours)


def test_a_day_that_a_zone_left_out_is_none() -> None:
    assert read("on 30 December 2011", at("2012-01-05", "Pacific/Apia")) == []
    assert one("yesterday", at("2012-01-01", "Pacific/Apia"))[0] == "2011-12-31 2012-01-01"


def test_hours_go_by_the_clock() -> None:
    assert one("3 hours ago", at("2026-03-08T04:10", "America/New_York"))[0] == "2026-03-08 2026-03-08T01:00"


def test_an_anchor_needs_a_zone() -> None:
    with pytest.raises(ValueError, match="time zone"):
        temporal_references("today", datetime(2026, 5, 13))  # noqa: DTZ001 - that is the point


@pytest.mark.parametrize("year", [1, 2, 9989, 9990, 9991, 9999])
def test_the_ends_of_time(year: int) -> None:
    for zone in (UTC, ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")):
        anchor = datetime(year, 6, 1, tzinfo=zone)
        for text in (
            "today",
            "last 3 days",
            "on 29 February",
            "999 years ago",
            "in 999 decades, 5 Jan 9999",
            "last 999 decades",
        ):
            for found in temporal_references(text, anchor):
                assert found.from_at < found.to_at


# --- How it is found ---


def test_confidence() -> None:
    def sure(text: str) -> float:
        return temporal_references(text, NOON)[0].confidence

    assert sure("on 3 May 2024") > sure("yesterday") > sure("on 3 May") > sure("in 2019") > sure("in May")
    assert sure("last Friday") > sure("we met on Friday") > sure("Friday")
    assert sure("3 days ago") > sure("a few days ago")
    assert sure("I will go in two weeks") > sure("in two weeks")


def test_at_most_so_many() -> None:
    assert len(read("yesterday and today " * 50)) == MOST_REFERENCES
    assert len(read("x" * LONGEST_CONTENT + " yesterday")) == 0


def test_the_hint_misses_nothing() -> None:
    """Whatever the patterns find, the cheaper look before them lets through."""
    for text, *_ in FOUND:
        assert grammar.HINT.search(text), text


def test_english_needs_no_dateparser() -> None:
    assert {found.source for text, *_ in FOUND for found in temporal_references(text, NOON)} == {"pattern"}
