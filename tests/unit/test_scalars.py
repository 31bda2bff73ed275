"""Numbers of numpy and times of pandas are arguments like Python's own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import numpy as np
import pytest

from pgrecall import InvalidInput
from pgrecall.arguments import as_seconds, checked_arguments
from pgrecall.filters import Filter

BERLIN = timezone(timedelta(hours=1))


class Timestamp(datetime):
    """Like pandas': written with nanoseconds, which neither PostgreSQL nor anybody else reads."""

    def isoformat(self, sep: str = "T", timespec: str = "auto") -> str:
        return super().isoformat(sep, timespec).replace("+", "789+")


class NotATime(datetime):
    """Like pandas' NaT, which is a datetime and equals nothing."""

    def __ne__(self, other: object) -> bool:
        return True

    __hash__ = datetime.__hash__


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.uint64, np.intp])
def test_whole_numbers(kind: Any) -> None:
    own = checked_arguments(k=kind(7), id=kind(7), ids=np.array([7, 8], dtype=kind), position=kind(7))
    assert own == {"k": 7, "id": 7, "ids": [7, 8], "position": 7}
    assert {type(one) for one in (own["k"], own["id"], *own["ids"])} == {int}


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int64])
def test_numbers(kind: Any) -> None:
    own = checked_arguments(importance=kind(1), min_score=kind(1), metadata={"n": [kind(1)]})
    assert own == {"importance": 1, "min_score": 1, "metadata": {"n": [1]}}
    assert type(own["min_score"]) is float
    assert as_seconds("timeout", kind(2)) == 2


def test_truth_values() -> None:
    assert checked_arguments(is_sensitive=np.True_, metadata={"a": np.False_}) == {
        "is_sensitive": True,
        "metadata": {"a": False},
    }
    where = {"year": {"$gte": np.int64(2024)}, "kept": np.True_}
    assert Filter(include_sensitive=np.False_, metadata_where=where).conditions() == {  # type: ignore[arg-type]
        "include_sensitive": False,
        "metadata_where": {"year": {"$gte": 2024}, "kept": True},
    }


def test_what_is_no_such_number_is_refused_as_before() -> None:
    refused: list[dict[str, Any]] = [
        {"k": np.float64(3)}, {"k": np.True_}, {"id": np.array([3])}, {"id": np.float32(3)}, {"id": np.uint64(2**63)},
        {"k": np.datetime64(1, "ns")}, {"id": np.timedelta64(1, "ns")}, {"importance": np.float32("nan")},
        {"importance": np.True_}, {"is_sensitive": np.int64(1)}, {"metadata": {"a": np.float32("inf")}},
        {"metadata": {"a": np.array([1])}}, {"metadata": {"a": np.complex64(1)}}, {"metadata": {"a": np.datetime64("2026-01-01")}},
    ]  # fmt: skip
    for one in refused:
        with pytest.raises(InvalidInput):
            checked_arguments(**one)


@pytest.mark.parametrize("zone", [None, UTC, BERLIN])
def test_times(zone: Any) -> None:
    given = Timestamp(2026, 1, 1, 12, 0, 0, 123456, zone)
    own = checked_arguments(occurred_at=given, valid_to=given)
    own |= Filter(since=given, as_of=given).conditions()
    plain = datetime(2026, 1, 1, 12 if zone is not BERLIN else 11, 0, 0, 123456, UTC)
    assert own == dict.fromkeys(("occurred_at", "valid_to", "since", "as_of"), plain)
    assert {one.isoformat() for one in own.values()} == {plain.isoformat()}


def test_no_time() -> None:
    for name in ("occurred_at", "valid_to", "as_of"):
        with pytest.raises(InvalidInput, match=f"{name} must be a datetime, not NotATime"):
            checked_arguments(**{name: NotATime(2026, 1, 1)})
