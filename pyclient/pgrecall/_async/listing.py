"""Lists longer than a page, for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pgrecall.filters import Filter
    from pgrecall.models import StoredMemory

    from .client import AsyncClient

_PAGE = 1000


async def list_newest(
    client: AsyncClient, number: int, *, namespace: str | None, filter: Filter
) -> list[StoredMemory]:
    """Return memories, newest first, of as many pages as it takes.

    Args:
        client: The client.
        number: How many are wanted.
        namespace: Their namespace; None takes the client's.
        filter: What they must meet.

    Raises:
        InvalidInput: An invalid filter.
    """
    found: list[StoredMemory] = []
    while len(found) < number:
        wanted = min(number - len(found), _PAGE)
        after = found[-1].id if found else None
        page = await client.list(k=wanted, after=after, namespace=namespace, filter=filter)
        found += page
        if len(page) < wanted:
            break
    return found


async def get_all(
    client: AsyncClient,
    ids: Sequence[int] = (),
    *,
    external_ids: Sequence[str] = (),
    namespace: str | None = None,
) -> list[StoredMemory]:
    """Return memories as `get_many` does, by ids or external ids, in as many calls as it takes."""
    found: list[StoredMemory] = []
    for start in range(0, len(ids), _PAGE):
        found += await client.get_many(ids[start : start + _PAGE])
    for start in range(0, len(external_ids), _PAGE):
        wanted = external_ids[start : start + _PAGE]
        found += await client.get_many(external_ids=wanted, namespace=namespace)
    return found
