"""The key of a language model's server: from the environment or from a file that holds nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr

from pgrecall.errors import InvalidInput

__all__ = ["KEY_VARIABLE", "api_key"]

KEY_VARIABLE = "PGRECALL_LLM_API_KEY"


def api_key(file: str | Path | None = None) -> SecretStr | None:
    """Return the key, or None where there is none: servers on one's own machine want none.

    Args:
        file: The file that holds it; None takes the environment variable PGRECALL_LLM_API_KEY.

    Raises:
        InvalidInput: The file cannot be read, or what is there is no key.
    """
    if file is None:
        if KEY_VARIABLE not in os.environ:
            return None
        return checked_key(os.environ[KEY_VARIABLE], f"environment variable {KEY_VARIABLE}")
    try:
        key = Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(
            f"the file of the language model's key cannot be read ({type(error).__name__})"
        ) from None
    return checked_key(key, "the file of the language model's key")


def checked_key(key: str, place: str) -> SecretStr:
    """Return a key that a header can hold; what none can hold would be quoted by the error about it.

    Args:
        key: The key; blanks around it are left out.
        place: Where it comes from, for the error.

    Raises:
        InvalidInput: It is empty, or holds blanks or other characters that no key has.
    """
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(f"{place} holds no key", hint="It must hold the key and nothing else.")
    return SecretStr(key)
