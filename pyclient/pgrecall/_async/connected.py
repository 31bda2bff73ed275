"""Opening and closing: the part of the client that owns its database and its collaborators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from .admin import AsyncAdmin
from .curation import AsyncCurator
from .database import AsyncDatabase
from .learning import AsyncLearner
from .memories import AsyncMemories
from .pages import AsyncPages
from .queries import AsyncQueries
from .transfer import AsyncTransfer
from .visibility import AsyncVisibility

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Any

    from psycopg import AsyncConnection

    from pgrecall.dsn import Target
    from pgrecall.metrics import ClientMetrics


class AsyncConnected(AsyncMemories, AsyncVisibility):
    """Opens and closes the database of a client. `AsyncClient` is one, and documents the arguments."""

    def __init__(
        self,
        dsn: str | None = None,
        *,
        namespace: str | None = None,
        model: str | None = None,
        pool_min: int = 1,
        pool_max: int = 4,
        pool_timeout: float = 30.0,
        strict: bool = False,
        metrics: ClientMetrics | None = None,
    ) -> None:
        database = AsyncDatabase(
            dsn,
            namespace=namespace,
            model=model,
            pool_min=pool_min,
            pool_max=pool_max,
            pool_timeout=pool_timeout,
            strict=strict,
        )
        self._use(database, metrics)

    def _use(self, database: AsyncDatabase, metrics: ClientMetrics | None) -> None:
        super().__init__(database)
        self._queries = AsyncQueries(database, metrics)
        self._metrics = metrics
        self.admin = AsyncAdmin(database)
        self.curation = AsyncCurator(database)
        self.learning = AsyncLearner(database, self._queries)
        self.pages = AsyncPages(database)
        self.transfer = AsyncTransfer(database)

    @classmethod
    def on(
        cls,
        connection: AsyncConnection[Any],
        *,
        namespace: str | None = None,
        model: str | None = None,
        strict: bool = False,
        metrics: ClientMetrics | None = None,
    ) -> Self:
        """Return a client that works on a connection of the application, and in its transaction.

        What it stores is committed and rolled back with the application's own rows, and recall sees what
        the transaction has stored. The client never commits, rolls back or closes, and leaves settings, row
        factory and adapters of the connection as they are. Outside autocommit mode its first call begins a
        transaction, as a statement of the application would. Each call within a transaction is a savepoint: a
        call that fails leaves the transaction usable. One thread at a time may use connection and client.
        Within `connection.pipeline()` a call waits for what the application has sent before it; an export
        cannot run there.

        Within a transaction, an embedder daemon cannot see a question before the commit. So the query is
        embedded by the model of this process, taken from the cache of questions answered before, or given as
        `vector=`; else recall goes by words and concepts, and `notice` says so. In autocommit mode a daemon
        answers. Memories that the transaction stores are embedded after its commit.

        Args:
            connection: A connection of psycopg 3, such as SQLAlchemy's
                `session.connection().connection.driver_connection` or Django's `connection.connection`.
            namespace: As for the constructor, like the next three.
            model: The model to embed queries with.
            strict: Whether a missing namespace is an error.
            metrics: Prometheus metrics.

        Raises:
            InvalidInput: It is not a connection of psycopg.
        """
        client = cls.__new__(cls)
        client._use(AsyncDatabase.on(connection, namespace=namespace, model=model, strict=strict), metrics)
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def open(self) -> Target:
        """Connect and check versions now instead of at the first call. Later calls do nothing.

        Returns:
            The connection string, namespace and model that the client uses.

        Raises:
            InvalidInput: The settings file is invalid, or names a setting that does not exist.
        """
        return await self._database.open()

    async def close(self) -> None:
        """Close every connection but an application's. The client cannot be used afterwards."""
        await self._database.close()
