"""Addresses and keys of servers that are asked over HTTP: checked without quoting a secret."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["checked_key", "holds_secret", "http_parts", "key_in_file"]


def http_parts(url: str) -> SplitResult | None:
    """Take an address apart; None if it is not one of HTTP.

    Args:
        url: The address.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def holds_secret(url: str) -> bool:
    """Whether an address has a part that may hold a secret, to be refused without quoting it.

    Args:
        url: The address. An @ behind its host may be the end of a password with a slash in it.
    """
    return any(sign in url for sign in "@?#")


def key_in_file(file: str | Path, place: str) -> str:
    """Return what a file holds that should hold a key.

    Args:
        file: The file.
        place: What the error calls it.

    Raises:
        InvalidInput: It cannot be read.
    """
    try:
        return Path(file).expanduser().read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{place} cannot be read ({type(error).__name__})") from None


def checked_key(key: str, place: str) -> str:
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
    return key
