"""A namespace after a long life: sizes, times and answers, before and after everything is made anew."""

from __future__ import annotations

import statistics
import time
from itertools import cycle, islice
from typing import TYPE_CHECKING, Any

from benchmarks.operations.live import embed, prepared
from benchmarks.speed import machine
from benchmarks.speed.generator import Corpus
from benchmarks.speed.questions import NATURAL, questions
from benchmarks.speed.storage import MODEL, connect, create_database, drop_database, tidy
from pgrecall import Client
from pgrecall.admin.migrate import migrate

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Sequence

    from psycopg import Connection

    from benchmarks.speed.questions import Question

__all__ = ["measure_aging"]

_NAME = "bench_aging"
_NAMESPACE = "aging"
_ROUND = 500
"""Changes between two visits of the daemon."""
_TABLES = ("postings", "term_stats", "pending_postings", "memories", "jobs")
_EXACT = '{"bm25_max_postings": 100000}'
_LIVE = """
SELECT id FROM pgrecall.memories
WHERE namespace_id = pgrecall.namespace_id(%s) AND deleted_at IS NULL AND superseded_by IS NULL ORDER BY id
"""


def measure_aging(
    server: str,
    memories: int,
    changes: int,
    dimension: int,
    chance: random.Random,
    *,
    queries: int,
    seed: int,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Store memories, change them often, and compare with the same ones after VACUUM FULL and a rebuild.

    Two of five changes update a memory's text, two supersede it, one forgets it and stores another.

    Args:
        server: Connection string of a role that may create databases.
        memories: How many are live at any time.
        changes: How many there are.
        dimension: Of the embeddings.
        chance: Draws what is changed, and how.
        queries: How many questions to ask.
        seed: Of the memories and the questions.
        say: Told of progress.
    """
    corpus = Corpus(memories, dimension, seed)
    dsn = create_database(server, _NAME)
    try:
        migrate(dsn, dim=dimension, model=MODEL)
        fields, vectors = prepared(corpus, _NAMESPACE)
        asked = questions(corpus, NATURAL, queries)
        with connect(dsn) as connection, Client(dsn) as client:
            say(f"storing {memories:,} memories")
            for start in range(0, memories, _ROUND):
                client.remember_many(fields[start : start + _ROUND], create_namespace=True)
            _visit(connection, vectors)
            connection.execute("VACUUM ANALYZE")
            young = _look(connection, asked)
            say(f"changing {changes:,}")
            begun = time.perf_counter()
            _live_on(connection, [str(one["content"]) for one in fields], vectors, changes, chance, say)
            took = time.perf_counter() - begun
            aged = _look(connection, asked)
            say("making everything anew")
            connection.execute("CALL pgrecall.rebuild_all_postings()")
            connection.execute("VACUUM FULL pgrecall.postings, pgrecall.term_stats, pgrecall.memories")
            connection.execute("VACUUM ANALYZE")
            renewed = _look(connection, asked)
            about = machine.server(connection)
    finally:
        drop_database(server, _NAME)
    return {
        "server": about,
        "memories": memories,
        "changes": changes,
        "dim": dimension,
        "questions": len(asked),
        "changes_per_second": round(changes / took, 1),
        "stages": {"young": _figures(young), "aged": _figures(aged), "renewed": _figures(renewed)},
        "answers_changed_by_renewal": {
            way: _changed(aged["answers"][way], renewed["answers"][way]) for way in aged["answers"]
        },
    }


def _live_on(
    connection: Connection[Any],
    texts: Sequence[str],
    vectors: Sequence[str],
    changes: int,
    chance: random.Random,
    say: Callable[[str], None],
) -> None:
    live = [int(number) for (number,) in connection.execute(_LIVE, (_NAMESPACE,))]
    for number in range(1, changes + 1):
        place = chance.randrange(len(live))
        content = f"{chance.choice(texts)} {number}"
        way = chance.randrange(5)
        if way < 2:
            connection.execute("SELECT update_memory(%s, content => %s)", (live[place], content))
        elif way < 4:
            row = connection.execute("SELECT supersede(%s, content => %s)", (live[place], content)).fetchone()
            live[place] = (row or (0,))[0]
        else:
            connection.execute("SELECT forget(%s)", (live[place],))
            row = connection.execute("SELECT remember(%s, namespace => %s)", (content, _NAMESPACE)).fetchone()
            live[place] = (row or (0,))[0]
        if number % _ROUND == 0 or number == changes:
            _visit(connection, vectors)
        if number % (20 * _ROUND) == 0:
            say(f"  {number:,}")


def _visit(connection: Connection[Any], vectors: Sequence[str]) -> None:
    """Do what a daemon does in the background."""
    embed(connection, list(islice(cycle(vectors), 4 * len(vectors))))
    tidy(connection)


def _look(connection: Connection[Any], asked: Sequence[Question]) -> dict[str, Any]:
    """Measure sizes, times and answers: of words alone and of both, and of words with every posting read."""
    sizes = {
        name: connection.execute("SELECT pg_total_relation_size(%s)", (f"pgrecall.{name}",)).fetchone()
        for name in _TABLES
    }
    answers: dict[str, list[list[int]]] = {}
    times: dict[str, list[float]] = {}
    ways = {"words": (False, None), "words, exactly": (False, _EXACT), "hybrid": (True, None)}
    for _ in range(2):  # the first time warms up
        for way, (with_vector, settings) in ways.items():
            answers[way], times[way] = [], []
            for one in asked:
                begun = time.perf_counter()
                rows = connection.execute(
                    "SELECT id FROM recall(%s, %s, k => 10, namespace => %s, settings => %s)",
                    (one.text, one.vector if with_vector else None, _NAMESPACE, settings),
                ).fetchall()
                times[way].append((time.perf_counter() - begun) * 1000)
                answers[way].append([number for (number,) in rows])
    return {
        "bytes": {name: (size or (0,))[0] for name, size in sizes.items()},
        "answers": answers,
        "times": times,
    }


def _figures(seen: dict[str, Any]) -> dict[str, Any]:
    shared = sum(
        len(set(found) & set(exact))
        for found, exact in zip(seen["answers"]["words"], seen["answers"]["words, exactly"], strict=True)
    )
    return {
        "megabytes": {name: round(size / 2**20, 1) for name, size in seen["bytes"].items()},
        "p50_ms": {way: round(statistics.median(times), 2) for way, times in seen["times"].items()},
        "overlap_with_exact": round(shared / sum(map(len, seen["answers"]["words, exactly"])), 4),
    }


def _changed(before: Sequence[list[int]], after: Sequence[list[int]]) -> float:
    return round(sum(one != other for one, other in zip(before, after, strict=True)) / len(before), 4)
