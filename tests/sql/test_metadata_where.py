"""metadata_where: its operators against Python's, its errors, and texts that try to leave their quotes."""

from __future__ import annotations

import operator
import time
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from support.memories import remember_many, rows

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

DOCUMENTS: list[dict[str, Any]] = [
    {},
    {"n": 1, "s": "a", "b": True, "z": None},
    {"n": 2.5, "s": "b", "tags": ["x", "y"], "o": {"city": "Kochi", "zip": {"code": 5}}},
    {"n": "3", "s": "a\"b'c\\d", "tags": []},
    {"n": -4, "s": "ümlaut €", "o": {"city": None}},
    {"a b": 1, "$eq": 2, "s": "x) || (1 == 1"},
    {"n": [1, 9], "s": ""},
    {"": 1, "o": {"": {"": "x"}}},
]
MISSING = object()


def value(document: dict[str, Any], path: str) -> list[Any]:
    """What a path finds: nothing, a value, or the items of an array."""
    found: Any = document
    for step in path.split("."):
        if not isinstance(found, dict) or step not in found:
            return []
        found = found[step]
    return found if isinstance(found, list) else [found]


def kind(one: object) -> type:
    return bool if isinstance(one, bool) else float if isinstance(one, int | float) else type(one)


def compares(test: str, left: Any, right: Any) -> bool:
    if kind(left) is not kind(right):
        return False
    if left is None or isinstance(left, bool):
        return test == "$eq" and left is right
    names = {
        "$eq": operator.eq,
        "$lt": operator.lt,
        "$lte": operator.le,
        "$gt": operator.gt,
        "$gte": operator.ge,
    }
    return bool(names[test](left, right))


def fits(document: dict[str, Any], conditions: dict[str, Any]) -> bool:
    """The rules of metadata_path(), written a second time."""
    for path, condition in conditions.items():
        if path in {"$and", "$or"}:
            joined = [fits(document, one) for one in condition]
            if not (all(joined) if path == "$and" else not joined or any(joined)):
                return False
            continue
        tests = condition if isinstance(condition, dict) else {"$eq": condition}
        found = value(document, path)
        for test, wanted in tests.items():
            match test:
                case "$ne":
                    is_met = not any(compares("$eq", one, wanted) for one in found)
                case "$in":
                    is_met = any(compares("$eq", one, other) for one in found for other in wanted)
                case "$nin":
                    is_met = not any(compares("$eq", one, other) for one in found for other in wanted)
                case "$exists":
                    there = path.split(".")[0] in document and (bool(found) or document.get(path) == [])
                    is_met = there == wanted
                case _:
                    is_met = any(compares(test, one, wanted) for one in found)
            if not is_met:
                return False
    return True


CONDITIONS: list[dict[str, Any]] = [
    {"n": 1},
    {"n": 2.5},
    {"n": "3"},
    {"n": {"$gt": 1}},
    {"n": {"$gte": 1, "$lt": 2.5}},
    {"n": {"$lte": -4}},
    {"n": {"$ne": 1}},
    {"n": {"$in": [1, "3", None]}},
    {"n": {"$nin": [1, "3"]}},
    {"n": {"$in": []}},
    {"n": {"$nin": []}},
    {"n": {"$exists": True}},
    {"n": {"$exists": False}},
    {"s": "a\"b'c\\d"},
    {"s": "ümlaut €"},
    {"s": {"$gt": "a"}},
    {"s": ""},
    {"s": "x) || (1 == 1"},
    {"s": "') || exists($"},
    {"b": True},
    {"b": False},
    {"z": None},
    {"tags": "x"},
    {"tags": {"$ne": "x"}},
    {"tags": {"$exists": True}},
    {"o.city": "Kochi"},
    {"o.zip.code": {"$gt": 4}},
    {"o.city": {"$exists": True}},
    {"a b": 1},
    {"$eq": 2},
    {"n": 1, "s": "a"},
    {"n": 1, "s": "b"},
    {'x"] || exists($': 1},
    {"": 1},
    {"": {"$ne": 1}},
    {"": {"$in": [1, 2]}},
    {"": {"$exists": False}},
    {"o.": {"$exists": True}},
    {"o..": "x"},
    {},
    {"n": {}},
    {"$and": []},
    {"$and": [{"n": {"$gt": 0}}, {"n": {"$lt": 2}}]},
    {"$or": [{"n": 1}, {"s": "b"}]},
    {"$or": [{"n": {"$gt": 5}}, {"s": {"$gt": 1}}, {"b": True}]},
    {"$or": [{"n": 1}, {}]},
    {"n": {"$gt": 0}, "$or": [{"s": "a"}, {"$and": [{"s": "b"}, {"tags": "x"}]}]},
    {"$and": [{"n": 1}, {"n": 9}]},
]


