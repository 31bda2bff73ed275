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


LAST_YEAR = datetime(2025, 1, 1, tzinfo=UTC)
LAST_MAY = datetime(2025, 5, 1, tzinfo=UTC)
LONG_AHEAD = datetime(2090, 1, 1, tzinfo=UTC)
QUESTION = "parking permit"


def found(conn: Connection[Any], vec: str | None = None, **filters: Any) -> list[int]:
    """The memories that recall returns for the question, in order of id."""
    given = "".join(f", {name} => %({name})s" for name in filters)
    query = f"SELECT id FROM recall(%(query)s, %(vec)s::halfvec{given}) ORDER BY id"
    return [id for (id,) in conn.execute(query.encode(), {"query": QUESTION, "vec": vec, **filters})]


@pytest.mark.parametrize("is_embedded", [False, True])
def test_what_no_longer_holds_is_left_out(conn: Connection[Any], is_embedded: bool) -> None:
    ended = remember(conn, "parking permit 11", occurred_at=LAST_YEAR, valid_to=LAST_MAY)
    holds = remember(conn, "parking permit 12", valid_to=LONG_AHEAD)
    always = remember(conn, "parking permit 13")
    vec = None
    if is_embedded:
        vec = str([1.0] * 384)
        conn.execute("UPDATE pgrecall.memories SET embedding = %s::halfvec", (vec,))
    assert found(conn, vec) == [holds, always]
    assert found(conn, vec, include_superseded=True) == [ended, holds, always]
    assert found(conn, vec, as_of=datetime.now(UTC)) == [ended, holds, always]
    # A question about the past finds what held then.
    assert found(conn, vec, since=LAST_YEAR) == [ended, holds, always]
    assert found(conn, vec, since=MAY) == [holds, always]
    assert found(conn, vec, until=LAST_MAY) == [ended]
    assert found(conn, vec, timeframe="[2025-01-01, 2025-02-01)") == [ended]


def test_why_a_memory_that_no_longer_holds_is_missing(conn: Connection[Any]) -> None:
    ended = remember(conn, "parking permit 11", valid_to=LAST_MAY)
    why = "SELECT reason FROM recall_explain(%s, ids => ARRAY[%s])"
    ((told,),) = conn.execute(why, (QUESTION, ended)).fetchall()
    assert "valid until 2025-05-01" in told
