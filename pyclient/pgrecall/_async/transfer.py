"""Export and import of complete memories, for the asynchronous client."""

from __future__ import annotations

import json
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pgrecall.arguments import call, checked_arguments, json_array, json_object, json_text
from pgrecall.concurrency import in_thread
from pgrecall.errors import PgrecallError
from pgrecall.languages import UNDETECTED, detect_batch
from pgrecall.new_memories import new_memory

from .cursor import AsyncOwnServerCursor, is_pipelined, step

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence

    import psycopg

    from pgrecall.models import NewMemory

    from .database import AsyncDatabase

_ROWS_AT_ONCE = 200
_BEFORE_MEMORIES = ("header", "namespace")
"""The kinds of records that an import needs first: it scans what it stores by the policies for secrets."""


async def _rows(
    connection: psycopg.AsyncConnection[Any], function: str, options: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any]]:
    if is_pipelined(connection):
        raise PgrecallError(
            "an export cannot run in a pipeline",
            sqlstate="0A000",
            hint="It reads by a cursor of the server: call it outside of connection.pipeline().",
        )
    statement, parameters = call(function, options)
    async with AsyncOwnServerCursor(connection, function) as cursor:
        cursor.itersize = _ROWS_AT_ONCE
        await cursor.execute(statement, parameters)
        async for row in cursor:
            yield {"line": row["line"]}


