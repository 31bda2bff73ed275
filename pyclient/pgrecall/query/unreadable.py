"""Texts in a language that an embedding model does not know.

A tokenizer that was not made for a language replaces its characters by one token for all that is unknown, or
spells its words letter by letter. The vectors of such texts say little: words find the memories better.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from pgrecall.errors import EmbeddingUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = [
    "UNREADABLE",
    "UnreadableText",
    "is_unreadable",
    "is_word_piece",
    "knows_too_little",
    "reads_too_little",
]

UNREADABLE: Final = "the model does not know the language of the text"
LONGEST_LOOK: Final = 2048
"""How many characters of a text are looked at."""
_FEWEST_MISSING: Final = 3
_STRANGE_SHARE: Final = 5
"""A script is strange to a model that lacks a fifth of its letters, and three or more."""
# Written together in one language, and one token a character in most vocabularies.
_ONE_SCRIPT: Final = {"HIRAGANA": "CJK", "KATAKANA": "CJK"}
_SYLLABLES: Final = {"CJK", "HANGUL"}


class UnreadableText(EmbeddingUnavailable):
    """The model does not know the language of the text."""

    default_hint = "Choose a model of the language with `pgrecall migrate --model NAME`."

    def __init__(self) -> None:
        super().__init__(UNREADABLE)


def is_unreadable(
    text: str,
    tokens: Sequence[int],
    words: Sequence[int | None],
    spans: Sequence[tuple[int, int]],
    unknown: int | None,
    *,
    spells: bool = False,
) -> bool:
    """Tell whether a model knows the language of less than half of a text.

    What unknown tokens stand for is missing. If the tokenizer spells, so is a word with as many tokens as
    letters. A single letter is not: vocabularies of Chinese have a token for each. A script of which many
    letters are missing counts as a whole: the vocabulary holds a few of its words by chance.

    Args:
        text: The text.
        tokens: The numbers of the text's tokens.
        words: For each token the number of its word; None for a token that no text is made of.
        spans: For each token where it begins and ends in the text.
        unknown: The number of the token for what the model does not know; None: it has none, and bytes make
            up what its vocabulary lacks.
        spells: Whether the tokenizer divides texts into words and these into pieces (WordPiece). Others have
            tokens across words and for spaces, and their pieces do not tell.

    Returns:
        False for a text without words.
    """
    if unknown is None:
        return False
    pieces: Counter[int] = Counter()
    begins: dict[int, int] = {}
    ends: dict[int, int] = {}
    letters: Counter[str] = Counter()
    missing: Counter[str] = Counter()
    known_words: set[int] = set()
    for token, word, (begin, end) in zip(tokens, words, spans, strict=True):
        if word is not None:
            pieces[word] += 1
            begins.setdefault(word, begin)
            ends[word] = end
            if token == unknown:
                script, size = _letters(text[begin:end])
                missing[script] += size
            else:
                known_words.add(word)
    for word, count in pieces.items():
        content = text[begins[word] : ends[word]]
        script, size = _letters(content)
        letters[script] += size
        if spells and word in known_words and _is_spelled(content, script, size, count):
            missing[script] += size
    if spells:
        for script in missing.keys() - {"", "LATIN"}:
            if missing[script] >= max(_FEWEST_MISSING, letters[script] / _STRANGE_SHARE):
                missing[script] = letters[script]
    return 2 * missing.total() > letters.total()


def _letters(content: str) -> tuple[str, int]:
    """Return the script of a word and the number of its letters, with their marks; 1 if it has none."""
    own = [letter for letter in content if unicodedata.category(letter)[0] in "LM"]
    return (_script(own[0]), len(own)) if own else ("", 1)


def _script(letter: str) -> str:
    """Return the script of a letter: the first word of its name in Unicode."""
    script = unicodedata.name(letter, "").partition(" ")[0]
    return _ONE_SCRIPT.get(script, script)


def _is_spelled(content: str, script: str, letters: int, pieces: int) -> bool:
    """Tell whether a word is written out letter by letter; a syllable counts if it takes several tokens."""
    if letters < 2 or content.isascii():
        return False
    return pieces > letters if script in _SYLLABLES else pieces >= letters


def knows_too_little(tokenizer: Any, text: str) -> bool:
    """Tell whether a model of sentence-transformers knows the language of less than half of a text.

    Args:
        tokenizer: The model's tokenizer, of transformers; one that is not written in Rust cannot be asked.
        text: The text.
    """

    def encode(start: str) -> Any:
        # As far as the model reads: transformers warns of more.
        return tokenizer(start, truncation=True).encodings[0]

    return getattr(tokenizer, "is_fast", False) and reads_too_little(
        text, encode, tokenizer.backend_tokenizer, tokenizer.unk_token_id
    )


def reads_too_little(text: str, encode: Callable[[str], Any], tokenizer: Any, unknown: int | None) -> bool:
    """Tell whether a tokenizer of the library tokenizers knows the language of less than half of a text.

    Args:
        text: The text; plain ASCII is known to all models, and costs nothing.
        encode: Divides a text into tokens.
        tokenizer: The tokenizer.
        unknown: The number of the token for what the model does not know; None if it has none.
    """
    if text.isascii():
        return False
    start = text[:LONGEST_LOOK]
    read = encode(start)
    return is_unreadable(
        start, read.ids, read.word_ids, read.offsets, unknown, spells=is_word_piece(tokenizer)
    )


def is_word_piece(tokenizer: Any) -> bool:
    """Tell whether a tokenizer of the library tokenizers divides words into pieces of its vocabulary."""
    return type(tokenizer.model).__name__ == "WordPiece"
