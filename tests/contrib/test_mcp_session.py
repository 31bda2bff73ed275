"""An agent's session over both transports: it stores, contradicts itself, asks, and asks for the past."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.query.legs import LEGS
from support.answering import Model, answering, embed_all
from support.legs import WITHOUT_VECTOR
from support.mcp import (
    CHANGES,
    FACTS,
    PARAPHRASES,
    PATIENCE,
    QUESTIONS,
    agent_here,
    http_agent,
    http_server,
    stdio_agent,
)
from support.memories import scalar

if TYPE_CHECKING:
    from pathlib import Path

    import psycopg

    from support.mcp import Agent


@pytest.mark.slow
@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_session(transport: str, dsn: str, conn: psycopg.Connection[Any], tmp_path: Path) -> None:
    """Without an embedder: by words and concepts, and it says so."""

    async def over_stdio() -> None:
        async with stdio_agent(dsn) as agent:
            await _session(agent, conn)

    if transport == "stdio":
        asyncio.run(over_stdio())
        return
    with http_server(dsn, tmp_path / "log") as server:

        async def over_http() -> None:
            async with http_agent(server) as agent:
                await _session(agent, conn)
                # It stops at once, with clients still connected.
                server.process.terminate()
                await asyncio.to_thread(server.process.wait, PATIENCE)

        asyncio.run(over_http())
    assert "Traceback" not in server.log.read_text()


@pytest.mark.slow
def test_a_session_with_an_embedder(dsn: str, conn: psycopg.Connection[Any]) -> None:
    """With the real model behind the database: by meaning too, and what is superseded stays away all the same."""
    model = Model()

    async def recalled(agent: Agent, question: str, **options: Any) -> dict[str, Any]:
        # An answer that comes too late is kept for the next time.
        async with asyncio.timeout(PATIENCE):
            while True:
                found = await agent.call("memory_recall", query=question, k=3, **options)
                if found["notice"] is None:
                    return found

    async def work() -> None:
        async with agent_here(dsn) as agent:
            ids = {name: await agent.store(content) for name, content in FACTS.items()}
            before = scalar(conn, "SELECT now()").isoformat()
            changed = await agent.call(
                "memory_supersede", id=ids["database"], content="The staging database runs on host db12."
            )
            now = ids | {"database": changed["superseded_by"]}
            await asyncio.to_thread(embed_all, conn, model)
            for question, name in PARAPHRASES.items():
                result = await recalled(agent, question)
                assert result["legs"] == list(LEGS)
                found = {memory["id"]: memory for memory in result["memories"]}
                assert "dense" in found[now[name]]["found_by"], question
                assert ids["database"] not in found
                if name == "database":
                    past = await recalled(agent, question, as_of=before)
                    assert ids[name] in [memory["id"] for memory in past["memories"]]

    with answering(dsn, model):
        asyncio.run(work())


async def _session(agent: Agent, conn: psycopg.Connection[Any]) -> None:
    ids = {name: await agent.store(content) for name, content in FACTS.items()}
    assert len(set(ids.values())) == 20
    before = scalar(conn, "SELECT now()").isoformat()
    now = dict(ids)
    for name, (tool, content) in CHANGES.items():
        changed = await agent.call(tool, id=ids[name], content=content)
        now[name] = changed.get("superseded_by", ids[name])

    for question, name in QUESTIONS.items():
        recalled = await agent.call("memory_recall", query=question, k=3)
        assert recalled["legs"] == list(WITHOUT_VECTOR)
        assert "no embedder is alive" in recalled["notice"]
        found = {memory["id"]: memory for memory in recalled["memories"]}
        assert now[name] in found, f"{question}: {[memory['content'] for memory in found.values()]}"
        assert found[now[name]]["found_by"]
        current = CHANGES[name][1] if name in CHANGES else FACTS[name]
        assert found[now[name]]["content"] == current
        if now[name] != ids[name]:
            assert ids[name] not in found
            then = await agent.call("memory_recall", query=question, k=3, as_of=before)
            past = {memory["id"]: memory for memory in then["memories"]}
            assert past[ids[name]]["content"] == FACTS[name]
            assert now[name] not in past

    everything = await agent.call("memory_recall", query="staging database", include_superseded=True)
    old = next(memory for memory in everything["memories"] if memory["id"] == ids["database"])
    assert old["superseded_by"] == now["database"]
    assert old["valid_to"] is not None
    told = await agent.call("memory_timeline", topic="staging database", include_superseded=True)
    assert [memory["id"] for memory in told["memories"]][-1] == now["database"]
    why = await agent.call("memory_explain", query="staging database", ids=[ids["database"]])
    assert why["explanations"][0]["reason"] == f"superseded by {now['database']}"
    assert (await agent.call("memory_forget", id=ids["wifi"]))["forgotten"] is True
    assert ids["wifi"] not in await agent.found("router wireless signal")
    assert (await agent.call("memory_forget", id=ids["wifi"]))["forgotten"] is False
