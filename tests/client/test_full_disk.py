"""A server whose disk is full: the hint leads to that."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import psycopg
import pytest

from pgrecall import Client, ConnectionFailed
from pgrecall.errors import error_from

if TYPE_CHECKING:
    from psycopg import Connection

# Refuses each connection as PostgreSQL does that cannot write the file of its catalog's cache. A process of
# its own, as libpq's ping holds this one up.
FULL = r"""
import socket, struct
server = socket.create_server(("127.0.0.1", 0))
print(server.getsockname()[1], flush=True)
while True:
    with server.accept()[0] as asking:
        while len(asked := asking.recv(1024)) == 8:  # for encryption
            asking.sendall(b"N")
        said = b"SFATAL\0VFATAL\0C53100\0Mcould not write init file: No space left on device\0\0"
        asking.sendall(b"E" + struct.pack("!i", 4 + len(said)) + said)
"""


def test_it_is_not_taken_for_one_with_too_many_connections() -> None:
    """For a connection that fails libpq gives no SQLSTATE."""
    server = subprocess.Popen([sys.executable, "-c", FULL], stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        with (
            Client(f"postgresql://priya@127.0.0.1:{port}/app") as refused,
            pytest.raises(ConnectionFailed) as caught,
        ):
            refused.admin.status()
    finally:
        server.kill()
        server.communicate()
    assert "No space left on device" in caught.value.message
    assert "no room on its disk" in str(caught.value.hint)


def test_a_statement_that_it_fails_leads_to_making_room(conn: Connection[object]) -> None:
    """PostgreSQL has a hint for tables, none for temporary files."""
    with pytest.raises(psycopg.Error) as caught:
        conn.execute(
            "DO $$ BEGIN RAISE EXCEPTION 'could not write to file: No space left on device' "
            "USING ERRCODE = '53100'; END $$"
        )
    assert str(error_from(caught.value).hint).startswith("Make room on the server's disk")
