"""What the tests of the second stage share: rerankers, results to rerank, and an endpoint on this machine."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client, RecalledMemory, RecallResult
from pgrecall.query.legs import DESCRIBED
from pgrecall.query.reranking import SecondStage, second_stage
from support.serving import HttpServer, serving

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

KEY = "key-that-nobody-may-see"
CANARY = "canary"
NOT_COUNTED = "not reranked"


class Lengths:
    """A reranker for which a longer text is the better one; remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, list[str]]] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, list(texts)))
        return [float(len(text)) for text in texts]


class Answers:
    """A reranker that answers, or fails, in one way."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def score(self, query: str, texts: Sequence[str]) -> Any:  # noqa: ARG002 - as the protocol has it
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(texts) if callable(self.answer) else self.answer


class Endpoint:
    """A server that answers as TEI does, or as Cohere and Jina do; every request is recorded."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.status = 200
        self.headers: dict[str, str] = {}
        self.body: Callable[[dict[str, Any]], bytes] = self.answer
        self.released = threading.Event()
        self.url = ""

    @staticmethod
    def answer(request: dict[str, Any]) -> bytes:
        """Longest first, as these servers answer: best first, with the index in the request."""
        texts = request.get("texts", request.get("documents"))
        assert isinstance(texts, list)
        order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
        if "texts" in request:
            return json.dumps([{"index": i, "score": float(len(texts[i]))} for i in order]).encode()
        assert request["top_n"] == len(texts)
        results = [{"index": i, "relevance_score": float(len(texts[i]))} for i in order]
        return json.dumps({"id": "1", "results": results, "meta": {}}).encode()


@contextmanager
def served() -> Iterator[Endpoint]:
    """Serve an endpoint."""
    state = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.requests.append((self.path, dict(self.headers), body))
            answer = state.body(json.loads(body))
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *arguments: object) -> None:
            pass

    server = HttpServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/rerank"
    with serving(server):
        try:
            yield state
        finally:
            state.released.set()


def make_cross_encoder(folder: Path) -> Path:
    """Make a cross-encoder of a few thousand random weights."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "tea", "green", "black", "what", "do", "i", "like"]
    (folder / "vocab.txt").write_text("\n".join(words))
    torch.manual_seed(0)
    shape = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    settings = transformers.BertConfig(
        vocab_size=len(words), max_position_embeddings=64, num_labels=1, **shape
    )
    transformers.BertForSequenceClassification(settings).save_pretrained(folder)
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return folder


def recalled(number: int, content: str, **fields: Any) -> RecalledMemory:
    plain: dict[str, Any] = dict.fromkeys(
        (
            *("external_id", "title", "category", "speaker", "session", "source", "occurred_at"),
            *(name for leg, one in DESCRIBED.items() for name in (f"{leg}_rank", one.score)),
        )
    )
    plain |= {"tags": (), "metadata": {}, "importance": 0.5, "is_sensitive": False}
    plain |= {"chosen_strategy": "hybrid", "duplicates": ()}
    plain |= {
        "id": number,
        "content": content,
        "score": 1 / number,
        "created_at": datetime(2026, 5, 17, tzinfo=UTC),
    }
    return RecalledMemory(**(plain | fields))


def result_of(*memories: RecalledMemory, notice: str | None = None) -> RecallResult:
    return RecallResult("what tea do I like", memories, ("lexical", "graph"), notice)


def ids(result: RecallResult) -> list[int]:
    return [memory.id for memory in result]


def growing(count: int) -> list[RecalledMemory]:
    return [recalled(number, "tea " * number) for number in range(1, count + 1)]


def stage_of(reranker: Any, top: int = 30, timeout: float = 30.0) -> SecondStage:
    stage = second_stage(reranker, top, timeout)
    assert stage is not None
    return stage


def remember_tea(client: Client, count: int) -> None:
    client.remember_many({"content": "tea " + "green " * number} for number in range(count))
