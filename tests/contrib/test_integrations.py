"""The retrievers for LangChain and LlamaIndex, with the real libraries and a real database.

Every worker imports every file of tests, and few run these: the libraries, three seconds, are imported where they are used.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from pgrecall import AsyncClient, Client, InvalidInput, InvalidVector
from pgrecall.installing import install_command

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# What the libraries are given is made in Python alone.
QUESTION = "What does Priya say about Goa?"
VECTOR = [1.0, *[0.0] * 383]


def langchain_retriever(**options: Any) -> Any:
    from pgrecall.contrib.langchain import PgrecallRetriever

    return PgrecallRetriever(**options)


def llama_index_retriever(*clients: Client, **options: Any) -> Any:
    from pgrecall.contrib.llama_index import PgrecallRetriever

    return PgrecallRetriever(*clients, **options)


@pytest.fixture(scope="module")
def goa_dsn(new_database: Callable[..., str], template: str) -> str:
    return new_database(template)


@pytest.fixture(scope="module")
def goa(goa_dsn: str) -> Iterator[Client]:
    """A client of a database with three memories of Goa, one of them sensitive, and one of tea."""
    # No such model: what a vector brings is not what is tested here, and loading one takes its time.
    with Client(goa_dsn, model="none") as memory:
        memory.remember(
            "Priya is planning a vacation to Goa in March",
            title="Vacation",
            tags=["Priya", "Goa"],
            speaker="Priya",
            occurred_at=datetime(2026, 3, 1, tzinfo=UTC),
            metadata={"channel": "mail"},
            external_id="goa-1",
        )
        memory.remember("The beach house in Goa needs a deposit", tags=["Goa"])
        memory.remember("The door code of the house in Goa is 4711", is_sensitive=True)
        memory.remember("Green tea is kept in the blue tin")
        yield memory


def test_documents(goa: Client) -> None:
    retriever = langchain_retriever(client=goa)
    found = goa.recall(QUESTION, include_sensitive=False)
    documents = retriever.invoke(QUESTION)
    assert [document.id for document in documents] == [str(memory.id) for memory in found]
    assert [document.page_content for document in documents] == [memory.content for memory in found]
    best = documents[0].metadata
    expected = found[0].as_dict()
    del expected["content"]
    assert best == {**expected, "notice": found.notice}
    assert (best["title"], best["tags"], best["lexical_rank"]) == ("Vacation", ["Priya", "Goa"], 1)
    assert best["occurred_at"] == "2026-03-01T00:00:00+00:00"
    assert best["metadata"] == {"channel": "mail"}


def test_nodes(goa: Client) -> None:
    from llama_index.core.schema import MetadataMode

    found = goa.recall(QUESTION, include_sensitive=False)
    nodes = llama_index_retriever(goa).retrieve(QUESTION)
    assert [(node.node_id, node.text, node.score) for node in nodes] == [
        (str(memory.id), memory.content, memory.score) for memory in found
    ]
    expected = found[0].as_dict()
    del expected["content"]
    assert nodes[0].metadata == {**expected, "notice": found.notice}
    lines = nodes[0].get_content(MetadataMode.LLM).splitlines()
    assert lines[:3] == ["title: Vacation", "speaker: Priya", "occurred_at: 2026-03-01T00:00:00+00:00"]
    assert lines[3].startswith("created_at: ")
    assert lines[4:] == ["", found[0].content]
    assert nodes[0].get_content(MetadataMode.EMBED) == found[0].content
    assert "title" not in nodes[1].get_content(MetadataMode.LLM)


def test_a_chain(goa: Client) -> None:
    from langchain_core.runnables import RunnableLambda, RunnablePassthrough

    retriever = langchain_retriever(client=goa, k=1)
    prompt = RunnableLambda(lambda given: f"{given['question']} {given['documents'][0].page_content}")
    chain: Any = {"documents": retriever, "question": RunnablePassthrough()} | prompt
    expected = f"{QUESTION} Priya is planning a vacation to Goa in March"
    assert chain.invoke(QUESTION) == expected
    assert asyncio.run(chain.ainvoke(QUESTION)) == expected
    assert chain.batch([QUESTION, "green tea"]) == [expected, "green tea Green tea is kept in the blue tin"]


def test_callbacks_hear_of_it(goa: Client) -> None:
    from langchain_core.callbacks import BaseCallbackHandler

    heard: list[object] = []

    class Listener(BaseCallbackHandler):  # type: ignore[misc]  # mypy does not read langchain-core
        def on_retriever_start(self, _: object, query: str, **__: object) -> None:
            heard.append(query)

        def on_retriever_end(self, documents: list[Any], **_: object) -> None:
            heard.append(len(documents))

    langchain_retriever(client=goa, k=2).invoke(QUESTION, {"callbacks": [Listener()]})
    assert heard == [QUESTION, 2]


def test_filters_and_options_are_passed_on(goa: Client) -> None:
    filters = {"tags_all": ["Priya", "Goa"], "settings": {"graph_weight": 0}}
    (document,) = langchain_retriever(client=goa, search_kwargs=filters).invoke(QUESTION)
    (node,) = llama_index_retriever(goa, search_kwargs=filters).retrieve(QUESTION)
    assert document.metadata == node.metadata
    assert (document.metadata["external_id"], document.metadata["graph_score"]) == ("goa-1", None)
    # Those of one call come on top.
    retriever = langchain_retriever(client=goa, k=1, search_kwargs={"tags_any": ["Goa"]})
    assert len(retriever.invoke(QUESTION, k=2)) == 2
    assert [one.metadata["tags"] for one in retriever.invoke("tea", k=3, tags_any=None)] == [[]]
    assert len(retriever.invoke(QUESTION)) == 1


@pytest.mark.parametrize("retriever", [langchain_retriever, llama_index_retriever])
def test_a_filter_holds_for_every_question(goa: Client, retriever: Callable[..., Any]) -> None:
    """Of an iterator the second question would get an empty filter, which excludes nothing."""
    asking = retriever(client=goa, search_kwargs={"speakers": iter(["Priya"])})
    ask = asking.invoke if retriever is langchain_retriever else asking.retrieve
    assert [len(ask(QUESTION)) for _ in range(3)] == [1, 1, 1]


@pytest.mark.parametrize("retriever", [langchain_retriever, llama_index_retriever])
def test_a_filter_may_be_an_object(goa: Client, retriever: Callable[..., Any]) -> None:

    def found(asked: object) -> int:
        asking = retriever(client=goa, search_kwargs={"filter": asked})
        return len((asking.invoke if retriever is langchain_retriever else asking.retrieve)("Goa"))

    assert [found({"channel": "mail"}), found({"channel": {"$ne": "mail"}}), found({}), found(None)] == [
        1,
        1,
        2,
        2,
    ]
    with pytest.raises(InvalidInput, match="must be an object"):
        found("mail")


def test_sensitive_memories_have_to_be_asked_for(goa: Client) -> None:
    code = "The door code of the house in Goa is 4711"
    sensitive = {"include_sensitive": True}
    assert code not in [one.page_content for one in langchain_retriever(client=goa).invoke("door code")]
    assert code not in [one.text for one in llama_index_retriever(goa).retrieve("door code")]
    asked = langchain_retriever(client=goa, search_kwargs=sensitive).invoke("door code")
    assert asked[0].page_content == code
    assert llama_index_retriever(goa, search_kwargs=sensitive).retrieve("door code")[0].text == code


@pytest.mark.parametrize("is_native", [True, False], ids=["async client", "client in a thread"])
def test_asynchronously(goa: Client, goa_dsn: str, is_native: bool) -> None:
    async def ask() -> tuple[list[Any], list[Any]]:
        async with AsyncClient(goa_dsn, model="none") as native:
            clients: dict[str, Any] = {"async_client": native} if is_native else {"client": goa}
            documents = await langchain_retriever(**clients, k=2).ainvoke(QUESTION)
            return documents, await llama_index_retriever(**clients, k=2).aretrieve(QUESTION)

    documents, nodes = asyncio.run(ask())
    expected = [memory.content for memory in goa.recall(QUESTION, k=2)]
    assert [document.page_content for document in documents] == expected
    assert [node.text for node in nodes] == expected


def test_the_embedding_of_a_query_bundle_counts(goa: Client) -> None:
    from llama_index.core.schema import QueryBundle

    (node, *_) = llama_index_retriever(goa).retrieve(QueryBundle(QUESTION, embedding=VECTOR))
    assert node.metadata["notice"] is None
    with pytest.raises(InvalidVector):
        llama_index_retriever(goa).retrieve(QueryBundle(QUESTION, embedding=[]))


def test_a_notice_is_handed_on(goa: Client) -> None:
    (document,) = langchain_retriever(client=goa, k=1, search_kwargs={"embed": "daemon"}).invoke(QUESTION)
    assert document.metadata["notice"] is not None
    assert document.metadata["notice"] == goa.recall(QUESTION, k=1, embed="daemon").notice


def test_without_the_client_that_is_needed(goa: Client) -> None:
    with pytest.raises(InvalidInput) as caught:
        langchain_retriever().invoke(QUESTION)
    assert caught.value.hint is not None
    with pytest.raises(InvalidInput):
        asyncio.run(langchain_retriever().ainvoke(QUESTION))
    with pytest.raises(InvalidInput):
        llama_index_retriever().retrieve(QUESTION)
    with pytest.raises(InvalidInput):
        asyncio.run(llama_index_retriever().aretrieve(QUESTION))
    # A client of the other kind is no client.
    with pytest.raises(ValidationError):
        langchain_retriever(async_client=goa)


def test_errors_are_those_of_the_client(goa: Client) -> None:
    with pytest.raises(InvalidInput):
        langchain_retriever(client=goa, k=0).invoke(QUESTION)
    with pytest.raises(InvalidInput):
        llama_index_retriever(goa, search_kwargs={"timeframe": "no time at all"}).retrieve(QUESTION)


def test_a_retriever_shows_nothing_of_its_client(goa: Client) -> None:
    retriever = langchain_retriever(client=goa, k=3)
    assert "Client" not in repr(retriever)
    assert "client" not in retriever.model_dump()


@pytest.mark.parametrize(
    ("module", "library", "extra"),
    [("langchain", "langchain_core", "langchain"), ("llama_index", "llama_index", "llama-index")],
)
def test_a_missing_extra_is_named(module: str, library: str, extra: str) -> None:
    code = f"import sys; sys.modules[{library!r}] = None; import pgrecall.contrib.{module}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    message, hint = done.stderr.splitlines()[-2:]
    assert message.startswith("pgrecall.errors.PgrecallError: ")
    assert install_command(extra) in message
    assert hint == f"hint: Run: {install_command(extra)}."
