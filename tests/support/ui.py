"""The inspector as the tests run it: in this process, or as the command in a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.testclient import TestClient

from examples.demo import SAMPLE, close_superseded
from pgrecall import Client
from pgrecall.contrib.ui import create_app
from pgrecall.contrib.ui.access import SessionKeys
from pgrecall.contrib.ui.context import PageContext
from pgrecall.contrib.ui.reader import Reader
from pgrecall.jsonl.load import import_jsonl

if TYPE_CHECKING:
    from collections.abc import Iterator

PORT = 8765
SECONDS = 180


def import_sample(dsn: str) -> None:
    """Store the sample; facts that no longer hold point to their successors."""
    with Client(dsn) as client:
        with SAMPLE.open("rb") as lines:
            import_jsonl(client, lines)
        close_superseded(client)


def make_inspector(
    dsn: str,
    *,
    include_sensitive: bool = False,
    read_only: bool = False,
    timeout: float = 30.0,
    raise_server_exceptions: bool = True,
) -> tuple[TestClient, SessionKeys]:
    """Return a client of an inspector in this process, and its keys; it has not been let in."""
    keys = SessionKeys(PORT)
    form_token = None if read_only else keys.form_token
    context = PageContext(Reader(dsn, pool_timeout=timeout / 2), include_sensitive, timeout, form_token)
    client = TestClient(
        create_app(context, keys),
        base_url=f"http://127.0.0.1:{PORT}",
        raise_server_exceptions=raise_server_exceptions,
    )
    return client, keys


@contextmanager
def inspecting(dsn: str, *, include_sensitive: bool = False, timeout: float = 30.0) -> Iterator[TestClient]:
    """A client that has been let in."""
    client, keys = make_inspector(dsn, include_sensitive=include_sensitive, timeout=timeout)
    with client:
        client.get("/", params={"token": keys.token})
        yield client


@contextmanager
def serving(dsn: str, *more: str, browser: str | None = None, lines: int = 1) -> Iterator[str]:
    """Run `pgrecall ui`; yields the address that it prints.

    Args:
        dsn: The database.
        *more: Further options.
        browser: The command that it may open as the user's browser; None leaves it alone.
        lines: How many it may write at most beside the address.
    """
    options = ["--port", "0", "--dsn", dsn, *(["--no-open"] if browser is None else []), *more]
    running = subprocess.Popen(
        [sys.executable, "-m", "pgrecall", "ui", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "BROWSER": browser or ""},
    )
    try:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        assert address, running.communicate(timeout=SECONDS)[1]
        yield address
    finally:
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=SECONDS)
    # It has said nothing but where it is: questions, texts and the token of its cookie are in no log.
    assert (out, running.returncode) == ("", 0), err
    assert err.count("\n") <= lines, err
