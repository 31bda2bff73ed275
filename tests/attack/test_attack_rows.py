"""Attacks on error messages: what a constraint or a cast refuses is not printed with its row or its value.

PostgreSQL leaves the failing row out where row-level security applies to whoever writes. The functions write as roles that it
applies to, also when a superuser calls them.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from support.attack import said
from support.extraction import claimed, fact, mention, time
from support.memories import remember, scalar
from support.roles import role

if TYPE_CHECKING:
    from collections.abc import Callable

    from psycopg import Connection

pytestmark = pytest.mark.rollback

WORD = "quagga"
LONG = f"{WORD} " * 50000
ANSWERS = "SELECT pgrecall.cache_llm_answers(%s::jsonb)"
USAGE = "SELECT pgrecall.record_llm_usage(%s::text, %s::bigint, 1, 1)"
HEARTBEAT = "SELECT pgrecall.heartbeat(%s, %s, 1, 'x', %s, 1, pauses => %s::jsonb)"
EXTRACTIONS = "SELECT pgrecall.complete_extractions('text', %s, %s::jsonb)"
WORKER = "00000000-0000-0000-0000-000000000001"
NAMED = [mention("A"), mention("B")]

# By the name of what is broken: the statement, and its values for a claimed memory.
REFUSED: dict[str, tuple[str, Callable[[Any], list[Any]]]] = {
    "size of an answer": (ANSWERS, lambda row: [answer(row, answer=LONG * 4)]),
    "size of a key": (ANSWERS, lambda row: [answer(row, key="00" * 300)]),
    "missing key": (ANSWERS, lambda row: [answer(row, key=None)]),
    "size of a model's name": (USAGE, lambda _: [LONG, 1]),
    "missing count": (USAGE, lambda _: [WORD, None]),
    "missing host": (HEARTBEAT, lambda _: [WORKER, None, WORD, "[]"]),
    "missing pauses": (HEARTBEAT, lambda _: [WORKER, WORD, WORD, None]),
    "size of a version": (EXTRACTIONS, lambda row: [LONG, item(row)]),
    "size of a statement": (
        EXTRACTIONS,
        lambda row: ["v", item(row, mentions=NAMED, facts=[fact("A", "is", "B", statement=LONG)])],
    ),
    "size of a granularity": (
        EXTRACTIONS,
        lambda row: ["v", item(row, times=[time("2024-01-01", "2024-01-02", granularity=LONG)])],
    ),
}


def item(row: Any, **read: object) -> str:
    """What was read in a claimed memory."""
    memory, ticket = row[:2]
    return json.dumps([{"memory_id": memory, "ticket": ticket, **read}])


def answer(row: Any, **changed: object) -> str:
    """An answer about a claimed memory."""
    memory, ticket = row[:2]
    return json.dumps(
        [{"key": "00", "memory_id": memory, "ticket": ticket, "answer": {WORD: WORD}, **changed}]
    )


@pytest.mark.parametrize("who", [None, "pgrecall_embedder"])
@pytest.mark.parametrize("broken", REFUSED)
def test_a_broken_constraint_shows_no_row(conn: Connection[Any], broken: str, who: str | None) -> None:
    remember(conn, f"{WORD} met Anna")
    (row,) = claimed(conn)
    conn.execute(
        "INSERT INTO pgrecall.jobs (memory_id, kind, namespace_id, ticket) "
        "SELECT j.memory_id, 'llm', j.namespace_id, j.ticket FROM pgrecall.jobs j"
    )
    statement, values = REFUSED[broken]
    if who is not None:
        conn.execute(f"SET ROLE {who}".encode())
    with pytest.raises(psycopg.IntegrityError) as caught:
        conn.execute(statement.encode(), values(row))
    assert WORD not in said(caught.value)


@pytest.mark.parametrize(
    "number", [f"9999999999999999999999 {WORD}", f"1{WORD}", WORD, "-1", "18446744073709551615"]
)
def test_what_is_no_transaction_is_not_known(conn: Connection[Any], number: str) -> None:
    with role(conn, "pgrecall_reader"):
        asked = "SELECT (pgrecall.is_committed(%s, 1, now())).known"
        assert scalar(conn, asked, number) is False
