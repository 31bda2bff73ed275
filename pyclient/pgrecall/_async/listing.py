"""Lists longer than a page, for the asynchronous client."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
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
