"""A contract is kept where callers of the promised functions notice nothing."""

from __future__ import annotations

import re

import pytest

from pgrecall import SchemaMismatch
from pgrecall.admin.bundle import folder, spoken_contract, verify
from tools.contract import broken

PROMISED = {"public.f": {"arguments": ["a text", "b integer DEFAULT 1"], "result": ["id bigint", "at date"]}}


def _changed(**parts: list[str]) -> dict[str, dict[str, list[str]]]:
    return {"public.f": {**PROMISED["public.f"], **parts}}


@pytest.mark.parametrize(
    "present",
    [
        PROMISED,
        _changed(arguments=["a text", "b integer DEFAULT 1", "c text DEFAULT NULL::text"]),
        _changed(result=["id bigint", "at date", "more text"]),
        {**PROMISED, "public.g": {"arguments": [], "result": ["text"]}},
    ],
    ids=["the same", "one more argument with a default", "one more column", "one more function"],
)
def test_what_callers_do_not_notice_is_allowed(present: dict[str, dict[str, list[str]]]) -> None:
    assert list(broken(PROMISED, present)) == []


@pytest.mark.parametrize(
    "present",
    [
        {},
        _changed(arguments=["a text"]),
        _changed(arguments=["x text", "b integer DEFAULT 1"]),
        _changed(arguments=["a bytea", "b integer DEFAULT 1"]),
        _changed(arguments=["a text", "b integer"]),
        _changed(arguments=["a text", "b integer DEFAULT 2"]),
        _changed(arguments=["c text DEFAULT ''::text", "a text", "b integer DEFAULT 1"]),
        _changed(arguments=["a text", "b integer DEFAULT 1", "c text"]),
        _changed(result=["id bigint"]),
        _changed(result=["id integer", "at date"]),
        _changed(result=["at date", "id bigint"]),
        _changed(result=["id bigint", "on date"]),
    ],
    ids=[
        "the function is gone", "an argument is gone", "an argument has another name", "an argument has another type",
        "a default is gone", "a default is another", "an argument comes first", "a new argument has no default",
        "a column is gone", "a column has another type", "columns change places", "a column has another name",
    ],
)  # fmt: skip
def test_what_callers_notice_breaks_the_contract(present: dict[str, dict[str, list[str]]]) -> None:
    assert len(list(broken(PROMISED, present))) >= 1


def test_a_package_works_within_the_served_range() -> None:
    spoken = spoken_contract()
    for oldest, newest in (
        (spoken, spoken),
        (spoken - 1, spoken),
        (spoken, spoken + 1),
        (spoken - 1, spoken + 1),
    ):
        verify(oldest, newest)


def test_outside_of_the_range_the_hint_says_which_of_the_two_is_older() -> None:
    spoken = spoken_contract()
    with pytest.raises(SchemaMismatch) as older:
        verify(spoken - 2, spoken - 1)
    assert "pgrecall migrate" in str(older.value.hint)
    with pytest.raises(SchemaMismatch) as newer:
        verify(spoken + 1, spoken + 2)
    assert "Upgrade this package" in str(newer.value.hint)
    assert "migrate" not in str(newer.value.hint)


def test_the_numbers_of_the_contract_are_in_one_place() -> None:
    text = (folder("sql") / "core" / "status" / "contract.sql").read_text(encoding="utf-8")
    assert re.findall(r"SELECT (\d+) AS oldest, (\d+) AS newest", text) == [("1", str(spoken_contract()))]
