"""What the daemon asks of whatever computes embeddings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["EmbeddingProvider", "ModelSpec", "ProviderFactory"]


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """The database's active model.

    Attributes:
        id: Its id in the database.
        name: Its name for the provider, or a local folder.
        dimension: The length of the vectors that the database stores.
        provider: The name of the provider.
        document_prompt: What the model wants before a document; may be empty.
    """

    id: int
    name: str
    dimension: int
    provider: str
    document_prompt: str


class EmbeddingProvider(Protocol):
    """A loaded model. Its methods are called from several threads at once.

    Attributes:
        name: The model's name.
        dimension: The length of its vectors, as the model really gives them.
        token_budget: How many tokens, padding included, one call of `embed_documents` should hold.
    """

    @property
    def name(self) -> str: ...  # noqa: D102

    @property
    def dimension(self) -> int: ...  # noqa: D102

    @property
    def token_budget(self) -> int: ...  # noqa: D102

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Return how many tokens the model will read of each text; an estimate will do."""
        ...

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts as documents.

        Returns:
            An array of one row of length 1 for each text.

        Raises:
            Exception: Anything; the caller then finds out which of the texts is to blame.
        """
        ...


ProviderFactory: TypeAlias = Callable[[ModelSpec, int], EmbeddingProvider]
