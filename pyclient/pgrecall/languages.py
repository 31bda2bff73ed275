"""Languages by their codes, and which one a text is in.

Detection is an extra, `pip install 'pgrecall[languages]'`: py3langid, on this machine, without any download.
It is imported, and its model loaded, when the first text is looked at.
"""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

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
"""The language of a memory whose language is to be detected."""

UNDETECTED = f'"language":"{AUTO}"'
"""What is in a batch as JSON if it has such a memory."""

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
"""How probable a language must be: at this, one of 15,000 sentences in five languages was mistaken."""

_LONGEST = 2000
_NO_LANGUAGE = "zxx"

_loading = threading.Lock()
_loaded: list[Callable[[str], tuple[str, float]]] = []


def load_detector() -> Callable[[str], tuple[str, float]]:
    """Return the function that names a text's most probable language, loaded once a process.

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
                    hint="pip install 'pgrecall[languages]', or name the language of each memory.",
                ) from None
            _loaded.append(LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).classify)
    return _loaded[0]


def detect_language(text: str) -> str | None:
    """Name the text-search configuration for a text.

    Args:
        text: The text; the first 2,000 characters are looked at.

    Returns:
        `simple` for a language that PostgreSQL has none for; None if the text is too short or too mixed to
        tell. The namespace's own language suits it best then: queries are always read in that one.

    Raises:
        PgrecallError: py3langid is not installed.
    """
    code, probability = load_detector()(text[:_LONGEST])
    if probability < CERTAIN or code == _NO_LANGUAGE:
        return None
    return LANGUAGES.get(code, "simple")


def detect(memory: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a memory with the language of its content in the place of `auto`.

    Raises:
        InvalidInput: There is no content to tell it from.
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
    """Do that for all memories of a JSON array."""
    return json.dumps([detect(memory) for memory in json.loads(batch)], ensure_ascii=False)
