"""Embeddings by whatever answers `POST {base}/embeddings` as OpenAI does.

OpenAI itself, llama.cpp's server, Ollama, vLLM, text-embeddings-inference and others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from .remote import Limits, RemoteProvider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["OpenAIProvider", "in_order"]

# OpenAI takes 2,048 texts and 300,000 tokens. Other servers are set up to take 32 texts and 2 MB, such as
# text-embeddings-inference.
_SERVICE_LIMITS = Limits(2048, 64_000)
_OTHER_LIMITS = Limits(32, 8192)


class OpenAIProvider(RemoteProvider):
    """OpenAI's embeddings, or those of a server that is asked in the same way.

    A text that is too long is refused by most of them, and tried shorter then.
    """

    default_url: ClassVar[str] = "https://api.openai.com/v1"
    path: ClassVar[str] = "/embeddings"
    dimension_field: ClassVar[str] = "dimensions"

    def _limits(self) -> Limits:
        return _SERVICE_LIMITS if self._endpoint.url == self.default_url + self.path else _OTHER_LIMITS

    def _fields(self, texts: Sequence[str], *, is_query: bool) -> Mapping[str, object]:
        del is_query  # said by the prompts alone
        return {
            "model": self.name,
            "input": list(texts),
            "encoding_format": "float",
            **self._asked_dimension(),
        }

    def _asked_dimension(self) -> dict[str, int]:
        # Other servers often take no dimensions, and what they answer is cut here.
        is_theirs = self._known is not None and self._known.provider == "openai"
        return super()._asked_dimension() if is_theirs else {}

    def _vectors(self, answer: object) -> object:
        return in_order(answer)


def in_order(answer: object) -> list[object]:
    """Take the vectors out of {data: [{index, embedding}]}, in the order of the index where there is one.

    Args:
        answer: What a server sent.

    Raises:
        KeyError, TypeError: It is of another form.
    """
    if not isinstance(answer, dict) or not isinstance(answer["data"], list):
        raise TypeError("no list of data")
    rows = answer["data"]
    if any("index" in row for row in rows):
        if any(type(row["index"]) is not int for row in rows):
            raise TypeError("an index is no number")
        by_index = {row["index"]: row["embedding"] for row in rows}
        return [by_index[number] for number in range(len(rows))]
    return [row["embedding"] for row in rows]
