"""Texts in a script that an embedding model does not know.

A tokenizer replaces what it does not know by one and the same token. The vectors of such texts are alike,
whatever the texts say: no vector is better.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pgrecall.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["UNREADABLE", "UnreadableText", "is_unreadable", "knows_too_little"]

UNREADABLE: Final = "the model does not know the characters of the text"
LONGEST_LOOK: Final = 2048
"""How many characters of a text are looked at."""


class UnreadableText(EmbeddingUnavailable):
    """The model does not know the characters of the text."""

    default_hint = "Choose a model of the language with `pgrecall migrate --model NAME`."

    def __init__(self) -> None:
        super().__init__(UNREADABLE)


def is_unreadable(tokens: Sequence[int], words: Sequence[int | None], unknown: int | None) -> bool:
    """Tell whether a model knows less than half of a text's words.

    Args:
        tokens: The numbers of the text's tokens.
        words: For each token the number of its word; None for a token that no text is made of.
        unknown: The number of the token for what the model does not know; None: it has none.

    Returns:
        False for a text without words.
    """
    missing = {
        word for token, word in zip(tokens, words, strict=True) if token == unknown and word is not None
    }
    return 2 * len(missing) > len({word for word in words if word is not None})


def knows_too_little(tokenizer: Any, text: str) -> bool:
    """Tell whether a model of sentence-transformers knows less than half of a text's words.

    Args:
        tokenizer: The model's tokenizer, of transformers; one that is not written in Rust cannot be asked.
        text: The text; plain ASCII is known to all of them, and costs nothing.
    """
    if text.isascii() or not getattr(tokenizer, "is_fast", False):
        return False
    # As far as the model reads: transformers warns of more.
    read = tokenizer(text[:LONGEST_LOOK], truncation=True)
    return is_unreadable(read["input_ids"], read.word_ids(0), tokenizer.unk_token_id)
