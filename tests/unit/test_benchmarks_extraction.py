"""The labelled sets of the extraction are sound, and the scores are those computed by hand."""

from __future__ import annotations

import json
from calendar import monthrange
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.quality.datasets import DataError
from benchmarks.quality.extraction.console import print_mistakes, print_results
from benchmarks.quality.extraction.labels import (
    GRANULARITIES,
    Entity,
    LabelledText,
    Time,
    TimedText,
    halves,
    load_entities,
    load_times,
)
from benchmarks.quality.extraction.scoring import (
    Counts,
    name_mistakes,
    normalised,
    score,
    score_entities,
    score_times,
    time_mistakes,
)
from pgrecall_extract.base import ENTITY_TYPES, TemporalReference

if TYPE_CHECKING:
    from pathlib import Path

SEED = 42


@pytest.fixture(scope="module")
def texts() -> tuple[LabelledText, ...]:
    return load_entities()


@pytest.fixture(scope="module")
def timed() -> tuple[TimedText, ...]:
    return load_times()


def test_the_texts_with_names_are_as_many_and_as_varied_as_they_should_be(
    texts: tuple[LabelledText, ...],
) -> None:
    assert len(texts) == 150
    assert len({text.content for text in texts}) == 150
    assert min(Counter(text.domain for text in texts).values()) >= 10
    assert sum(not text.entities for text in texts) >= 20
    assert sum(bool(text.keywords) for text in texts) == 10
    assert sum(text.speaker is not None for text in texts) >= 10
    assert sum(text.title is not None for text in texts) >= 5


@pytest.mark.parametrize("type", ENTITY_TYPES)
def test_every_type_is_labelled_often_enough(texts: tuple[LabelledText, ...], type: str) -> None:
    assert sum(entity.type == type for text in texts for entity in text.entities) >= 15


def test_a_name_is_labelled_once_and_stands_alone(texts: tuple[LabelledText, ...]) -> None:
    for text in texts:
        names = [normalised(entity.name) for entity in text.entities]
        assert len(set(names)) == len(names), text.id
        for entity in text.entities:
            assert entity.name == entity.name.strip()
            parts = [
                part for part in (text.content, text.title, text.speaker) if part and entity.name in part
            ]
            start = parts[0].index(entity.name)
            around = parts[0][start - 1 : start] + parts[0][start + len(entity.name) :][:1]
            assert not any(character.isalnum() for character in around), (text.id, entity.name)


def test_titles_speakers_and_configured_words_are_labelled(texts: tuple[LabelledText, ...]) -> None:
    roles = {"user", "assistant"}
    for text in texts:
        labels = {(normalised(entity.name), entity.type) for entity in text.entities}
        names = {name for name, _ in labels}
        assert text.title is None or normalised(text.title) in names
        assert text.speaker is None or (text.speaker in roles) != (normalised(text.speaker) in names)
        for type, words in text.keywords.items():
            present = {normalised(word) for word in words if word.casefold() in text.content.casefold()}
            assert present
            assert {(word, type) for word in present} <= labels


def test_the_texts_with_times_are_as_many_and_as_varied_as_they_should_be(
    timed: tuple[TimedText, ...],
) -> None:
    assert len(timed) >= 100
    assert len({text.content for text in timed}) == len(timed)
    assert sum(not text.times for text in timed) >= 20
    labels = [time for text in timed for time in text.times]
    assert {time.granularity for time in labels} == set(GRANULARITIES) - {"minute"}
    assert len({time.kind for time in labels}) >= 12
    assert len({text.anchor.utcoffset() for text in timed}) >= 8


def test_edges_of_the_calendar_are_among_the_times(timed: tuple[TimedText, ...]) -> None:
    def is_month_end(moment: datetime) -> bool:
        return moment.day == monthrange(moment.year, moment.month)[1]

    def around_leap_day(moment: datetime) -> bool:
        return (moment.month, moment.day) in {(2, 28), (2, 29), (3, 1)}

    with_times = [text for text in timed if text.times]
    moments = {
        text.id: (text.anchor, *(end for time in text.times for end in (time.from_at, time.to_at)))
        for text in with_times
    }
    assert sum(is_month_end(text.anchor) for text in with_times) >= 5
    assert sum(any(map(around_leap_day, moments[text.id])) for text in with_times) >= 5
    assert sum((text.anchor.month, text.anchor.day) in {(12, 31), (1, 1)} for text in with_times) >= 5
    assert sum(text.anchor.utcoffset() != timedelta(0) for text in with_times) >= 5
    other_day_in_utc = [
        text for text in with_times if text.anchor.astimezone(UTC).date() != text.anchor.date()
    ]
    assert len(other_day_in_utc) >= 5


