"""What a run shares between its systems, made when the first one needs it."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import psycopg

from benchmarks.quality.embeddings import VectorCache
from benchmarks.quality.extractions import ExtractionCache
from benchmarks.quality.loading import load, vector_text
from benchmarks.scratch import scratch_database
from pgrecall.errors import PgrecallError
from pgrecall.server import ServerError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    import numpy as np
    from numpy.typing import NDArray

    from benchmarks.quality.datasets import Dataset, Query
    from benchmarks.quality.embeddings import Vector
    from benchmarks.quality.loading import Loaded

__all__ = ["Resources", "Unavailable"]

_SQL = Path(__file__).parents[1] / "systems" / "sql"


class Unavailable(Exception):  # noqa: N818
    """There is no server or no model to work with: nothing that is wrong with one system."""


class Resources:
    """The scratch database with the data set in it, and the vectors.

    Args:
        dataset: The data set.
        cache: Folder of the vectors, of what was read from memories, and of the scratch server.
        dsn: The server to use; None starts an embedded one.
        model: The embedding model; None takes the bundled one.
        sparse: The sparse model that reads the memories; None: none does.
        language: The text-search configuration.
        keep: True leaves the database at the end.
        say: Told of progress.
    """

    def __init__(
        self,
        dataset: Dataset,
        cache: Path,
        *,
        dsn: str | None = None,
        model: str | None = None,
        language: str = "english",
        sparse: str | None = None,
        keep: bool = False,
        say: Callable[[str], None] = lambda _: None,
    ) -> None:
        self.dataset = dataset
        self.language = language
        self._cache = cache
        self._server = dsn
        self._model = model
        self._sparse = sparse
        self._keep = keep
        self._say = say
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.close()

    @cached_property
    def dsn(self) -> str:
        """The scratch database; empty until `loaded` is asked for.

        Raises:
            Unavailable: It cannot be made.
        """
        try:
            return self._stack.enter_context(
                scratch_database(self._server, self._cache, keep=self._keep, say=self._say)
            )
        except (psycopg.Error, ServerError) as error:
            raise Unavailable(f"no scratch database: {error}") from error

    @cached_property
    def loaded(self) -> Loaded:
        """The data set in the scratch database.

        Raises:
            Unavailable: It cannot be stored or embedded.
        """
        cache = VectorCache(self._cache / "embeddings.sqlite")
        try:
            return load(
                self.dsn,
                self.dataset,
                cache,
                ExtractionCache(self._cache / "extractions.sqlite"),
                model=self._model,
                language=self.language,
                sparse=self._sparse,
                say=self._say,
            )
        except (PgrecallError, psycopg.Error, ValueError) as error:
            raise Unavailable(f"the data set cannot be loaded: {error}") from error

    @property
    def description(self) -> dict[str, Any]:
        """Versions and settings of the database, if any system needed it."""
        return self.loaded.description if "loaded" in self.__dict__ else {}

    @cached_property
    def _asked(self) -> dict[str, Vector]:
        queries = self.dataset.queries
        rows = self.loaded.embedder.queries([query.text for query in queries])
        return {query.id: row for query, row in zip(queries, rows, strict=True)}

    @cached_property
    def query_vectors(self) -> dict[str, NDArray[np.float32]]:
        """The embedding of every question, by its id."""
        return {id: vector.numbers for id, vector in self._asked.items()}

    @cached_property
    def query_texts(self) -> dict[str, str]:
        """The embedding of every question as the database reads it, by its id."""
        return {id: vector_text(vector) for id, vector in self.query_vectors.items()}

    def vector(self, query: Query) -> str | None:
        """Return a question's embedding as the database reads it; None if the model cannot read it."""
        return None if self._asked[query.id].is_unreadable else self.query_texts[query.id]

    def connect(self) -> psycopg.Connection[Any]:
        """Open a connection to the database with the data set in it; it is closed with the run."""
        _ = self.loaded
        connection: psycopg.Connection[Any] = psycopg.connect(self.dsn, autocommit=True)
        return self._stack.enter_context(connection)

    @cached_property
    def documents(self) -> psycopg.Connection[Any]:
        """A connection to the plain table `bench.documents` of the systems that are not pgrecall's."""
        connection = self.connect()
        # Its functions read questions in the session's default configuration, as their originals do.
        connection.execute("SELECT set_config('default_text_search_config', %s, false)", (self.language,))
        for name in ("documents.sql", "ts_rank.sql", "supabase.sql", "python_fused.sql"):
            connection.execute((_SQL / name).read_bytes())
        vectors = self.loaded.vectors
        with connection.cursor().copy("COPY bench.staging FROM STDIN") as copy:
            for memory in self.dataset.memories:
                importance = memory.fields.importance
                copy.write_row(
                    (
                        memory.id,
                        memory.namespace,
                        memory.text,
                        0.5 if importance is None else importance,
                        vector_text(vectors[memory.id]) if memory.id in vectors else None,
                    )
                )
        connection.execute("SELECT bench.fill()")
        return connection
