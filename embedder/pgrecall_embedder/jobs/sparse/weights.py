"""What a masked language model gives each token of its vocabulary for a text."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import torch

from pgrecall_embedder.jobs.embed.batching import by_token_budget

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Weigher"]

_BATCH_TOKENS: Final = 2048
# With a large vocabulary, batches are smaller: a model that is asked for all logits needs 4 bytes for each.
_BATCH_LOGITS: Final = 2**26


class Weigher:
    """A masked language model, on the CPU.

    Args:
        model: The model, of transformers.
        is_fast: Whether the logits of a BERT are reduced text by text, without those of the padding.
    """

    def __init__(self, model: Any, *, is_fast: bool = True) -> None:
        self._model = model.eval()
        self._is_fast = is_fast and model.config.model_type == "bert"
        self._batch_tokens = min(_BATCH_TOKENS, _BATCH_LOGITS // model.config.vocab_size)

    def weigh(self, texts: Sequence[Sequence[list[int]]]) -> list[torch.Tensor]:
        """Return for each text the weight of each token: log(1 + relu(logit)) where the logit is highest.

        Args:
            texts: The tokens of each text, in one or several windows.
        """
        flat = [(text, ids) for text, windows in enumerate(texts) for ids in windows]
        highest: dict[int, torch.Tensor] = {}
        with torch.inference_mode(), _one_thread():
            for batch in by_token_budget([len(ids) for _, ids in flat], self._batch_tokens):
                logits = self._logits([flat[place][1] for place in batch])
                for place, found in zip(batch, logits, strict=True):
                    text = flat[place][0]
                    highest[text] = torch.maximum(highest[text], found) if text in highest else found
            return [torch.log1p(torch.relu(highest[text])) for text in range(len(texts))]

    def _logits(self, windows: list[list[int]]) -> Iterator[torch.Tensor]:
        """Return for each window of a batch the highest logit of each token of the vocabulary."""
        lengths = [len(ids) for ids in windows]
        padded = torch.zeros(len(windows), max(lengths), dtype=torch.long)
        mask = torch.zeros_like(padded)
        for row, ids in enumerate(windows):
            padded[row, : len(ids)] = torch.tensor(ids)
            mask[row, : len(ids)] = 1
        if not self._is_fast:
            logits = self._model(padded, attention_mask=mask).logits
            for row, length in enumerate(lengths):
                yield logits[row, :length].amax(0)
            return
        head = self._model.cls.predictions
        hidden = head.transform(self._model.bert(padded, attention_mask=mask).last_hidden_state)
        for row, length in enumerate(lengths):
            # The bias is the same at every position: it is added once, after the maximum.
            yield (hidden[row, :length] @ head.decoder.weight.T).amax(0) + head.decoder.bias


@contextmanager
def _one_thread() -> Iterator[None]:
    """Compute in this thread alone: the other cores are there to embed.

    Threads that are new to torch take over the number that was set last, wherever: it is set back.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
