"""The server of the inspector, until it is interrupted."""

from __future__ import annotations

import os
import socket
import threading
import webbrowser
from contextlib import suppress
from typing import TYPE_CHECKING

from pgrecall.contrib.http_serving import web_server
from pgrecall.errors import PgrecallError

from .access import LOOPBACK, SessionKeys
from .application import create_app
from .context import PageContext
from .reader import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

ADDRESS = "127.0.0.1"
_ALL = "0.0.0.0"  # noqa: S104 - the name of every address, not a default
_POOL = 4
# A question of 16,384 Chinese characters has nine times as many in an address.
_LONGEST_ADDRESS = 256 * 1024


def serve(
    dsn: str | None = None,
    *,
    host: str = ADDRESS,
    port: int = 0,
    namespace: str | None = None,
    include_sensitive: bool = False,
    read_only: bool | None = None,
    timeout: float = 10.0,
    open_browser: bool = False,
    tell: Callable[[str], None] = print,
) -> None:
    """Serve the pages until SIGINT or SIGTERM.

    Args:
        dsn: The database; None takes the configured one.
        host: The name or IPv4 address to listen on. Only 127.0.0.1 is safe from others who read the network:
            the pages are not encrypted.
        port: Where to listen; 0 takes a free one.
        namespace: The namespace of pages that name none.
        include_sensitive: True shows sensitive memories too.
        read_only: True offers nothing that writes; None does so unless `host` is 127.0.0.1 or localhost.
        timeout: Seconds that each call of the database may take.
        open_browser: True opens the user's browser.
        tell: Is given the address with its token.

    Raises:
        PgrecallError: The port is taken, or `host` is no address of this machine.
    """
    if read_only is None:
        read_only = host not in LOOPBACK
    with _listening(host, port) as listener:
        port = listener.getsockname()[1]
        called = socket.gethostname() if host == _ALL else host
        keys = SessionKeys(port)
        # Pages that wait for a connection are to say so before their time is over.
        client = Reader(dsn, namespace=namespace, pool_max=_POOL, pool_timeout=timeout / 2)
        form_token = None if read_only else keys.form_token
        context = PageContext(client, include_sensitive, timeout, form_token)
        app = create_app(context, keys, [*LOOPBACK, called.lower()])
        server = web_server(
            app,
            log_level="critical",
            h11_max_incomplete_event_size=_LONGEST_ADDRESS,
            timeout_graceful_shutdown=2,
        )
        tell(f"http://{called}:{port}/?token={keys.token}")
        if open_browser:
            # A browser in the terminal lasts until it is left, and waits for the server meanwhile.
            address = f"http://{called}:{port}/?token={keys.once()}"
            threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()
        with suppress(KeyboardInterrupt):
            server.run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        reason = "there is no such port"
        if isinstance(error, OSError):
            # Numbers below 0 are those of name resolution.
            code = error.errno or 0
            reason = os.strerror(code) if code > 0 else "there is no such host"
        raise PgrecallError(
            f"cannot listen on {host}, port {port}: {reason}",
            hint="Choose another with --host or --port; port 0 takes a free one.",
        ) from None
