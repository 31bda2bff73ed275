"""The application: which address shows which page, and what becomes of errors."""

from __future__ import annotations

import logging
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, cast
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import RedirectResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pgrecall.errors import PgrecallError

from . import compare_page, concept_pages, edit_pages, memory_list, memory_page, search_pages, status_page
from .access import LOOPBACK, LoginGate, SecurityHeaders, SessionKeys
from .context import PageContext, page_context
from .rendering import page

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp


_log = logging.getLogger("pgrecall")


def create_app(context: PageContext, keys: SessionKeys, hosts: Sequence[str] = LOOPBACK) -> ASGIApp:
    """Make the application; its client is closed when it ends.

    Args:
        context: What its pages work with.
        keys: Who gets in.
        hosts: The names that the machine may be called by.
    """

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with context.client:
            yield

    pages = {
        "/": search_pages.search,
        "/memories": memory_list.memories,
        "/memories/{id}": memory_page.memory,
        "/explain": search_pages.explain,
        "/compare": compare_page.compare,
        "/concepts": concept_pages.concepts,
        "/concepts/{id}": concept_pages.concept,
        "/status": status_page.status,
    }
    forms = {
        "/memories/{id}/edit": (edit_pages.edit, edit_pages.edited),
        "/memories/{id}/supersede": (edit_pages.supersede, edit_pages.superseded),
        "/memories/{id}/forget": edit_pages.confirmed("forget", "forgotten"),
        "/memories/{id}/restore": edit_pages.confirmed("restore", "restored"),
    }
    writing = [
        Route("/feedback", search_pages.feedback, methods=["POST"]),
        *(Route(path, asking) for path, (asking, _) in forms.items()),
        *(Route(path, posted, methods=["POST"]) for path, (_, posted) in forms.items()),
    ]
    app = Starlette(
        routes=[
            *(Route(path, _tidied(handler)) for path, handler in pages.items()),
            *([] if context.form_token is None else writing),
            Mount("/static", StaticFiles(packages=[("pgrecall.contrib.ui", "static")])),
        ],
        exception_handlers={PgrecallError: _failed, HTTPException: _refused, Exception: _broken},
        lifespan=lifespan,
    )
    app.state.context = context
    # Outside of everything, so that what Starlette answers to an error of its own is guarded too.
    return SecurityHeaders(
        TrustedHostMiddleware(LoginGate(app, keys), allowed_hosts=list(hosts), www_redirect=False)
    )


def _tidied(handler: Callable[[Request], Awaitable[Response]]) -> Callable[[Request], Awaitable[Response]]:
    """Leave the empty fields of a form out of the address, which is then one to keep."""

    async def tidied(request: Request) -> Response:
        given = request.query_params.multi_items()
        kept = [(name, value) for name, value in given if value]
        if len(kept) < len(given):
            path = request.url.path
            return RedirectResponse(f"{path}?{urlencode(kept)}" if kept else path, status_code=303)
        return await handler(request)

    return tidied


async def _failed(request: Request, error: Exception) -> Response:
    problem = cast("PgrecallError", error)
    return page_context(request).page("failed.html", problem=problem, title="This did not work")


async def _refused(_: Request, error: Exception) -> Response:
    refusal = cast("HTTPException", error)
    problem = PgrecallError(refusal.detail, hint="Go on from the search page.")
    title = "This is not a page" if refusal.status_code == 404 else "This did not work"
    is_there = refusal.status_code != 404
    return page(
        "failed.html",
        status=refusal.status_code,
        problem=problem,
        title=title,
        can_retry=is_there,
        is_outside=True,
    )


async def _broken(request: Request, error: Exception) -> Response:
    # Its text may quote a memory.
    _log.error("the page %s failed: %s", request.url.path, type(error).__name__)
    problem = PgrecallError(
        "the inspector failed on this page", hint="Please report it, with the log's last line."
    )
    return page("failed.html", status=500, problem=problem, title="This did not work", is_outside=True)
