"""A data set into a scratch database by an application's ways: the client, then the queues of an embedder."""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import class_row, dict_row

from benchmarks.quality.embeddings import Embedder, Model
from benchmarks.quality.extractions import extract
from benchmarks.quality.sparse import read_sparse
from pgrecall import Client
from pgrecall.admin.migrate import migrate
from pgrecall.query.unreadable import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Dataset
    from benchmarks.quality.embeddings import Vector, VectorCache
    from benchmarks.quality.extractions import ExtractionCache

__all__ = ["Loaded", "describe_database", "load", "vector_text"]

_CLAIM = 2048
_LEASE = "6 hours"


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a database holds once a data set is in it.

    Attributes:
        embedder: The database's model.
        vectors: The embedding of every memory that is not sensitive, by its id in the data set; also what
            the database does not store, because the model does not know the language.
        description: Versions and settings, for the results file.
    """

    embedder: Embedder
    vectors: dict[str, NDArray[np.float32]]
    description: dict[str, Any]


def load(
    dsn: str,
    dataset: Dataset,
    cache: VectorCache,
    extractions: ExtractionCache,
    *,
    model: str | None,
    language: str,
    sparse: str | None = None,
    say: Callable[[str], None],
) -> Loaded:
    """Migrate an empty database, store the memories, embed and read them, and refresh the statistics.

    Args:
        dsn: The database.
        dataset: The memories.
        cache: Vectors that are known already.
        extractions: What was read from memories before.
        model: The embedding model; None takes the bundled one.
        language: The text-search configuration of every namespace.
        sparse: The sparse model that reads the memories; None: none does.
        say: Told of progress.

    Raises:
        PgrecallError: A memory was refused, or there is no model.
        ValueError: A memory got no embedding.
    """
    migrate(dsn, model=model)
    with psycopg.connect(dsn, autocommit=True) as connection:
        # The data are public: a memory that holds a key is embedded and read as the others.
        connection.execute("SELECT pgrecall.set_setting('secrets', 'allow')")
        for name in dataset.by_namespace():
            connection.execute("SELECT pgrecall.create_namespace(%s, %s)", (name, language))
        say(f"storing {len(dataset.memories)} memories in {len(dataset.by_namespace())} namespaces")
        with Client(dsn) as client:
            ids = client.remember_many(memory.fields for memory in dataset.memories)
            active = _active_model(connection)
            embedder = Embedder(active, cache, say)
            names = {id: memory.id for id, memory in zip(ids, dataset.memories, strict=True)}
            vectors = _embed(connection, embedder, names)
            expected = sum(not memory.fields.is_sensitive for memory in dataset.memories)
            if len(vectors) != expected:
                raise ValueError(f"{expected - len(vectors)} memories got no embedding")
            undated = {
                id
                for id, memory in zip(ids, dataset.memories, strict=True)
                if memory.fields.occurred_at is None and memory.fields.created_at is None
            }
            read = {"extraction": extract(connection, extractions, say, undated=undated)}
            if sparse is not None:
                read["sparse"] = read_sparse(connection, extractions, sparse, say)
            client.admin.analyze()
        return Loaded(embedder, vectors, {**describe_database(connection), **read})


def _readable(part: Vector) -> str | None:
    return None if part.is_unreadable else vector_text(part.numbers)


def vector_text(vector: NDArray[np.float32]) -> str:
    """Write a vector as the database reads it."""
    return "[" + ",".join(f"{number:.6g}" for number in vector.tolist()) + "]"


def _active_model(connection: psycopg.Connection[Any]) -> Model:
    with connection.cursor(row_factory=class_row(Model)) as cursor:
        model = cursor.execute("SELECT * FROM pgrecall.active_model()").fetchone()
    if model is None:
        raise ValueError("the scratch database has no embedding model")
    return model


def _embed(
    connection: psycopg.Connection[Any], embedder: Embedder, names: dict[int, str]
) -> dict[str, NDArray[np.float32]]:
    worker = uuid.uuid4()
    vectors: dict[str, NDArray[np.float32]] = {}
    while True:
        claimed = connection.execute(
            "SELECT memory_id, content_hash, content, passages FROM pgrecall.claim(%s, %s, %s::interval)",
            (worker, _CLAIM, _LEASE),
        ).fetchall()
        if not claimed:
            break
        rows = embedder.documents([text for _, _, text, _ in claimed])
        vectors.update((names[id], row.numbers) for (id, *_), row in zip(claimed, rows, strict=True))
        for (id, *_), row in zip(claimed, rows, strict=True):
            if row.is_unreadable:
                connection.execute("SELECT pgrecall.fail(%s, %s, %s, 'unreadable')", (worker, id, UNREADABLE))
        claimed = [one for one, row in zip(claimed, rows, strict=True) if not row.is_unreadable]
        parts = iter(embedder.documents([part for *_, passages in claimed for part in passages or ()]))
        connection.execute(
            "SELECT pgrecall.complete(%s, %s, %s, %s, passages => %s::jsonb)",
            (
                worker,
                [id for id, *_ in claimed],
                [digest for _, digest, *_ in claimed],
                [vector_text(row.numbers) for row in rows if not row.is_unreadable],
                json.dumps([[_readable(next(parts)) for _ in p] if p else None for *_, p in claimed]),
            ),
        )
    return vectors


def describe_database(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """Return versions and settings of a database, for the results file."""
    with connection.cursor(row_factory=dict_row) as cursor:
        status = cursor.execute("SELECT * FROM recall_status()").fetchone() or {}
        settings = cursor.execute(
            "SELECT name, value FROM pgrecall.settings_in_force ORDER BY name"
        ).fetchall()
    return {
        "server": {
            name: status[name]
            for name in ("server_version", "pgvector_version", "schema_revision", "bundle_hash")
        },
        "model": {"name": status["model"], "dimension": status["dimension"]},
        "settings": {row["name"]: row["value"] for row in settings},
    }
