"""What the providers behind an address have in common: requests of a size, and which text is to blame.

A server that refuses a text and one that refuses everything look alike. So no text is blamed before the
server has embedded a plain one; if it does not do that either, the provider pauses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pgrecall.query.embedding_models import KNOWN_MODELS

from .base import DocumentVectors
from .errors import InputRefused, ProviderPaused, VectorsUnusable
from .http import JsonClient, NotVectors, RequestFailed, check_httpx
from .settings import endpoint_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from .base import ModelSpec

__all__ = ["Limits", "RemoteProvider", "estimated_tokens"]

_PLAIN_TEXT = "memory"
_NUMBERS = frozenset({int, float})
_SHORTEST_CHARACTERS = 256
# Texts of requests that failed; more than are ever under way.
_MOST_SUSPECTS = 4096


@dataclass(frozen=True, slots=True)
class Limits:
    """What goes into one request.

    Attributes:
        texts: How many texts.
        tokens: How many tokens, as estimated: well below what the server takes, since some texts have twice
            as many.
    """

    texts: int
    tokens: int


def estimated_tokens(text: str) -> int:
    """Guess a text's number of tokens: a quarter of its bytes, which fits English and roughly the others."""
    return 1 + len(text.encode("utf-8", "replace")) // 4


class RemoteProvider(ABC):
    """A model behind an address.

    Args:
        model: The model.
        threads: How many threads call it.

    Raises:
        EmbeddingUnavailable: httpx is not installed, or a setting is missing or wrong.
    """

    default_url: ClassVar[str]
    path: ClassVar[str]
    dimension_field: ClassVar[str]

    def __init__(self, model: ModelSpec, threads: int) -> None:
        check_httpx()
        self._endpoint = endpoint_of(model.provider, self.default_url, self.path)
        self._client = JsonClient(self._endpoint, threads)
        self._model = model
        self._known = KNOWN_MODELS.get(model.name)
        self._native = None if self._known is None else self._known.dimension
        # Hashes of texts whose last request failed. Threads change it without a lock: at worst a plain text
        # is asked for once too often.
        self._suspects: set[int] = set()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._model.name!r}, {self._endpoint.url!r})"

    @property
    def name(self) -> str:
        """The model's name."""
        return self._model.name

    @property
    def dimension(self) -> int:
        """The length of the vectors, which longer ones are cut to."""
        return self._model.dimension

    @property
    def token_budget(self) -> int:
        """Tokens of one call, as `token_counts` estimates them."""
        return self._limits().tokens

    @property
    def is_hosted(self) -> bool:
        """Whether the server is on another machine."""
        return self._endpoint.is_hosted

    def token_counts(self, texts: Sequence[str]) -> Sequence[int]:
        """Estimate how many tokens each text has; so many that no call holds more texts than a request.

        What a request brought is lost if another one of the same call fails.
        """
        limits = self._limits()
        least = -(-limits.tokens // limits.texts)
        return [max(least, estimated_tokens(text)) for text in texts]

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Embed texts, in as many requests as it takes.

        Raises:
            ProviderPaused: It cannot be asked now.
            InputRefused: It does not take one of the texts.
            VectorsUnusable: It gives no usable vector for one of the texts.
        """
        vectors: list[NDArray[np.float32]] = [np.zeros((0, self.dimension), dtype=np.float32)]
        is_truncated: list[bool] = []
        for some in self._requests(texts):
            rows, marks = self._embed(some, is_query=False)
            vectors.append(rows)
            is_truncated += marks
        return DocumentVectors(np.concatenate(vectors), is_truncated)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one text as a query; raises as `embed_documents` does."""
        rows, _ = self._embed([text], is_query=True)
        vector: NDArray[np.float32] = rows[0]
        return vector

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    @abstractmethod
    def _limits(self) -> Limits:
        """Return what goes into one request."""

    @abstractmethod
    def _fields(self, texts: Sequence[str], *, is_query: bool) -> Mapping[str, object]:
        """Return the body of a request."""

    @abstractmethod
    def _vectors(self, answer: object) -> object:
        """Take the list of vectors, in the order of the texts, out of an answer.

        Raises:
            KeyError, TypeError: It is no such answer.
        """

    def _asked_dimension(self) -> dict[str, int]:
        """Return what asks for a length that is not the model's usual one, to be a part of `_fields`."""
        is_there = self._known is not None and self.dimension in self._known.other_dimensions
        return {self.dimension_field: self.dimension} if is_there else {}

    def _is_cut(self, text: str) -> bool:
        """Whether the server, as far as can be told from here, reads only the beginning of a text."""
        del text  # servers that refuse what is too long are the rule
        return False

    def _requests(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        limits = self._limits()
        start = tokens = 0
        for end, count in enumerate(map(estimated_tokens, texts)):
            if end > start and (end - start == limits.texts or tokens + count > limits.tokens):
                yield texts[start:end]
                start, tokens = end, 0
            tokens += count
        if start < len(texts):
            yield texts[start:]

    def _embed(self, texts: Sequence[str], *, is_query: bool) -> tuple[NDArray[np.float32], list[bool]]:
        """Embed the texts of one request; a single one that is refused is tried shorter."""
        keys = [hash(text) for text in texts]
        prompt = self._model.query_prompt if is_query else self._model.document_prompt
        prompted = [prompt + text for text in texts]
        try:
            return self._ask(prompted, keys, is_query=is_query), [self._is_cut(text) for text in prompted]
        except (InputRefused, VectorsUnusable) as error:
            refusal = error
        if len(texts) > 1:
            raise refusal
        if isinstance(refusal, InputRefused):
            length = len(texts[0])
            while length > _SHORTEST_CHARACTERS:
                length = max(_SHORTEST_CHARACTERS, length // 2)
                try:
                    return self._ask([prompt + texts[0][:length]], keys, is_query=is_query), [True]
                except InputRefused as error:
                    refusal = error
        self._check_plain(is_query=is_query)
        raise refusal

    def _ask(self, texts: Sequence[str], keys: Sequence[int], *, is_query: bool) -> NDArray[np.float32]:
        """Send one request. If it fails as one of its texts did before, that text may be why."""
        try:
            vectors = self._ask_once(texts, is_query=is_query)
        except RequestFailed:
            if self._suspects.isdisjoint(keys):
                if len(self._suspects) > _MOST_SUSPECTS:
                    self._suspects.clear()
                self._suspects.update(keys)
                raise
            self._check_plain(is_query=is_query)
            raise InputRefused("the embedding server fails over the text") from None
        if self._suspects:
            self._suspects.difference_update(keys)
        return vectors

    def _ask_once(self, texts: Sequence[str], *, is_query: bool) -> NDArray[np.float32]:
        vectors = self._post(texts, is_query=is_query)
        lengths = {_length(vector) for vector in vectors}
        length = lengths.pop()
        if self._native is None and length > self.dimension:
            # Nobody knows how long this model's vectors are: it is believed when it says so twice.
            [plain] = self._post([_PLAIN_TEXT], is_query=is_query)
            if _length(plain) == length:
                self._native = length
        if lengths or length not in (self.dimension, self._native) or length < self.dimension:
            raise VectorsUnusable(f"the model gives {length} dimensions, the database has {self.dimension}")
        return self._units(vectors, length)

    def _post(self, texts: Sequence[str], *, is_query: bool) -> list[object]:
        answer = self._client.post(self._fields(texts, is_query=is_query), len(texts))
        try:
            vectors = self._vectors(answer)
        except (KeyError, TypeError):
            vectors = None
        if not isinstance(vectors, list) or len(vectors) != len(texts):
            raise NotVectors("the embedding server did not answer with a vector for each text")
        if any(isinstance(vector, str) for vector in vectors):
            raise NotVectors(
                "the embedding server answered with base64, where lists of numbers were asked for"
            )
        return vectors

    def _units(self, vectors: Sequence[object], length: int) -> NDArray[np.float32]:
        """Cut vectors to the wanted length and bring them to length 1."""
        # NumPy would read "1" and True as numbers.
        if any(not _NUMBERS.issuperset(map(type, vector)) for vector in vectors if isinstance(vector, list)):
            raise VectorsUnusable("a vector holds something that is no number")
        try:
            rows = np.asarray(vectors, dtype=np.float64).reshape(len(vectors), length)[:, : self.dimension]
        except (TypeError, ValueError, OverflowError):
            raise VectorsUnusable("a vector holds something that is no number") from None
        with np.errstate(over="ignore", invalid="ignore"):
            norms = np.linalg.norm(rows, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise VectorsUnusable("a vector is zero or not finite")
        units: NDArray[np.float32] = (rows / norms).astype(np.float32)
        return units

    def _check_plain(self, *, is_query: bool) -> None:
        """Make sure that the server embeds a plain text.

        Raises:
            ProviderPaused: It does not: no other text is to blame.
        """
        try:
            self._ask_once([_PLAIN_TEXT], is_query=is_query)
        except (NotVectors, VectorsUnusable) as error:
            where = f"check the model's name and dimension, and {self._endpoint.prefix}_URL"
            raise ProviderPaused("refused", f"{error}: {where}") from None
        except InputRefused:
            raise ProviderPaused(
                "refused",
                "the embedding server takes no text at all: check the model's name and dimension, and "
                f"{self._endpoint.prefix}_URL",
            ) from None


def _length(vector: object) -> int:
    return len(vector) if isinstance(vector, list) else 0
