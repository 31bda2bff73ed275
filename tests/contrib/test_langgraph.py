"""LangGraph's store on pgrecall: what the published tests (tests/slow/test_langgraph_published.py) do not ask."""

from __future__ import annotations

import asyncio
import math
import time
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, PutOp, SearchOp

from pgrecall import AsyncClient, Client, InvalidInput
from pgrecall.contrib.langgraph import AsyncPgrecallStore, PgrecallStore

USER = ("users", "priya")


@pytest.fixture
def store(client: Client) -> PgrecallStore:
    return PgrecallStore(client)


def keys(found: Any) -> list[str]:
    return [one.key for one in found]


def test_an_item_is_a_memory(store: PgrecallStore, client: Client) -> None:
    store.put(USER, "drink", {"text": "Priya drinks green tea", "rating": 5})
    store.put(USER, "trip", {"text": "Priya went to Kerala", "rating": 3})
    [found] = client.recall("green tea", namespace="langgraph", k=1)
    assert found.content == "text: Priya drinks green tea\nrating: 5"
    assert (found.external_id, found.session) == ("users.priya..drink", "users.priya")
    assert keys(store.search(("users",), query="tea")) == ["drink"]
    assert keys(store.search(("users",), filter={"rating": {"$lt": 4}})) == ["trip"]
    assert keys(store.search(("users",), query="Priya", filter={"rating": 3})) == ["trip"]
    store.put(USER, "drink", {"text": "Priya drinks coffee"})
    assert store.search(("users",), query="tea") == []
    assert [one.content for one in client.history(found.id)][-1] == "text: Priya drinks coffee"


@pytest.mark.parametrize("value", ["text", 7, ["a", "b"], True])
def test_a_value_is_a_dictionary(store: PgrecallStore, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"must be a dictionary, not {type(value).__name__}"):
        store.put(USER, "drink", value)


def test_an_item_was_not_changed_before_it_was_made(store: PgrecallStore) -> None:
    for number in range(5):
        store.put(USER, f"item {number}", {"text": "tea"})
    assert all(one.updated_at >= one.created_at for one in store.search(("users",)))


def test_keys_and_labels_may_be_anything_but_periods(store: PgrecallStore) -> None:
    for key in ("..", ".", "a..b", "%_", "é\n", "'"):
        store.put(("100%", "_\n"), key, {"key": key})
    for key in ("..", ".", "a..b", "%_", "é\n", "'"):
        found = store.get(("100%", "_\n"), key)
        assert found is not None
        assert (found.key, found.namespace, found.value) == (key, ("100%", "_\n"), {"key": key})
    assert len(store.search(("100%",))) == 6
    assert store.search(("100",)) == []
    assert store.list_namespaces() == [("100%", "_\n")]
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("a",), "k", {}), GetOp(("a.b",), "k")])
    assert store.get(("a",), "k") is None


def test_what_is_indexed(client: Client) -> None:
    store = PgrecallStore(client, fields=["title", "notes[*].body"])
    store.put(
        ("docs",), "a", {"title": "Kerala", "notes": [{"body": "beach"}, {"body": "temple"}], "secret": "x17"}
    )
    store.put(("docs",), "b", {"title": "Goa", "secret": "temple"}, index=["secret"])
    store.put(("docs",), "c", {"title": "temple"}, index=False)
    store.put(("docs",), "d", {"other": "nothing to index"})
    assert set(keys(store.search(("docs",), query="temple"))) == {"a", "b"}
    assert store.search(("docs",), query="x17") == []
    assert set(keys(store.search(("docs",)))) == {"a", "b", "c", "d"}


def test_values_of_every_kind_come_back(store: PgrecallStore) -> None:
    value = {
        "none": None,
        "nested": {"list": [1, 2.5, True, None, {"deep": "é"}]},
        "empty": {},
        "": "blank name",
    }
    store.put(USER, "k", value)
    found = store.get(USER, "k")
    assert found is not None
    assert found.value == value
    store.put(USER, "nothing", {})
    assert keys(store.search(USER, filter={"nested": {"list": [1]}})) == ["k"]
    assert store.get(USER, "nothing") is not None


def test_a_deleted_item_can_come_back(store: PgrecallStore, client: Client) -> None:
    store.put(USER, "k", {"text": "one"})
    store.put(USER, "other", {"text": "two"})
    store.delete(USER, "k")
    store.delete(USER, "nobody")
    assert (store.get(USER, "k"), keys(store.search(()))) == (None, ["other"])
    store.put(USER, "k", {"text": "again"})
    found = store.get(USER, "k")
    assert found is not None
    assert found.value == {"text": "again"}
    assert client.count(namespace="langgraph") == 2