class AsyncTransfer:
    """Export and import of complete memories: `client.transfer`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def export_memories(
        self,
        namespace: str | None = None,
        *,
        include_sensitive: bool | None = None,
        include_forgotten: bool | None = None,
    ) -> AsyncGenerator[str]:
        """Yield memories as lines of JSON, without line ends, in order of their ids.

        They are read lazily from one snapshot: a transaction stays open until the iterator is exhausted or
        closed.

        Args:
            namespace: Only this namespace; None exports all.
            include_sensitive: True includes sensitive memories.
            include_forgotten: True includes forgotten memories.

        Raises:
            UnknownNamespace: There is no such namespace.
        """
        options = checked_arguments(
            namespace=namespace, include_sensitive=include_sensitive, include_forgotten=include_forgotten
        )
        async with (
            self._database.connection() as connection,
            step(connection),
            aclosing(_rows(connection, "pgrecall.export_memories", options)) as memories,
        ):
            async for row in memories:
                yield row["line"]

    async def export(
        self,
        namespace: str | None = None,
        *,
        include_sensitive: bool | None = None,
        include_forgotten: bool | None = None,
    ) -> AsyncGenerator[tuple[str, bool]]:
        """Yield everything that a namespace owns as lines of JSON, each with whether it is a memory.

        The first line names the tables of which nothing is exported. Policies for secrets come before the
        memories; retention rules, learned settings, history, evidence of notes, feedback and judged queries
        after them.

        Args:
            namespace: Only this namespace; None exports all.
            include_sensitive: True includes sensitive memories.
            include_forgotten: True includes forgotten memories.

        Raises:
            UnknownNamespace: There is no such namespace.
        """
        options = checked_arguments(
            namespace=namespace, include_sensitive=include_sensitive, include_forgotten=include_forgotten
        )
        # Both queries see one snapshot, unless a transaction of the application decides otherwise.
        async with (
            self._database.connection() as connection,
            step(connection, level="REPEATABLE READ"),
            aclosing(_rows(connection, "pgrecall.export_records", options)) as records,
            aclosing(_rows(connection, "pgrecall.export_memories", options)) as memories,
        ):
            read_ahead: list[str] = []
            async for row in records:
                if json.loads(row["line"])["kind"] not in _BEFORE_MEMORIES:
                    read_ahead.append(row["line"])
                    break
                yield row["line"], False
            async for row in memories:
                yield row["line"], True
            for line in read_ahead:
                yield line, False
            async for row in records:
                yield row["line"], False

    async def import_lines(
        self,
        memories: Iterable[NewMemory],
        *,
        namespace: str | None = None,
        on_conflict: Literal["keep", "update"] = "keep",
        placed: Sequence[int] = (),
    ) -> list[dict[str, Any]]:
        """Store memories of a file in one transaction, and compare those whose external id is already there.

        Args:
            memories: Memories of one namespace; an external id occurs once.
            namespace: Their namespace; it is created if it is missing.
            on_conflict: Whether a memory that differs is kept or takes the given fields.
            placed: Places of memories, from 1, whose position the caller has counted: it is not compared.

        Returns:
            For each memory its place from 1, its id, and the outcome: 'stored', 'present', 'differs' or
            'updated'.

        Raises:
            InvalidInput: A memory is invalid; also TooLarge and UnknownLanguage.
        """
        batch = json_text([new_memory(replace(memory, namespace=None)) for memory in memories])
        if UNDETECTED in batch:
            batch = await in_thread(detect_batch, batch)
        arguments = checked_arguments(namespace=await self._database.namespace(namespace))
        return await self._database.rows(
            "pgrecall.import_lines",
            {
                "memories": batch,
                **arguments,
                "create_namespace": True,
                "on_conflict": on_conflict,
                "placed": list(placed),
            },
        )

    async def import_memories(
        self, lines: Sequence[str], *, keep_origins: bool = False
    ) -> list[dict[str, Any]]:
        """Store lines of an export in one transaction; `pgrecall.jsonl.load.import_jsonl` takes a whole file.

        Args:
            lines: The lines.
            keep_origins: True keeps the origins that the lines state, as a backup needs it. By default the
                memories come from the import, whatever the file says.

        Returns:
            For each line its number from 1, the memory's id, the outcome ('stored', 'present' or 'differs'),
            the number of embeddings stored with it, and the models of skipped embeddings.

        Raises:
            InvalidInput: A line is not a valid line of an export; also TooLarge and UnknownLanguage.
        """
        return await self._database.rows(
            "pgrecall.import_memories",
            {"lines": json_array("line", lines), **checked_arguments(keep_origins=keep_origins)},
        )

    async def link_imported_memories(self, links: Sequence[Mapping[str, Any]]) -> int:
        """Link imported memories to the memories that supersede them.

        Args:
            links: For each superseded memory its id and superseded_by, as ids of this database, and
                superseded_at, updated_at and deleted_at of its line.

        Returns:
            The number of memories linked.

        Raises:
            InvalidInput: The links form a cycle.
        """
        checked = [json_object(f"link {place}", link) for place, link in enumerate(links, 1)]
        return int(
            await self._database.value("pgrecall.link_imported_memories", {"links": json_text(checked)})
        )

    async def import_records(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        """Store what an export holds besides memories, in one transaction; nothing that is there is changed.

        Args:
            lines: With the ids of this database; `pgrecall.jsonl.load.import_jsonl` maps them.

        Returns:
            For each line its number from 1 and the outcome: 'stored', 'present', 'differs', 'refused' or
            'missing'.

        Raises:
            InvalidInput: A line is not what an export writes.
        """
        return await self._database.rows("pgrecall.import_records", {"lines": json_array("line", lines)})

    async def import_from(
        self, rows: Sequence[str], *, namespace: str | None = None, keep_deleted: bool = True
    ) -> list[dict[str, Any]]:
        """Store rows of another program in one transaction; `pgrecall.contrib.importers` creates them.

        Args:
            rows: JSON objects in the format of `pgrecall.import_rows`.
            namespace: The namespace of rows that name none.
            keep_deleted: False skips rows that were deleted in the source before their first import.

        Returns:
            For each row its number from 1, the memory's id, and the outcome.

        Raises:
            InvalidInput: A row cannot become a memory; also TooLarge and UnknownLanguage.
        """
        arguments = {"rows": json_array("row", rows), "keep_deleted": keep_deleted}
        arguments |= checked_arguments(namespace=await self._database.namespace(namespace))
        return await self._database.rows("pgrecall.import_rows", arguments)

    async def preview_import_from(
        self, rows: Sequence[str], *, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        """Return what `import_from` would do with rows, and the state of the stored memories.

        Args:
            rows: As for `import_from`; only namespace and external id are used.
            namespace: The namespace of rows that name none.

        Returns:
            For each row its number from 1, the outcome, and the stored memory's id, hash of its text, and
            whether it is sensitive, forgotten, or updated here.
        """
        arguments = {
            "rows": json_array("row", rows),
            **checked_arguments(namespace=await self._database.namespace(namespace)),
        }
        return await self._database.rows("pgrecall.preview_import_rows", arguments)
