"""The page of one memory: its text, its fields, its passages, and what it was before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pgrecall.errors import NotFound

from .context import page_context
from .query_form import identity

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import StoredMemory

    from .context import PageContext

VERSIONS = 50
"""Versions that are shown, the latest."""

_LARGEST = 2**63 - 1


async def load(context: PageContext, request: Request) -> StoredMemory:
    """Return the memory that an address names, which may be forgotten.

    Raises:
        NotFound: There is none, or it is hidden.
        InvalidInput: The id is no number.
    """
    id = identity(request.path_params["id"])
    found = []
    if 0 < id <= _LARGEST:
        found = list(await context.call(context.client.get_many, [id], include_forgotten=True))
    if not found or (found[0].is_sensitive and not context.include_sensitive):
        raise NotFound(f"there is no memory {id}", hint="It may be erased, or hidden from this inspector.")
    return found[0]


async def is_writable(context: PageContext, memory: StoredMemory) -> bool:
    """Tell whether a page may offer to change a memory."""
    if context.form_token is None:
        return False
    return any(one.name == memory.namespace and one.access == "write" for one in await context.namespaces())


async def memory(request: Request) -> Response:
    """Show one memory."""
    context = page_context(request)
    stored = await load(context, request)
    history = await context.call(
        context.client.history, stored.id, include_sensitive=context.include_sensitive
    )
    return context.page(
        "memory.html",
        memory=stored,
        passages=await context.call(context.client.passages, stored.id),
        history=list(reversed(history))[:VERSIONS],
        older=max(0, len(history) - VERSIONS),
        is_writable=await is_writable(context, stored),
        done=request.query_params.get("done"),
    )
