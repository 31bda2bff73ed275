"""What the tests of `pgrecall reembed` share: a server of made-up models, and an embedder of a few lines."""

from __future__ import annotations

import json
import math
import random
import threading
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING, Any, Self
from uuid import uuid4

import psycopg

from pgrecall.admin.reembed import reembed
from support.memories import scalar
from support.serving import HttpServer, serving
from support.waiting import PATIENCE, until

if TYPE_CHECKING:
    from collections.abc import Iterator

OLD, NEW, NOISE = "words-384", "words-256", "noise-256"
_SUBJECTS = ["harbour", "garden", "engine", "violin", "bakery", "glacier", "lantern", "orchard"]
_VERBS = ["needs", "hides", "repairs", "paints", "follows", "borrows"]
_OBJECTS = ["candle", "ladder", "map", "window", "basket", "compass", "blanket", "mirror", "kettle", "hammer"]


@cache
def _direction(word: str, dimension: int) -> tuple[float, ...]:
    draw = random.Random(f"{word} {dimension}")
    return tuple(draw.gauss(0, 1) for _ in range(dimension))


def vector_of(model: str, text: str) -> list[float]:
    """A unit vector: near to those of texts with the same words, or to none if the model is called noise."""
    kind, _, dimension = model.rpartition("-")
    words = text.lower().replace(".", " ").replace("?", " ").split() if kind == "words" else [text]
    parts = [_direction(word, int(dimension)) for word in words or [""]]
    total = [sum(numbers) for numbers in zip(*parts, strict=True)]
    length = math.hypot(*total)
    return [number / length for number in total]


def sentences(count: int) -> list[str]:
    """Sentences of three words each, no two the same."""
    draw = random.Random(7)
    every = [f"{one} {two} {three}." for one in _SUBJECTS for two in _VERBS for three in _OBJECTS]
    return draw.sample(every, count)


TEXTS = sentences(60)


def change(dsn: str, model: str = NEW, **options: Any) -> Any:
    """Change to a model of the server."""
    dim = int(model.rpartition("-")[2])
    return reembed(dsn, model=model, dim=dim, provider="openai", **{"leave_to_daemons": True} | options)


class ModelServer:
    """Answers `POST …/embeddings` by `vector_of`, unless it has to wait."""

    def __init__(self) -> None:
        self.free = threading.Event()
        self.free.set()
        self.asked: list[tuple[str, str]] = []
        state = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else an answer of two packets waits 40 ms for an acknowledgement

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
                state.asked += [(body["model"], text) for text in texts]
                assert state.free.wait(PATIENCE)
                vectors = [vector_of(body["model"], text) for text in texts]
                answer = json.dumps(
                    {"data": [{"index": place, "embedding": vec} for place, vec in enumerate(vectors)]}
                ).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        server = HttpServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        self._serving = serving(server)

    def __enter__(self) -> Self:
        self._serving.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.free.set()
        self._serving.__exit__(None, None, None)


class Filler:
    """Embeds by `vector_of` whatever generation wants it, through the functions that embedders call."""

    def __init__(self, dsn: str, poison: str | None = None) -> None:
        self._dsn = dsn
        self._poison = poison
        self._stop = threading.Event()
        self.limit: dict[int, int] = {}

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        worker = uuid4()
        with psycopg.connect(self._dsn, autocommit=True) as conn:
            while not self._stop.wait(0.02):
                found = conn.execute(
                    "SELECT generation, model, dimension FROM pgrecall.embedded_generations()"
                ).fetchall()
                conn.execute(
                    "SELECT pgrecall.heartbeat(%s, 'here', 1, '', 'words', 0, %s)",
                    [worker, [generation for generation, _, _ in found]],
                )
                for generation, model, _ in found:
                    self._embed(conn, worker, generation, model)
            conn.execute("SELECT pgrecall.retire(%s)", [worker])

    def _embed(self, conn: psycopg.Connection[Any], worker: object, generation: int, model: str) -> None:
        left = self.limit.get(generation, 100)
        if not left:
            return
        claimed = conn.execute(
            "SELECT memory_id, content_hash, content FROM pgrecall.claim(%s, %s, generation => %s)",
            [worker, left, generation],
        ).fetchall()
        if generation in self.limit:
            self.limit[generation] -= len(claimed)
        good = [row for row in claimed if self._poison is None or self._poison not in row[2]]
        for memory, _, _ in set(claimed) - set(good):
            conn.execute("SELECT pgrecall.fail(%s, %s, 'no', 'refused', %s)", [worker, memory, generation])
            # As if the time to the next attempt had passed.
            conn.execute(
                "UPDATE pgrecall.jobs SET next_attempt_at = now() - interval '1 second' WHERE failed_at IS NULL"
            )
        if good:
            conn.execute(
                "SELECT pgrecall.complete(%s, %s, %s, %s, %s)",
                [
                    worker,
                    [memory for memory, _, _ in good],
                    [content_hash for _, content_hash, _ in good],
                    [str(vector_of(model, text)) for _, _, text in good],
                    generation,
                ],
            )


@contextmanager
def filled(dsn: str, count: int = 60) -> Iterator[tuple[list[int], Filler]]:
    """A database of memories that OLD has embedded, with an embedder at work; yields their ids, and it."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("SELECT pgrecall.activate_model(%s, 384, provider => 'openai')", [OLD])
        memories = json.dumps([{"content": text} for text in sentences(count)])
        ids = [row[0] for row in conn.execute("SELECT * FROM remember_many(%s)", [memories])]
        with Filler(dsn) as filler:
            until(lambda: not scalar(conn, "SELECT pending FROM recall_status()"))
            yield ids, filler


def judge(conn: psycopg.Connection[Any], texts: list[str], ids: list[int]) -> None:
    """Judge queries: each text is to find its memory."""
    for text, id in zip(texts, ids, strict=True):
        conn.execute(
            "SELECT pgrecall.judge(%s, %s, %s, %s)", [f"q{id}", text, str(vector_of(OLD, text)), [id]]
        )


def build(conn: psycopg.Connection[Any], model: str = NEW, *, search: bool = True) -> int:
    """Add a generation and run its statements; returns its number."""
    dimension = int(model.rpartition("-")[2])
    generation = scalar(conn, "SELECT pgrecall.add_generation(%s, %s, 'openai')", model, dimension)
    for stage in ("fill", "search") if search else ("fill",):
        for (statement,) in conn.execute(
            "SELECT pgrecall.generation_statements(%s, %s)", [generation, stage]
        ).fetchall():
            conn.execute(statement)
    return int(generation)


def generations(conn: psycopg.Connection[Any]) -> dict[int, str]:
    """States of the generations there are, by their number."""
    return dict(conn.execute("SELECT generation, state FROM pgrecall.generation_progress()").fetchall())


def leftovers(conn: psycopg.Connection[Any]) -> int:
    """How many indexes of the schema are not valid."""
    return int(
        scalar(
            conn,
            "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid "
            "WHERE c.relnamespace = 'pgrecall'::regnamespace AND NOT i.indisvalid",
        )
    )
