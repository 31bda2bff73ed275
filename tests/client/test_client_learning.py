"""Feedback and learning through the client, synchronous and asynchronous, and through the command line."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from psycopg.conninfo import make_conninfo

from pgrecall import AsyncClient, Client
from pgrecall.cli import main
from pgrecall.errors import NotFound, ReadOnlyServer, UnknownNamespace
from support.judging import angle
from support.memories import remember, scalar

if TYPE_CHECKING:
    from psycopg import Connection

OPINIONS = "SELECT json_object_agg(q.query, j.is_useful) FROM pgrecall.judged_queries q JOIN pgrecall.judgements j USING (namespace_id, query_id)"
VECTORS = "SELECT count(*) FROM pgrecall.judged_vectors"
TOO_FEW = {
    "is_adopted": False,
    "settings": {},
    "queries": 0,
    "ndcg_before": None,
    "ndcg_after": None,
    "gain_low": None,
    "gain_high": None,
}


def test_feedback(client: Client, conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    client.learning.feedback("what is yellow?", number, True, vector=json.loads(angle(0)))
    client.learning.feedback("what is red?", number, False, embed=False)
    assert scalar(conn, OPINIONS) == {"what is yellow?": True, "what is red?": False}
    assert scalar(conn, VECTORS) == 1
    client.learning.feedback("what is yellow?", number, None, vector=json.loads(angle(0)))
    assert scalar(conn, OPINIONS) == {"what is red?": False}
    with pytest.raises(NotFound, match="has no memory 999"):
        client.learning.feedback("what is red?", 999, True, embed=False)
    with pytest.raises(UnknownNamespace):
        client.learning.feedback("what is red?", number, True, embed=False, namespace="nowhere")


def test_feedback_to_a_read_only_server_says_so(dsn: str, conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")
    with (
        Client(make_conninfo(dsn, options="-c default_transaction_read_only=on")) as client,
        pytest.raises(ReadOnlyServer),
    ):
        client.learning.feedback("what is yellow?", number, True, vector=json.loads(angle(0)))


def test_learning(client: Client, conn: Connection[Any]) -> None:
    assert client.learning.learn().as_dict() == TOO_FEW
    assert not client.learning.undo()
    conn.execute(
        "INSERT INTO pgrecall.learned_settings "
        "(namespace_id, settings, queries, ndcg_before, ndcg_after, gain_low, gain_high) "
        "SELECT id, '{\"cc_alpha\": \"0.7\"}', 50, 0.5, 0.6, 0.05, 0.15 FROM pgrecall.namespaces WHERE name = 'default'"
    )
    (learned,) = client.learning.learned()
    assert (learned.namespace_name, learned.settings, learned.ended_at) == (
        "default",
        {"cc_alpha": "0.7"},
        None,
    )
    assert client.learning.undo()
    assert [one.end_reason for one in client.learning.learned("default")] == ["undone"]
    assert client.learning.learned("nowhere") == []
    with pytest.raises(UnknownNamespace):
        client.learning.learn("nowhere")


def test_asynchronously(dsn: str, conn: Connection[Any]) -> None:
    number = remember(conn, "a yellow submarine")

    async def run() -> dict[str, Any]:
        async with AsyncClient(dsn) as client:
            await client.learning.feedback("what is yellow?", number, True, embed=False)
            return (await client.learning.learn()).as_dict()

    assert asyncio.run(run()) == TOO_FEW
    assert scalar(conn, OPINIONS) == {"what is yellow?": True}


def test_on_the_command_line(dsn: str, conn: Connection[Any], capsys: pytest.CaptureFixture[str]) -> None:
    number = remember(conn, "a yellow submarine")

    def told(*arguments: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main([*arguments, "--dsn", dsn])
        assert ended.value.code == 0
        return capsys.readouterr().out

    told("feedback", "what is yellow?", str(number), "--no-embed")
    told("feedback", "what is red?", str(number), "--not-useful", "--no-embed")
    assert scalar(conn, OPINIONS) == {"what is yellow?": True, "what is red?": False}
    told("feedback", "what is red?", str(number), "--withdraw", "--no-embed")
    assert scalar(conn, OPINIONS) == {"what is yellow?": True}
    assert told("learn") == "0 queries with feedback: too few to learn from, 40 are needed\n"
    assert json.loads(told("learn", "--dry-run", "--json")) == TOO_FEW
    assert told("learn", "--undo") == "there were no learned settings\n"
    assert told("learn", "--log") == ""
