"""An agent without --include-sensitive: what is hidden from it neither shows, nor counts, nor changes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from support.mcp import agent_here, text_of
from support.memories import call, remember, scalar, stored

if TYPE_CHECKING:
    import psycopg

    from support.mcp import Agent

ABSENT = 10**12
EVERYWHERE = [{}, {"any_namespace": True}]


def _session(dsn: str, work: Any, **serving: Any) -> Any:
    async def worked() -> Any:
        async with agent_here(dsn, **serving) as agent:
            return await work(agent)

    return asyncio.run(worked())


async def _told(agent: Agent, tool: str, **arguments: Any) -> tuple[str, Any]:
    result = await agent.called(tool, **arguments)
    return text_of(result), result.structured_content


def test_what_is_hidden_is_as_what_is_not_there(dsn: str, conn: psycopg.Connection[Any]) -> None:
    elsewhere = remember(conn, "quokka elsewhere", namespace="other", create_namespace=True)
    secret = remember(conn, "quokka secret", is_sensitive=True)
    old = remember(conn, "quokka of old", is_sensitive=True)
    call(conn, "supersede", old, "quokka of now")
    gone = remember(conn, "quokka gone")
    call(conn, "forget", gone)
    expired = remember(conn, "quokka of yesterday", expires_at="2999-01-01")
    conn.execute("UPDATE pgrecall.memories SET expires_at = '2001-01-01' WHERE id = %s", (expired,))

    async def ask(agent: Agent) -> list[tuple[str, Any]]:
        told = []
        for number in (ABSENT, elsewhere, secret, old, gone, expired):
            text, structured = await _told(agent, "memory_explain", query="quokka", ids=[number])
            [explanation] = structured["explanations"]
            assert explanation.pop("id") == number
            told.append((text.replace(str(number), "ID"), structured))
        return told

    answers = _session(dsn, ask)
    assert answers[0][1]["explanations"][0]["reason"] == "no such memory"
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("serving", EVERYWHERE)
def test_what_is_hidden_does_not_count(
    dsn: str, conn: psycopg.Connection[Any], serving: dict[str, Any]
) -> None:
    """Whether a memory that cannot be seen holds a word changes how rare the word is, and so every score."""
    ids = [
        remember(conn, text) for text in ("the quokka hops", "a quokka and a wombat sleep", "rain on Sunday")
    ]

    async def ask(agent: Agent) -> list[tuple[str, Any]]:
        return [
            await _told(agent, "memory_recall", query="quokka wombat hops"),
            await _told(agent, "memory_recall", query="xylophone"),
            await _told(agent, "memory_timeline", topic="quokka wombat hops"),
            await _told(agent, "memory_list", k=3),
            await _told(agent, "memory_explain", query="quokka wombat hops", ids=ids),
            await _told(agent, "memory_explain", query="quokka wombat hops", ids=ids, k=1),
            await _told(agent, "memory_explain", query="xylophone", ids=ids),
        ]

    before = _session(dsn, ask, **serving)
    for text in ("a quokka of mine is ill", "the xylophone is in the attic", "wombat, wombat"):
        remember(conn, text, is_sensitive=True)
    assert _session(dsn, ask, **serving) == before
    [shown, *_] = _session(dsn, ask, include_sensitive=True)
    assert shown[1]["memories"][0]["score"] > 0


@pytest.mark.parametrize("serving", EVERYWHERE)
def test_what_was_hidden_is_not_told(
    dsn: str, conn: psycopg.Connection[Any], serving: dict[str, Any]
) -> None:
    """The history of a memory leaves out what it said while it was sensitive, and its sensitive kin."""
    opened = remember(conn, "quokka secret", is_sensitive=True)
    call(conn, "update_memory", opened, content="quokka secret too")
    call(conn, "update_memory", opened, content="quokka for all", is_sensitive=False)
    call(conn, "update_memory", opened, content="quokka for everybody")
    child = remember(conn, "quokka secret child", is_sensitive=True)
    parent = remember(conn, "quokka parent")
    call(conn, "supersede", child, successor=parent)

    async def ask(agent: Agent) -> list[tuple[str, Any]]:
        for number in (child, ABSENT):
            for tool, fields in (("memory_history", {"id": number}), ("memory_list", {"after": number})):
                assert (await agent.refused(tool, **fields)).startswith(f"there is no memory {number}.")
        return [await _told(agent, "memory_history", id=number) for number in (opened, parent)]

    for text, structured in _session(dsn, ask, **serving):
        assert "secret" not in text
        assert "secret" not in str(structured)
        assert len(structured["versions"]) >= 1

    async def tell(agent: Agent) -> list[tuple[str, Any]]:
        return [await _told(agent, "memory_history", id=number) for number in (opened, parent)]

    assert all("secret" in text for text, _ in _session(dsn, tell, include_sensitive=True))


@pytest.mark.parametrize("serving", EVERYWHERE)
@pytest.mark.parametrize("ended", ["forgotten", "expired"])
def test_what_has_ended_is_not_told(
    dsn: str, conn: psycopg.Connection[Any], serving: dict[str, Any], ended: str
) -> None:
    """Neither as a version of what replaced it, nor by its own id, and nobody says that it helped."""
    old = remember(conn, "quokka secret that hops")
    new = call(conn, "supersede", old, "quokka of now")
    if ended == "forgotten":
        call(conn, "forget", old)
    else:
        conn.execute("UPDATE pgrecall.memories SET expires_at = '2001-01-01' WHERE id = %s", (old,))

    async def ask(agent: Agent) -> None:
        told = [
            await _told(agent, "memory_history", id=new),
            await _told(agent, "memory_explain", query="quokka secret", ids=[old, new]),
            await _told(agent, "memory_recall", query="quokka secret", include_superseded=True),
            await _told(agent, "memory_timeline", topic="quokka secret", include_superseded=True),
            await _told(agent, "memory_list", include_superseded=True),
        ]
        assert "hops" not in str(told)
        assert "of now" in str(told[0])
        for tool, fields in (
            ("memory_history", {}),
            ("memory_feedback", {"query": "quokka", "useful": True}),
        ):
            assert (await agent.refused(tool, id=old, **fields)).startswith(f"there is no memory {old}.")

    _session(dsn, ask, **serving)


@pytest.mark.parametrize("serving", EVERYWHERE)
def test_what_is_hidden_is_not_changed(
    dsn: str, conn: psycopg.Connection[Any], serving: dict[str, Any]
) -> None:
    secret = remember(conn, "quokka secret", is_sensitive=True)
    plain = remember(conn, "quokka")
    before = stored(conn, secret)

    async def attack(agent: Agent) -> None:
        for number in (secret, ABSENT):
            for tool, fields in (
                ("memory_update", {"content": "wombat"}),
                ("memory_update", {"title": "wombat"}),
                ("memory_supersede", {"content": "wombat"}),
                ("memory_supersede", {"successor": plain}),
            ):
                told = await agent.refused(tool, id=number, **fields)
                assert told.startswith(f"there is no memory {number}.")
            told = await agent.refused("memory_supersede", id=plain, successor=number)
            assert told.startswith(f"there is no memory {number}.")
            assert await _told(agent, "memory_forget", id=number) == (
                f"There is no memory {number}: nothing was forgotten.",
                {"id": number, "forgotten": False},
            )
            told = await agent.refused("memory_feedback", query="quokka", id=number, useful=True)
            assert told.startswith(f"there is no memory {number}.")
        assert (await agent.call("memory_update", id=plain, is_sensitive=True))["changed"] is True
        assert "there is no memory" in await agent.refused("memory_update", id=plain, title="wombat")

    _session(dsn, attack, **serving)
    assert stored(conn, secret) == before
    assert scalar(conn, "SELECT count(*) FROM pgrecall.memories") == 2

    async def change(agent: Agent) -> None:
        assert (await agent.call("memory_update", id=secret, title="wombat"))["changed"] is True
        newer = await agent.call("memory_supersede", id=secret, content="another secret")
        assert (await agent.call("memory_forget", id=newer["superseded_by"]))["forgotten"] is True

    _session(dsn, change, include_sensitive=True, **serving)
