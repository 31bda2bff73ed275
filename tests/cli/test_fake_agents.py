"""Each agent, set up by `pgrecall agent install`, remembers in one session what it was told in another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from support.fake_agents import FAKES
from support.mcp import stdio_agent

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    from support.command import Outcome

PREFERENCE = "I always prefer pytest to unittest."
MESSAGES = """
    SELECT m.speaker, m.content FROM pgrecall.memories m JOIN pgrecall.namespaces n ON n.id = m.namespace_id
    WHERE n.name = 'work' ORDER BY m."position"
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", FAKES)
def test_an_agent_remembers_from_one_session_to_another(
    name: str,
    cli: Callable[..., Outcome],
    conn: psycopg.Connection[Any],
    dsn: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    # A machine at work takes longer than the agent's user would wait.
    monkeypatch.setenv("PGRECALL_HOOK_BUDGET_MS", "60000")
    for variable in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    assert cli("agent", "install", name, "--yes", "--namespace", "work").code == 0
    first = FAKES[name](tmp_path)
    assert first.talk(PREFERENCE) == ""
    # Each turn once, though three hooks have captured it.
    assert conn.execute(MESSAGES).fetchall() == [("user", PREFERENCE), ("assistant", "Understood.")]
    assert (first.before_prompt is None) == (name in {"cursor", "vscode"})
    if first.before_prompt is not None:
        assert PREFERENCE in FAKES[name](tmp_path).talk("Which test runner do I prefer?")

    async def ask() -> list[int]:
        arguments = first.server()["args"]
        options = arguments[arguments.index("mcp") + 1 :]
        async with stdio_agent(dsn, *options, log=tmp_path / "mcp.log") as agent:
            return await agent.found("pytest")

    assert asyncio.run(ask())
    assert not (tmp_path / ".local" / "state" / "pgrecall" / "hooks.log").exists()
