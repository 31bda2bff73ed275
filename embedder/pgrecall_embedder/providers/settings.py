"""Where an HTTP provider is and what opens it: from the environment, never from the database.

A role that can write to the database must not be able to send memories, or a key, elsewhere.
"""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from pydantic import SecretStr

from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall.query.endpoints import checked_key, holds_secret, http_parts, is_hosted, key_in_file

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["Endpoint", "endpoint_of", "read_key"]

_TIMEOUT_SECONDS = 60.0
_MAX_TIMEOUT_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server of embeddings.

    Attributes:
        url: The address that texts are sent to.
        prefix: What the names of its settings begin with.
        timeout: Seconds for one request with its answer.
        is_hosted: Whether it is on another machine.
        key: What it wants to see; None sends none.
    """

    url: str
    prefix: str
    timeout: float
    is_hosted: bool
    key: SecretStr | None = field(default=None, repr=False)


def endpoint_of(provider: str, default_url: str, path: str) -> Endpoint:
    """Read the settings of a provider.

    Args:
        provider: Its name, such as openai; a further server's name follows a colon.
        default_url: The service's own address. Only the provider without a further name has it: texts meant
            for one's own server are not to end up elsewhere because its address was forgotten.
        path: What follows the base address.

    Raises:
        EmbeddingUnavailable: The address is missing or none, there is no key where one is needed, or the
            time-out is no number.
    """
    prefix = "PGRECALL_EMBEDDER_" + re.sub(r"[^A-Z0-9]", "_", provider.upper())
    given = os.environ.get(f"{prefix}_URL", "").strip()
    if not given and ":" in provider:
        raise EmbeddingUnavailable(
            f"the address of embedding provider {provider} is not known", hint=f"Set {prefix}_URL."
        )
    parts = _checked(given if given else default_url, f"{prefix}_URL")
    try:
        key = read_key(prefix)
    except InvalidInput as error:
        raise EmbeddingUnavailable(error.message, hint=error.hint) from None
    if key is None and parts.hostname == urlsplit(default_url).hostname:
        raise EmbeddingUnavailable(
            f"embedding provider {provider} wants a key",
            hint=f"Set {prefix}_API_KEY, or {prefix}_API_KEY_FILE to the file that holds it.",
        )
    base = parts.path.rstrip("/").removesuffix(path)
    url = urlunsplit((parts.scheme, parts.netloc, base + path, "", ""))
    return Endpoint(
        url=url,
        prefix=prefix,
        timeout=_timeout(f"{prefix}_TIMEOUT"),
        is_hosted=is_hosted(url),
        key=key,
    )


def _checked(url: str, variable: str) -> SplitResult:
    import httpx

    parts = http_parts(url)
    try:
        httpx.URL(url)
    except (ValueError, httpx.InvalidURL):
        parts = None
    if parts is None:
        raise EmbeddingUnavailable(
            f"{variable} holds no address of HTTP", hint="Write https://host/v1 or http://host:port/v1."
        )
    if holds_secret(url):
        raise EmbeddingUnavailable(
            f"the address in {variable} holds a user, a password or a query",
            hint=f"Give the key by {variable.removesuffix('_URL')}_API_KEY or by a file.",
        )
    return parts


def read_key(prefix: str) -> SecretStr | None:
    """Read the key of a provider, from the environment or the file that it names.

    Args:
        prefix: What the names of its settings begin with.

    Raises:
        InvalidInput: The file cannot be read, what is there is no key, or both places are named.
    """
    variable, file_variable = f"{prefix}_API_KEY", f"{prefix}_API_KEY_FILE"
    file = os.environ.get(file_variable, "")
    if file and variable in os.environ:
        raise InvalidInput(f"{variable} and {file_variable} exclude each other", hint="Unset one of them.")
    if file:
        place = f"the file that {file_variable} names"
        return SecretStr(checked_key(key_in_file(file, place), place))
    if variable not in os.environ:
        return None
    return SecretStr(checked_key(os.environ[variable], f"environment variable {variable}"))


def _timeout(variable: str) -> float:
    given = os.environ.get(variable, "").strip()
    if not given:
        return _TIMEOUT_SECONDS
    try:
        seconds = float(given)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _MAX_TIMEOUT_SECONDS:
        raise EmbeddingUnavailable(
            f"{variable} must be a number of seconds above 0 and at most {_MAX_TIMEOUT_SECONDS:g}",
            hint=f"Unset it for {_TIMEOUT_SECONDS:g}.",
        )
    return seconds
