"""Servers on this machine, for the length of a `with`."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from socketserver import BaseServer


class HttpServer(ThreadingHTTPServer):
    """A server that takes many clients at once, any of which may go away."""

    request_queue_size = 64

    def handle_error(self, *arguments: object) -> None:
        """Say nothing: a client that went away is part of the tests."""


@contextmanager
def serving(server: BaseServer) -> Iterator[None]:
    """Serve in a thread, then close the server."""
    # It is asked to stop as often as it looks: every half second by default, which each test would wait for.
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