@pytest.mark.parametrize("conditions", CONDITIONS, ids=str)
def test_conditions_mean_what_they_say(conn: Connection[Any], conditions: dict[str, Any]) -> None:
    ids = remember_many(conn, [{"content": "tea", "metadata": document} for document in DOCUMENTS])
    expected = {number for number, document in zip(ids, DOCUMENTS, strict=True) if fits(document, conditions)}
    for function, arguments in (("list_memories", {}), ("recall", {"query": "tea", "k": 100})):
        found = {row[0] for row in rows(conn, function, metadata_where=Jsonb(conditions), **arguments)}
        assert found == expected


@pytest.mark.parametrize(
    ("wrong", "sqlstate"),
    [
        ("[]", "22023"), ("1", "22023"), ("null", "22023"), ('{"n": []}', "22023"),
        ('{"n": {"$gt": [1]}}', "22023"), ('{"n": {"$in": 1}}', "22023"), ('{"n": {"$in": [{}]}}', "22023"),
        ('{"n": {"$exists": 1}}', "22023"), ('{"n": {"$regex": "x"}}', "22023"), ('{"n": {"gt": 1}}', "22023"),
        ('{"n": {"$eq": {"a": 1}}}', "22023"), ('{"$and": {"n": 1}}', "22023"), ('{"$or": [1]}', "22023"),
        ('{"n": {"$in": [' + ",".join(["1"] * 9000) + "]}}", "54000"),
    ],
)  # fmt: skip
def test_what_it_refuses(conn: Connection[Any], wrong: str, sqlstate: str) -> None:
    with pytest.raises(psycopg.Error) as caught, conn.transaction():
        conn.execute("SELECT * FROM list_memories(metadata_where => %s::jsonb)", (wrong,))
    assert caught.value.sqlstate == sqlstate, caught.value
    assert caught.value.diag.message_hint


@pytest.mark.parametrize(
    "conditions",
    [
        {"x" * 1000: {"$in": list(range(3000))}},
        {".".join("ab"): {"$in": ["v"] * 3300}},
        {".".join("x" * 500): 1},
        {"a" * 9000: 1},
        {"$or": [{"y" * 900: {"$in": list(range(200))}} for _ in range(8)]},
        {"$and": [{"$or": [{"z" * 100: n} for n in range(100)]}] * 12},
        {"n": {"$in": [1e300] * 60}},
    ],
    ids=range(7),
)
def test_what_would_become_too_large_is_refused_at_once(
    conn: Connection[Any], conditions: dict[str, Any]
) -> None:
    started = time.perf_counter()
    with pytest.raises(psycopg.errors.ProgramLimitExceeded) as caught, conn.transaction():
        rows(conn, "list_memories", metadata_where=Jsonb(conditions))
    assert caught.value.diag.message_hint
    assert time.perf_counter() - started < 20  # to build it would take minutes


def test_the_largest_accepted_condition_is_quick(conn: Connection[Any]) -> None:
    remember_many(conn, [{"content": "tea", "metadata": {"field": 7}}])
    assert len(rows(conn, "list_memories", metadata_where=Jsonb({"field": {"$in": list(range(2500))}}))) == 1
    deep: dict[str, Any] = {"field": 7}
    for _ in range(7):
        deep = {"$and": [deep]}
    assert len(rows(conn, "list_memories", metadata_where=Jsonb(deep))) == 1
    with pytest.raises(psycopg.errors.ProgramLimitExceeded), conn.transaction():
        rows(conn, "list_memories", metadata_where=Jsonb({"$or": [{"$and": [deep]}]}))
