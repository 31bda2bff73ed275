"""What the daemon asks of whatever computes embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from pgrecall.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["DocumentVectors", "EmbeddingProvider", "ModelSpec", "ProviderFactory", "refuse_shorter"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """A model as the database knows it.

    Attributes:
        id: Its id in the database.
        name: Its name for the provider, or a local folder.
        dimension: The length of the vectors that the database stores; a longer one of the model is cut to it.
        provider: The name of the provider, with a name of the server behind a colon where there are several.
        document_prompt: What the model wants before a document; may be empty.
        query_prompt: What the model wants before a query; may be empty.
    """

    id: int
    name: str
    dimension: int
    provider: str
    document_prompt: str
    query_prompt: str


@dataclass(frozen=True, slots=True)
class DocumentVectors:
    """The vectors of some documents.

    Attributes:
        vectors: An array of one row of length 1 for each text.
        is_truncated: For each text whether the model has read only its beginning.
        is_unreadable: For each text whether the model does not know its language; empty: it knows all.
    """

    vectors: NDArray[np.float32] = field(repr=False)
    is_truncated: Sequence[bool]
    is_unreadable: Sequence[bool] = ()


class EmbeddingProvider(Protocol):
    """A loaded model. Its methods are called from several threads at once.

    Attributes:
        name: The model's name.
        dimension: The length of the vectors it returns.
        token_budget: How many tokens, padding included, one call of `embed_documents` should hold.
        is_hosted: Whether texts leave for a server elsewhere.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def token_budget(self) -> int: ...  # noqa: D102

    @property
    def is_hosted(self) -> bool: ...  # noqa: D102

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Return how many tokens the model will read of each text; an estimate will do."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Embed texts as documents.

        Raises:
            ProviderPaused: It will do so later: a limit was reached, or the server is not there.
            Exception: Anything else; the caller then finds out whether the provider or a text is to blame.
        """
        ...

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as a query; raises as `embed_documents` does.

        Returns:
            A vector of length 1.

        Raises:
            UnreadableText: The model does not know its language.
        """
        ...

    def close(self) -> None:
        """Give up connections; nothing is asked afterwards."""
        ...


ProviderFactory: TypeAlias = Callable[[ModelSpec, int], EmbeddingProvider]


def refuse_shorter(model: ModelSpec, native: int) -> None:
    """Refuse a model whose vectors cannot be cut to what the database stores.

    Args:
        model: The model.
        native: The length of its vectors.

    Raises:
        EmbeddingUnavailable: They are shorter.
    """
    if native < model.dimension:
        raise EmbeddingUnavailable(
            f"model {model.name} gives {native} dimensions, the database stores {model.dimension}",
            hint="Choose a model of the database's dimension with `pgrecall migrate --model NAME`.",
        )
