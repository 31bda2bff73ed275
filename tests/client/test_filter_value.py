"""Filter: one value for every method, with the conditions that the database has."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

import pytest

from pgrecall import Filter, InvalidInput, NewMemory, UnknownNamespace
from pgrecall.filters import Origin, RecallFilters
from support.memories import scalar

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

    from pgrecall import Client

MARCH = datetime(2024, 3, 5, 12, tzinfo=UTC)
MEETS: dict[str, Any] = {
    "categories": ["note"], "tags_any": ["x", "y"], "tags_all": ("x",), "metadata_contains": {"u": "a"},
    "metadata_where": {"u": {"$in": ["a", "ü"]}}, "sessions": ["s"], "speakers": {"Priya"}, "sources": ["mail"],
    "external_id_prefix": "doc/", "since": "2024-03-05", "until": datetime(2024, 3, 6, tzinfo=UTC), "timeframe": (MARCH, None),
    "as_of": datetime.max.replace(tzinfo=UTC), "include_superseded": True, "include_sensitive": True, "min_trust": "agent",
}  # fmt: skip
EXCLUDES: dict[str, Any] = {
    "categories": ["other"], "tags_any": ["y"], "tags_all": ["x", "y"], "metadata_contains": {"u": "b"},
    "metadata_where": {"u": "b"}, "sessions": ["t"], "speakers": ["Bob"], "sources": ["file"], "external_id_prefix": "x/",
    "since": "2024-03-06", "until": "2024-03-05", "timeframe": "in January 2020", "as_of": "2024-01-01",
    "include_sensitive": False, "min_trust": "user",
}  # fmt: skip


def test_origins_are_those_of_the_database_in_its_order(conn: Connection[Any]) -> None:
    assert list(get_args(Origin)) == scalar(conn, "SELECT enum_range(NULL::pgrecall.memory_origin)::text[]")


@pytest.fixture
def stored(client: Client) -> int:
    return client.remember(
        "tea", category="note", tags=["x"], metadata={"u": "a"}, session="s", speaker="Priya", source="mail",
        external_id="doc/1", occurred_at=MARCH, is_sensitive=True,
    )  # fmt: skip


def found(client: Client, filter: Filter, **more: Any) -> list[list[int]]:
    """The ids that each method finds which takes a filter and deletes nothing."""
    return [
        [memory.id for memory in client.recall("tea", embed=False, filter=filter, **more)],
        [memory.id for memory in client.timeline("tea", embed=False, filter=filter, **more)],
        [one.id for one in client.explain("tea", embed=False, filter=filter, **more)],
        [memory.id for memory in client.list(filter=filter, **more)],
        [client.list(filter=filter, **more)[0].id] if client.count(filter=filter, **more) else [],
    ]


def test_it_has_the_conditions_of_the_database(conn: Connection[Any]) -> None:
    known = conn.execute(
        "SELECT attname FROM pg_attribute WHERE attrelid = 'pgrecall.recall_conditions'::regclass"
    ).fetchall()
    names = {one.name for one in fields(Filter)}
    assert names == {name for (name,) in known}
    assert RecallFilters.__annotations__.keys() - {"namespace", "filter"} <= names


def test_every_method_takes_every_condition(client: Client, stored: int) -> None:
    for one in fields(Filter):
        assert one.name in MEETS, f"give {one.name} a value that the memory meets, in MEETS"
        assert found(client, Filter(**{one.name: MEETS[one.name]})) == [[stored]] * 5, one.name
        if one.name == "include_superseded":
            continue
        assert one.name in EXCLUDES, f"give {one.name} a value that excludes the memory, in EXCLUDES"
        asked = Filter(**{one.name: EXCLUDES[one.name]})
        assert found(client, asked) == [[]] * 5, one.name
        assert client.briefing("tea", embed=False, filter=asked) == ""
    assert found(client, Filter()) == [[stored]] * 5


def given_once(value: Any) -> Any:
    """What can be read once: lists become iterators, of which a second reader gets nothing."""
    return iter(value) if isinstance(value, list | set) else value


def test_a_condition_may_be_an_iterator(client: Client, stored: int) -> None:
    """An iterator that has ended is an empty list, which excludes nothing: other people's memories would come back."""
    for name, value in EXCLUDES.items():
        if not isinstance(value, list):
            continue
        asked = Filter(**{name: given_once(value)})
        assert found(client, asked) == [[]] * 5, name
        assert client.briefing("tea", embed=False, filter=asked) == ""
        assert client.forget_many(filter=asked) == 0, name
        calls: list[Callable[..., Any]] = [client.recall, client.timeline, client.explain]
        for call in calls:
            assert not call("tea", embed=False, **{name: given_once(value)}), (call, name)
        assert client.count(**{name: given_once(value)}) == 0
        assert client.erase_many(**{name: given_once(value)}) == ()
    for name in ("categories", "tags_any", "sessions", "speakers", "sources"):
        assert found(client, Filter(**{name: given_once(MEETS[name])})) == [[stored]] * 5, name


