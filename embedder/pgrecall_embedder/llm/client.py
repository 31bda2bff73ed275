"""A client of whatever answers `POST {base_url}/chat/completions` as OpenAI does.

OpenAI itself, llama.cpp's server, Ollama, vLLM and others. Asked is always for JSON by a schema. Servers
differ in whether they keep to it, so nothing that comes back is believed before it is checked.

What is sent are the texts it is given, to the address it is given. It logs nothing.
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self
from urllib.parse import urlunsplit

from pydantic import SecretStr

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.installing import install_command
from pgrecall.query.endpoints import (
    UNCOMPRESSED,
    checked_key,
    holds_secret,
    http_options,
    http_parts,
    read_within,
)

from .accounting import Meter, Prices, Usage
from .content import content_of
from .errors import AnswerUnusable, LlmMisconfigured, LlmUnavailable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from pgrecall_embedder.retry import TransientFailure

__all__ = ["LlmClient"]

_OWN_FIELDS: Final = frozenset({"model", "messages", "response_format", "stream", "n"})
_BUSY: Final = 429
_TOO_LARGE: Final = 413
_INTERNAL: Final = 500
_PASSING: Final = frozenset({408, 425, 500, 502, 503, 504, 520, 522, 524, 529})
_BAD_REQUEST: Final = frozenset({400, 422})
_MISCONFIGURED: Final[Mapping[int, tuple[str, str]]] = {
    400: ("the language model's server cannot read the request", "Check the name of the model; one that "
          "takes no temperature wants temperature=None."),
    401: ("the language model's server does not take the key", "Set PGRECALL_LLM_API_KEY to a valid key."),
    402: ("the language model's server wants to be paid", "Check the account that the key belongs to."),
    403: ("the language model's server forbids the request", "The key may not use this model; check both."),
    404: ("the language model's server has no such address or model", "The base address often ends in /v1; "
          "check the name of the model."),
    422: ("the language model's server cannot read the request", "Check the name of the model."),
}  # fmt: skip
# What servers write when a text is more than the model can read, or is not to their liking: OpenAI, Azure,
# vLLM, llama.cpp. Another text may fare better, so the address is not to blame.
_TEXT_TO_BLAME: Final = (
    "context_length", "context length", "context size", "exceed_context", "content_filter", "content policy",
    "too many tokens", "too long",
)  # fmt: skip

_PLAIN: Final = "Answer with the word yes."


class LlmClient:
    """Asks a language model. To be used in one event loop, as an async context manager or with `aclose`.

    Connections are kept open between requests. Redirects are not followed: the key would go along.

    Args:
        base_url: The address before /chat/completions, such as http://127.0.0.1:11434/v1.
        model: The model's name for the server.
        api_key: The key, as `keys.api_key` gives it; None sends none.
        timeout: Seconds for one request with its answer, all of it.
        max_retries: How often a request that failed (5xx, time-out, connection) is sent again.
        max_wait: The most seconds that one request waits where the server asks for it (429).
        max_concurrency: How many requests are under way at the same time.
        temperature: 0 asks for the likeliest answer; None leaves it to the server.
        extra: More fields for the request, such as max_tokens, seed or reasoning_effort.
        prices: What tokens cost.
        max_answer_bytes: A larger answer is not read to its end.
        backoff: Seconds of the first pause at most after a failure; it doubles.

    Raises:
        InvalidInput: The address is none, or holds a password or a query; a number is out of range.
        PgrecallError: httpx or tenacity is not installed.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: SecretStr | None = None,
        *,
        timeout: float = 120.0,
        max_retries: int = 4,
        max_wait: float = 120.0,
        max_concurrency: int = 2,
        temperature: float | None = 0.0,
        extra: Mapping[str, Any] | None = None,
        prices: Prices | None = None,
        max_answer_bytes: int = 4 * 2**20,
        backoff: float = 1.0,
    ) -> None:
        if any(importlib.util.find_spec(name) is None for name in ("httpx", "tenacity")):
            raise PgrecallError(
                "a language model needs httpx and tenacity", hint=f"Run: {install_command('llm')}."
            )
        if not model:
            raise InvalidInput("the language model has no name")
        limits = (timeout, max_concurrency, max_answer_bytes, max_retries, max_wait, backoff)
        if not all(map(math.isfinite, limits)) or min(limits[:3]) <= 0 or min(limits[3:]) < 0:
            raise InvalidInput("a limit of the language model's client is out of range")
        self._base_url = _checked_url(base_url)
        self._url = f"{self._base_url}/chat/completions"
        self._key = None if api_key is None else SecretStr(checked_key(api_key.get_secret_value(), "api_key"))
        self._fields: dict[str, Any] = {"model": model, "stream": False}
        if temperature is not None:
            self._fields["temperature"] = temperature
        if taken := sorted(_OWN_FIELDS & set(extra or {})):
            raise InvalidInput(f"the field {taken[0]} of a request cannot be given")
        self._fields |= extra or {}
        self._timeout = timeout
        self._max_answer_bytes = max_answer_bytes
        self._max_concurrency = max_concurrency
        self._retries = (max_retries, max_wait, backoff)
        self._meter = Meter(prices or Prices())
        self._slots = asyncio.Semaphore(max_concurrency)
        self._takes_schemas: bool | None = None
        self._has_answered = False

    def __repr__(self) -> str:
        return f"LlmClient({self._base_url!r}, {self.model!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the connections."""
        if "_http" in vars(self):
            await self._http.aclose()

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self._fields["model"])

    @property
    def max_concurrency(self) -> int:
        """How many requests are under way at the same time."""
        return self._max_concurrency

    @property
    def usage(self) -> Usage:
        """What this client has used so far."""
        return self._meter.read()

    async def ask(self, instructions: str, question: str, name: str, schema: Mapping[str, Any]) -> object:
        """Ask for a JSON object.

        Args:
            instructions: What the model is to do. They must say what the JSON looks like, for servers that
                know no schemas.
            question: What it is to do that with.
            name: The schema's name.
            schema: The JSON schema, within what "strict" allows.

        Returns:
            What the answer says, as JSON; whether it keeps to the schema is for the caller to check.

        Raises:
            LlmMisconfigured: It will not answer before something is set right.
            LlmUnavailable: It cannot be asked now.
            AnswerUnusable: The answer is cut off, a refusal, too large, or no JSON.
        """
        fields = self._fields | {
            "messages": [
                {"role": "system", "content": instructions},
                {"role": "user", "content": question},
            ]
        }
        by_schema = {"name": name, "strict": True, "schema": schema}
        async with self._slots:
            if self._takes_schemas is not False:
                try:
                    choice = await self._send(
                        fields | {"response_format": {"type": "json_schema", "json_schema": by_schema}}
                    )
                except _BadRequest:
                    # It may be the schema that the server cannot read: once, ask without.
                    if self._takes_schemas:
                        raise AnswerUnusable("the language model's server does not take the text") from None
                else:
                    self._takes_schemas = True
                    return content_of(choice)
            choice = await self._send(fields | {"response_format": {"type": "json_object"}})
            self._takes_schemas = False
            return content_of(choice)

    async def _send(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request, again where that may help, and return the first choice of the answer."""
        from pgrecall_embedder.retry import RequestRetries, TransientFailure

        body = json.dumps(fields, ensure_ascii=False).encode("utf-8", "replace")
        try:
            async for attempt in RequestRetries(*self._retries).attempts():
                with attempt:
                    return await self._send_once(body)
        except TransientFailure as failure:
            if (failure.is_answer or failure.is_broken) and await self._answers_others(failure):
                raise AnswerUnusable(
                    f"the language model's server {failure.reason}, and answers another text"
                ) from None
            raise LlmUnavailable(
                f"the language model's server {failure.reason}", retry_after=failure.retry_after
            ) from None
        raise AssertionError("a request is tried until it succeeds or fails")

    async def _answers_others(self, failure: TransientFailure) -> bool:
        """Ask something short, to tell a text that the server cannot take from a server that takes none.

        A server that a text has crashed gets the time of the retries to come back. Whoever retries nothing
        has no time for this either.
        """
        from pgrecall_embedder.retry import RequestRetries, TransientFailure

        body = json.dumps(self._fields | {"messages": [{"role": "user", "content": _PLAIN}]}).encode()
        retries, max_wait, backoff = self._retries
        if not retries:
            return False
        try:
            async for attempt in RequestRetries(
                retries if failure.is_broken else 0, max_wait, backoff
            ).attempts():
                with attempt:
                    await self._send_once(body)
        except (TransientFailure, AnswerUnusable, LlmMisconfigured):
            return False
        return True

    async def _send_once(self, body: bytes) -> dict[str, Any]:
        import httpx

        from pgrecall_embedder.retry import TransientFailure
        from pgrecall_embedder.retry_after import retry_after_seconds

        headers = {"Content-Type": "application/json", **UNCOMPRESSED}
        if self._key is not None:
            headers["Authorization"] = f"Bearer {self._key.get_secret_value()}"
        self._meter.request()
        try:
            async with (
                asyncio.timeout(self._timeout),
                self._http.stream("POST", self._url, content=body, headers=headers) as response,
            ):
                raw = await self._read(response)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise TransientFailure(
                f"took longer than {self._timeout:g} s",
                is_answer=not isinstance(error, (httpx.ConnectTimeout, httpx.PoolTimeout)),
            ) from None
        except httpx.HTTPError as error:
            raise TransientFailure(
                f"cannot be reached ({type(error).__name__})",
                is_broken=isinstance(error, (httpx.ReadError, httpx.RemoteProtocolError)),
            ) from None
        status = response.status_code
        if status == _INTERNAL and _blames_text(raw):
            raise AnswerUnusable("the language model's server does not take the text (HTTP status 500)")
        if status in _PASSING or status == _BUSY:
            if status == _BUSY and b"insufficient_quota" in raw:
                raise LlmMisconfigured(
                    "the account with the language model's server has no quota left",
                    hint="Check the account that the key belongs to.",
                )
            wait = retry_after_seconds(response.headers.get("Retry-After"))
            is_busy = status == _BUSY or wait is not None
            raise TransientFailure(
                f"answered with HTTP status {status}",
                is_busy=is_busy,
                retry_after=wait,
                is_answer=status in _PASSING,
            )
        if not response.is_success:
            raise _refusal(status, raw, self._has_answered)
        choice = self._choice(raw)
        if choice is None and self._has_answered:
            raise TransientFailure("did not answer as OpenAI does", is_answer=True)
        if choice is None:
            raise LlmMisconfigured("the language model's server does not answer as OpenAI does")
        self._has_answered = True
        return choice

    def _choice(self, raw: bytes) -> dict[str, Any] | None:
        """Read the first choice of a chat completion and count its tokens; None if it is no completion."""
        try:
            answer = json.loads(raw)
            choice: object = answer["choices"][0]
        except (ValueError, RecursionError, KeyError, IndexError, TypeError):
            return None
        if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
            return None
        self._meter.answer(answer.get("usage"))
        return choice

    async def _read(self, response: httpx.Response) -> bytes:
        try:
            return await read_within(response, self._max_answer_bytes)
        except ValueError as error:
            raise AnswerUnusable(f"the language model's server {error}") from None

    @cached_property
    def _http(self) -> httpx.AsyncClient:
        import httpx

        return httpx.AsyncClient(
            timeout=self._timeout,
            # Made with the environment's certificates, which a local server may need, too.
            verify=httpx.create_ssl_context(),
            **http_options(self._base_url),
        )


class _BadRequest(LlmMisconfigured):
    """The server does not understand the request."""


def _refusal(status: int, raw: bytes, has_answered: bool) -> PgrecallError:
    """Say what a status means that no second try will change.

    Args:
        status: The HTTP status.
        raw: The body; looked at, never quoted.
        has_answered: This server has already answered another request.
    """
    if status == _TOO_LARGE or (status in _BAD_REQUEST and (has_answered or _blames_text(raw))):
        return AnswerUnusable(f"the language model's server does not take the text (HTTP status {status})")
    message, hint = _MISCONFIGURED.get(
        status,
        (
            f"the language model's server answered with HTTP status {status}",
            "Check the address: redirects are not followed." if 300 <= status < 400 else None,
        ),
    )
    return (_BadRequest if status in _BAD_REQUEST else LlmMisconfigured)(message, hint=hint)


def _blames_text(raw: bytes) -> bool:
    """Whether an error says that the text is too long for the model, or not to its liking."""
    said = raw[:4096].decode("utf-8", "replace").casefold()
    return any(sign in said for sign in _TEXT_TO_BLAME)


def _checked_url(base_url: str) -> str:
    import httpx

    parts = http_parts(base_url)
    try:
        httpx.URL(base_url)
    except (ValueError, httpx.InvalidURL):
        parts = None
    if parts is None:
        raise InvalidInput(
            "the language model's address is not one of HTTP",
            hint="Write https://host/v1 or http://host:port/v1.",
        )
    if holds_secret(base_url):
        raise InvalidInput(
            "the language model's address holds a user, a password or a query",
            hint="Give the key by PGRECALL_LLM_API_KEY or by a file.",
        )
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
