"""Every common notation of a time is read, in a timeframe and in a question, and nothing else is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.phrases import check, in_question, moment, parse
from support.time_notations import IN_QUESTIONS, NO_TIMES, NOT_IN_QUESTIONS, NOTATIONS

if TYPE_CHECKING:
    from psycopg import Connection


@pytest.mark.parametrize(("text", "expected"), NOTATIONS.items())
def test_a_notation_of_a_timeframe(read_only: Connection[Any], text: str, expected: str) -> None:
    check(read_only, text, expected)


@pytest.mark.parametrize("text", NO_TIMES)
def test_no_timeframe(read_only: Connection[Any], text: str) -> None:
    assert parse(read_only, text) is None


@pytest.mark.parametrize(("query", "expected"), IN_QUESTIONS.items())
def test_a_notation_in_a_question(read_only: Connection[Any], query: str, expected: str) -> None:
    found = in_question(read_only, query)
    assert found is not None
    assert (found.lower, found.upper) == tuple(moment(end, "UTC") for end in expected.split(" "))


@pytest.mark.parametrize("query", NOT_IN_QUESTIONS)
def test_no_time_in_a_question(read_only: Connection[Any], query: str) -> None:
    assert in_question(read_only, query) is None


def test_the_hint_lists_notations_that_are_read(read_only: Connection[Any]) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as caught:
        read_only.execute("SELECT parse_timeframe('the day of the plum')")
    named = re.findall(r"'([^']+)'", caught.value.diag.message_hint or "")
    assert len(named) >= 6
    for text in named:
        assert parse(read_only, text) is not None