@pytest.mark.parametrize("granularity", GRANULARITIES)
def test_periods_begin_and_end_where_their_unit_does(timed: tuple[TimedText, ...], granularity: str) -> None:
    for text in timed:
        for time in text.times:
            if time.granularity != granularity:
                continue
            for end in (time.from_at, time.to_at):
                assert (end.minute, end.second, end.microsecond) == (0, 0, 0)
                if granularity == "hour":
                    continue
                assert end.hour == 0
                assert granularity != "week" or end.weekday() == 0
                assert granularity not in {"month", "quarter", "year"} or end.day == 1
                assert granularity != "year" or end.month == 1
                assert granularity != "quarter" or time.kind == "season" or end.month % 3 == 1
            if granularity == "week":
                assert time.to_at - time.from_at == timedelta(days=7)


ENTITY_ROW = {
    "id": "a",
    "domain": "d",
    "content": "Ada wrote.",
    "entities": [{"name": "Ada", "type": "PERSON"}],
}
TIME = {
    "text": "today",
    "kind": "relative day",
    "from": "2024-02-29T00:00:00+01:00",
    "to": "2024-03-01T00:00:00+01:00",
    "granularity": "day",
}
TIME_ROW = {"id": "a", "content": "Rain today.", "anchor": "2024-02-29T10:00:00+01:00", "times": [TIME]}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([ENTITY_ROW, ENTITY_ROW], "line 2: ValueError: its id is there twice"),
        ([ENTITY_ROW | {"content": "Bob wrote."}], "not in the text: Ada"),
        ([ENTITY_ROW | {"entities": [{"name": "Ada", "type": "ROBOT"}]}], "unknown types: ROBOT"),
        ([ENTITY_ROW | {"keywords": {"ROBOT": ["Ada"]}}], "unknown types: ROBOT"),
        ([ENTITY_ROW | {"entities": ENTITY_ROW["entities"] * 2}], "a name is there twice"),  # type: ignore[operator]
        ([{"id": "a"}], "KeyError"),
    ],
)
def test_unsound_names_are_refused(tmp_path: Path, rows: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_entities(lines(tmp_path / "entities.jsonl", *rows))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (TIME_ROW | {"content": "Rain."}, "'today' is not in the text exactly once"),
        (TIME_ROW | {"content": "today, today"}, "'today' is not in the text exactly once"),
        (TIME_ROW | {"anchor": "2024-02-29T10:00:00"}, "the anchor has no UTC offset"),
        (TIME_ROW | {"anchor": "2024-02-29T10:00:00+02:00"}, "another UTC offset"),
        (TIME_ROW | {"times": [TIME | {"to": TIME["from"]}]}, "has no length"),
        (TIME_ROW | {"times": [TIME | {"granularity": "aeon"}]}, "unknown granularity: aeon"),
    ],
)
def test_unsound_times_are_refused(tmp_path: Path, row: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        load_times(lines(tmp_path / "times.jsonl", row))


def test_labels_are_read_as_they_are_written(tmp_path: Path) -> None:
    (text,) = load_entities(
        lines(tmp_path / "entities.jsonl", ENTITY_ROW | {"speaker": "Bo", "keywords": {"PROJECT": ["X"]}})
    )
    assert (text.speaker, text.title, text.keywords) == ("Bo", None, {"PROJECT": ("X",)})
    assert text.entities == (Entity("Ada", "PERSON"),)
    (timed,) = load_times(lines(tmp_path / "times.jsonl", TIME_ROW))
    (time,) = timed.times
    assert timed.content[time.start : time.end] == "today"
    assert time.to_at - time.from_at == timedelta(days=1)


def test_halves_are_disjoint_complete_and_seeded() -> None:
    ids = [f"t{number}" for number in range(11)]
    tuning, reporting = halves(ids, SEED)
    assert (len(tuning), len(reporting)) == (5, 6)
    assert tuning | reporting == set(ids)
    assert halves(ids[::-1], SEED) == (tuning, reporting)
    assert halves(ids, SEED + 1) != (tuning, reporting)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("  The  Night Watch", "night watch"),
        ("Ｐｏｓｔｇｒｅｓ", "postgres"),
        ("@lena_dev", "lena_dev"),
        ("parse_header()", "parse_header"),
        ("Theodor", "theodor"),
        ("Straße", "strasse"),
    ],
)
def test_names_are_compared_without_what_does_not_tell_them_apart(name: str, expected: str) -> None:
    assert normalised(name) == expected


