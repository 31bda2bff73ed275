"""Embeddings by ONNX Runtime in this process, on the CPU and without torch."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.installing import install_command
from pgrecall.query.unreadable import UnreadableText, reads_too_little
from pgrecall_embedder.cores import usable_cores

from .base import DocumentVectors, refuse_shorter
from .onnx_files import find, read

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

    from .base import ModelSpec
    from .onnx_files import ModelFiles

__all__ = ["OnnxProvider", "forbid_telemetry"]

# With MiniLM 256, 512 and 1,024 tokens a call are equally fast, 2,048 are slower.
_TOKEN_BUDGET = 512
# No tokenizer makes fewer tokens than one of that many characters, of ordinary text.
_CHARACTERS_A_TOKEN = 16
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_ERRORS_ONLY = 3
_SMALLEST_LENGTH = 1e-12  # of a vector that is divided by its length


class OnnxProvider:
    """A sentence-transformers model as an ONNX graph.

    Args:
        model: The model: a folder, the name of one that `pgrecall_embedder.export_onnx` has exported, or a
            hub name.
        threads: How many threads call `embed_documents`. They share one session and divide the cores evenly:
            two threads with a core each do more than one thread with both.

    Raises:
        EmbeddingUnavailable: The libraries or the model are not there, the model needs what is not done here,
            or its vectors are too short.
    """

    def __init__(self, model: ModelSpec, threads: int) -> None:
        files = read(find(model.name), model.name)
        if not files.pools_prompt and (model.document_prompt or model.query_prompt):
            raise EmbeddingUnavailable(
                f"model {model.name} leaves its prompt out of pooling, which provider onnx cannot do",
                hint="Use provider sentence-transformers.",
            )
        self._session, self._tokenizer = _load(files, model.name, threads)
        inputs = [given.name for given in self._session.get_inputs()]
        output = self._session.get_outputs()[0]
        if not {"input_ids", "attention_mask"} <= set(inputs) <= set(_INPUTS) or len(output.shape) != 3:
            raise EmbeddingUnavailable(
                f"the graph of model {model.name} does not turn tokens into a vector each",
                hint="Export it with `python -m pgrecall_embedder.export_onnx MODEL`.",
            )
        self._name = model.name
        self._document_prompt = model.document_prompt
        self._query_prompt = model.query_prompt
        self._files = files
        self._unknown = _unknown_token(self._tokenizer)
        self._has_types = "token_type_ids" in inputs
        self._output = output.name
        refuse_shorter(model, self._pooled(self._encodings(["dimension"], "")).shape[1])
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
        return _TOKEN_BUDGET

    @property
    def is_hosted(self) -> bool:
        """No text leaves this process."""
        return False

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Count the tokens that the model reads of each text, the document prompt included."""
        return [len(encoding.ids) for encoding in self._encodings(texts, self._document_prompt)]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Embed texts in one pass through the graph, cut to what the model reads."""
        encodings = self._encodings(texts, self._document_prompt)
        room = self._characters - len(self._document_prompt)
        return DocumentVectors(
            self._vectors(encodings),
            [
                len(text) > room or bool(encoding.overflowing)
                for text, encoding in zip(texts, encodings, strict=True)
            ],
            [self._is_unreadable(text) for text in texts],
        )

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as a query."""
        if self._is_unreadable(text):
            raise UnreadableText
        vector: NDArray[np.float32] = self._vectors(self._encodings([text], self._query_prompt))[0]
        return vector

    def close(self) -> None:
        """Do nothing: there is no connection."""

    @property
    def _characters(self) -> int:
        return self._files.longest * _CHARACTERS_A_TOKEN

    def _encodings(self, texts: Sequence[str], prompt: str) -> list[Encoding]:
        starts = [(prompt + text)[: self._characters] for text in texts]
        if self._files.lowercase:
            starts = [start.lower() for start in starts]
        return self._tokenizer.encode_batch_fast(starts)

    def _is_unreadable(self, text: str) -> bool:
        """Tell whether the model knows too little of a text."""
        seen = text.lower() if self._files.lowercase else text
        return reads_too_little(seen, self._tokenizer.encode, self._tokenizer, self._unknown)

    def _vectors(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """Return vectors of length 1 for some tokenised texts."""
        import numpy as np

        if not encodings:
            return np.zeros((0, self._dimension), dtype=np.float32)
        cut = self._pooled(encodings)[:, : self._dimension]
        lengths = np.linalg.norm(cut, axis=1, keepdims=True)
        vectors: NDArray[np.float32] = cut / np.maximum(lengths, _SMALLEST_LENGTH)
        return vectors

    def _pooled(self, encodings: Sequence[Encoding]) -> NDArray[np.float32]:
        """Return for each tokenised text what the vectors of its tokens become, of any length."""
        import numpy as np

        shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
        ids = np.full(shape, self._files.padding_id, dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        feed = {"input_ids": ids, "attention_mask": mask}
        if self._has_types:
            feed["token_type_ids"] = np.zeros(shape, dtype=np.int64)
        tokens: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        if self._files.pooling == "cls":
            return tokens[:, 0]
        # A sum points where the mean does, and the length does not matter yet.
        sums: NDArray[np.float32] = np.einsum("btd,bt->bd", tokens, mask.astype(np.float32))
        return sums


def forbid_telemetry() -> None:
    """Keep ONNX Runtime from reporting to its makers; call it before the library is imported.

    Since 1.29 it sends names and hashes of models from Linux too, and leaves an identifier in the user's
    cache. Set ORT_DISABLE_TELEMETRY=0 to allow it.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


def _load(files: ModelFiles, model: str, threads: int) -> tuple[InferenceSession, Tokenizer]:
    forbid_telemetry()
    try:
        from onnxruntime import InferenceSession, SessionOptions
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbeddingUnavailable(
            "onnxruntime or tokenizers is not installed",
            hint=f"Run: {install_command('onnx')}.",
        ) from error
    options = SessionOptions()
    options.intra_op_num_threads = max(1, usable_cores() // threads)
    options.log_severity_level = _ERRORS_ONLY
    try:
        session = InferenceSession(str(files.graph), options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(files.tokenizer))
    except Exception as error:  # neither library has a class of its own for a bad file
        raise EmbeddingUnavailable(
            f"model {model} cannot be loaded", hint="Its files are damaged, or of a newer format."
        ) from error
    # Set once, since both are state of the tokenizer, which several threads use.
    tokenizer.no_padding()
    tokenizer.enable_truncation(files.longest)
    return session, tokenizer


def _unknown_token(tokenizer: Tokenizer) -> int | None:
    """Return the number of the token for what a model does not know; None if it has none."""
    token = getattr(tokenizer.model, "unk_token", None)
    if token is None:
        # A vocabulary of sentence pieces shows its number in its file alone.
        number: int | None = json.loads(tokenizer.to_str())["model"].get("unk_id")
        return number
    return tokenizer.token_to_id(token)
