"""A network that is lost: connections have time-outs, and those that the user names win."""

from __future__ import annotations

import asyncio
import socket
import time
from typing import TYPE_CHECKING, Any

import pytest
import structlog
from psycopg.conninfo import make_conninfo

from pgrecall import Client, ConnectionFailed
from pgrecall.connecting import network_options
from pgrecall.contrib.offline import OfflineClient, connect
from pgrecall_embedder.connection import Connection
from pgrecall_embedder.retry import RetryPolicy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DEFAULTS = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}


@pytest.fixture
def silent() -> Iterator[str]:
    """The connection string of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"host=127.0.0.1 port={listener.getsockname()[1]} user=me dbname=app"


@pytest.mark.parametrize(
    ("given", "own"),
    [
        ("host=h", set()),
        (
            "postgresql://u@h1,h2:5/db?connect_timeout=3&tcp_user_timeout=0",
            {"connect_timeout", "tcp_user_timeout"},
        ),
        ("host=h keepalives_idle=7 keepalives_count=2", {"keepalives_idle", "keepalives_count"}),
        ("service=mine", {"keepalives_interval"}),
    ],
)
def test_what_the_user_names_is_left_alone(
    given: str, own: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    services = tmp_path / "services"
    services.write_text("[mine]\nhost=10.255.255.1\nport=1,2\nhostaddr=10.255.255.1\nkeepalives_interval=4\n")
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    assert network_options(given) == {name: DEFAULTS[name] for name in DEFAULTS if name not in own}


def test_the_environment_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "3")
    assert "connect_timeout" not in network_options("host=h")


def test_patience_shortens_what_is_waited_for() -> None:
    options = network_options("host=h", 0.5)
    assert (options["connect_timeout"], options["tcp_user_timeout"]) == (2, 500)
    assert "tcp_user_timeout" not in network_options("host=h tcp_user_timeout=9", 5)


def _said(connection: Any) -> dict[str, int]:
    return {name: int(value) for name, value in connection.info.get_parameters().items() if name in DEFAULTS}


def test_connections_of_client_and_daemon_have_them(dsn: str) -> None:
    async def daemon(given: str) -> dict[str, int]:
        connection = Connection(given, RetryPolicy(asyncio.Event(), 5.0, structlog.get_logger()))
        try:
            return _said(await connection.connect())
        finally:
            await connection.close()

    for given, wanted in (
        (dsn, DEFAULTS),
        (
            make_conninfo(dsn, connect_timeout=5, keepalives_idle=9),
            DEFAULTS | {"connect_timeout": 5, "keepalives_idle": 9},
        ),
    ):
        with Client(given) as client, client._database.connection() as connection:
            assert _said(connection) == wanted
        assert asyncio.run(daemon(given)) == wanted


def test_a_server_that_is_silent_is_given_up(silent: str) -> None:
    start = time.monotonic()
    with Client(f"{silent} connect_timeout=2") as client, pytest.raises(ConnectionFailed):
        client.count()
    assert time.monotonic() - start < 60


def test_a_silent_server_is_away_for_the_client_with_a_copy(dsn: str, silent: str, tmp_path: Path) -> None:
    with OfflineClient(tmp_path / "copy.db", dsn) as copy:
        copy.pull()
        copy.remember("oolong tea")
    start = time.monotonic()
    with connect(silent, offline=tmp_path / "copy.db", patience=1) as memory:
        found = memory.recall("tea", embed=False)
    assert [one.content for one in found] == ["oolong tea"]
    assert "cannot be reached" in str(found.notice)
    assert time.monotonic() - start < 60
