"""memories_keys_idx: what has a tag or value has its key, and only in its own namespace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.types.json import Jsonb

from support.memories import call, remember, remember_many, rows, scalar

if TYPE_CHECKING:
    from psycopg import Connection

pytestmark = pytest.mark.rollback

DOCUMENTS: list[str] = [
    "{}", '{"a": 1}', '{"a": 1.0}', '{"a": 1.50}', '{"a": "1"}', '{"a": true}', '{"a": null}', '{"a": [1, 2]}', '{"a": [[1], [2, 3]]}',
    '{"a": {"b": 1}}', '{"a": {"b": [1, {"c": "x"}]}}', '{"a.b": 1}', '{"a": {"b": {"c": "x"}}}', '{"a": [{"b": 1}, {"b": 2, "c": "x"}]}',
    '{"a\'b": "it\'s"}', '{"a\\\\b": "\\\\"}', '{"ä": "€"}', '{"a": ""}', '{"": 1}', '{"a": {}}', '{"a": []}', '{"a": 1e40}',
    '{"a": "m=1"}', '{"m": {"a": 1}}', '{"a": 1, "b": "x", "c": {"d": false}}',
]  # fmt: skip
CONDITIONS: list[dict[str, Any]] = [
    {"a": 1}, {"a": 1.5}, {"a": "1"}, {"a": None}, {"a": True}, {"a.b": 1}, {"a.b.c": "x"}, {"a.c": "x"}, {"a": ""}, {"ä": "€"},
    {"a'b": "it's"}, {"a": {"$in": [1, "1", None]}}, {"a": {"$in": [2, 3]}, "b": "x"}, {"a": {"$in": []}}, {"a": {"$eq": 1, "$in": [1, 2]}},
    {"a": {"$gte": 1}, "b": "x"}, {"a": {"$ne": 1}}, {"a": 1, "b": "x", "c.d": False}, {"a": {"$in": [1, 2]}, "a.b": {"$in": [1]}},
]  # fmt: skip


@pytest.fixture
def stored(conn: Connection[Any]) -> dict[int, str]:
    return {remember(conn, f"memory {n}", metadata=json.loads(d)): d for n, d in enumerate(DOCUMENTS)}


def listed(conn: Connection[Any], **filters: Any) -> list[int]:
    return sorted(row[0] for row in rows(conn, "list_memories", **filters))


def test_containment_is_that_of_jsonb(conn: Connection[Any], stored: dict[int, str]) -> None:
    for wanted in DOCUMENTS:
        expected = sorted(
            number
            for number, document in stored.items()
            if scalar(conn, "SELECT %s::jsonb @> %s::jsonb", document, wanted)
        )
        assert listed(conn, metadata_contains=Jsonb(json.loads(wanted))) == expected, wanted


def test_conditions_are_those_of_jsonpath(conn: Connection[Any], stored: dict[int, str]) -> None:
    for wanted in CONDITIONS:
        expected = sorted(
            number
            for number, document in stored.items()
            if scalar(
                conn,
                "SELECT %s::jsonb @@ _pgrecall.metadata_path(%s::jsonb, false)",
                document,
                json.dumps(wanted),
            )
        )
        assert listed(conn, metadata_where=wanted) == expected, wanted


def test_a_key_belongs_to_one_namespace_and_one_value(conn: Connection[Any]) -> None:
    keys = [
        tuple(scalar(conn, "SELECT _pgrecall.filter_keys(%s, %s, %s)", namespace, tags, Jsonb(metadata)))
        for namespace in (1, 2, 11)
        for tags, metadata in (
            (["a"], {}), (["1:a"], {}), (["ta"], {}), (["m.'a'=1"], {}), ([], {"a": 1}), ([], {"a": "1"}), ([], {"a": {"b": 1}}),
        )
    ]  # fmt: skip
    assert all(len(key) == 1 for key in keys)
    assert len(set(keys)) == len(keys)


def test_equal_values_have_one_key(conn: Connection[Any]) -> None:
    query = "SELECT count(DISTINCT _pgrecall.filter_keys(1, '{}', d::jsonb)) FROM unnest(%s::text[]) d"
    for equal in (
        ['{"a": 1}', '{"a": 1.0}', '{"a": 100e-2}', '{"a": [1]}', '{"a": [[1.00]]}'],
        ['{"a": "é"}', '{"a": "\\u00e9"}'],
    ):
        assert scalar(conn, query, equal) == 1


def test_deep_metadata_is_stored_and_found(conn: Connection[Any]) -> None:
    depth = 1000
    deep = scalar(conn, "SELECT (repeat('{\"a\":', %s) || '1' || repeat('}', %s))::jsonb::text", depth, depth)
    assert scalar(conn, "SELECT cardinality(_pgrecall.filter_keys(1, '{}', %s::jsonb))", deep) == 1


def test_tags_of_another_namespace_are_not_found(conn: Connection[Any]) -> None:
    for name in ("one", "two"):
        call(conn, "pgrecall.create_namespace", name)
        remember(conn, name, tags=["shared", name], namespace=name)
    assert [row[4] for row in rows(conn, "list_memories", namespace="one", tags_any=["two", "shared"])] == [
        "one"
    ]
    assert rows(conn, "list_memories", namespace="one", tags_all=["shared", "two"]) == []


def test_a_grant_follows_the_name_of_its_namespace(conn: Connection[Any]) -> None:
    call(conn, "pgrecall.create_namespace", "old")
    conn.execute("CREATE ROLE pgrecall_test_named IN ROLE pgrecall_reader")
    call(conn, "pgrecall.grant_namespace", "pgrecall_test_named", "old")
    home = call(conn, "pgrecall.namespace_id", "old")
    conn.execute("SELECT pgrecall.rename_namespace('old', 'new')")
    call(conn, "pgrecall.create_namespace", "old")
    conn.execute("SET LOCAL ROLE pgrecall_test_named")
    assert call(conn, "pgrecall.namespace_id", "new") == home
    assert call(conn, "pgrecall.namespace_id", "old") is None
    conn.execute("RESET ROLE")


def test_only_a_condition_that_few_memories_meet_has_keys(conn: Connection[Any]) -> None:
    """Of a large namespace a sample tells that many do."""
    remember_many(
        conn,
        [
            {
                "content": f"memory {n}",
                "tags": ["rare", "all"] if n % 400 == 0 else ["all"],
                "metadata": {"half": n % 2},
            }
            for n in range(4400)
        ],
    )
    query = "SELECT num_nonnulls((k).all_keys, (k).tag_keys) FROM (SELECT _pgrecall.with_keys(1, %s::pgrecall.recall_filter, 1000) OFFSET 0) x (k)"
    for conditions, keys in (
        ({"tags_all": ["rare"]}, 1),
        ({"tags_any": ["rare"]}, 1),
        ({"tags_any": ["all"]}, 0),
        ({"metadata_contains": {"half": 1}}, 0),
        ({"metadata_where": {"half": 1}}, 0),
        ({"tags_any": ["all"], "metadata_contains": {"half": 2}}, 2),
        ({}, 0),
    ):
        keyed = scalar(conn, "SELECT _pgrecall.memory_filter(filter => %s)::text", Jsonb(conditions))
        assert scalar(conn, query, keyed) == keys, conditions
    assert len(listed(conn, tags_any=["rare"], max_results=100)) == 11


@pytest.mark.parametrize("mode", ["ts_rank", "prefix", "websearch"])
def test_words_are_found_in_each_mode_with_their_changes(conn: Connection[Any], mode: str) -> None:
    first = remember(conn, "the quick fox of the north, it's back\\slash")
    second = remember(conn, "a quick wolf")
    call(conn, "forget", remember(conn, "a quick forgotten hare"))
    while call(conn, "pgrecall.flush_pending_postings", 1):
        pass
    third = remember(conn, "one more quick fox")
    settings = {"lexical_mode": mode, "graph_weight": 0}

    def found(query: str) -> list[int]:
        return sorted(row[0] for row in rows(conn, "recall", query, settings=settings))

    assert found("quick") == sorted([first, second, third])
    assert set(found("quick fox")) >= {first, third}
    if mode == "prefix":
        assert found("qui fo") == sorted([first, third])
        assert found("zz") == []
    if mode == "websearch":
        assert found('quick "fox north"') == []
        assert found('"quick fox"') == sorted([first, third])
        assert found("quick -fox") == [second]
        assert found('quick -"quick wolf"') == sorted([first, third])
