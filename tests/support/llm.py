"""What the tests of the language model share: a server that behaves like OpenAI's API, and memories."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from pgrecall_embedder.llm import LlmClient, LlmResult, Rejected, extract_facts
from pgrecall_extract.base import Document
from support.serving import HttpServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

KEY = "sk-that-nobody-may-see"
CANARY = "Zanzibarquux"
ANCHOR = datetime(2024, 5, 7, 22, 30, tzinfo=UTC)


@dataclass
class Reply:
    """One answer of the server.

    Attributes:
        status: The HTTP status.
        headers: Further headers.
        body: What is sent.
        pieces: Sent instead of the body, with a pause after each.
        pause: Seconds of that pause.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    pieces: Sequence[bytes] = ()
    pause: float = 0.0


@dataclass
class Asked:
    """A request as the server saw it."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> dict[str, Any]:
        request: dict[str, Any] = json.loads(self.body)
        return request

    @property
    def rows(self) -> Any:
        """The data between the two lines of the message; none of the short question that tells if a text is to blame."""
        if len(self.json["messages"]) == 1:
            return []
        message = self.json["messages"][1]["content"]
        found = re.fullmatch(r"BEGIN (\w+)\n(.*)\nEND \1", message, re.DOTALL)
        assert found is not None
        return json.loads(found[2])


class Server:
    """Answers with the replies it is given, in their order, then as `script` says; records every request."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.first: list[Reply] = []
        self.script: Callable[[Asked], Reply] = lambda asked: completion(entries(asked.rows))
        self.released = threading.Event()
        self.connections = 0
        self.url = ""
        self._lock = threading.Lock()

    def reply(self, asked: Asked) -> Reply:
        with self._lock:
            self.asked.append(asked)
            if self.first:
                return self.first.pop(0)
        return self.script(asked)

    @property
    def batches(self) -> list[list[str]]:
        """The texts of every request."""
        return [[row["text"] for row in asked.rows] for asked in self.asked]


@contextmanager
def served() -> Iterator[Server]:
    """Serve one."""
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else an answer of two packets waits 40 ms for an acknowledgement

        def setup(self) -> None:
            state.connections += 1
            super().setup()

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = state.reply(Asked(self.path, dict(self.headers), body))
            pieces = reply.pieces or [reply.body]
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(sum(map(len, pieces))))
            self.end_headers()
            for piece in pieces:
                self.wfile.write(piece)
                if reply.pause:
                    state.released.wait(reply.pause)

        def log_message(self, *arguments: object) -> None:
            pass

    server = HttpServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    with serving(server):
        try:
            yield state
        finally:
            state.released.set()


def completion(
    content: object,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    usage: object = None,
) -> Reply:
    """A chat completion; a content that is no text is written as JSON."""
    text = content if isinstance(content, str | None) else json.dumps(content)
    message = {"role": "assistant", "content": text, "refusal": refusal}
    counted = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
        "usage": counted if usage is None else usage,
    }
    return Reply(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})


def failure(status: int, code: str = "", headers: Mapping[str, str] | None = None) -> Reply:
    """An error as OpenAI's API has it, that quotes what it should not."""
    error = {"message": f"{CANARY} {KEY}", "type": "error", "code": code}
    return Reply(status, headers or {}, json.dumps({"error": error}).encode())


def row(subject: str = "Alice", target: str = "Acme", **fields: Any) -> dict[str, Any]:
    """A fact as a model writes it."""
    plain: dict[str, Any] = {
        "subject": subject,
        "subject_type": "PERSON",
        "label": "works at",
        "object": target,
        "object_type": "ORG",
        "statement": f"{subject} works at {target}.",
        "valid_from": None,
        "valid_to": None,
        "confidence": 0.9,
    }
    return plain | fields


_WORKS = re.compile(r"(\w+) works at (\w+)")


def entries(rows: Any) -> dict[str, Any]:
    """What a good model says: everybody of whom the text says that they work somewhere."""
    return {
        "memories": [
            {"id": one["id"], "facts": [row(*found) for found in _WORKS.findall(one["text"])]} for one in rows
        ]
    }


def document(memory_id: int, content: str, **fields: Any) -> Document:
    plain: dict[str, Any] = {"title": None, "speaker": None, "anchor": ANCHOR}
    return Document(memory_id=memory_id, content=content, **(plain | fields))


def workers(count: int) -> list[Document]:
    """Memories that state one fact each."""
    return [document(number, f"Person{number} works at Firm{number}.") for number in range(1, count + 1)]


def client_of(server: Server, **options: Any) -> LlmClient:
    """A client that does not wait for long."""
    plain: dict[str, Any] = {"timeout": 10.0, "backoff": 0.001, "max_concurrency": 1}
    return LlmClient(server.url, "m", SecretStr(KEY), **(plain | options))


class Memory:
    """A cache that remembers, and counts what it is asked."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}
        self.gets = 0

    async def get(self, hashes: Sequence[str]) -> Mapping[str, str]:
        self.gets += 1
        return {key: self.values[key] for key in hashes if key in self.values}

    async def put(self, values: Mapping[str, str]) -> None:
        self.values.update(values)


def extract(
    server: Server, documents: Sequence[Document], *, client: LlmClient | None = None, **options: Any
) -> LlmResult:
    """Extract, and close the client."""

    async def run() -> LlmResult:
        async with client or client_of(server) as asking:
            return await extract_facts(asking, documents, **options)

    return asyncio.run(run())


def pairs(result: LlmResult, memory_id: int) -> list[tuple[str, str, str]]:
    facts = result.outcomes[memory_id]
    assert not isinstance(facts, Rejected)
    return [(fact.subject, fact.label, fact.object) for fact in facts]


def assert_complete(result: LlmResult, count: int, *rejected: int) -> None:
    """All of `workers` have their fact, except for some that are rejected."""
    assert (result.unfinished, result.problem) == ((), None)
    assert set(result.outcomes) == set(range(1, count + 1))
    for number in range(1, count + 1):
        if number in rejected:
            assert isinstance(result.outcomes[number], Rejected)
        else:
            assert pairs(result, number) == [(f"Person{number}", "works at", f"Firm{number}")]
