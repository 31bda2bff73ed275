"""The key of a language model's server: from the environment or from a file that holds nothing else."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from pydantic import SecretStr

from pgrecall.endpoints import checked_key, key_in_file

if TYPE_CHECKING:
    from pathlib import Path

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
        return SecretStr(checked_key(os.environ[KEY_VARIABLE], f"environment variable {KEY_VARIABLE}"))
    place = "the file of the language model's key"
    return SecretStr(checked_key(key_in_file(file, place), place))