def test_counts_of_nothing_have_no_figures() -> None:
    assert (Counts().precision, Counts().recall, Counts().f1) == (None, None, None)
    assert (Counts(0, 0, 3).precision, Counts(0, 0, 3).recall, Counts(0, 0, 3).f1) == (None, 0, 0)
    assert Counts(1, 2, 4) + Counts(2, 2, 2) == Counts(3, 4, 6)
    assert Counts(3, 4, 6).f1 == pytest.approx(2 / (4 / 3 + 6 / 3))
    assert score([], seed=SEED).f1 is None


def test_an_interval_is_that_of_the_texts() -> None:
    # Half of 400 texts are right: the standard error of the share is 0.025.
    found = score([Counts(1, 1, 1), Counts(0, 1, 1)] * 200, seed=SEED)
    assert found.precision is not None
    assert found.precision.value == 0.5
    assert found.precision.ci95 == pytest.approx((0.5 - 1.96 * 0.025, 0.5 + 1.96 * 0.025), abs=0.005)
    assert found == score([Counts(1, 1, 1), Counts(0, 1, 1)] * 200, seed=SEED)
    sure = score([Counts(2, 2, 2)] * 10, seed=SEED)
    assert sure.f1 is not None
    assert sure.f1.ci95 == (1, 1)


NAMED = (
    LabelledText("a", "work", "", entities=(Entity("Ada", "PERSON"), Entity("Rome", "PLACE"))),
    LabelledText("b", "work", "", entities=(Entity("Acme", "ORG"),)),
    LabelledText("c", "home", ""),
)
FOUND = [
    {("ada", "PERSON"), ("The Rome", "ORG"), ("Rome", "ORG")},  # one right, one of the wrong type, once
    {("Acme", "ORG"), ("Monday", "CONCEPT")},
    {("Wow", "CONCEPT")},
]


def shares(figures: dict[str, Any]) -> tuple[float | None, ...]:
    return tuple(figures[name] and figures[name]["value"] for name in ("precision", "recall", "f1"))


def test_names_are_scored_as_by_hand() -> None:
    result = score_entities(NAMED, FOUND, seed=SEED)
    assert [result["overall"][name] for name in ("right", "found", "labelled")] == [2, 5, 3]
    assert shares(result["overall"]) == pytest.approx((2 / 5, 2 / 3, 4 / 8), abs=1e-4)
    assert shares(result["any_type"]) == pytest.approx((3 / 5, 3 / 3, 6 / 8), abs=1e-4)
    assert set(result["by_type"]) == {"PERSON", "PLACE", "ORG", "CONCEPT"}
    assert shares(result["by_type"]["PERSON"]) == (1, 1, 1)
    assert shares(result["by_type"]["PLACE"]) == (None, 0, 0)
    assert shares(result["by_type"]["ORG"]) == pytest.approx((1 / 2, 1, 2 / 3), abs=1e-4)
    assert shares(result["by_type"]["CONCEPT"]) == (0, None, 0)
    assert shares(result["by_domain"]["work"]) == pytest.approx((2 / 4, 2 / 3, 4 / 7), abs=1e-4)
    assert shares(result["by_domain"]["home"]) == (0, None, 0)
    assert result["empty_texts"] == {"texts": 1, "with_something_found": 1}


def test_wrong_and_missed_names_are_told() -> None:
    assert sorted(name_mistakes(NAMED[:2], FOUND[:2])) == [
        ("a", "missed", "Rome (PLACE)"),
        ("a", "wrong", "The Rome (ORG)"),
        ("b", "wrong", "Monday (CONCEPT)"),
    ]
    assert name_mistakes(NAMED[1:2], [{("ACME", "ORG")}]) == []


