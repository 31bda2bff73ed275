"""Texts, questions and timeframes in languages of Asia name times, and keep those that an extractor does not look for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.asian_times import NO_TIMES, ONLY_IN_TEXTS, TIMES
from support.memories import call, remember
from support.phrases import check, in_question, moment

if TYPE_CHECKING:
    from psycopg import Connection

ASKED = "2026-11-27 12:00"
"""A Friday."""


def in_text(conn: Connection[Any], text: str) -> list[str]:
    """The periods that a text mentions, in days of UTC."""
    found = conn.execute(
        "SELECT lower(period) AT TIME ZONE 'UTC', upper(period) AT TIME ZONE 'UTC'"
        " FROM _pgrecall.temporal_references(%s, %s::timestamptz)",
        (text, f"{ASKED}+00"),
    )
    return [f"{begins:%Y-%m-%d} {ends:%Y-%m-%d}" for begins, ends in found]


@pytest.mark.parametrize(("text", "expected"), TIMES.items())
def test_text_question_and_timeframe_agree(read_only: Connection[Any], text: str, expected: str) -> None:
    assert in_text(read_only, text) == [expected]
    check(read_only, text, expected, anchor=ASKED)
    for query in (text, f"{text}？"):
        found = in_question(read_only, query, ASKED)
        assert found is not None
        assert (found.lower, found.upper) == tuple(moment(end, "UTC") for end in expected.split(" "))


@pytest.mark.parametrize(("text", "expected"), ONLY_IN_TEXTS.items())
def test_a_time_in_a_text(read_only: Connection[Any], text: str, expected: str) -> None:
    assert in_text(read_only, text) == [expected]


@pytest.mark.parametrize("text", NO_TIMES)
def test_no_time(read_only: Connection[Any], text: str) -> None:
    assert in_text(read_only, text) == []
    assert in_question(read_only, text, ASKED) is None


@pytest.mark.parametrize("text", ["PyCharm 2024.1.3", "pytest 8.3.24", "version 16.12.3"])
def test_a_version_is_no_date(read_only: Connection[Any], text: str) -> None:
    row = read_only.execute("SELECT _pgrecall.value_terms(%s)", (text,)).fetchone()
    assert row == (None,)


@pytest.mark.rollback
def test_an_extraction_keeps_what_it_does_not_look_for(conn: Connection[Any]) -> None:
    text = "12月9日に歯医者, letzte Woche, 9.12.2026"
    number = remember(conn, text, occurred_at=f"{ASKED}+00")
    call(conn, "_pgrecall.store_extracted_times", _items(number, text))
    found = conn.execute(
        "SELECT span, source FROM pgrecall.temporal_refs WHERE memory_id = %s ORDER BY span", (number,)
    )
    assert [(text[span.lower : span.upper], source) for span, source in found] == [
        ("12月9日", "trigger"),
        ("letzte Woche", "dateparser"),
        ("9.12.2026", "trigger"),
    ]


def _items(number: int, text: str) -> Any:
    from psycopg.types.json import Jsonb

    times = [
        {
            "start": text.index("letzte"),
            "end": text.index(", 9"),
            "from_at": "2026-11-16Z",
            "to_at": "2026-11-23Z",
            "source": "dateparser",
        }
    ]
    return Jsonb([{"memory_id": number, "namespace_id": 1, "times": times}])
