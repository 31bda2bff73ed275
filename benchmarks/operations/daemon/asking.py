"""Embeddings of queries through the database, against the model called directly."""

from __future__ import annotations

import multiprocessing
import time
from concurrent.futures import ProcessPoolExecutor
from typing import TYPE_CHECKING, Any

from benchmarks.operations.daemon.processes import connect, sentences
from benchmarks.speed.measure import Latency
from pgrecall_embedder.providers import ModelSpec, load_provider

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

__all__ = ["asking"]

_WAIT_SECONDS = 10
_WARM_UP = 20
_PAUSE_SECONDS = 0.02


def asking(dsn: str, count: int) -> dict[str, Any]:
    """Measure how long a client waits for the embedding of a question, the first time and from the cache.

    The bare model embeds the same questions in a process of its own, half of them before and half after. For
    either there is a pause between two questions: a model that computes without one is faster than anybody
    a caller who asks now and then sees it.

    Args:
        dsn: The database; a daemon works on it.
        count: How many questions.
    """
    questions = [f"what about {text}?" for text in sentences(count + 2 * _WARM_UP, seed=4)]
    times: dict[str, list[float]] = {"model": [], "asked": [], "cached": []}
    with connect(dsn) as connection:
        row = connection.execute(
            "SELECT model_id, model, dimension, provider, document_prompt, query_prompt "
            "FROM pgrecall.embedded_generations()"
        ).fetchone()
        assert row is not None  # noqa: S101
        model = ModelSpec(*row)
        half = questions[: len(questions) // 2], questions[len(questions) // 2 :]
        times["model"] += _apart(model, half[0])
        times["asked"] = _each(lambda question: _ask(connection, question), questions)
        times["cached"] = _each(lambda question: _ask(connection, question), questions)
        times["model"] += _apart(model, half[1])
    found = {name: Latency.of(measured) for name, measured in times.items()}
    return {
        "questions": count,
        **{f"{name}_p50_ms": one.p50 for name, one in found.items()},
        **{f"{name}_p95_ms": one.p95 for name, one in found.items()},
        "asked_minus_model_p50_ms": round(found["asked"].p50 - found["model"].p50, 3),
    }


def _ask(connection: psycopg.Connection[Any], question: str) -> None:
    """Do what the client does for embed="daemon"."""
    asked = connection.execute(
        "SELECT id, embedding, error FROM pgrecall.request_query_embedding(%s)", [question]
    ).fetchone()
    assert asked is not None  # noqa: S101
    if asked[1] is None and asked[2] is None:
        asked = connection.execute(
            "SELECT %s, embedding, error FROM pgrecall.wait_query_embedding(%s, %s)",
            [asked[0], asked[0], _WAIT_SECONDS],
        ).fetchone()
    if asked is None or asked[1] is None:
        raise SystemExit(f"the daemon gave no embedding: {asked and asked[2]}")


def _apart(model: ModelSpec, questions: list[str]) -> list[float]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_embed_each, model, questions).result()


def _embed_each(model: ModelSpec, questions: list[str]) -> list[float]:
    return _each(load_provider(model, 1).embed_query, questions)


def _each(call: Callable[[str], object], questions: list[str]) -> list[float]:
    """Return how many milliseconds each call took, the first ones left out."""
    times = []
    for question in questions:
        started = time.perf_counter()
        call(question)
        times.append(1000 * (time.perf_counter() - started))
        time.sleep(_PAUSE_SECONDS)
    return times[_WARM_UP:]
