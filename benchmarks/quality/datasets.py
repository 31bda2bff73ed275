"""Data sets with relevance labels: a folder of `corpus.jsonl`, `queries.jsonl` and `qrels.jsonl`.

corpus   `id`, `content` and any other field that `pgrecall import` knows
queries  `query_id`, `text`; optionally `stratum`, `exclude_ids` and the field that the scope names
qrels    `query_id`, `relevant_ids`: every other memory is irrelevant

Ids are strings or integers, and are strings from here on.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pgrecall.errors import PgrecallError
from pgrecall.jsonl.load import parse_line

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from pgrecall.models import NewMemory

__all__ = ["DataError", "Dataset", "Memory", "Query", "load_dataset", "parse_scope"]

POOLED = "pooled"
POOL = "default"
"""The namespace of a pooled data set."""
NO_STRATUM = "all"

_SHOWN = 5


class DataError(ValueError):
    """The data set is not sound; the message names every problem."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory of the corpus.

    Attributes:
        id: Its id, unique in the data set.
        namespace: Where it lives: the value of the scope's field, or the pool.
        text: What retrievers that know nothing but text read: the content, after the title unless it says so
            itself.
        fields: What pgrecall stores of it, as `pgrecall import` would read the line.
    """

    id: str
    namespace: str
    text: str
    fields: NewMemory


@dataclass(frozen=True, slots=True)
class Query:
    """One judged question.

    Attributes:
        id: Its id.
        text: The question.
        namespace: The only namespace that is searched for it.
        stratum: The kind of question.
        relevant: The memories that answer it.
        exclude: Memories that are left out of every ranking.
        generated: True if it was made from the memories and is no part of the data set.
    """

    id: str
    text: str
    namespace: str
    stratum: str
    relevant: frozenset[str]
    exclude: frozenset[str] = frozenset()
    generated: bool = False


@dataclass(frozen=True, slots=True)
class Dataset:
    """Memories and questions.

    Attributes:
        name: The folder's name.
        scope: `pooled` or `field:NAME`.
        memories: The corpus, in the file's order.
        queries: The questions, in the file's order.
    """

    name: str
    scope: str
    memories: tuple[Memory, ...]
    queries: tuple[Query, ...]

    def by_namespace(self) -> dict[str, list[Memory]]:
        """Return the memories of each namespace, in order."""
        found: dict[str, list[Memory]] = {}
        for memory in self.memories:
            found.setdefault(memory.namespace, []).append(memory)
        return found

    def strata(self) -> dict[str, int]:
        """Return how many questions each stratum has, by name."""
        return dict(sorted(Counter(query.stratum for query in self.queries).items()))

    def restricted_to(self, namespaces: Collection[str]) -> Dataset:
        """Return the part of the data set in some namespaces.

        Raises:
            DataError: There is no such namespace.
        """
        unknown = sorted(set(namespaces) - {memory.namespace for memory in self.memories})
        if unknown:
            raise DataError(f"no memory is in {', '.join(unknown)}")
        return replace(
            self,
            name=f"{self.name}, only {', '.join(sorted(namespaces))}",
            memories=tuple(memory for memory in self.memories if memory.namespace in namespaces),
            queries=tuple(query for query in self.queries if query.namespace in namespaces),
        )

    def with_queries(self, queries: Iterable[Query]) -> Dataset:
        """Return the same corpus with more questions."""
        return replace(self, queries=(*self.queries, *queries))


def parse_scope(scope: str) -> str | None:
    """Return the field that names the namespaces; None for one pool.

    Raises:
        DataError: It is neither `pooled` nor `field:NAME`.
    """
    if scope == POOLED:
        return None
    kind, _, name = scope.partition(":")
    if kind != "field" or not name:
        raise DataError(f"the scope is `pooled` or `field:NAME`, not {scope!r}")
    return name


def load_dataset(folder: Path, scope: str = POOLED) -> Dataset:
    """Read a data set and check that it fits together.

    Args:
        folder: Where the three files are.
        scope: `pooled`: every question searches all memories; `field:NAME`: the memories that have the same
            value in that field.

    Raises:
        DataError: A file is missing or cannot be read, or the three do not fit together.
    """
    field = parse_scope(scope)
    problems: list[str] = []
    memories = _memories(folder, field, problems)
    rows = _rows(folder / "queries.jsonl", problems)
    judgements = _judgements(folder, problems)
    queries = [_query(row, field, judgements, problems) for _, row in rows]
    if not problems:
        _check(memories, queries, judgements, problems)
    if problems:
        raise DataError("\n  ".join([f"{folder} is no sound data set:", *problems]))
    return Dataset(folder.resolve().name, scope, tuple(memories), tuple(queries))


def _rows(path: Path, problems: list[str]) -> list[tuple[bytes, dict[str, Any]]]:
    if not path.is_file():
        problems.append(f"{path.name} is missing")
        return []
    rows = []
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            problems.append(f"{path.name}, line {number}: not JSON: {error}")
            continue
        if isinstance(row, dict):
            rows.append((line, row))
        else:
            problems.append(f"{path.name}, line {number}: not a JSON object")
    if not rows and not problems:
        problems.append(f"{path.name} is empty")
    return rows


def _memories(folder: Path, field: str | None, problems: list[str]) -> list[Memory]:
    memories = []
    for line, row in _rows(folder / "corpus.jsonl", problems):
        id = _id(row.get("id"))
        if id is None:
            problems.append(f"corpus.jsonl: a memory without an id: {str(row)[:80]}")
            continue
        try:
            fields = parse_line(line, namespace=POOL if field is None else None, namespace_field=field)
        except PgrecallError as error:
            problems.append(f"corpus.jsonl: memory {id} {error.message}")
            continue
        if fields is None or fields.namespace is None:
            continue
        title = fields.title
        whole = (
            fields.content if not title or fields.content.startswith(title) else f"{title}\n{fields.content}"
        )
        memories.append(Memory(id, fields.namespace, whole, fields))
    return memories


def _judgements(folder: Path, problems: list[str]) -> dict[str, frozenset[str]]:
    judgements: dict[str, frozenset[str]] = {}
    twice = []
    for _, row in _rows(folder / "qrels.jsonl", problems):
        id = _id(row.get("query_id"))
        relevant = _ids(row.get("relevant_ids"))
        if id is None or relevant is None:
            problems.append(f"qrels.jsonl: no query_id or no list of relevant_ids: {str(row)[:80]}")
            continue
        if id in judgements:
            twice.append(id)
        judgements[id] = relevant
    _report(problems, "qrels given twice", twice)
    return judgements


def _query(
    row: dict[str, Any], field: str | None, judgements: dict[str, frozenset[str]], problems: list[str]
) -> Query:
    id = _id(row.get("query_id"))
    text = row.get("text")
    excluded = _ids(row.get("exclude_ids", []))
    if id is None or not isinstance(text, str) or not text.strip() or excluded is None:
        problems.append(f"queries.jsonl: no query_id, text or list of exclude_ids: {str(row)[:80]}")
    namespace = POOL if field is None else _id(row.get(field))
    if namespace is None:
        problems.append(f"queries.jsonl: query {id} has no {field}")
    return Query(
        id=str(id),
        text=str(text),
        namespace=str(namespace),
        stratum=str(row.get("stratum", NO_STRATUM)),
        relevant=judgements.get(str(id), frozenset()),
        exclude=excluded or frozenset(),
    )


def _check(
    memories: list[Memory],
    queries: list[Query],
    judgements: dict[str, frozenset[str]],
    problems: list[str],
) -> None:
    homes = {memory.id: memory.namespace for memory in memories}
    asked = {query.id for query in queries}
    _report(problems, "memories with the same id", _repeated(memory.id for memory in memories))
    _report(problems, "queries with the same id", _repeated(query.id for query in queries))
    _report(problems, "queries without qrels", [query.id for query in queries if query.id not in judgements])
    _report(problems, "qrels without a query", [id for id in judgements if id not in asked])
    _report(
        problems,
        "qrels with an empty set of relevant ids",
        [id for id, found in judgements.items() if not found],
    )
    _report(problems, "relevant ids that are no memory", _foreign(judgements.values(), homes))
    _report(problems, "exclude_ids that are no memory", _foreign((query.exclude for query in queries), homes))
    _report(
        problems,
        "queries that exclude a relevant memory",
        [query.id for query in queries if query.exclude & query.relevant],
    )
    _report(
        problems,
        "queries with relevant memories outside their scope",
        [
            query.id
            for query in queries
            if any(homes.get(id, query.namespace) != query.namespace for id in query.relevant)
        ],
    )


def _foreign(groups: Iterable[frozenset[str]], homes: dict[str, str]) -> list[str]:
    return sorted({id for group in groups for id in group if id not in homes})


def _repeated(ids: Iterable[str]) -> list[str]:
    return [id for id, count in Counter(ids).items() if count > 1]


def _report(problems: list[str], what: str, ids: list[str]) -> None:
    if ids:
        more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
        problems.append(f"{what}: {', '.join(ids[:_SHOWN])}{more}")


def _id(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        return None
    return str(value)


def _ids(value: object) -> frozenset[str] | None:
    if not isinstance(value, list):
        return None
    ids = [_id(item) for item in value]
    found = frozenset(id for id in ids if id is not None)
    return None if None in ids else found
