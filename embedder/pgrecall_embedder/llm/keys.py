"""Where a language model is asked, and its key: from the environment, never from the database.

A role that can write to the database must not be able to send memories, or the key, elsewhere.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pgrecall.errors import InvalidInput
from pgrecall.query.endpoints import checked_key, key_in_file

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["KEY_VARIABLE", "URL_VARIABLE", "api_key", "base_url"]

KEY_VARIABLE = "PGRECALL_LLM_API_KEY"
URL_VARIABLE = "PGRECALL_LLM_URL"


def base_url() -> str:
    """Return the address of the language model's server.

    Raises:
        InvalidInput: The environment names none.
    """
    url = os.environ.get(URL_VARIABLE, "").strip()
    if not url:
        raise InvalidInput(
            "the language model's address is not known",
            hint=f"Set {URL_VARIABLE} where the model is asked, such as http://localhost:8080/v1.",
        )
    return url


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
        return SecretStr(checked_key(os.environ[KEY_VARIABLE], f"environment variable {KEY_VARIABLE}"))
    place = "the file of the language model's key"
    return SecretStr(checked_key(key_in_file(file, place), place))
