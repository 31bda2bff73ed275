"""Sends requests to an embedding server and maps failures to exceptions.

Redirects are not followed, because they would forward the text and the key. No error message quotes a text,
the key or the response, because servers echo their input.
"""

from __future__ import annotations

import importlib.util
import json
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from pgrecall.errors import EmbeddingUnavailable, InvalidInput
from pgrecall.installing import install_command
from pgrecall.query.endpoints import UNCOMPRESSED, http_options, is_compressed
from pgrecall_embedder.retry_after import seconds_to_wait

from .errors import InputRefused, ProviderPaused
from .settings import read_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx
    from pydantic import SecretStr

    from .settings import Endpoint

__all__ = ["JsonClient", "NotVectors", "RequestFailed", "check_httpx"]

_CONNECT_SECONDS = 10.0
# Close idle connections before the server does. Most servers wait at least 5 seconds, and a request on a
# connection that is being closed fails.
_KEEPALIVE_SECONDS = 4.0
# Queries and concept names are embedded in parallel with memories.
_SPARE_CONNECTIONS = 4
# The longest vectors have 8,192 numbers, which JSON writes in 25 bytes at most.
_BYTES_A_VECTOR = 256 * 1024
_BYTES_MORE = 2**20
_BYTES_OF_AN_ERROR = 64 * 1024

_REFUSED_INPUT = frozenset({400, 413, 422})
_PASSING = frozenset({408, 409, 425, 429, 502, 503, 504, 520, 522, 524, 529})
# text-embeddings-inference returns 424 where other servers return 500.
_FAILED = frozenset({424, 500})
_BUSY = 429
_KEY_REFUSED = frozenset({401, 403})
_REFUSALS = {
    401: "does not take the key: check {prefix}_API_KEY or {prefix}_API_KEY_FILE",
    402: "wants to be paid: check the account of the key in {prefix}_API_KEY",
    403: "forbids the request: the key in {prefix}_API_KEY may not use this model",
    404: "has no such address or model: check {prefix}_URL and the model's name",
}
# Error messages for a text that is too long for the model. llama.cpp reports it as a server error.
_TOO_LONG = ("too large to process", "too long", "context length", "context size", "exceed_context")


class RequestFailed(ProviderPaused):
    """A request got no usable response. One of its texts may be the cause.

    Args:
        message: The error message.
        retry_after: Seconds that the server asked the client to wait.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__("outage", message, retry_after)


class NotVectors(RequestFailed):
    """The server answered, but not with a vector for each text."""


def check_httpx() -> None:
    """Check that httpx is installed.

    Raises:
        EmbeddingUnavailable: httpx is not installed.
    """
    if importlib.util.find_spec("httpx") is None:
        raise EmbeddingUnavailable(
            "an embedding provider behind an address needs httpx",
            hint=f"Run: {install_command('embedder')}.",
        )


class JsonClient:
    """A thread-safe client that posts JSON to one URL over persistent connections.

    Args:
        endpoint: The server.
        threads: The number of threads that send requests.
    """

    def __init__(self, endpoint: Endpoint, threads: int) -> None:
        import httpx

        self._endpoint = endpoint
        self._key = endpoint.key
        self._http = httpx.Client(
            timeout=httpx.Timeout(endpoint.timeout, connect=min(_CONNECT_SECONDS, endpoint.timeout)),
            limits=httpx.Limits(
                max_connections=threads + _SPARE_CONNECTIONS,
                max_keepalive_connections=threads,
                keepalive_expiry=_KEEPALIVE_SECONDS,
            ),
            **http_options(endpoint.url),
        )

    def __repr__(self) -> str:
        return f"JsonClient({self._endpoint.url!r})"

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def post(self, fields: Mapping[str, object], texts: int) -> object:
        """Send a request.

        Args:
            fields: The body.
            texts: The number of vectors expected in the response.

        Returns:
            The decoded response.

        Raises:
            ProviderPaused: The server is unavailable. `RequestFailed` if a text may be the cause.
            InputRefused: The server rejects the texts.
        """
        body = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
        limit = _BYTES_MORE + texts * _BYTES_A_VECTOR
        sent = self._key
        response, raw = self._exchange(body, limit, sent)
        if response.status_code in _KEY_REFUSED and self._read_key_again() != sent:
            response, raw = self._exchange(body, limit, self._key)
        if not response.is_success:
            raise self._failure(response.status_code, response.headers, raw)
        try:
            answer: object = json.loads(raw)
        except (ValueError, RecursionError):
            raise RequestFailed(_said("did not answer with JSON")) from None
        return answer

    def _read_key_again(self) -> SecretStr | None:
        """Return the key that is there now: the operator may have put another one into its file."""
        # Without a valid key in its place, the old one stays, and the server's refusal is reported.
        with suppress(InvalidInput):
            self._key = read_key(self._endpoint.prefix)
        return self._key

    def _exchange(self, body: bytes, limit: int, key: SecretStr | None) -> tuple[httpx.Response, bytes]:
        """Send a body with a key, and read the response up to a limit."""
        import httpx

        headers = {"Content-Type": "application/json", "Accept": "application/json", **UNCOMPRESSED}
        if key is not None:
            headers["Authorization"] = f"Bearer {key.get_secret_value()}"
        try:
            with self._http.stream("POST", self._endpoint.url, content=body, headers=headers) as response:
                return response, self._read(response, limit)
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise ProviderPaused("outage", _said(f"cannot be reached ({type(error).__name__})")) from None
        except httpx.TimeoutException:
            raise self._late() from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise RequestFailed(_said(f"broke off ({type(error).__name__})")) from None

    def _read(self, response: httpx.Response, limit: int) -> bytes:
        """Read a response within the limits of size and time."""
        end = time.monotonic() + self._endpoint.timeout
        if not response.is_success:
            limit = _BYTES_OF_AN_ERROR
        if is_compressed(response.headers):
            raise RequestFailed(_said("answered compressed, which it was asked not to"))
        raw = bytearray()
        for piece in response.iter_raw():
            raw += piece
            if len(raw) > limit:
                if not response.is_success:
                    break
                raise RequestFailed(_said(f"answered with more than {limit} bytes"))
            if time.monotonic() > end:
                raise self._late()
        return bytes(raw)

    def _late(self) -> RequestFailed:
        return RequestFailed(_said(f"took longer than {self._endpoint.timeout:g} s"))

    def _failure(self, status: int, headers: Mapping[str, str], raw: bytes) -> Exception:
        """Map a status to an exception. The body is inspected but never quoted."""
        message = _said(f"answered with HTTP status {status}")
        prefix = self._endpoint.prefix
        body = raw.decode("utf-8", "replace").casefold()
        if status in _REFUSED_INPUT or (status in _FAILED and any(sign in body for sign in _TOO_LONG)):
            return InputRefused(_said(f"does not take the text (HTTP status {status})"))
        if status == _BUSY and "insufficient_quota" in body:
            return ProviderPaused("refused", _said(f"has no quota left for the key in {prefix}_API_KEY"))
        wait = seconds_to_wait(headers)
        if status == _BUSY:
            return ProviderPaused("rate_limit", _said("wants fewer requests (HTTP status 429)"), wait)
        if status in _FAILED:
            return RequestFailed(message, wait)
        if status in _PASSING or status >= 500:
            return ProviderPaused("outage", message, wait)
        refusal = _REFUSALS.get(status)
        if refusal is not None:
            return ProviderPaused("refused", _said(refusal.format(prefix=prefix)))
        return ProviderPaused("refused", f"{message}: check {prefix}_URL; redirects are not followed")


def _said(what: str) -> str:
    return f"the embedding server {what}"
