"""LangChain's vector store: what its standard tests (tests/slow/test_langchain_standard.py) do not ask."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import AsyncClient, Client, InvalidInput

if TYPE_CHECKING:
    from langchain_core.documents import Document

    from pgrecall.contrib.langchain import PgrecallVectorStore

TRIPS = ["Priya prefers trains to planes", "Sofia flew to Goa", "Priya took the train to Kerala"]
ABOUT = [{"user": "priya", "year": 2019}, {"user": "sofia", "year": 2024}, {"user": "priya", "year": 2024}]
IDS = ["travel", "goa", "kerala"]


@pytest.fixture
def store(client: Client) -> PgrecallVectorStore:
    # Every worker imports this file, and one runs its tests: the library takes more than a second.
    from pgrecall.contrib.langchain import PgrecallVectorStore

    return PgrecallVectorStore.from_texts(TRIPS, metadatas=ABOUT, ids=IDS, client=client)


def ids(found: list[Document]) -> list[str | None]:
    return [one.id for one in found]


def test_a_document_is_a_memory(store: PgrecallVectorStore, client: Client) -> None:
    from langchain_core.documents import Document

    [found] = client.recall("Goa", namespace="langchain", k=1)
    assert (found.external_id, found.content, found.metadata) == ("goa", TRIPS[1], ABOUT[1])
    assert store.add_documents([Document(id="goa", page_content="Sofia took the train to Goa")]) == ["goa"]
    assert [one.content for one in client.history(found.id)][-1] == "Sofia took the train to Goa"
    assert [one.page_content for one in store.get_by_ids(["nobody", "goa"])] == [
        "Sofia took the train to Goa"
    ]


def test_more_documents_than_a_call_may_name(store: PgrecallVectorStore, client: Client) -> None:
    many = [f"d{number}" for number in range(1001)]
    store.add_texts([f"text {number}" for number in range(1001)], ids=many)
    assert len(store.get_by_ids(many)) == 1001
    assert store.delete(many)
    assert client.count(namespace="langchain") == len(TRIPS)


def test_fields_are_those_of_every_document(store: PgrecallVectorStore, client: Client) -> None:
    store.add_texts(["Arjun drove to Agra", "Arjun walked to Pune"], tags=iter(["arjun"]))
    assert client.count(namespace="langchain", tags_any=["arjun"]) == 2


def test_the_indexing_api_keeps_documents_in_step(store: PgrecallVectorStore, dsn: str) -> None:
    from langchain_core.documents import Document
    from langchain_core.indexing import InMemoryRecordManager, aindex, index

    from pgrecall.contrib.langchain import PgrecallVectorStore

    records = InMemoryRecordManager("trips")
    documents = [Document(page_content=text, metadata={"source": "diary"}) for text in TRIPS]
    given: dict[str, Any] = {"cleanup": "full", "key_encoder": "sha256"}
    store.delete(IDS)
    assert index(documents, records, store, batch_size=2, **given)["num_added"] == 3
    assert index(documents[:2], records, store, **given) == {
        "num_added": 0, "num_updated": 0, "num_skipped": 2, "num_deleted": 1,
    }  # fmt: skip
    assert {one.page_content for one in store.similarity_search("train trains Goa")} == set(TRIPS[:2])
    # What was deleted comes back under its id, here by the asynchronous interface.
    assert index(documents, records, store, **given)["num_added"] == 1
    assert len(store.similarity_search("train trains Goa")) == 3

    async def run() -> None:
        async with AsyncClient(dsn) as client:
            for other in (store, PgrecallVectorStore(async_client=client, namespace="other")):
                counted = await aindex(documents, InMemoryRecordManager("other"), other, **given)
                assert counted["num_added"] == 3
                assert len(await other.asimilarity_search("train trains Goa")) == 3

    asyncio.run(run())


def test_filters(store: PgrecallVectorStore) -> None:
    assert ids(store.similarity_search("train", filter={"user": "priya", "year": {"$gte": 2020}})) == [
        "kerala"
    ]
    assert set(ids(store.similarity_search("train", filter={"user": "priya"}))) == {"travel", "kerala"}
    assert store.similarity_search("train", filter={"user": "sofia"}) == []
    retriever = store.as_retriever(search_kwargs={"k": 1, "filter": {"year": 2019}})
    assert ids(retriever.invoke("train")) == ["travel"]
    retriever = store.as_retriever(search_kwargs={"sources": iter(["nowhere"])})
    assert [retriever.invoke("train") for _ in range(2)] == [[], []]
    either = {"$or": [{"year": 2019}, {"$and": [{"user": "sofia"}, {"year": {"$gte": 2020, "$lte": 2024}}]}]}
    assert set(ids(store.similarity_search("trains Goa flew", filter=either))) == {"travel", "goa"}
    # Without a condition, as without a filter.
    everything = ids(store.similarity_search("train"))
    empty: dict[str, Any] | None
    for empty in ({}, {"$and": []}, {"year": {"$nin": []}}, None):
        assert ids(store.similarity_search("train", filter=empty)) == everything
    for operator in ("$bogus", "$between", "$ilike", "$like", "$not"):
        with pytest.raises(InvalidInput, match="operators") as caught:
            store.similarity_search("train", filter={"year": {operator: 1}})
        assert '"$gte": 5, "$lte": 10' in (caught.value.hint or "")


def test_scores(store: PgrecallVectorStore) -> None:
    scored = store.similarity_search_with_score("train to Kerala", k=2)
    assert scored[0][0].id == "kerala"
    assert scored[0][1] > scored[1][1]
    relevant = store.similarity_search_with_relevance_scores("train to Kerala", k=2, score_threshold=0.0)
    assert all(0 <= relevance <= 1 for _, relevance in relevant)
    assert set(ids(store.max_marginal_relevance_search("train", k=2, fetch_k=10))) == {"travel", "kerala"}


def test_sensitive_documents_are_left_out_of_searches(store: PgrecallVectorStore) -> None:
    store.add_texts(["Priya's train ticket has the number 1234"], ids=["ticket"], is_sensitive=True)
    assert "ticket" not in ids(store.similarity_search("Priya's train ticket", k=10))
    assert "ticket" in ids(store.similarity_search("Priya's train ticket", k=10, include_sensitive=True))


def test_deleted_documents_can_come_back(store: PgrecallVectorStore, client: Client) -> None:
    [goa] = client.get_many(external_ids=["goa"], namespace="langchain")
    assert store.delete(["goa", "nobody"]) is True
    assert store.get_by_ids(["goa"]) == []
    assert ids(store.similarity_search("Goa", k=10)).count("goa") == 0
    with pytest.raises(InvalidInput):
        store.delete()
    assert client.count(namespace="langchain") == 2
    client.restore(goa.id)
    assert ids(store.get_by_ids(["goa"])) == ["goa"]


def test_what_does_not_fit_is_refused(store: PgrecallVectorStore, client: Client) -> None:
    from pgrecall.contrib.langchain import PgrecallVectorStore

    for given in ({"metadatas": ABOUT[:2]}, {"ids": IDS[:1]}):
        with pytest.raises(ValueError, match="for 3 texts"):
            store.add_texts(TRIPS, **given)
    with pytest.raises(InvalidInput):
        store.add_texts(["a good one", " "])
    assert client.count(namespace="langchain") == 3
    with pytest.raises(InvalidInput):
        PgrecallVectorStore()


def test_asynchronous_methods(dsn: str) -> None:
    from langchain_core.documents import Document

    from pgrecall.contrib.langchain import PgrecallVectorStore

    async def run() -> None:
        async with AsyncClient(dsn) as client:
            store = PgrecallVectorStore(async_client=client)
            assert await store.aadd_texts(TRIPS, ABOUT, ids=IDS) == IDS
            assert ids(await store.asimilarity_search("Kerala", k=1)) == ["kerala"]
            assert ids(await store.amax_marginal_relevance_search("Goa", k=1)) == ["goa"]
            await store.adelete(["goa"])
            assert ids(await store.aget_by_ids(IDS)) == ["travel", "kerala"]
            with pytest.raises(InvalidInput):
                store.similarity_search("Kerala")
            made = [
                await PgrecallVectorStore.afrom_texts(TRIPS, async_client=client, namespace="texts"),
                await PgrecallVectorStore.afrom_documents(
                    [Document(page_content=text) for text in TRIPS],
                    None,
                    async_client=client,
                    namespace="documents",
                ),
            ]
            assert [len(await one.asimilarity_search("Kerala")) for one in made] == [1, 1]
        with Client(dsn) as client:
            in_thread = PgrecallVectorStore(client)
            [(found, relevance)] = await in_thread.asimilarity_search_with_relevance_scores("Kerala", k=1)
            assert (found.id, 0 <= relevance <= 1) == ("kerala", True)

    asyncio.run(run())
