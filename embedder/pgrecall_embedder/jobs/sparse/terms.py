"""Which of a model's weights become terms of a text, and what a term of weight 1 is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import torch

from pgrecall.query.unreadable import is_word_piece

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Vocabulary"]

MOST_TERMS: Final = 256
"""Terms of a text that are in the vocabulary; stop words among them, and words of one stem."""
MOST_SPLIT_WORDS: Final = 64
"""Terms of a text that are not."""
SMALLEST_WEIGHT: Final = 0.05
"""A term weighs more than that, as the model weighs it."""
LARGEST_WEIGHT: Final = 3.0
"""Of a term, where the strongest word of the text itself weighs 1."""

# What the strongest word of a text weighs, about; for a text none of whose words the model weighs.
_USUAL_WEIGHT: Final = 1.5
_LONGEST_WORD: Final = 100
_DIGITS: Final = 4
# Before a piece that begins a word, in vocabularies of bytes and of SentencePiece.
_BEGINS_WORD: Final = ("\u0120", "\u2581")


class Vocabulary:
    """The words of a tokenizer.

    Args:
        tokenizer: A tokenizer of transformers that is written in Rust.
        size: For how many tokens the model gives a weight.
    """

    def __init__(self, tokenizer: Any, size: int) -> None:
        special = set(tokenizer.all_special_ids)
        spells = is_word_piece(tokenizer.backend_tokenizer)
        self._words = [""] * size
        for piece, token in tokenizer.get_vocab().items():
            if token < size and token not in special:
                self._words[token] = _word(tokenizer, piece, spells=spells)
        self._is_word = torch.tensor([bool(word) for word in self._words])

    def terms(self, text: str, weights: torch.Tensor, windows: Sequence[Any]) -> dict[str, float]:
        """Return the terms of a text, the strongest first, then its words that the vocabulary lacks.

        A term of weight 1 is as important as the most important word of the text itself. A word that has no
        weight, since the tokenizer splits it, counts as that important. A text without words has no terms:
        what the model says of it is about nothing.

        Args:
            text: The text.
            weights: What the model gives each token of the vocabulary.
            windows: What the tokenizer made of the text, as encodings of the library tokenizers.
        """
        weights = weights.where(self._is_word, 0.0)
        own = sorted({token for window in windows for token in window.ids})
        split_words = _split_words(text, windows)
        if not split_words and not self._is_word[own].any():
            return {}
        strongest = float(weights[own].max())
        if not strongest > SMALLEST_WEIGHT:
            strongest = _USUAL_WEIGHT
        largest = weights.topk(min(MOST_TERMS, len(weights)))
        found: dict[str, float] = {}
        for weight, token in zip(largest.values.tolist(), largest.indices.tolist(), strict=True):
            if not weight > SMALLEST_WEIGHT:
                break
            found.setdefault(self._words[token], weight)
        for word in split_words:
            found[word] = max(found.get(word, 0.0), strongest)
        return {
            word: round(min(weight / strongest, LARGEST_WEIGHT), _DIGITS) for word, weight in found.items()
        }


def _word(tokenizer: Any, piece: str, *, spells: bool) -> str:
    """Return the word that a piece of a vocabulary is, in small letters; empty if it is none.

    Args:
        tokenizer: The tokenizer.
        piece: The piece.
        spells: Whether the tokenizer marks pieces that go on with a word, as WordPiece does; others mark
            those that begin one.
    """
    if spells:
        # In brackets: what the vocabulary reserves.
        is_word = not piece.startswith("##") and not (piece.startswith("[") and piece.endswith("]"))
        word = piece
    else:
        is_word = piece.startswith(_BEGINS_WORD)
        word = tokenizer.convert_tokens_to_string([piece]).strip() if is_word else ""
    return word.lower() if is_word and any(map(str.isalnum, word)) else ""


def _split_words(text: str, windows: Sequence[Any]) -> list[str]:
    """Return the words of a text that took several tokens, once each, the first ones."""
    spans: dict[int, tuple[int, int]] = {}
    split: dict[int, None] = {}
    for window in windows:
        for number, (begin, end) in zip(window.word_ids, window.offsets, strict=True):
            if number in spans:
                split[number] = None
                spans[number] = (spans[number][0], end)
            elif number is not None:
                spans[number] = (begin, end)
    words: dict[str, str] = {}
    for number in split:
        # As it is written: of getUserName, get, user and name are words too.
        word = text[slice(*spans[number])].strip()
        if len(word) <= _LONGEST_WORD and any(map(str.isalnum, word)):
            words.setdefault(word.lower(), word)
        if len(words) == MOST_SPLIT_WORDS:
            break
    return list(words.values())
