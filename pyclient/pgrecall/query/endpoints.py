"""Checks URLs and API keys of HTTP servers without quoting a secret."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Mapping
    from urllib.parse import SplitResult

    import httpx

__all__ = [
    "UNCOMPRESSED",
    "checked_key",
    "holds_secret",
    "http_options",
    "http_parts",
    "is_compressed",
    "is_hosted",
    "key_in_file",
    "read_within",
]

UNCOMPRESSED = {"Accept-Encoding": "identity"}
"""The header of requests: a small compressed answer could fill the memory before it is measured."""


def http_parts(url: str) -> SplitResult | None:
    """Parse an HTTP URL; None if it is not one.

    Args:
        url: The URL.
    """
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def http_options(url: str) -> dict[str, Any]:
    """Return the options of every HTTP client that sends text to a server.

    Redirects are not followed: the text and the key would go along. Text for a server on this machine must
    not leave it through a proxy of the environment.

    Args:
        url: The server's URL.
    """
    return {"follow_redirects": False, "trust_env": is_hosted(url)}


def is_hosted(url: str) -> bool:
    """Tell whether a server is on another machine.

    Args:
        url: Its URL.
    """
    parts = http_parts(url)
    host = "" if parts is None or parts.hostname is None else parts.hostname
    if host == "localhost" or host.endswith(".localhost"):
        return False
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return True


def is_compressed(headers: Mapping[str, str]) -> bool:
    """Tell whether an answer is compressed although the request asked for `UNCOMPRESSED`.

    Args:
        headers: Those of the answer.
    """
    return headers.get("content-encoding", "identity").strip().casefold() not in ("", "identity")


async def read_within(response: httpx.Response, limit: int) -> bytes:
    """Read an answer, which must not be compressed, up to a limit.

    Args:
        response: An answer that is being streamed.
        limit: The most bytes.

    Raises:
        ValueError: It is compressed or larger; the text says what the server did, without quoting it.
    """
    if is_compressed(response.headers):
        raise ValueError("answered compressed, which it was asked not to")
    raw = bytearray()
    async for piece in response.aiter_raw():
        raw += piece
        if len(raw) > limit:
            raise ValueError(f"answered with more than {limit} bytes")
    return bytes(raw)


def holds_secret(url: str) -> bool:
    """Tell whether a URL may contain a secret; it must then be refused without quoting it.

    Args:
        url: The URL. An @ after its host may be the end of a password that contains a slash.
    """
    return any(sign in url for sign in "@?#")


def key_in_file(file: str | Path, place: str) -> str:
    """Return the contents of a key file.

    Args:
        file: The file.
        place: Its name in errors.

    Raises:
        InvalidInput: It cannot be read.
    """
    try:
        return Path(file).expanduser().read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{place} cannot be read ({type(error).__name__})") from None


def checked_key(key: str, place: str) -> str:
    """Return a key that is valid in an HTTP header; the error of the HTTP library would quote an invalid one.

    Args:
        key: The key; surrounding blanks are stripped.
        place: Its source, for errors.

    Raises:
        InvalidInput: It is empty, or contains blanks or other invalid characters.
    """
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InvalidInput(f"{place} holds no key", hint="It must contain the key and nothing else.")
    return key
