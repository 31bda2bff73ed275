"""Asks recall for its confidence in every namespace: with each encoder, and by words alone."""

from __future__ import annotations

import json
import uuid
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import psycopg

from benchmarks.quality.extractions import extract
from benchmarks.quality.loading import describe_database, vector_text
from benchmarks.quality.reliability.sampling import stored
from pgrecall import Client
from pgrecall.admin.migrate import migrate
from pgrecall.query.unreadable import UNREADABLE
from pgrecall_embedder.jobs.embed.background_texts import TEXTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from benchmarks.quality.extractions import ExtractionCache
    from benchmarks.quality.reliability.encoders import Encoder
    from benchmarks.quality.reliability.sampling import Space

__all__ = ["WORDS", "Observation", "ask", "embed", "load", "read_observations", "write_observations"]

WORDS: Final = "words alone"
"""Stands for an encoder where questions are asked without a vector."""
_CLAIM: Final = 1024
_FIRST: Final = """
SELECT e.id, e.confidence, e.confidence_parts
FROM recall_explain(%s, %s, k => 1, namespace => %s) e
WHERE e.place = 1
"""


@dataclass(frozen=True, slots=True)
class Observation:
    """The first memory that recall returned for a question.

    Attributes:
        encoder: The encoder, or `WORDS`.
        dataset: The question's data set.
        size: Memories in the namespace.
        question: Its id.
        is_known: Whether its evidence is in the namespace.
        is_right: Whether the first memory is part of the evidence.
        confidence: Of that memory; 0 if none was returned.
        parts: What spoke for and against it, in log odds; empty if none was returned.
    """

    encoder: str
    dataset: str
    size: int
    question: str
    is_known: bool
    is_right: bool
    confidence: float
    parts: dict[str, float]


def load(
    dsn: str, spaces: Sequence[Space], extractions: ExtractionCache, say: Callable[[str], None]
) -> tuple[dict[int, tuple[str, str]], dict[str, Any]]:
    """Store the namespaces and read names and times out of them; nothing is embedded yet.

    Returns:
        Data set and id in it of every memory, by its id in the database; and what the results file says of
        the database.
    """
    migrate(dsn)
    names: dict[int, tuple[str, str]] = {}
    undated: set[int] = set()
    with psycopg.connect(dsn, autocommit=True) as connection, Client(dsn) as client:
        for space in spaces:
            connection.execute("SELECT pgrecall.create_namespace(%s, %s)", (space.name, space.language))
        memories = [
            (source.name, memory)
            for space in spaces
            for (source, _), memory in zip(space.memories, stored(space), strict=True)
        ]
        say(f"storing {len(memories)} memories in {len(spaces)} namespaces")
        ids = client.remember_many(memory.fields for _, memory in memories)
        for id, (name, memory) in zip(ids, memories, strict=True):
            names[id] = (name, memory.id)
            if memory.fields.occurred_at is None and memory.fields.created_at is None:
                undated.add(id)
        extraction = extract(connection, extractions, say, undated=undated)
        client.admin.analyze()
        return names, {**describe_database(connection), "extraction": extraction}


def embed(dsn: str, encoder: Encoder, say: Callable[[str], None]) -> None:
    """Embed every memory with an encoder, in place of what another one left."""
    worker = uuid.uuid4()
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DELETE FROM pgrecall.embedding_backgrounds")
        connection.execute(
            "UPDATE pgrecall.embedding_models SET background_mean = NULL, background_deviation = NULL"
        )
        connection.execute("UPDATE pgrecall.memories SET embedding = NULL WHERE embedding IS NOT NULL")
        # What another encoder does not know, this one may.
        connection.execute("SELECT pgrecall.retry_failures()")
        [(model,)] = connection.execute("SELECT id FROM pgrecall.active_model()").fetchall()
        connection.execute(
            "SELECT pgrecall.state_background(%s, %s::text[])",
            (model, [vector_text(one.numbers) for one in encoder.embed(TEXTS)]),
        )
        done = 0
        while claimed := connection.execute(
            "SELECT memory_id, content_hash, content, passages FROM pgrecall.claim(%s, %s, '6 hours')",
            (worker, _CLAIM),
        ).fetchall():
            rows = _texts(encoder, [text for _, _, text, _ in claimed])
            for (id, *_), row in zip(claimed, rows, strict=True):
                if row is None:
                    connection.execute(
                        "SELECT pgrecall.fail(%s, %s, %s, 'unreadable')", (worker, id, UNREADABLE)
                    )
            claimed = [one for one, row in zip(claimed, rows, strict=True) if row is not None]
            parts = iter(_texts(encoder, [part for *_, passages in claimed for part in passages or ()]))
            connection.execute(
                "SELECT pgrecall.complete(%s, %s, %s, %s, passages => %s::jsonb)",
                (
                    worker,
                    [id for id, *_ in claimed],
                    [digest for _, digest, *_ in claimed],
                    [row for row in rows if row is not None],
                    json.dumps([passages and [next(parts) for _ in passages] for *_, passages in claimed]),
                ),
            )
            done += len(claimed)
            say(f"{encoder.name}: stored {done} embeddings")
        connection.execute(
            "SELECT _pgrecall.refresh_background(n.id, pgrecall.active_generation()) "
            "FROM pgrecall.namespaces n"
        )
        connection.execute("VACUUM (ANALYZE) pgrecall.memories")


def ask(
    dsn: str,
    spaces: Sequence[Space],
    names: dict[int, tuple[str, str]],
    encoder: Encoder | None,
    say: Callable[[str], None],
) -> list[Observation]:
    """Ask every question in its namespace; by words alone without an encoder."""
    found = []
    asked = [(space, one) for space in spaces for one in space.asked]
    texts = [one.question.text for _, one in asked]
    vectors: list[str | None] = [None] * len(texts)
    if encoder is not None:
        vectors = _texts(encoder, texts)
    name = encoder.name if encoder is not None else WORDS
    say(f"{name}: asking {len(asked)} questions")
    with psycopg.connect(dsn, autocommit=True) as connection:
        for (space, one), vector in zip(asked, vectors, strict=True):
            row = connection.execute(_FIRST, (one.question.text, vector, space.name)).fetchone()
            id, confidence, parts = row or (None, 0.0, {})
            is_right = id is not None and names[id] in {(one.sample, own) for own in one.question.relevant}
            found.append(
                Observation(
                    name, one.sample, space.size, one.question.id, one.is_known, is_right, confidence, parts
                )
            )
    return found


def write_observations(path: Path, observations: Iterable[Observation]) -> None:
    """Write observations, one a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(asdict(one)) + "\n" for one in observations)


def read_observations(path: Path) -> list[Observation]:
    """Read what `write_observations` wrote."""
    with path.open(encoding="utf-8") as file:
        return [Observation(**json.loads(line)) for line in file]


def _texts(encoder: Encoder, texts: Sequence[str]) -> list[str | None]:
    """Embed texts, as the database reads vectors; None: the encoder does not know the language."""
    return [None if one.is_unreadable else vector_text(one.numbers) for one in encoder.embed(texts)]
