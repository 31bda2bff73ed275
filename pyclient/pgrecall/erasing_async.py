"""Deleting for good, for the asynchronous client."""

from __future__ import annotations

from .arguments import given
from .operations import Erasure
from .session_async import AsyncSession


class AsyncErasing(AsyncSession):
    """What the law may ask for: memories and namespaces that are gone, and not only forgotten."""

    async def erase(self, id: int, *, dry_run: bool = False) -> Erasure:
        """Delete a memory and all that was derived from it, for good; a forgotten one too.

        `forget` is the one that can be taken back. What files, backups and copies keep is in docs/erasure.md.

        Args:
            id: The memory.
            dry_run: True tells what would go, and changes nothing.

        Returns:
            The receipt: how many rows of each table went.

        Raises:
            NotFound: There is no such memory.
            PermissionDenied: It may only be read.
        """
        rows = await self._rows("public.erase", given(id=id, dry_run=dry_run))
        return Erasure(**rows[0])

    async def erase_namespace(self, namespace: str, *, dry_run: bool = False) -> Erasure:
        """Delete a namespace with all its memories, grants and rules, for good.

        Args:
            namespace: Its name.
            dry_run: True tells what would go, and changes nothing.

        Returns:
            The receipt: how many rows of each table went. It has the namespace's id, not its name.

        Raises:
            UnknownNamespace: There is no such namespace.
            PermissionDenied: The role does not see every namespace.
        """
        rows = await self._rows("public.erase_namespace", given(namespace=namespace, dry_run=dry_run))
        return Erasure(**rows[0], memory_id=None)
