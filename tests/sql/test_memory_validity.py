"""memory_validity(): when memories hold, and which it keeps silent about."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import InvalidInput, Validity
from support.memories import call, remember, rows, share

if TYPE_CHECKING:
    from psycopg import Connection

    from pgrecall import Client

MAY = datetime(2026, 5, 1, tzinfo=UTC)
JUNE = datetime(2026, 6, 1, tzinfo=UTC)


def test_when_memories_hold(client: Client) -> None:
    plain = client.remember("tea")
    said = client.remember("tea in spring", valid_from=MAY, valid_to=JUNE)
    old = client.remember("tea at four", valid_from=MAY)
    new = client.supersede(old, "tea at five", occurred_at=JUNE)
    gone = client.remember("no tea")
    client.forget(gone)
    found = client.validity([new, gone, said, plain, old, plain, 10**12])
    assert found == {
        plain: Validity(id=plain, valid_from=None, valid_to=None, superseded_by=None),
        said: Validity(id=said, valid_from=MAY, valid_to=JUNE, superseded_by=None),
        old: Validity(id=old, valid_from=MAY, valid_to=JUNE, superseded_by=new),
        new: Validity(id=new, valid_from=None, valid_to=None, superseded_by=None),
    }
    assert client.validity([]) == {}
    with pytest.raises(InvalidInput, match=r"ids\[1\]"):
        client.validity([plain, "one"])  # type: ignore[list-item]


def test_only_of_the_namespace(client: Client, conn: Connection[Any]) -> None:
    here = remember(conn, "tea")
    there = remember(conn, "tea", namespace="there", create_namespace=True)
    assert client.validity([here, there]).keys() == {here}
    assert client.validity([here, there], namespace="there").keys() == {there}
    assert client.validity([here, there], namespace="nowhere") == {}


def test_only_what_the_role_may_read(conn: Connection[Any]) -> None:
    here = remember(conn, "tea")
    there = remember(conn, "tea", namespace="there", create_namespace=True)
    share(conn)
    conn.execute("SET ROLE pgrecall_reader")
    assert [row[0] for row in rows(conn, "pgrecall.memory_validity", [here, there])] == [here]
    assert rows(conn, "pgrecall.memory_validity", [here, there], "there") == []
    conn.execute("RESET ROLE")
    assert call(conn, "forget", here)
    assert rows(conn, "pgrecall.memory_validity", [here]) == []
