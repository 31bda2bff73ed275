"""Permanent deletion: the part of the client that erases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from pgrecall.arguments import checked_arguments
from pgrecall.filters import ErasureFilters, split_filter
from pgrecall.models import Erasure

from .filtering import filter_argument

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .database import AsyncDatabase


class AsyncErasures:
    """Erases memories. `AsyncClient` is one.

    Args:
        database: The database.
    """

    def __init__(self, database: AsyncDatabase) -> None:
        self._database = database

    async def erase(self, id: int, *, dry_run: bool = False) -> Erasure:
        """Delete a memory and everything derived from it permanently, even if it was forgotten before.

        `forget` can be undone, this cannot. docs/erasure.md lists what files, backups and copies keep.

        Args:
            id: The memory.
            dry_run: True changes nothing, and returns what would be deleted.

        Returns:
            The receipt, with the number of rows deleted from each table.

        Raises:
            NotFound: There is no such memory.
            PermissionDenied: The role may only read it.
        """
        rows = await self._database.rows_now("public.erase", checked_arguments(id=id, dry_run=dry_run))
        return Erasure.of(rows[0])

    async def erase_many(
        self, *, dry_run: bool = False, **filters: Unpack[ErasureFilters]
    ) -> tuple[Erasure, ...]:
        """Delete all memories that pass the filters permanently, as `erase` does, in one transaction.

        Superseded, forgotten, expired and sensitive memories too.

        Args:
            dry_run: True changes nothing, and returns what would be deleted.
            **filters: namespace, filter, speakers, metadata_where and so on: see `Filter`. At least one
                besides namespace, and none that is empty.

        Returns:
            The receipt of each memory.

        Raises:
            InvalidInput: No filter, an empty one, which every memory would pass, or an invalid one.
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role may only read the namespace.
        """
        arguments = {**checked_arguments(dry_run=dry_run), **await self._filtered(filters, ErasureFilters)}
        rows = await self._database.rows_now("public.erase_many", arguments)
        return tuple(Erasure.of(row) for row in rows)

    async def erase_namespace(self, namespace: str, *, dry_run: bool = False) -> Erasure:
        """Delete a namespace with all its memories, grants and rules permanently.

        Args:
            namespace: Its name.
            dry_run: True changes nothing, and returns what would be deleted.

        Returns:
            The receipt, with the number of rows deleted from each table. It has the id of the namespace, not
            its name.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role cannot access every namespace.
        """
        rows = await self._database.rows_now(
            "public.erase_namespace", checked_arguments(namespace=namespace, dry_run=dry_run)
        )
        return Erasure.of({**rows[0], "memory_id": None})

    async def _filtered(self, options: Mapping[str, Any], allowed: type) -> dict[str, Any]:
        """Return the arguments of a function that filters: namespace or namespaces, filter, others."""
        filter, rest = split_filter(options, allowed)
        if rest.get("namespaces") is None:
            rest["namespace"] = await self._database.namespace(rest.get("namespace"))
        return {**checked_arguments(**rest), **await filter_argument(self._database, filter)}
