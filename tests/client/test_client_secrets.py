"""Secrets through both clients: policies, counts, and a scan of what is stored, in batches."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall import AsyncClient, Client
from pgrecall.errors import PermissionDenied, UnknownNamespace
from pgrecall.models import SecretsScan

if TYPE_CHECKING:
    from psycopg import Connection

SAID = "my password is " + "tiger" + "2041"


def test_a_scan_goes_through_all_batches(dsn: str, conn: Connection[Any]) -> None:
    with Client(dsn, namespace="vault") as client:
        client.admin.create_namespace("vault")
        client.admin.set_secrets("vault", "allow")
        client.remember_many(
            [{"content": f"{SAID} {n}" if n % 500 == 0 else f"plan {n}"} for n in range(2001)]
        )
        client.admin.set_secrets("vault", "sensitive")
        would = client.admin.scan_secrets(dry_run=True)
        assert would == SecretsScan(scanned=2001, redacted=0, marked=5, found={"password": 5})
        assert client.count(include_sensitive=False) == 2001
        assert client.admin.scan_secrets() == would
        assert client.count(include_sensitive=False) == 1996
        assert client.admin.scan_secrets().marked == 0
        with pytest.raises(UnknownNamespace):
            client.admin.scan_secrets("nowhere")
    role = f"scans_{conn.info.backend_pid}"
    conn.execute(f"CREATE ROLE {role} LOGIN IN ROLE pgrecall_writer".encode())
    conn.execute("SELECT pgrecall.grant_namespace(%s, 'vault')", (role,))
    try:
        with (
            Client(psycopg.conninfo.make_conninfo(dsn, user=role)) as client,
            pytest.raises(PermissionDenied),
        ):
            client.admin.scan_secrets("vault")
    finally:
        conn.execute(f"DROP OWNED BY {role}".encode())
        conn.execute(f"DROP ROLE {role}".encode())


def test_asynchronously(dsn: str) -> None:
    async def ask() -> SecretsScan:
        async with AsyncClient(dsn) as client:
            await client.admin.set_secrets("default", "allow")
            await client.remember(SAID)
            await client.admin.set_secrets("default", "redact")
            return await client.admin.scan_secrets()

    assert asyncio.run(ask()) == SecretsScan(scanned=1, redacted=1, marked=0, found={"password": 1})
