"""Memories out of a database and into another one with all they have, for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pgrecall.arguments import call, drop_none, json_array, json_object, json_text

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from .database import AsyncDatabase

_ROWS_AT_ONCE = 200


class AsyncTransfer:
    """Memories out of the database, and into it with all they have: `client.transfer`."""

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def export_memories(
        self,
        namespace: str | None = None,
        *,
        include_sensitive: bool | None = None,
        include_forgotten: bool | None = None,
    ) -> AsyncGenerator[str]:
        """Yield memories as lines of JSON, without line ends, in the order of their ids.

        They are read as they are asked for, and all as they were at the first: a transaction is open until
        the last, or until the iterator is closed.

        Args:
            namespace: Only this one; None is all there are.
            include_sensitive: True also yields sensitive memories.
            include_forgotten: True also yields forgotten ones.

        Raises:
            UnknownNamespace: There is no such namespace.
        """
        statement, parameters = call(
            "pgrecall.export_memories",
            drop_none(
                namespace=namespace, include_sensitive=include_sensitive, include_forgotten=include_forgotten
            ),
        )
        async with (
            self._database.connection() as connection,
            connection.transaction(),
            connection.cursor("pgrecall_export") as cursor,
        ):
            cursor.itersize = _ROWS_AT_ONCE
            await cursor.execute(statement, parameters)
            async for row in cursor:
                yield row["line"]

    async def import_memories(self, lines: Sequence[str]) -> list[dict[str, Any]]:
        """Store lines of an export, all of them or none; `pgrecall.import_jsonl` takes a whole file.

        Returns:
            For each line its place from 1, the memory's id, the outcome ('stored', 'present' or 'differs'),
            the number of embeddings stored with it, and the models of those that were left out.

        Raises:
            InvalidInput: A line is not as an export writes it; also TooLarge and UnknownLanguage.
        """
        return await self._database.rows("pgrecall.import_memories", {"lines": json_array("line", lines)})

    async def link_imported_memories(self, links: Sequence[Mapping[str, Any]]) -> int:
        """Say what supersedes memories that were imported and are superseded.

        Args:
            links: For each its id and superseded_by, ids of this database, and of its line superseded_at,
                updated_at and deleted_at.

        Returns:
            How many of them were waiting for that.

        Raises:
            InvalidInput: They would supersede one another in a circle.
        """
        checked = [json_object(f"link {place}", link) for place, link in enumerate(links, 1)]
        return int(
            await self._database.value("pgrecall.link_imported_memories", {"links": json_text(checked)})
        )

    async def import_from(
        self, rows: Sequence[str], *, namespace: str | None = None, keep_deleted: bool = True
    ) -> list[dict[str, Any]]:
        """Store rows of another program, all of them or none; `pgrecall.contrib.importers` makes them.

        Args:
            rows: Objects of JSON as `pgrecall.import_rows` takes them.
            namespace: Where those go that name none.
            keep_deleted: False leaves out what was deleted before it came here.

        Returns:
            For each row its place from 1, the memory's id, and the outcome.

        Raises:
            InvalidInput: A row cannot become a memory; also TooLarge and UnknownLanguage.
        """
        arguments = {"rows": json_array("row", rows), "keep_deleted": keep_deleted}
        arguments |= drop_none(namespace=await self._database.namespace(namespace))
        return await self._database.rows("pgrecall.import_rows", arguments)

    async def preview_import_from(
        self, rows: Sequence[str], *, namespace: str | None = None
    ) -> list[dict[str, Any]]:
        """Say what `import_from` would do with rows, and what is stored of them.

        Args:
            rows: As for `import_from`; of a memory only its namespace and external id are looked at.
            namespace: Where those are that name none.

        Returns:
            For each row its place from 1, the outcome, and of the memory its id, the hash of its text, and
            whether it is sensitive, forgotten, updated here.
        """
        arguments = {
            "rows": json_array("row", rows),
            **drop_none(namespace=await self._database.namespace(namespace)),
        }
        return await self._database.rows("pgrecall.preview_import_rows", arguments)
