"""Whether and when memories are visible, for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.arguments import checked_arguments
from pgrecall.models import Validity

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .database import AsyncDatabase


class AsyncVisibility:
    """Tells whether and when memories are visible. `AsyncClient` is one."""

    _database: AsyncDatabase

    async def validity(self, ids: Iterable[int], *, namespace: str | None = None) -> dict[int, Validity]:
        """Return the validity periods of memories by id.

        Args:
            ids: The memories; forgotten ones and those of other namespaces are omitted.
            namespace: Their namespace.

        Raises:
            InvalidInput: An id that is not a whole number.
        """
        arguments = checked_arguments(ids=ids, namespace=await self._database.namespace(namespace))
        rows = await self._database.rows("pgrecall.memory_validity", arguments)
        return {row["id"]: Validity.of(row) for row in rows}

    async def is_shown(
        self,
        id: int,
        *,
        namespace: str | None = None,
        any_namespace: bool = False,
        include_sensitive: bool = True,
    ) -> bool:
        """Tell whether a caller with these restrictions may see a memory. A forgotten one is never visible.

        Args:
            id: The memory.
            namespace: The namespace that the caller is restricted to.
            any_namespace: True accepts every namespace.
            include_sensitive: False rejects sensitive memories.
        """
        arguments = checked_arguments(id=id, any_namespace=any_namespace, include_sensitive=include_sensitive)
        arguments |= checked_arguments(namespace=await self._database.namespace(namespace))
        return bool(await self._database.value("pgrecall.is_shown", arguments))
