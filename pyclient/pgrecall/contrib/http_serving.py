"""How this package serves HTTP, for the MCP server and the web inspector alike: nobody can fill it up.

Every connection costs a file descriptor and some memory before it has shown a token. So a connection has
only so long to send a request, only so many may wait, and only one line of log a minute says so for each
cause. uvicorn has no such deadline, and its `limit_concurrency` refuses everybody once strangers fill it up.
"""

from __future__ import annotations

import ipaddress
import logging
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final, cast

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

if TYPE_CHECKING:
    import asyncio
    import socket

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BODY_SECONDS", "HEADER_SECONDS", "MOST_CONNECTIONS", "MOST_WAITING", "web_server"]

HEADER_SECONDS: Final = 10.0
"""For a request's headers, from the connection's beginning or the last answer's end."""
BODY_SECONDS: Final = 30.0
"""For a request's body, from the end of its headers."""
MOST_CONNECTIONS: Final = 512
"""At once; half as many as the process may open files, if that is less."""
MOST_WAITING: Final = 128
"""Of them without a request that is being answered; a quarter of the connections, if that is less."""

# To drain an unread body once the answer is sent: a server that closes at once resets the
# connection, and the client never sees the answer.
_REST_SECONDS: Final = 3.0
# asyncio accepts that many in a row before it looks at any of them, and each is an open file.
_ACCEPTED_AT_ONCE: Final = 64
_BACKLOG: Final = 1024
_SUMMARY_SECONDS: Final = 60
_LONGEST_QUOTE: Final = 100
_FIRST_REFUSAL: Final = 400
_WELCOME: Final = "pgrecall.welcome"

_log = logging.getLogger(__name__)
_counts = logging.getLogger("pgrecall")
_CAUSED_BY_STRANGERS: Final = (__name__, "asyncio", "mcp.server", "uvicorn")


def web_server(app: ASGIApp, **options: Any) -> uvicorn.Server:
    """Make a server that strangers cannot fill up.

    Args:
        app: What it serves. It refuses a caller without a token before it reads a body.
        **options: Further ones of `uvicorn.Config`.
    """
    summary = _Summary()
    handlers: list[logging.Handler | None] = [*logging.getLogger().handlers]
    for handler in handlers or [logging.lastResort]:
        if handler is not None:
            handler.addFilter(summary)
    config = uvicorn.Config(
        _welcoming(app),
        http=cast("type[asyncio.Protocol]", partial(_Protocol, _Gate(_most_connections()))),
        ws="none",
        # uvicorn's own configuration writes to standard output, and its access log names every request.
        log_config=None,
        access_log=False,
        server_header=False,
        backlog=_ACCEPTED_AT_ONCE,
        callback_notify=summary.tell,
        timeout_notify=_SUMMARY_SECONDS,
        **options,
    )
    return _Server(config, summary)


def _welcoming(app: ASGIApp) -> ASGIApp:
    """Note in the scope of a request that it was not refused."""

    async def welcoming(scope: Scope, receive: Receive, send: Send) -> None:
        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < _FIRST_REFUSAL:
                scope[_WELCOME] = True
            await send(message)

        await app(scope, receive, noted)

    return welcoming


class _Server(uvicorn.Server):
    """A server with a summary, which logs the remaining counts at its end."""

    def __init__(self, config: uvicorn.Config, summary: _Summary) -> None:
        super().__init__(config)
        self._summary = summary

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or []:
            listener.listen(_BACKLOG)  # they wait in the kernel, where they cost no file

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await self._summary.tell()


