"""What is measured: each system asks one question over a connection and fetches all of the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.speed.generator import EMPTY, LARGE, MEDIUM, SPAN, START, TAGS, TINY
from benchmarks.speed.storage import BASELINE_INDEX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from psycopg import Connection

    from benchmarks.speed.measure import Call
    from benchmarks.speed.questions import Question

__all__ = [
    "FILTERS",
    "Seeds",
    "Target",
    "baseline_naive",
    "baseline_python",
    "find_seeds",
    "leg",
    "nothing",
    "page",
    "prepare_baselines",
    "recall",
    "with_values",
]

Seeds = dict[str, tuple[list[int], list[float]]]
"""Where the graph leg starts for a question: ids of memories and their scores."""

K = 10
_SQL = Path(__file__).parent / "sql"

FILTERS: dict[str, dict[str, Any]] = {
    "recall:namespace=90%": {"namespace": LARGE},
    "recall:namespace=1%": {"namespace": MEDIUM},
    "recall:namespace=0.01%": {"namespace": TINY},
    "recall:namespace=empty": {"namespace": EMPTY},
    **{f"recall:tag={share}": {"tags_all": [tag]} for share, tag in TAGS.items()},
    **{
        f"recall:time={share}": {"since": START + SPAN * (1 - part)}
        for share, part in {"50%": 0.5, "1%": 0.01, "0.01%": 0.0001}.items()
    },
    "recall:category=12%": {"categories": ["person"]},
    "recall:category=0%": {"categories": ["none of these"]},
    "recall:speaker=50%": {"speakers": ["user"]},
    "recall:session": {"sessions": ["session 7"]},
}
"""Recall under filters, by the share they leave: of all memories, or of the large namespace's (tag, time).

