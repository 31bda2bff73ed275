"""Who gets in, and what every answer forbids the browser.

The pages show memories, so each request needs a cookie, which the token of the printed address is exchanged
for. A page of elsewhere can neither read them (the cookie is of this site only) nor reach them by a name of
its own that leads here (the Host header is checked).
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders
from starlette.requests import Request

from .rendering import page

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost")
"""The names of this machine for itself; the port is not looked at, it may be forwarded."""

HEADERS = {
    # No script at all, not even the inspector's: what a memory says can run nowhere.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}


class SessionKeys:
    """The token of the address, the cookie it is exchanged for, and the token of the forms that write.

    Args:
        port: The cookie is named after it: browsers do not tell the ports of a machine apart.
    """

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(32)
        self.cookie = f"pgrecall_ui_{port}"
        self.form_token = secrets.token_urlsafe(32)
        self._session = secrets.token_urlsafe(32)
        self._once: str | None = None

    def once(self) -> str:
        """Return a token that opens once: for the command line of a browser, which others may see."""
        self._once = secrets.token_urlsafe(32)
        return self._once

    def opens(self, token: str) -> bool:
        """Whether a token is the right one."""
        if self._once is not None and _same(token, self._once):
            self._once = None
            return True
        return _same(token, self.token)

    def knows(self, request: Request) -> bool:
        """Whether a request has the cookie."""
        return _same(request.cookies.get(self.cookie, ""), self._session)

    def give(self, answer: Response) -> None:
        """Have an answer give the cookie."""
        answer.set_cookie(self.cookie, self._session, httponly=True, samesite="strict")


class LoginGate:
    """Lets in who has the cookie, and gives it to who has the token. The style sheet is open to all."""

    def __init__(self, app: ASGIApp, keys: SessionKeys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        token = request.query_params.get("token")
        if request.url.path == "/" and token is not None and self._keys.opens(token):
            # A redirect would do, except for users who come from another site, such as a terminal in the
            # browser: they would not show the cookie on it. Going on from a page of this site they do.
            answer = page("enter.html")
            self._keys.give(answer)
            await answer(scope, receive, send)
        elif request.url.path.startswith("/static/") or self._keys.knows(request):
            await self._app(scope, receive, send)
        else:
            await page("closed.html", status=403)(scope, receive, send)


class SecurityHeaders:
    """Adds the headers to every answer, errors included."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, and add the headers to what comes back."""

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self._app(scope, receive, guarded)


def _same(token: str, expected: str) -> bool:
    return secrets.compare_digest(token.encode(), expected.encode())