def test_other_lists_may_be_iterators(client: Client, stored: int) -> None:
    assert [one.id for one in client.recall("tea", embed=False, namespaces=iter(["default"]))] == [stored]
    assert [one.id for one in client.explain("tea", embed=False, ids=iter([stored]))] == [stored]
    assert [one.id for one in client.get_many(iter([stored]))] == [stored]
    assert list(client.validity(iter([stored]))) == [stored]
    new = NewMemory(content="coffee", tags=iter(["a"]), expanded_keywords=iter(["b"]))
    for create in (False, True):
        if not create:
            with pytest.raises(UnknownNamespace):
                client.remember_many([new], namespace="new")
        else:
            [id] = client.remember_many([new], namespace="new", create_namespace=True)
    [memory] = client.get_many([id])
    assert (memory.tags, memory.expanded_keywords) == (("a",), ("b",))


def test_the_keyword_arguments_build_the_same_filter(client: Client, stored: int) -> None:
    for name in RecallFilters.__annotations__.keys() & MEETS.keys():
        for value, expected in ((MEETS[name], [stored]), (EXCLUDES.get(name), [])):
            if value is not None:
                given: dict[str, Any] = {name: value}
                assert [memory.id for memory in client.list(**given)] == expected, name
                assert [memory.id for memory in client.recall("tea", embed=False, **given)] == expected, name


def test_keywords_and_a_filter_are_combined_and_nothing_is_given_twice(client: Client, stored: int) -> None:
    asked = Filter(tags_any=["x"])
    assert client.count(filter=asked, sessions=["s"]) == 1
    assert client.count(filter=asked, sessions=["t"]) == 0
    assert [
        memory.id for memory in client.recall("tea", embed=False, filter=asked, timeframe="in March 2024")
    ] == [stored]
    with pytest.raises(InvalidInput, match="tags_any is given twice"):
        client.count(filter=asked, tags_any=["y"])
    with pytest.raises(InvalidInput, match="timeframe is given twice"):
        client.recall("tea", filter=Filter(timeframe="today"), timeframe="yesterday")


@pytest.mark.parametrize("filter", [Filter(), Filter(tags_any=[]), Filter(metadata_where={}), Filter(external_id_prefix=""),
                                    Filter(include_superseded=True), Filter(timeframe=(None, None)), Filter(as_of=MARCH)])  # fmt: skip
def test_what_deletes_refuses_a_filter_that_says_not_which(
    client: Client, stored: int, filter: Filter
) -> None:
    for deleting in (client.forget_many, client.erase_many):
        with pytest.raises(InvalidInput):
            deleting(filter=filter)
    assert client.count() == 1


def test_what_deletes_takes_a_filter(client: Client, stored: int) -> None:
    assert client.forget_many(filter=Filter(speakers=["Bob"])) == 0
    assert client.forget_many(filter=Filter(speakers=["Priya"]), dry_run=True) == 1
    assert client.forget_many(filter=Filter(timeframe="in March 2024")) == 1
    assert [one.memory_id for one in client.erase_many(filter=Filter(sessions=["s"]))] == [stored]


def test_a_filter_is_a_value_and_its_mistakes_are_told(client: Client) -> None:
    asked = Filter(tags_any=["x"])
    assert asked == Filter(tags_any=["x"])
    with pytest.raises(FrozenInstanceError):
        asked.tags_any = ["y"]  # type: ignore[misc]
    wrong: Any
    for name, wrong in (
        ("tags_any", "x"),
        ("since", 1),
        ("metadata_where", []),
        ("include_sensitive", 1),
        ("timeframe", 1),
    ):
        with pytest.raises(InvalidInput, match=name):
            client.count(filter=Filter(**{name: wrong}))
    with pytest.raises(TypeError):
        Filter(colour="red")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="must be a Filter"):
        client.count(filter={"tags_any": ["x"]})  # type: ignore[arg-type]