def test_found_names_must_be_those_of_the_texts() -> None:
    with pytest.raises(ValueError, match="shorter"):
        score_entities(NAMED, FOUND[:2], seed=SEED)


def day(number: int) -> datetime:
    return datetime(2024, 5, number, tzinfo=UTC)


def label(start: int, number: int, kind: str = "weekday") -> Time:
    return Time(kind, start, start + 5, day(number), day(number + 1), "day")


def reference(start: int, first: int, last: int, granularity: str = "day") -> TemporalReference:
    return TemporalReference(start, start + 5, day(first), day(last), granularity, 1.0, "pattern")


CALENDAR = (
    TimedText("a", "today or Friday", day(1), (label(0, 1, "relative day"), label(9, 3))),
    TimedText("b", "on Sunday.", day(1), (label(3, 5),)),
    TimedText("c", "May I?", day(1)),
)
READ = [
    # The first is right; the second has the words but not the day; the third is the first once more.
    [reference(0, 1, 2), reference(10, 10, 11), reference(0, 1, 2)],
    [reference(3, 5, 6, "week")],
    [reference(0, 1, 31, "month")],
]


def test_times_are_scored_as_by_hand() -> None:
    result = score_times(CALENDAR, READ, seed=SEED)
    assert [result["overall"][name] for name in ("right", "found", "labelled")] == [2, 5, 3]
    assert shares(result["overall"]) == pytest.approx((2 / 5, 2 / 3, 4 / 8), abs=1e-4)
    assert shares(result["words"]) == pytest.approx((3 / 5, 1, 6 / 8), abs=1e-4)
    assert result["by_kind"] == {
        "relative day": {"labelled": 1, "right": 1, "words": 1},
        "weekday": {"labelled": 2, "right": 1, "words": 2},
    }
    assert result["granularity"] == {"right": 1, "of": 2}
    assert result["empty_texts"] == {"texts": 1, "with_something_found": 1}


def test_the_same_period_in_another_zone_is_right() -> None:
    east = datetime.fromisoformat("2024-05-01T05:30:00+05:30")
    there = TemporalReference(0, 5, east, east + timedelta(days=1), "day", 1.0, "pattern")
    text = TimedText("a", "today", day(1), (label(0, 1),))
    assert score_times([text], [[there]], seed=SEED)["overall"]["right"] == 1


def test_wrong_and_missed_times_are_told() -> None:
    told = time_mistakes(CALENDAR, READ)
    assert [(id, verdict) for id, verdict, _ in told] == [
        ("a", "missed"),
        ("a", "wrong"),
        ("a", "wrong"),
        ("c", "wrong"),
    ]
    assert told[0][2] == "Frida: 2024-05-03T00:00:00+00:00 to 2024-05-04T00:00:00+00:00"


def test_the_labels_themselves_score_one(
    texts: tuple[LabelledText, ...], timed: tuple[TimedText, ...]
) -> None:
    names = [{(entity.name, entity.type) for entity in text.entities} for text in texts]
    found = score_entities(texts, names, seed=SEED)
    times = [
        [
            TemporalReference(
                time.start, time.end, time.from_at, time.to_at, time.granularity, 1.0, "pattern"
            )
            for time in text.times
        ]
        for text in timed
    ]
    read = score_times(timed, times, seed=SEED)
    for result in (found, read):
        assert shares(result["overall"]) == (1, 1, 1)
        assert result["empty_texts"]["with_something_found"] == 0
    assert read["granularity"]["right"] == read["granularity"]["of"]
    assert name_mistakes(texts, names) == time_mistakes(timed, times) == []


def test_results_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    names = score_entities(NAMED, FOUND, seed=SEED)
    times = score_times(CALENDAR, READ, seed=SEED)
    print_results(
        {
            "names": {"patterns": {"all": names, "reporting_half": names}},
            "times": {"all": times, "reporting_half": times},
            "not_run": {"patterns and spaCy": "spaCy is not installed"},
        }
    )
    print_mistakes("names", name_mistakes(NAMED, FOUND))
    printed = capsys.readouterr().out
    assert "0.400 [" in printed
    assert "granularity: 1 of 2 right periods" in printed
    assert "something found in 1 of 1 texts without a name" in printed
    assert "not run: patterns and spaCy: spaCy is not installed" in printed
    assert "Monday (CONCEPT)" in printed
