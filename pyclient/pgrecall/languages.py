"""Language codes, and language detection.

Detection is an extra, `pip install 'pgrecall[languages]'`. It runs py3langid locally, without a download. The
library and its model are loaded at first use.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pgrecall.forks import ProcessLock
from pgrecall.installing import install_command

from .errors import InvalidInput, PgrecallError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AUTO",
    "LANGUAGES",
    "UNDETECTED",
    "detect",
    "detect_batch",
    "detect_language",
    "load_detector",
]

AUTO = "auto"
"""The value of `language` that requests detection."""

UNDETECTED = f'"language":"{AUTO}"'
"""Occurs in the JSON of a batch that has such a memory."""

LANGUAGES = {
    "ar": "arabic", "ca": "catalan", "da": "danish", "de": "german", "el": "greek", "en": "english",
    "es": "spanish", "eu": "basque", "fi": "finnish", "fr": "french", "ga": "irish", "hi": "hindi",
    "hu": "hungarian", "hy": "armenian", "id": "indonesian", "it": "italian", "lt": "lithuanian",
    "nb": "norwegian", "ne": "nepali", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sr": "serbian", "sv": "swedish", "ta": "tamil",
    "tr": "turkish", "yi": "yiddish",
}  # fmt: skip
"""ISO 639-1 codes and the text-search configurations that PostgreSQL 15 to 18 have for them."""

CERTAIN = 0.9
"""Minimum probability; at this value one of 15,000 sentences in five languages was misclassified."""

_LONGEST = 2000
_NO_LANGUAGE = "zxx"

_loading = ProcessLock()
_loaded: list[Callable[[str], tuple[str, float]]] = []


def load_detector() -> Callable[[str], tuple[str, float]]:
    """Return the function that names the most probable language of a text; loads it once per process.

    Raises:
        PgrecallError: py3langid is not installed.
    """
    with _loading:
        if not _loaded:
            try:
                from py3langid.langid import MODEL_FILE, LanguageIdentifier
            except ImportError:
                raise PgrecallError(
                    "languages cannot be detected: py3langid is not installed",
                    hint=f"{install_command('languages')}, or name the language of each memory.",
                ) from None
            _loaded.append(LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).classify)
    return _loaded[0]


def detect_language(text: str) -> str | None:
    """Name the text-search configuration for a text.

    Args:
        text: The text; only the first 2,000 characters are used.

    Returns:
        `simple` if PostgreSQL has no configuration for the language; None if the text is too short or too
        mixed. The namespace's language is then the best choice, because queries are parsed in it.

    Raises:
        PgrecallError: py3langid is not installed.
    """
    code, probability = load_detector()(text[:_LONGEST])
    if probability < CERTAIN or code == _NO_LANGUAGE:
        return None
    return LANGUAGES.get(code, "simple")


def detect(memory: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory, with `auto` replaced by the language of the content.

    Raises:
        InvalidInput: There is no content.
    """
    if memory.get("language") != AUTO:
        return memory
    content = memory.get("content")
    if content is None:
        raise InvalidInput(
            "language cannot be 'auto' without content", hint="Give the content, or name the language."
        )
    named = {name: value for name, value in memory.items() if name != "language"}
    language = detect_language(content)
    return named if language is None else {**named, "language": language}


def detect_batch(batch: str) -> str:
    """Apply `detect` to all memories of a JSON array."""
    return json.dumps([detect(memory) for memory in json.loads(batch)], ensure_ascii=False)
