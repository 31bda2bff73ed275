"""A server that behaves like the embedding APIs of OpenAI, Voyage, Cohere and text-embeddings-inference.

It holds requests to what these APIs document, answers with vectors that `vector_of` foretells, records what it
is asked, and fails on demand. In a process of its own, until SIGTERM:

    python -m tests.support.provider_servers --kind openai --port 0 --dimension 384 --chaos 7
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import signal
import socket
import threading
import zlib
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from enum import Enum
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Literal, Self, TypeAlias

from .serving import HttpServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

Kind: TypeAlias = Literal["openai", "tei", "voyage", "cohere"]

CANARY = "Zanzibarquux"
"""A word in every error the server answers with, beside the input and the key: nobody is to repeat it."""


class Fault(Enum):
    """What a request can meet with in place of an answer."""

    RATE_LIMIT = "429, Retry-After in seconds"
    RATE_LIMIT_DATE = "429, Retry-After as a date"
    RATE_LIMIT_RESET = "429, x-ratelimit-reset-… as OpenAI has it"
    NO_QUOTA = "429 of an account without quota"
    KEY = "401"
    UNPAID = "402"
    FORBIDDEN = "403"
    NO_MODEL = "404"
    REDIRECT = "307"
    BAD_REQUEST = "400"
    ERROR = "500"
    BACKEND = "424, as text-embeddings-inference fails"
    UNAVAILABLE = "503"
    HTML = "200 with a page"
    CUT_JSON = "200, cut off in the middle"
    NOT_EMBEDDINGS = "200 with JSON of another shape"
    TOO_FEW = "a vector too few"
    SHUFFLED = "vectors in another order, each with its index"
    LONGER = "vectors with one number more"
    SHORTER = "vectors with one number fewer"
    NAN = "a vector that is not finite"
    ZERO = "a vector of zeros"
    HUGE = "an answer that does not end"
    GZIP = "a small compressed answer that is large"
    DEFLATE = "the same, deflated"
    SILENCE = "no answer"
    DRIP = "a byte now and then"
    CLOSED = "the connection closed"


# What a server may come back from by itself, all of it.
CHAOS = (
    Fault.RATE_LIMIT, Fault.RATE_LIMIT_DATE, Fault.ERROR, Fault.UNAVAILABLE, Fault.HTML, Fault.CUT_JSON,
    Fault.NOT_EMBEDDINGS, Fault.TOO_FEW, Fault.SHUFFLED, Fault.LONGER, Fault.SHORTER, Fault.NAN, Fault.ZERO,
    Fault.SILENCE, Fault.CLOSED,
)  # fmt: skip

_STATUSES = {
    Fault.RATE_LIMIT: 429, Fault.RATE_LIMIT_DATE: 429, Fault.RATE_LIMIT_RESET: 429, Fault.NO_QUOTA: 429,
    Fault.KEY: 401, Fault.UNPAID: 402, Fault.FORBIDDEN: 403, Fault.NO_MODEL: 404, Fault.REDIRECT: 307,
    Fault.BAD_REQUEST: 400, Fault.ERROR: 500, Fault.BACKEND: 424, Fault.UNAVAILABLE: 503,
}  # fmt: skip


_BOMBS = {Fault.GZIP: "gzip", Fault.DEFLATE: "deflate"}


@cache
def bomb(encoding: str) -> bytes:
    """A compressed answer of some kilobytes that becomes 64 MB."""
    squeeze = zlib.compressobj(9, wbits=31 if encoding == "gzip" else 15)
    return b"".join([*(squeeze.compress(b" " * 2**20) for _ in range(64)), squeeze.flush()])


@dataclass(frozen=True)
class Asked:
    """A request as the server saw it."""

    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    @property
    def texts(self) -> list[str]:
        request = self.json
        texts: list[str] = request["texts"] if "texts" in request else request["input"]
        return texts


def vector_of(text: str, dimension: int) -> list[float]:
    """The vector of a text, of length 1: the beginning of a longer one, brought to length 1 again."""
    raw = hashlib.shake_256(text.encode()).digest(2 * dimension)
    numbers = [int.from_bytes(raw[at : at + 2]) - 32767.5 for at in range(0, len(raw), 2)]
    norm = math.hypot(*numbers)
    return [number / norm for number in numbers]


class _Refused(Exception):  # noqa: N818 - what happened, no error of ours
    """The API does not take this request."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class ProviderServer:
    """A server, as a context manager; `url` is the base address for the provider's setting.

    Args:
        kind: Whose API it has.
        dimension: The length of its vectors where no other is asked for.
        faults: Says of each request what it meets with; or the faults of the first requests, in their order.
        key: The key it wants to see; None takes any request.
        model: The model it has; None has them all.
        max_texts: The most texts of a request; None: the API's own.
        max_words: The most words of a text, for the APIs that refuse what is too long.
        too_long_status: The status of that refusal; None: the API's own.
        refused: A text that holds this word is refused with status 400, alone or not.
        retry_after: What the 429s say, in seconds.
        port: The port; 0 takes a free one.
    """

    def __init__(
        self,
        kind: Kind = "openai",
        *,
        dimension: int = 8,
        faults: Callable[[Asked], Fault | None] | Iterator[Fault | None] | Sequence[Fault | None] = (),
        key: str | None = None,
        model: str | None = None,
        max_texts: int | None = None,
        max_words: int = 10_000,
        too_long_status: int | None = None,
        refused: str | None = None,
        retry_after: float = 7,
        port: int = 0,
    ) -> None:
        self.kind = kind
        self.dimension = dimension
        self.requests: list[Asked] = []
        self.connections = 0
        self.max_texts = {"openai": 2048, "tei": 32, "voyage": 1000, "cohere": 96}[kind]
        if max_texts is not None:
            self.max_texts = max_texts
        self.max_words = max_words
        self.too_long_status = (413 if kind == "tei" else 400) if too_long_status is None else too_long_status
        self.refused = refused
        self.retry_after = retry_after
        self.key = key
        self.model = model
        self._faults = faults if callable(faults) else _in_turn(iter(faults))
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._server = HttpServer(("127.0.0.1", port), _handler(self))
        self._serving = serving(self._server)
        base = "v2" if kind == "cohere" else "v1"
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/{base}"
        self._path = f"/{base}/embed" if kind == "cohere" else f"/{base}/embeddings"

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._serving.__exit__(None, None, None)

    def fail(self, *faults: Fault | None) -> None:
        """Let the next requests meet with these, and forget what was said before."""
        self._faults = _in_turn(iter(faults))

    def handle(self, asked: Asked, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request, or not."""
        with self._lock:
            self.requests.append(asked)
            fault = self._faults(asked)
        if fault is Fault.SILENCE:
            self._released.wait()
        elif fault is Fault.CLOSED:
            handler.connection.shutdown(socket.SHUT_RDWR)
        if fault in (Fault.SILENCE, Fault.CLOSED):
            handler.close_connection = True
        elif fault is Fault.DRIP:
            self._drip(handler)
        elif fault is Fault.HUGE:
            self._flood(handler)
        elif fault in _BOMBS:
            _send(handler, 200, bomb(_BOMBS[fault]), {"Content-Encoding": _BOMBS[fault]})
        elif fault in _STATUSES:
            _send(handler, _STATUSES[fault], self._error(asked, fault), self._headers(fault))
        else:
            try:
                vectors = self._vectors(asked)
            except _Refused as refusal:
                _send(handler, refusal.status, self._error(asked, None, str(refusal)))
            else:
                _send(handler, 200, self._body(vectors, fault))

    def _vectors(self, asked: Asked) -> list[list[float]]:
        if asked.path != self._path:
            raise _Refused(404, "no such path")
        if self.key is not None and asked.headers.get("Authorization") != f"Bearer {self.key}":
            raise _Refused(401, "no such key")
        request = asked.json
        if self.model is not None and request["model"] != self.model:
            raise _Refused(404, "no such model")
        texts, dimension = self._checked(request)
        if len(texts) > self.max_texts:
            raise _Refused(413 if self.kind == "tei" else 400, "too many texts")
        is_cut = request.get("truncation") is True or request.get("truncate") == "END"
        if not is_cut and any(len(text.split()) > self.max_words for text in texts):
            raise _Refused(self.too_long_status, "the input is too large to process")
        if self.refused is not None and any(self.refused in text for text in texts):
            raise _Refused(400, "content")
        return [vector_of(text, dimension) for text in texts]

    def _checked(self, request: dict[str, Any]) -> tuple[list[str], int]:
        """Hold a request to its API; return the texts and the length of their vectors."""
        named = {"model", "input", "encoding_format", "dimensions"}
        texts = request.get("input")
        dimension = request.get("dimensions", self.dimension)
        if self.kind == "voyage":
            named = {"model", "input", "input_type", "truncation", "output_dimension"}
        elif self.kind == "cohere":
            named = {"model", "texts", "input_type", "embedding_types", "truncate", "output_dimension"}
            texts = request.get("texts")
        elif request.get("encoding_format") != "float":
            raise _Refused(400, "encoding_format")
        if self.kind == "tei":
            named -= {"dimensions"}
        if self.kind in ("voyage", "cohere"):
            dimension = request.get("output_dimension", self.dimension)
            types = ("query", "document") if self.kind == "voyage" else ("search_query", "search_document")
            if request.get("input_type") not in types:
                raise _Refused(400, "input_type")
        if self.kind == "cohere" and request.get("embedding_types") != ["float"]:
            raise _Refused(400, "embedding_types")
        if unknown := set(request) - named:
            raise _Refused(400, f"unknown fields {unknown}")
        if not isinstance(texts, list) or not texts or not all(isinstance(one, str) and one for one in texts):
            raise _Refused(400, "no texts")
        return texts, dimension

    def _body(self, vectors: list[list[float]], fault: Fault | None) -> bytes:
        if fault is Fault.HTML:
            return f"<html>{CANARY}</html>".encode()
        if fault is Fault.NOT_EMBEDDINGS:
            return json.dumps({"error": CANARY}).encode()
        if fault is Fault.TOO_FEW:
            vectors = vectors[:-1]
        elif fault is Fault.LONGER:
            vectors = [[*vector, 0.5] for vector in vectors]
        elif fault is Fault.SHORTER:
            vectors = [vector[:-1] for vector in vectors]
        elif fault is Fault.NAN:
            vectors[-1][0] = math.nan
        elif fault is Fault.ZERO:
            vectors[-1] = [0.0] * len(vectors[-1])
        answer: dict[str, Any]
        if self.kind == "cohere":
            answer = {"id": "1", "embeddings": {"float": vectors}, "texts": []}
        else:
            rows = [
                {"object": "embedding", "index": number, "embedding": vector}
                for number, vector in enumerate(vectors)
            ]
            if fault is Fault.SHUFFLED:
                rows.reverse()
            answer = {"object": "list", "data": rows, "model": "m", "usage": {"total_tokens": 1}}
        body = json.dumps(answer).encode()
        return body[: len(body) // 2] if fault is Fault.CUT_JSON else body

    def _error(self, asked: Asked, fault: Fault | None, reason: str = "") -> bytes:
        """An error that repeats what it should not."""
        code = "insufficient_quota" if fault is Fault.NO_QUOTA else reason
        said = f"{CANARY} {asked.headers.get('Authorization')} {asked.body.decode()}"
        return json.dumps({"error": {"message": f"{reason} {said}", "code": code}}).encode()

    def _headers(self, fault: Fault) -> dict[str, str]:
        if fault is Fault.RATE_LIMIT_DATE:
            moment = datetime.now(UTC) + timedelta(seconds=self.retry_after)
            return {"Retry-After": format_datetime(moment, usegmt=True)}
        if fault is Fault.RATE_LIMIT_RESET:
            return {
                "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1m30s",
                "x-ratelimit-remaining-tokens": "9000", "x-ratelimit-reset-tokens": "6h0m0s",
            }  # fmt: skip
        if fault is Fault.RATE_LIMIT:
            return {"Retry-After": f"{self.retry_after:g}"}
        return {"Location": "/elsewhere"} if fault is Fault.REDIRECT else {}

    def _drip(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not self._released.wait(0.02):
            handler.wfile.write(b" ")

    def _flood(self, handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(2**40))
        handler.end_headers()
        while not self._released.is_set():
            handler.wfile.write(b" " * 65536)


def chaos(seed: int, rate: float = 0.3) -> Callable[[Asked], Fault | None]:
    """Faults of every kind that passes, at random: the same ones for a seed and an order of requests."""
    chance = random.Random(seed)
    return lambda _: chance.choice(CHAOS) if chance.random() < rate else None


def _in_turn(faults: Iterator[Fault | None]) -> Callable[[Asked], Fault | None]:
    return lambda _: next(faults, None)


def _handler(state: ProviderServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Head and body are sent one by one, and the second would wait for the client's acknowledgement.
        disable_nagle_algorithm = True

        def setup(self) -> None:
            state.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.handle(Asked(self.path, dict(self.headers), body), self)

        def log_message(self, *arguments: object) -> None:
            pass

    return Handler


def _send(
    handler: BaseHTTPRequestHandler, status: int, body: bytes, headers: Mapping[str, str] | None = None
) -> None:
    handler.send_response(status)
    for name, value in (headers or {}).items():
        handler.send_header(name, value)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Serve an embedding API that nobody pays for.")
    parser.add_argument("--kind", choices=("openai", "tei", "voyage", "cohere"), default="openai")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--key")
    parser.add_argument("--retry-after", type=float, default=1)
    parser.add_argument("--chaos", type=int, metavar="SEED", help="fail at random")
    parser.add_argument("--rate", type=float, default=0.3, help="the part of requests that fail")
    given = parser.parse_args(arguments)
    server = ProviderServer(
        given.kind,
        dimension=given.dimension,
        key=given.key,
        port=given.port,
        retry_after=given.retry_after,
        faults=() if given.chaos is None else chaos(given.chaos, given.rate),
    )
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    with server:
        print(server.url, flush=True)
        stopped.wait()


if __name__ == "__main__":
    main()
