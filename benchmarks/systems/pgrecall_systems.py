"""pgrecall: the whole recall with any settings, and each of its legs alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.resources import Resources

__all__ = ["DenseLeg", "GraphLeg", "LexicalLeg", "Recall", "UnknownSetting"]

_NO_NEIGHBOURS = {"session_share": "0", "phrase_bonus": "0", "entity_boost": "1"}
_LAST_MEMORY = (
    "SELECT n.name, max(COALESCE(m.occurred_at, m.created_at)) "
    "FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id GROUP BY n.name"
)


class UnknownSetting(ValueError):  # noqa: N818
    """There is no such setting, or not with that value."""


class Recall:
    """`recall` with the question and its embedding, by the settings in force and those given here.

    Age counts from the namespace's last memory: conversations of years ago are asked about as they end.

    Args:
        resources: The run's.
        settings: Settings of pgrecall by name, other parameters of the server by a name with a dot.
    """

    statement = (
        "SELECT external_id "
        "FROM recall(%(text)s, %(vector)s, %(k)s, %(namespace)s, reference_time => %(asked_at)s)"
    )

    def __init__(self, resources: Resources, settings: Mapping[str, str] | None = None) -> None:
        self._resources = resources
        self._settings = dict(settings or {})
        self._connection: psycopg.Connection[Any] | None = None
        self._asked_at: dict[str, datetime] = {}

    def index(self, dataset: Dataset) -> None:  # noqa: ARG002
        """Connect; the settings hold for the connection."""
        connection = self._resources.connect()
        for name, value in self._settings.items():
            parameter = name if "." in name else f"pgrecall.{name}"
            try:
                connection.execute("SELECT set_config(%s, %s, false)", (parameter, value))
            except psycopg.DataError as error:
                raise UnknownSetting(str(error).splitlines()[0]) from error
        self._connection = connection
        try:
            connection.execute("SELECT _pgrecall.effective_settings()")
        except psycopg.DataError as error:
            raise UnknownSetting(str(error).splitlines()[0]) from error
        self._asked_at = dict(connection.execute(_LAST_MEMORY).fetchall())

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Call `recall`."""
        return self._ids(query.text, self._resources.vector(query), query.namespace, k)[:k]

    def rows(self, query: Query, k: int, statement: str, **more: Any) -> list[tuple[Any, ...]]:
        """Run another statement with what `recall` is asked.

        Args:
            query: The question.
            k: How many memories.
            statement: With the parameters text, vector, k, namespace and asked_at; constant, without data.
            **more: Other parameters of the statement, by name.
        """
        vector = self._resources.vector(query)
        return self._run(statement, query.text, vector, query.namespace, k, more)

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()

    def _ids(self, text: str, vector: str | None, namespace: str, k: int) -> list[str]:
        return [str(row[0]) for row in self._run(self.statement, text, vector, namespace, k, {})]

    def _run(
        self,
        statement: str,
        text: str,
        vector: str | None,
        namespace: str,
        k: int,
        more: Mapping[str, Any],
    ) -> list[tuple[Any, ...]]:
        if self._connection is None:
            raise RuntimeError("index() comes first")
        values = {
            "text": text,
            "vector": vector,
            "k": k,
            "namespace": namespace,
            "asked_at": self._asked_at.get(namespace),
            **more,
        }
        return self._connection.execute(statement.encode(), values).fetchall()


class LexicalLeg(Recall):
    """The lexical leg alone: `recall` by strategy fulltext."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources, {"strategy": "fulltext"})

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Call `recall` by words only."""
        return self._ids(query.text, None, query.namespace, k)


class DenseLeg(Recall):
    """The dense leg alone: `recall` by strategy vector."""

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources, {"strategy": "vector"})

    def retrieve(self, query: Query, k: int) -> list[str]:
        """Call `recall` by the vector only; without one it finds nothing."""
        vector = self._resources.vector(query)
        return [] if vector is None else self._ids("", vector, query.namespace, k)


class GraphLeg(Recall):
    """The graph leg's own list, from the seeds that the other legs give it, the most drawn up first."""

    statement = (
        "SELECT external_id FROM recall(%(text)s, %(vector)s, greatest(%(k)s, 50), %(namespace)s, "
        "reference_time => %(asked_at)s) "
        "WHERE graph_rank IS NOT NULL ORDER BY graph_rank"
    )

    def __init__(self, resources: Resources) -> None:
        super().__init__(resources, _NO_NEIGHBOURS)
