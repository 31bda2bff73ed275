"""`pgrecall curate` and `pgrecall duplicates`, and the methods of the client they call."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import NotFound, PgrecallError, UnknownNamespace
from support.curation import LIVES, MOVED, count, embed_as, pair
from support.llm import KEY, completion, served
from support.memories import remember, stored

if TYPE_CHECKING:
    from collections.abc import Callable

    import psycopg

    from pgrecall import Client
    from support.command import Outcome


def test_a_dry_run_prints_and_writes_nothing(
    conn: psycopg.Connection[Any], cli: Callable[..., Outcome]
) -> None:
    old, new = pair(conn)
    outcome = cli("curate", "--dry-run")
    assert outcome.code == 0
    assert "SUPERSEDE" in outcome.out
    assert MOVED in outcome.out
    assert "2 memories: 1 would be superseded or supersede another" in outcome.out
    told = json.loads(cli("curate", "--dry-run", "--json").out)
    assert [(one["memory_id"], one["decision"], one["other_id"]) for one in told] == [
        (old, "ADD", None),
        (new, "SUPERSEDE", old),
    ]
    assert json.loads(cli("curate", "--dry-run", "--json", "--limit", "1").out) == told[:1]
    assert json.loads(cli("curate", "--dry-run", "--json", "--since", "2999-01-01").out) == []
    assert count(conn, "curations") == 0
    assert stored(conn, old)["superseded_by"] is None


def test_it_curates_and_takes_back(conn: psycopg.Connection[Any], cli: Callable[..., Outcome]) -> None:
    old, new = pair(conn)
    assert cli("curate", "log").err.strip() == "no decisions"
    done = json.loads(cli("curate", "--json").out)
    assert [one["decision"] for one in done] == ["ADD", "SUPERSEDE"]
    assert stored(conn, old)["superseded_by"] == new
    number = str(done[1]["id"])
    assert number in cli("curate", "log").out
    assert len(json.loads(cli("curate", "log", "--all", "--json").out)) == 2
    assert cli("curate", "undo", number).out == f"undone: {number}\n"
    assert cli("curate", "undo", number).out == f"{number} was already undone\n"
    assert "SUPERSEDE (undone)" in cli("curate", "log").out
    assert stored(conn, old)["superseded_by"] is None
    assert "0 memories" in cli("curate").out
    refused = cli("curate", "undo", "99")
    assert (refused.code, refused.err.splitlines()[0]) == (1, "error: there is no curation 99")


def test_another_namespace(conn: psycopg.Connection[Any], cli: Callable[..., Outcome]) -> None:
    pair(conn)
    old, new = pair(conn, namespace="other", create_namespace=True)
    done = json.loads(cli("curate", "--namespace", "other", "--json").out)
    assert [one["memory_id"] for one in done] == [old, new]
    assert count(conn, "curations") == 2
    assert cli("curate", "--namespace", "nowhere").code == 1


def test_duplicates(conn: psycopg.Connection[Any], cli: Callable[..., Outcome]) -> None:
    assert cli("duplicates").err.strip() == "no duplicates"
    first, second = remember(conn, "The gate is locked."), remember(conn, "A gate is locked.")
    same = [remember(conn, "The spare key\nis gone.") for _ in range(2)]
    embed_as(conn, first, 1.0)
    embed_as(conn, second, 1.0, 0.1)
    told = cli("duplicates", "--similarity", "0.9").out
    assert told.splitlines() == [
        f"cluster {first}",
        f"  {first}  1.000  The gate is locked.",
        f"  {second}  0.995  A gate is locked.",
        f"cluster {same[0]}",
        *(f"  {one}  same text  The spare key is gone." for one in same),
    ]
    assert [one["memory_id"] for one in json.loads(cli("duplicates", "--json", "--limit", "2").out)] == same


def test_a_language_model_on_demand(
    conn: psycopg.Connection[Any], cli: Callable[..., Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_LLM_API_KEY", KEY)
    old, new = pair(conn, LIVES, "Ayesha's home is in Leicester.")
    for memory in (old, new):
        embed_as(conn, memory, 1.0)
    refused = cli("curate", "--decider", "llm")
    assert refused.code == 1
    assert refused.err.startswith("error: the language model")
    with served() as server:
        server.script = lambda asked: completion({"decision": "NOOP", "id": asked.rows["older"][0]["id"]})
        monkeypatch.setenv("PGRECALL_LLM_URL", server.url)
        conn.execute("SELECT pgrecall.set_setting('llm_model', 'm')")
        planned = json.loads(cli("curate", "--decider", "llm", "--dry-run", "--json").out)
        assert [one["decision"] for one in planned] == ["ADD", "NOOP"]
        assert count(conn, "curations") == 0
        assert "NOOP" in cli("curate", "--decider", "llm").out
    assert stored(conn, new)["superseded_by"] == old
    assert KEY not in planned[1]["content"]


def test_the_client(conn: psycopg.Connection[Any], client: Client) -> None:
    old, new = pair(conn)
    [_, planned] = client.curation.preview()
    assert (planned.decision, planned.other_id, planned.other_content) == ("SUPERSEDE", old, LIVES)
    assert MOVED not in repr(planned)
    assert client.curation.uncurated() == [old, new]
    number = client.curation.curate(new)
    assert number is not None
    [logged] = client.curation.log()
    assert (logged.id, logged.decision, logged.undone_at) == (number, "SUPERSEDE", None)
    # The choice of somebody else, after the fact: what was decided stands.
    [asked, *_] = client.curation.question(new)
    assert (
        client.curation.apply(
            new, None, "ADD", decider="x", evidence={}, memory_hash=asked["content_hash"], other_hash=None
        )
        == number
    )
    assert client.curation.undo(number)
    with pytest.raises(NotFound):
        client.curation.undo(number + 1)
    assert client.curation.curate(10**9) is None
    with pytest.raises(UnknownNamespace):
        client.curation.duplicates("nowhere")
    client.curation.curate(old)
    again = client.curation.apply(
        new,
        old,
        "NOOP",
        decider="x",
        evidence={},
        memory_hash=asked["content_hash"],
        other_hash=client.curation.question(old)[0]["content_hash"],
    )
    assert again is not None
    client.update(new, importance=1.0)
    with pytest.raises(PgrecallError) as refused:
        client.curation.undo(again)
    assert refused.value.sqlstate == "55000"