A session has 20 memories.
"""


VALUES = (
    "on 9 December 2026 at 10:30",
    "+49 170 1234567",
    "for 1,200 €",
    "of 12.5 kg",
    "last Monday",
    "in chapter V",
    "with version 16.2",
)
"""Put at the end of questions: other patterns read each, and a session keeps 32 compiled."""


@dataclass(frozen=True, slots=True)
class Target:
    """Arguments of every statement: the namespace, and the settings in force."""

    arguments: Mapping[str, Any]

    @classmethod
    def read(cls, connection: Connection[Any]) -> Target:
        """Look up the large namespace and the settings recall would use."""
        cursor = connection.execute("SELECT (s).* FROM _pgrecall.effective_settings() s")
        names = [column.name for column in cursor.description or ()]
        settings = dict(zip(names, cursor.fetchone() or (), strict=True))
        row = connection.execute(
            "SELECT n.id, _pgrecall.query_languages(n.id)::text, _pgrecall.effective_settings()::text "
            "FROM pgrecall.namespace_id(%(name)s) n (id)",
            {"name": LARGE},
        ).fetchone()
        assert row is not None  # noqa: S101
        namespace_id, languages, effective = row
        found = {"namespace": LARGE, "namespace_id": namespace_id, "k": K}
        return cls({**settings, **found, "languages": languages, "settings": effective})


def recall(*, prepare: bool = True, namespace: str = LARGE, **filters: Any) -> Call:
    """Call recall with its defaults.

    Args:
        prepare: Whether the client prepares the statement at the first call.
        namespace: The namespace.
        **filters: Options of recall.
    """
    named = {"namespace": namespace, **filters}
    options = ", ".join(f"{name} => %({name})s" for name in named)
    statement = f"SELECT * FROM recall(%(text)s, %(vector)s, {options})".encode()

    def call(connection: Connection[Any], question: Question) -> object:
        arguments = {"text": question.text, "vector": question.vector, **named}
        return connection.execute(statement, arguments, prepare=prepare).fetchall()

    return call


def with_values(call: Call) -> Call:
    """Ask questions with a value at their end, one of VALUES after the other."""
    values = cycle(VALUES)

    def ask(connection: Connection[Any], question: Question) -> object:
        return call(connection, replace(question, text=f"{question.text.rstrip('?')} {next(values)}?"))

    return ask


def nothing(connection: Connection[Any], _: Question) -> object:
    """Ask for a constant: what a call costs before recall does anything."""
    return connection.execute("SELECT 1", prepare=True).fetchall()


def page(connection: Connection[Any], number: int) -> Call:
    """List a page of 10 memories, newest first.

    Args:
        connection: Finds the last memory of the page before.
        number: Of the page, from 1.
    """
    last = connection.execute(
        "SELECT max(n.id) FROM (SELECT m.id FROM pgrecall.memories m "
        "WHERE m.namespace_id = pgrecall.namespace_id(%s) "
        "ORDER BY COALESCE(m.occurred_at, m.created_at) DESC, m.id DESC OFFSET %s LIMIT %s) n",
        (LARGE, K * (number - 1) - 1 if number > 1 else 0, 1 if number > 1 else 0),
    ).fetchone()
    named = {"namespace": LARGE, "after_id": last and last[0], "max_results": K}
    arguments = b"%(namespace)s, after_id => %(after_id)s, max_results => %(max_results)s"
    statement = b"SELECT * FROM list_memories(" + arguments + b")"

    def call(connection: Connection[Any], _: Question) -> object:
        return connection.execute(statement, named, prepare=True).fetchall()

    return call


def leg(name: str, target: Target, seeds: Seeds | None = None) -> Call:
    """Run one leg's statement by itself, prepared: the server may keep its plan, as it keeps those of recall.

    Args:
        name: The file in sql/, without its ending.
        target: Its arguments.
        seeds: Ids and scores the graph leg starts from, by question.
    """
    statement = _read(name)

    def call(connection: Connection[Any], question: Question) -> object:
        arguments = {**target.arguments, "text": question.text, "vector": question.vector}
        if seeds is not None:
            arguments["seed_ids"], arguments["seed_levels"] = seeds[question.text]
        return connection.execute(statement, arguments, prepare=True).fetchall()

    return call


def find_seeds(connection: Connection[Any], target: Target, questions: Sequence[Question]) -> Seeds:
    """Ask recall without its graph leg for the memories that the graph leg starts from, best first."""
    count = target.arguments["graph_seeds"]
    seeds: Seeds = {}
    with connection.transaction():
        connection.execute("SELECT set_config('pgrecall.graph_weight', '0', true)")
        for question in questions:
            rows = connection.execute(
                "SELECT id, score FROM recall(%s, %s, k => %s, namespace => %s)",
                (question.text, question.vector, max(1, count), LARGE),
            ).fetchall()[:count]
            seeds[question.text] = [id for id, _ in rows], [score for _, score in rows]
    return seeds


def prepare_baselines(connection: Connection[Any]) -> None:
    """Make the function of the naive baseline, and the index on words of an application without postings."""
    connection.execute(_read("hybrid_search"))
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {BASELINE_INDEX} ON pgrecall.memories USING gin (search_vector)".encode()
    )


def baseline_naive(target: Target) -> Call:
    """Call one hybrid SQL function of the usual kind."""
    statement = _read("hybrid_search_call")

    def call(connection: Connection[Any], question: Question) -> object:
        arguments = {**target.arguments, "text": question.text, "vector": question.vector}
        return connection.execute(statement, arguments, prepare=True).fetchall()

    return call


def baseline_python(target: Target) -> Call:
    """Ask three queries one after the other and fuse them here: reciprocal rank, k 60, equal weights."""
    words, vectors, tags = (_read(f"python_{name}") for name in ("words", "vectors", "tags"))

    def call(connection: Connection[Any], question: Question) -> object:
        arguments = {**target.arguments, "text": question.text, "vector": question.vector}
        lists = [connection.execute(one, arguments).fetchall() for one in (words, vectors)]
        best = _fuse(lists)[: target.arguments["graph_seeds"]]
        # Tags for filters say nothing: a peer would leave such hubs out too.
        arguments["shared_tags"] = sorted({tag for row in best for tag in row[2]} - set(TAGS.values()))
        lists.append(connection.execute(tags, arguments).fetchall())
        return _fuse(lists)[:K]

    return call


def _fuse(lists: list[list[Any]]) -> list[Any]:
    scores: dict[int, float] = {}
    rows: dict[int, Any] = {}
    for found in lists:
        for rank, row in enumerate(found, 1):
            scores[row[0]] = scores.get(row[0], 0.0) + 1 / (60 + rank)
            rows[row[0]] = row
    return [rows[id] for id in sorted(scores, key=lambda id: (-scores[id], id))]


@cache
def _read(name: str) -> bytes:
    return (_SQL / f"{name}.sql").read_bytes()
