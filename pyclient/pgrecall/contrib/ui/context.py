"""What every page works with, and how it tells what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

from pgrecall.concurrency import in_time
from pgrecall.errors import (
    Conflict,
    ConnectionFailed,
    InvalidInput,
    NotFound,
    PermissionDenied,
    PgrecallError,
    SchemaMismatch,
    TimedOut,
    TooLarge,
    UnknownNamespace,
)

from .rendering import page

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from starlette.requests import Request
    from starlette.responses import Response

    from pgrecall.models import Namespace

    from .reader import Reader

_P = ParamSpec("_P")
_T = TypeVar("_T")

_STATUS: dict[type[PgrecallError], int] = {
    InvalidInput: 400,
    TooLarge: 400,
    PermissionDenied: 403,
    NotFound: 404,
    UnknownNamespace: 404,
    Conflict: 409,
    ConnectionFailed: 503,
    SchemaMismatch: 503,
    TimedOut: 504,
}


@dataclass(frozen=True, slots=True)
class PageContext:
    """What every page works with.

    Attributes:
        client: Asks the database.
        include_sensitive: Whether sensitive memories are shown.
        timeout: Seconds that each call may take.
        form_token: The token of the forms that write; None if no page may write.
    """

    client: Reader
    include_sensitive: bool
    timeout: float
    form_token: str | None = None

    async def call(
        self, function: Callable[_P, Coroutine[Any, Any, _T]], *args: _P.args, **kwargs: _P.kwargs
    ) -> _T:
        """Call a method of the client, and wait so long for its result and no longer."""
        return await in_time(self.timeout, function, *args, **kwargs)

    async def namespaces(self) -> list[Namespace]:
        """Return the namespaces that the role may read; empty if it may not ask."""
        try:
            return await self.call(self.client.admin.namespaces)
        except PermissionDenied:
            return []

    def page(self, template: str, *, problem: PgrecallError | None = None, **values: Any) -> Response:
        """Fill a template; the status is that of the problem, if there is one."""
        status = 200 if problem is None else status_of(problem)
        return page(
            template,
            status=status,
            problem=problem,
            sensitive=self.include_sensitive,
            form_token=self.form_token,
            **values,
        )


def page_context(request: Request) -> PageContext:
    """Return what the application was made with."""
    return cast("PageContext", request.app.state.context)


def status_of(error: PgrecallError) -> int:
    """Return the HTTP status for an error."""
    return next((status for cls, status in _STATUS.items() if isinstance(error, cls)), 500)