class _Gate:
    """The connections of a server: who may stay.

    Args:
        most: How many connections there may be.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._most_waiting = min(MOST_WAITING, most // 4)
        self._answering: set[_Protocol] = set()
        self._waiting: dict[_Protocol, None] = {}  # the longest waiting first

    def wait(self, connection: _Protocol) -> None:
        """Take in one that has no request to be answered; another may have to go for it."""
        self.leave(connection)
        self._waiting[connection] = None
        if len(self._waiting) > self._most_waiting or len(self._waiting) + len(self._answering) > self._most:
            # A stranger, of the address that has most: who connects from elsewhere is not driven out by one's
            # thousands, and who sends his request at once not by those that wait.
            strangers = [one for one in self._waiting if not one.is_welcome] or list(self._waiting)
            [(busiest, _)] = Counter(one.address for one in strangers).most_common(1)
            oldest = next(one for one in strangers if one.address == busiest)
            _log.warning("closed a connection: too many are open that send no request")
            oldest.drop()

    def answer(self, connection: _Protocol) -> None:
        """Keep one whose request is being answered."""
        self.leave(connection)
        self._answering.add(connection)

    def leave(self, connection: _Protocol) -> None:
        """Let one go."""
        self._answering.discard(connection)
        self._waiting.pop(connection, None)


class _Protocol(H11Protocol):
    """One connection: closed when it takes too long to send a request."""

    def __init__(self, gate: _Gate, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.address = ""
        self.is_welcome = False  # whether a request on it was answered, and not refused
        self._gate = gate
        self._is_lost = False
        self._deadline: asyncio.TimerHandle | None = None
        self._phase: tuple[object, bool, bool] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = _network(self.client)
        self._settle()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_lost = True  # its request may still be worked on
        self._gate.leave(self)
        self._give(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._settle()

    def on_response_complete(self) -> None:
        self.is_welcome = self.is_welcome or _WELCOME in self.cycle.scope
        super().on_response_complete()
        self._settle()

    def pause_writing(self) -> None:
        """Have a client go that does not read what it asked for."""
        super().pause_writing()
        self._give(BODY_SECONDS)

    def resume_writing(self) -> None:
        """Go on, now that it reads."""
        super().resume_writing()
        self._phase = None
        self._settle()

    def drop(self) -> None:
        """Close it at once, without waiting for anything that is to be sent."""
        self._gate.leave(self)
        self._give(None)
        self.transport.abort()

    def _settle(self) -> None:
        """Set the deadline of what is to come next; a byte more of the same moves none."""
        if self._is_lost:
            return
        if self.transport.is_closing():
            self._give(_REST_SECONDS)
            return
        if self.flow.write_paused:  # which has its own deadline
            return
        cycle: RequestResponseCycle | None = self.cycle  # uvicorn says it is never None, and it is at first
        is_answering = cycle is not None and not cycle.response_complete
        is_sending = self.conn.their_state is h11.SEND_BODY
        phase = (cycle, is_answering, is_sending)
        if phase == self._phase:
            return
        self._phase = phase
        if is_answering:
            self._give(BODY_SECONDS if is_sending else None)
            self._gate.answer(self)
        else:
            self._give(_REST_SECONDS if is_sending else HEADER_SECONDS)
            self._gate.wait(self)

    def _give(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        # A browser opens connections ahead of requests it may never send: that is nobody's fault.
        is_unused = self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]
        if not is_unused:
            _log.warning(
                "closed a connection: the client took too long to send its request, or to read the answer"
            )
        self.drop()


class _Summary(logging.Filter):
    """Lets the first record of each place in the code pass, and counts the others until they are logged.

    Applies to what strangers can cause. A database error is logged each time.
    """

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[str, int], tuple[str, int]] = {}  # first message, number of further ones

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is written."""
        if not record.name.startswith(_CAUSED_BY_STRANGERS):
            return True
        place = record.pathname, record.lineno
        message, more = self._seen.get(place, (record.getMessage()[:_LONGEST_QUOTE], -1))
        self._seen[place] = message, more + 1
        return more < 0

    async def tell(self) -> None:
        """Log how many more there were, and reset the count."""
        seen, self._seen = self._seen, {}
        for message, more in seen.values():
            if more:
                _counts.warning("%d more times: %s", more, message)


def _most_connections() -> int:
    try:
        import resource
    except ModuleNotFoundError:  # not on Windows
        return MOST_CONNECTIONS
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST_CONNECTIONS if files == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, files // 2)


def _network(client: tuple[str, int] | None) -> str:
    """Return the owner of a connection: its IPv4 address, or its IPv6 network (hosts have many)."""
    if client is None:
        return ""
    try:
        address = ipaddress.ip_address(client[0])
    except ValueError:
        return client[0]
    if address.version == 6 and not address.is_loopback:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return client[0]
