"""Embedding providers behind an address: what they send, and what they make of answers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from pgrecall_embedder.providers import ProviderPaused, VectorsUnusable
from support.provider import KEY, KINDS, MODELS, expected, provider_of, sentences
from support.provider_servers import CHAOS, Fault, ProviderServer, chaos

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from support.provider_servers import Kind


# -- what is sent, and what comes back


@pytest.mark.parametrize("kind", KINDS)
def test_documents_and_queries(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    prompts = ("passage: ", "query: ")
    with (
        ProviderServer(kind, key=KEY, model=MODELS[kind]) as server,
        provider_of(monkeypatch, server, prompts=prompts) as provider,
    ):
        documents = provider.embed_documents(["one", "naïve café 🙂"])
        query = provider.embed_query("where?")
    assert np.allclose(documents.vectors, expected(["passage: one", "passage: naïve café 🙂"]), atol=1e-6)
    assert documents.vectors.dtype == query.dtype == np.float32
    assert list(documents.is_truncated) == [False, False]
    assert np.allclose(query, expected(["query: where?"])[0], atol=1e-6)
    assert (provider.name, provider.dimension, provider.is_hosted) == (MODELS[kind], 8, False)
    asked, question = (asked.json for asked in server.requests)
    texts = ["passage: one", "passage: naïve café 🙂"]
    bodies: dict[Kind, dict[str, Any]] = {
        "openai": {"input": texts, "encoding_format": "float"},
        "tei": {"input": texts, "encoding_format": "float"},
        "voyage": {"input": texts, "input_type": "document", "truncation": True},
        "cohere": {
            "texts": texts,
            "input_type": "search_document",
            "embedding_types": ["float"],
            "truncate": "END",
        },
    }
    assert asked == {"model": MODELS[kind], **bodies[kind]}
    types = {"voyage": "query", "cohere": "search_query"}
    assert question.get("input_type") == types.get(kind)
    assert server.connections == 1


@pytest.mark.parametrize(("kind", "most"), [("tei", 32), ("cohere", 96), ("voyage", 1000)])
def test_no_request_has_more_texts_than_its_api_takes(
    kind: Kind, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = sentences(2 * most + 1)
    with ProviderServer(kind) as server, provider_of(monkeypatch, server) as provider:
        found = provider.embed_documents(texts)
    assert [len(asked.texts) for asked in server.requests] == [most, most, 1]
    assert np.allclose(found.vectors, expected(texts), atol=1e-6)
    assert len(found.is_truncated) == len(texts)


@pytest.mark.parametrize("kind", KINDS)
def test_no_request_has_more_tokens_than_its_api_takes(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer(kind) as server, provider_of(monkeypatch, server) as provider:
        texts = ["s" * (4 * provider.token_budget // 3)] * 7 + ["t" * (8 * provider.token_budget)]
        found = provider.embed_documents(texts)
        counts = provider.token_counts(["word " * 400, "слово" * 400, ""])
    assert [len(asked.texts) for asked in server.requests] == [2, 2, 2, 1, 1]
    assert np.allclose(found.vectors, expected(texts), atol=1e-6)
    assert [count // 100 for count in counts[:2]] == [5, 10]
    # None is so few that one call would hold more texts than a request.
    most = {"openai": 2048, "tei": 32, "voyage": 1000, "cohere": 96}[kind]
    assert provider.token_budget // counts[2] <= most


def test_no_texts_are_no_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with ProviderServer() as server, provider_of(monkeypatch, server) as provider:
        assert provider.embed_documents([]).vectors.shape == (0, 8)
    assert server.requests == []


@pytest.mark.parametrize("kind", KINDS)
def test_threads_share_connections(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = [sentences(80)[start : start + 3] for start in range(77)]
    with (
        ProviderServer(kind) as server,
        provider_of(monkeypatch, server, threads=8) as provider,
        ThreadPoolExecutor(8) as pool,
    ):
        for batch, found in zip(batches, pool.map(provider.embed_documents, batches), strict=True):
            assert np.allclose(found.vectors, expected(batch), atol=1e-6)
    assert server.connections <= 8


@pytest.mark.parametrize("kind", ["openai", "tei", "voyage"])
def test_vectors_are_ordered_by_their_index(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = sentences(9)
    with (
        ProviderServer(kind, faults=[Fault.SHUFFLED]) as server,
        provider_of(monkeypatch, server) as provider,
    ):
        assert np.allclose(provider.embed_documents(texts).vectors, expected(texts), atol=1e-6)


# -- shorter vectors than the model's own


@pytest.mark.parametrize(
    ("kind", "name", "native", "dimension", "field"),
    [
        ("openai", "text-embedding-3-large", 3072, 256, "dimensions"),
        ("openai", "text-embedding-3-large", 3072, 300, None),
        ("tei", "nomic-ai/nomic-embed-text-v1.5", 768, 256, None),
        ("tei", "never-heard-of", 40, 30, None),
        ("voyage", "voyage-3.5", 1024, 512, "output_dimension"),
        ("voyage", "voyage-3.5", 1024, 2048, "output_dimension"),
        ("voyage", "voyage-3.5", 1024, 1024, None),
        ("cohere", "embed-v4.0", 1536, 256, "output_dimension"),
    ],
)
def test_vectors_of_another_length(
    kind: Kind, name: str, native: int, dimension: int, field: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (
        ProviderServer(kind, dimension=native) as server,
        provider_of(monkeypatch, server, name=name, dimension=dimension) as provider,
    ):
        for _ in range(2):
            found = provider.embed_documents(["one", "two"]).vectors
            assert np.allclose(found, expected(["one", "two"], dimension), atol=1e-6)
            assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    for asked in server.requests:
        named = {"dimensions", "output_dimension"} & set(asked.json)
        assert {name: asked.json[name] for name in named} == ({} if field is None else {field: dimension})


def test_a_longer_vector_now_and_then_is_not_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("text-embedding-3-small", "never-heard-of"):
        with ProviderServer() as server, provider_of(monkeypatch, server, name=name) as provider:
            server.fail(Fault.LONGER)
            with pytest.raises(VectorsUnusable, match="gives 9 dimensions, the database has 8"):
                provider.embed_documents(["one", "two"])
            assert np.allclose(provider.embed_documents(["one"]).vectors, expected(["one"]), atol=1e-6)


def test_the_length_of_an_unknown_model_is_believed_when_it_is_said_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with (
        ProviderServer(dimension=40) as server,
        provider_of(monkeypatch, server, name="never-heard-of", dimension=30) as provider,
    ):
        for faults in ([Fault.LONGER, None], [None, Fault.SHORTER]):
            server.fail(*faults)
            with pytest.raises(VectorsUnusable):
                provider.embed_documents(["one", "two"])
        found = provider.embed_documents(["one", "two"]).vectors
        assert np.allclose(found, expected(["one", "two"], 30), atol=1e-6)


# -- all of it at once


@pytest.mark.parametrize("kind", KINDS)
def test_chaos(kind: Kind, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever happens, in the end every text has its own vector: asked again as the daemon does."""
    texts = sentences(40)

    def embed(some: Sequence[str]) -> list[NDArray[np.float32]]:
        for _ in range(60):
            try:
                return list(provider.embed_documents(some).vectors)
            except ProviderPaused:
                continue
            except ValueError:
                if len(some) > 1:
                    middle = len(some) // 2
                    return embed(some[:middle]) + embed(some[middle:])
        raise AssertionError("it never came back")

    with (
        ProviderServer(kind, faults=chaos(seed=7, rate=0.5)) as server,
        provider_of(monkeypatch, server, timeout=0.3) as provider,
    ):
        for start in range(0, len(texts), 2):
            some = texts[start : start + 2]
            assert np.allclose(np.stack(embed(some)), expected(some), atol=1e-6)
    assert len(server.requests) > len(texts) // 2 + len(CHAOS)