@pytest.mark.parametrize("ttl", [5e9, 1e12, 1e300, 10**400, math.inf])
def test_a_life_that_ends_after_any_date_has_no_end(store: PgrecallStore, client: Client, ttl: float) -> None:
    store.put(USER, "k", {"text": "long"}, ttl=1)
    store.put(USER, "k", {"text": "long"}, ttl=ttl)
    found = store.get(USER, "k")
    assert found is not None
    assert found.value == {"text": "long"}
    [stored] = client.get_many(external_ids=["users.priya..k"], namespace="langgraph")
    assert stored.expires_at is None


@pytest.mark.parametrize("ttl", [0, -1, -1e300, -math.inf])
def test_a_life_that_is_over_is_none(store: PgrecallStore, ttl: float) -> None:
    store.put(USER, "k", {"text": "short"}, ttl=ttl)
    assert store.get(USER, "k") is None


@pytest.mark.parametrize("ttl", [math.nan, "soon", [5]])
def test_a_time_to_live_is_a_number(store: PgrecallStore, ttl: Any) -> None:
    with pytest.raises(InvalidInput, match="ttl must be a number of minutes"):
        store.put(USER, "k", {"text": "short"}, ttl=ttl)


@pytest.mark.parametrize("ttl", [None, 10])
@pytest.mark.parametrize("name", ["$ttl", "$$ttl", "$$$ttl", "ttl", "$", "$ttl ", "$ttls"])
def test_a_field_may_have_the_name_of_ours(store: PgrecallStore, name: str, ttl: float | None) -> None:
    value = {name: 5, "list": [1], "object": {name: 5}}
    store.put(USER, "k", value, ttl=ttl)
    store.put(USER, "other", {name: {"deep": [7]}, "text": "other"}, ttl=5)
    found = store.get(USER, "k")
    assert found is not None
    assert found.value == value
    assert keys(store.search(USER, filter={name: 5})) == ["k"]
    assert keys(store.search(USER, filter={name: {"$gte": 4}})) == ["k"]
    assert keys(store.search(USER, filter={name: {"deep": [7]}})) == ["other"]


@pytest.mark.slow
def test_reading_prolongs_a_life_seldom(client: Client) -> None:
    store = PgrecallStore(client, ttl={"default_ttl": 0.1, "refresh_on_read": True})
    store.search(USER, query="short")  # loads the model, which may take longer than a memory lives here
    store.put(USER, "k", {"text": "short"})
    store.put(USER, "forever", {"text": "long"}, ttl=None)
    for _ in range(60):
        assert store.get(USER, "k") is not None
        time.sleep(0.08)
    [stored] = client.get_many(external_ids=["users.priya..k"], namespace="langgraph")
    assert len(client.history(stored.id)) <= 40
    assert keys(store.search(USER, query="short", refresh_ttl=False)) == ["k"]
    time.sleep(6.2)
    assert store.get(USER, "k") is None
    assert keys(store.search(USER)) == ["forever"]
    store.put(USER, "k", {"text": "alive"}, ttl=None)
    [stored] = client.get_many(external_ids=["users.priya..k"], namespace="langgraph")
    assert stored.expires_at is None


def test_pages(store: PgrecallStore) -> None:
    store.batch([PutOp(("many", str(place % 3)), str(place), {"n": place}) for place in range(1100)])
    found = store.search(("many",), limit=1050)
    assert len({one.key for one in found}) == 1050
    assert len(store.search(("many",), limit=100, offset=1050)) == 50
    assert [store.search(("many",), query=query, limit=0) for query in (None, "n")] == [[], []]
    assert store.list_namespaces(prefix=("many",), limit=2, offset=1) == [("many", "1"), ("many", "2")]
    [one, two] = store.batch([SearchOp(("many", "0"), limit=1), GetOp(("many", "1"), "1")])
    assert (len(one), two.value) == (1, {"n": 1})  # type: ignore[arg-type, union-attr]


def test_items_that_end_are_found_in_pages_too(store: PgrecallStore) -> None:
    store.batch([PutOp(USER, str(place), {"n": place}, ttl=60) for place in range(1001)])
    assert len(store.search(USER, limit=1100)) == 1001


def test_the_asynchronous_store(dsn: str) -> None:
    async def run() -> None:
        async with AsyncClient(dsn) as client:
            store = AsyncPgrecallStore(client)
            await asyncio.gather(*(store.aput(USER, str(n), {"text": f"tea {n}"}) for n in range(50)))
            assert len(await store.asearch(USER, query="tea", limit=50)) == 50
            await store.adelete(USER, "7")
            assert await store.aget(USER, "7") is None
            assert await store.alist_namespaces() == [USER]
            assert await asyncio.to_thread(store.get, USER, "1") is not None
            with pytest.raises(InvalidInput, match="operators"):
                await store.asearch(USER, filter={"text": {"$bogus": 1}})

    asyncio.run(run())


def test_the_asynchronous_methods_in_a_thread(store: PgrecallStore) -> None:
    async def run() -> None:
        await store.aput(USER, "k", {"text": "tea"})
        assert await store.aget(USER, "k") is not None

    asyncio.run(run())
