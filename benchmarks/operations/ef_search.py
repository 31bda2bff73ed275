"""What hnsw.ef_search and hnsw.iterative_scan do to recall and its dense leg: how good, how fast."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.operations.accuracy import DEPTH, exact, nearest, plan, shared
from benchmarks.speed.measure import Latency, alternately
from benchmarks.speed.storage import HNSW, connect, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from psycopg import Connection

    from benchmarks.speed.questions import Question

__all__ = ["MODES", "Build", "Setting", "Subject", "build_index", "measure_settings", "settings_to_try"]

MODES = ("off", "relaxed_order", "strict_order")
USUAL = "relaxed_order"
K = 10
_INDEX = "index"
_LEG = "dense leg"
_RECALL = "recall"
_EVERYTHING = 1_000_000
"""More memories than are searched exactly in any namespace here: dense_exact_rows goes no higher."""
_LEG_SQL = (Path(__file__).parent / "sql" / "dense_leg.sql").read_bytes()


@dataclass(frozen=True, slots=True)
class Setting:
    """What a session sets."""

    ef_search: int
    iterative_scan: str

    def apply(self, connection: Connection[Any]) -> None:
        """Set it for the session."""
        connection.execute(
            "SELECT set_config('hnsw.ef_search', %s, false), set_config('hnsw.iterative_scan', %s, false)",
            (str(self.ef_search), self.iterative_scan),
        )


@dataclass(frozen=True, slots=True)
class Build:
    """With what the index is built."""

    m: int
    ef_construction: int


@dataclass(frozen=True, slots=True)
class Subject:
    """What is asked about.

    Attributes:
        dsn: The database.
        namespace: The namespace.
        questions: The questions, those to warm up among them.
        tags: A filter: only memories with all of these tags.
    """

    dsn: str
    namespace: str
    questions: Sequence[Question]
    tags: Sequence[str] = ()


def settings_to_try(values: Iterable[int], modes: Sequence[str] = (USUAL,)) -> list[Setting]:
    """Return every value with every mode."""
    return [Setting(value, mode) for mode in modes for value in values]


def measure_settings(
    subject: Subject, settings: Sequence[Setting], limit: float, *, whole: bool = True
) -> list[dict[str, Any]]:
    """Ask the same questions under every setting, in turns.

    Args:
        subject: What is asked about.
        settings: What is tried.
        limit: For how many seconds a way of asking is asked under a setting, at the most.
        whole: False asks the index alone, without the leg and recall.

    Returns:
        For each setting how many rows the index gives (`returned`), whether it was used, and for `index`,
        `dense leg` and `recall` the times and the share of the exact answer: of the nearest 10 and 50, and
        for recall of the ten that it gives with an exact dense leg.
    """
    answers: dict[tuple[Setting, str], dict[str, list[int]]] = {}
    calls: dict[str, Callable[[Connection[Any], Question], object]] = {}
    names = {}
    with ExitStack() as stack:
        first = stack.enter_context(connect(subject.dsn))
        best = exact(first, subject.namespace, subject.questions, subject.tags)
        best_recall = _exact_recall(first, subject) if whole else {}
        (namespace_id,) = first.execute(
            "SELECT pgrecall.namespace_id(%s)", (subject.namespace,)
        ).fetchone() or (0,)
        uses_index = {}
        for setting in settings:
            connection = stack.enter_context(connect(subject.dsn))
            connection.execute("SELECT '[1]'::vector")  # makes pgvector's settings known
            setting.apply(connection)
            ways = _ways(connection, namespace_id, subject)
            uses_index[setting] = HNSW.split(".")[1] in plan(
                connection, namespace_id, subject.questions[0], subject.tags
            )
            for way in ways if whole else (_INDEX,):
                name = f"{way}, {setting.ef_search}, {setting.iterative_scan}"
                names[name] = setting, way
                kept = answers.setdefault((setting, way), {})
                calls[name] = partial(_ask, connection, ways[way], kept)
        times = alternately(first, calls, subject.questions, limit)
    found = {names[name]: Latency.of(one) for name, one in times.items()}
    return [
        {
            "ef_search": setting.ef_search,
            "iterative_scan": setting.iterative_scan,
            "uses_index": uses_index[setting],
            "returned": round(float(np.mean([len(one) for one in answers[setting, _INDEX].values()])), 2),
            **{
                way: {
                    **_quality(way, answers[setting, way], best_recall if way == _RECALL else best),
                    "p50": found[setting, way].p50,
                    "p95": found[setting, way].p95,
                }
                for way in (_INDEX, _LEG, _RECALL)
                if (setting, way) in found
            },
        }
        for setting in settings
    ]


def build_index(connection: Connection[Any], build: Build, memory_mb: int) -> dict[str, Any]:
    """Build the index of the embeddings with other parameters, in place of the one that is there.

    Returns:
        How long it took and how large it is.
    """
    connection.execute("SELECT set_config('maintenance_work_mem', %s, false)", (f"{memory_mb}MB",))
    (definition,) = connection.execute("SELECT pg_get_indexdef(%s::regclass)", (HNSW,)).fetchone() or ("",)
    before, _, rest = str(definition).partition(" WITH (")
    connection.execute(f"DROP INDEX {HNSW}".encode())
    took = seconds(
        connection,
        f"{before} WITH (m = {build.m}, ef_construction = {build.ef_construction}){rest.partition(')')[2]}",
    )
    (size, rows) = connection.execute(
        "SELECT pg_relation_size(%s::regclass), count(*) FROM pgrecall.memories", (HNSW,)
    ).fetchone() or (0, 1)
    return {
        "m": build.m,
        "ef_construction": build.ef_construction,
        "seconds": round(took, 2),
        "bytes_per_memory": round(size / rows, 1),
    }


def _ways(
    connection: Connection[Any], namespace_id: int, subject: Subject
) -> dict[str, Callable[[Connection[Any], Question], list[int]]]:
    (exact_rows,) = connection.execute(
        "SELECT (_pgrecall.effective_settings()).dense_exact_rows"
    ).fetchone() or (0,)
    arguments = {
        "namespace_id": namespace_id, "exact_rows": exact_rows, "depth": DEPTH, "tags": list(subject.tags),
    }  # fmt: skip

    def leg(connection: Connection[Any], question: Question) -> list[int]:
        rows = connection.execute(_LEG_SQL, {**arguments, "vector": question.vector}, prepare=True).fetchall()
        return [id for (id,) in rows]

    return {
        _INDEX: lambda connection, question: nearest(connection, namespace_id, question, subject.tags),
        _LEG: leg,
        _RECALL: partial(_recall, subject),
    }


def _recall(subject: Subject, connection: Connection[Any], question: Question) -> list[int]:
    rows = connection.execute(
        "SELECT r.id FROM recall(%s, %s, k => %s, namespace => %s, tags_all => %s) r",
        (question.text, question.vector, K, subject.namespace, list(subject.tags) or None),
        prepare=True,
    ).fetchall()
    return [id for (id,) in rows]


def _exact_recall(connection: Connection[Any], subject: Subject) -> dict[str, list[int]]:
    with connection.transaction():
        connection.execute("SELECT set_config('pgrecall.dense_exact_rows', %s, true)", (str(_EVERYTHING),))
        return {question.text: _recall(subject, connection, question) for question in subject.questions}


def _ask(
    connection: Connection[Any],
    way: Callable[[Connection[Any], Question], list[int]],
    kept: dict[str, list[int]],
    _: Connection[Any],
    question: Question,
) -> None:
    kept[question.text] = way(connection, question)


def _quality(way: str, answers: dict[str, list[int]], best: dict[str, list[int]]) -> dict[str, float]:
    if way == _RECALL:
        return {"same@10": shared(answers, best, K)}
    return {"recall@10": shared(answers, best, K), "recall@50": shared(answers, best, DEPTH)}
