"""The page about the database: what waits, who works on it, what failed, what is wrong."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from pgrecall.errors import ConnectionFailed, PgrecallError, SchemaMismatch
from pgrecall.formatting import SECTIONS, format_value

from .context import page_context

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response

FAILURES = 50
LARGEST = 10
"""Indexes that are shown, besides those that cannot be used."""
_WORST_FIRST = ("fail", "warn", "info", "ok")


async def status(request: Request) -> Response:
    """Show everything at once; a part that fails says so in its place."""
    context = page_context(request)
    client = context.client

    async def part(function: Callable[..., Coroutine[Any, Any, Any]], **values: Any) -> Any:
        try:
            return await context.call(function, **values)
        except (ConnectionFailed, SchemaMismatch):
            raise  # of all parts alike: a page of its own says it
        except PgrecallError as error:
            return error

    overview = await part(client.admin.status)
    workers, failures, indexes, findings, generations = await asyncio.gather(
        part(client.admin.workers),
        part(client.admin.failures, k=FAILURES),
        part(client.admin.indexes),
        part(client.admin.health),
        part(client.admin.generations),
    )
    if not isinstance(findings, PgrecallError):
        findings = sorted(findings, key=lambda one: _WORST_FIRST.index(one.status))
    largest = indexes
    if not isinstance(indexes, PgrecallError):
        largest = [one for place, one in enumerate(indexes) if place < LARGEST or not one.is_valid]
    return context.page(
        "status.html",
        overview=overview,
        sections=SECTIONS,
        workers=workers,
        failures=failures,
        indexes=largest,
        findings=findings,
        counted=Counter() if isinstance(findings, PgrecallError) else Counter(f.status for f in findings),
        generations=generations,
        is_error=lambda value: isinstance(value, PgrecallError),
        written=format_value,
    )
