"""Whatever text comes, its times are sound, and are found in linear time."""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pgrecall_extract.temporal import grammar, languages
from pgrecall_extract.temporal.references import LONGEST_CONTENT, MOST_REFERENCES, temporal_references
from support.time_reading import LANGUAGES, NOON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

HOSTILE = [
    "may ", "1 ", "in the ", "a few ", "1-", "2019 ", "2019-", "2019 to ", "(", "last ", "every friday ", "friday ", "Monday, ",
    "5pm ", "5 pm - ", "10:30 ", "morning ", "yesterday morning ", "3 to 7 ", "in two weeks ", "half a ", "\n", "\t \t",
    "end of the ", "May 3-", "mid-", "the '", "ed ", "q1 of ", "5/5/", "1" * 50 + " ", "x" * 200, "jan. ", "3. ", "vor 3 ",
]  # fmt: skip


def calls(text: str) -> int:
    """How many calls reading a text takes: a measure of the work outside of the regular expressions."""
    count = 0

    def profile(frame: FrameType, event: str, arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        temporal_references(text, NOON)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("unit", HOSTILE)
def test_the_work_is_linear(unit: str) -> None:
    """Twice the text takes at most twice the calls."""
    text = unit * (LONGEST_CONTENT // len(unit))
    assert calls(text) <= 2 * calls(text[: len(text) // 2]) + 200


def repetitions(parsed: Any) -> Iterator[Any]:
    """The upper bounds of the repetitions in a parsed regular expression."""
    for operator, argument in parsed:
        if str(operator) in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            yield argument[1]
            yield from repetitions(argument[2])
        elif str(operator) == "BRANCH":
            for branch in argument[1]:
                yield from repetitions(branch)
        elif str(operator) in ("SUBPATTERN", "ATOMIC_GROUP", "ASSERT", "ASSERT_NOT"):
            yield from repetitions(argument if str(operator) == "ATOMIC_GROUP" else argument[-1])


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_repetition_is_bounded(language: str) -> None:
    """No pattern that runs over the whole text can look further from one place than a few dozen characters."""
    pattern = {
        "english": grammar.STRETCH, "simple": grammar.NEUTRAL, "klingon": grammar.HINT,
    }.get(language) or languages._pattern(languages.CODES[language])  # fmt: skip
    assert pattern is not None
    bounds = list(repetitions(re._parser.parse(pattern.pattern, pattern.flags)))  # type: ignore[attr-defined]
    assert max(bounds, default=0) <= 9


WORDS = ["last", "this", "next", "past", "the", "of", "in", "on", "at", "by", "from", "to", "until", "between", "and", "since", "every", "before", "after", "ago", "back", "end", "week", "weekend", "month", "year", "years", "quarter", "decade", "day", "days", "hour", "minutes", "a", "an", "two", "few", "couple", "half", "3", "29", "31", "31st", "12", "2019", "2023-02-29", "1990s", "'80s", "Q3", "May", "february", "may", "March", "dec", "monday", "Friday", "Sun", "summer", "fall", "winter", "yesterday", "today", "tomorrow", "tonight", "morning", "night", "noon", "5pm", "10:30", "99:99", "24", "-", "–", ",", ".", "(", ")", "/", "'", "\n", "\xa0", "was", "will", "finished", "0", "00", "000", "9999", "999", "1st", "Montag", "mars", "5.", "de", "hace", "vor"]  # fmt: skip


def sound(text: str, anchor: datetime, language: str) -> None:
    found = temporal_references(text, anchor, language)
    assert len(found) <= MOST_REFERENCES
    end = 0
    for reference in found:
        assert end <= reference.start < reference.end <= len(text)
        assert not text[reference.start].isspace()
        assert not text[reference.end - 1].isspace()
        assert reference.from_at < reference.to_at
        assert reference.from_at.tzinfo is not None
        assert reference.granularity in ("minute", "hour", "day", "week", "month", "quarter", "year")
        assert 0 < reference.confidence < 1
        assert reference.source in ("pattern", "dateparser")
        end = reference.end


ANCHORS = st.datetimes(
    timezones=st.timezones() | st.builds(timezone, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
)


@settings(max_examples=400)
@given(
    text=st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join),
    anchor=ANCHORS,
    language=st.sampled_from(LANGUAGES[-3:]),
)
def test_any_words(text: str, anchor: datetime, language: str) -> None:
    sound(text, anchor, language)


@settings(max_examples=60)
@given(
    text=st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join),
    anchor=ANCHORS,
    language=st.sampled_from(LANGUAGES),
)
def test_any_words_of_any_language(text: str, anchor: datetime, language: str) -> None:
    sound(text, anchor, language)


@settings(max_examples=200)
@given(text=st.text(max_size=200), anchor=ANCHORS)
def test_any_text(text: str, anchor: datetime) -> None:
    sound(text, anchor, "english")


@settings(max_examples=200)
@given(day=st.dates(date(1000, 1, 1), date(2999, 12, 31)), anchor=ANCHORS)
def test_any_day_in_any_form(day: date, anchor: datetime) -> None:
    """A day that is written in full is that day, whatever the anchor."""
    forms = (
        f"{day:%Y-%m-%d}",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.year}/{day.month}/{day.day}",
    )
    for form in forms:
        for found in temporal_references(form, anchor):
            assert (found.start, found.end) == (0, len(form))
            assert found.from_at.date() == day or found.from_at.hour > 0
            assert found.granularity == "day"
