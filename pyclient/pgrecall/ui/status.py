"""The page about the database: what waits, who works on it, what failed, what is wrong."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

from pgrecall.cli.status import SECTIONS, written
from pgrecall.errors import ConnectionFailed, PgrecallError, SchemaMismatch

from .desk import desk_of

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
    desk = desk_of(request)
    client = desk.client

    async def part(function: Callable[..., Coroutine[Any, Any, Any]], **values: Any) -> Any:
        try:
            return await desk.call(function, **values)
        except (ConnectionFailed, SchemaMismatch):
            raise  # of all parts alike: a page of its own says it
        except PgrecallError as error:
            return error

    overview = await part(client.status)
    workers, failures, indexes, findings, generations = await asyncio.gather(
        part(client.workers),
        part(client.failures, k=FAILURES),
        part(client.indexes),
        part(client.health),
        part(client.generations),
    )
    if not isinstance(findings, PgrecallError):
        findings = sorted(findings, key=lambda one: _WORST_FIRST.index(one.status))
    largest = indexes
    if not isinstance(indexes, PgrecallError):
        largest = [one for place, one in enumerate(indexes) if place < LARGEST or not one.is_valid]
    return desk.page(
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
        written=written,
    )
