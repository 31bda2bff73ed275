"""Coding agents that do what their documentation says of hooks, and nothing else.

A fake reads its configuration where the agent does, runs the commands of an event through the shell with the
event as JSON on standard input, takes text for the model from their output in the agent's form, and writes the
transcript that the agent writes. As a program: `python -m support.fake_agents claude-code -p PROMPT` answers with
what it was told.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar

SECONDS = 180


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass
class FakeAgent:
    """An agent in one session.

    Args:
        home: The user's home.
        session: The id of the session.
    """

    home: Path
    session: str = field(default_factory=lambda: str(uuid.uuid4()))

    hooks_file: ClassVar[str]
    servers_file: ClassVar[str]
    servers_key: ClassVar[str] = "mcpServers"
    at_start: ClassVar[str | None] = None
    before_prompt: ClassVar[str | None] = None
    after_turn: ClassVar[str] = "Stop"
    before_compaction: ClassVar[str] = "PreCompact"
    at_end: ClassVar[str | None] = "SessionEnd"

    def transcript(self) -> Path:
        """Where the agent writes the session."""
        raise NotImplementedError

    def write(self, role: str, text: str) -> None:
        """Write what somebody said to the transcript."""
        raise NotImplementedError

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        """What a hook is told."""
        return {
            "session_id": self.session,
            "transcript_path": str(self.transcript()),
            "cwd": str(self.home),
            "hook_event_name": name,
            **fields,
        }

    def commands(self, event: str) -> list[dict[str, Any]]:
        """The commands of an event: in groups, which may be for some tools alone."""
        groups = self._parsed(self.hooks_file)["hooks"].get(event, [])
        return [one for group in groups for one in group["hooks"]]

    def context(self, printed: str, event: str) -> str:
        """What the model is told of what a hook printed."""
        said = json.loads(printed)["hookSpecificOutput"]
        assert said["hookEventName"] == event
        return str(said["additionalContext"])

    def server(self) -> dict[str, Any]:
        """The MCP server of pgrecall."""
        found: dict[str, Any] = self._parsed(self.servers_file)[self.servers_key]["pgrecall"]
        return found

    def talk(self, prompt: str) -> str:
        """Hold a session of one turn, and return what the model was told besides the prompt."""
        told = ""
        if self.at_start is not None:
            told += self.run(self.at_start, source="startup")
        if self.before_prompt is not None:
            told += self.run(self.before_prompt, prompt=prompt)
        self.write("user", prompt)
        self.write("assistant", "Understood.")
        self.run(self.after_turn, stop_hook_active=False)
        self.run(self.before_compaction, trigger="auto")
        if self.at_end is not None:
            self.run(self.at_end, reason="other")
        return told

    def run(self, event: str, **fields: Any) -> str:
        """Run the hooks of an event, and return what the model is told."""
        told = ""
        for one in self.commands(event):
            assert one.get("type", "command") == "command"
            done = subprocess.run(
                ["sh", "-c", one["command"]],
                input=json.dumps(self.event(event, **fields)),
                capture_output=True,
                text=True,
                check=False,
                timeout=SECONDS,
            )
            assert done.returncode == 0, done.stderr
            told += self.context(done.stdout, event) if done.stdout else ""
        return told

    def _parsed(self, name: str) -> dict[str, Any]:
        text = (self.home / name).read_text(encoding="utf-8")
        return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)

    def _append(self, line: dict[str, Any]) -> None:
        self.transcript().parent.mkdir(parents=True, exist_ok=True)
        with self.transcript().open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(line) + "\n")


class ClaudeCode(FakeAgent):
    hooks_file = ".claude/settings.json"
    servers_file = ".claude.json"
    before_prompt = "UserPromptSubmit"

    def transcript(self) -> Path:
        return self.home / ".claude" / "projects" / "-home-priya" / f"{self.session}.jsonl"

    def write(self, role: str, text: str) -> None:
        self._append(
            {
                "type": role,
                "message": {"role": role, "content": [{"type": "text", "text": text}]},
                "uuid": str(uuid.uuid4()),
                "timestamp": _now(),
                "sessionId": self.session,
                "cwd": str(self.home),
                "isSidechain": False,
            }
        )


class Codex(FakeAgent):
    hooks_file = ".codex/hooks.json"
    servers_file = ".codex/config.toml"
    servers_key = "mcp_servers"
    before_prompt = "UserPromptSubmit"
    at_end = None

    def transcript(self) -> Path:
        return self.home / ".codex" / "sessions" / f"rollout-2026-{self.session}.jsonl"

    def write(self, role: str, text: str) -> None:
        if not self.transcript().exists():
            meta = {"id": self.session, "cwd": str(self.home)}
            self._append({"timestamp": _now(), "type": "session_meta", "payload": meta})
        content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
        item = {"type": "message", "role": role, "content": content}
        self._append({"timestamp": _now(), "type": "response_item", "payload": item})


class Cursor(FakeAgent):
    hooks_file = ".cursor/hooks.json"
    servers_file = ".cursor/mcp.json"
    at_start = "sessionStart"
    after_turn = "stop"
    before_compaction = "preCompact"
    at_end = "sessionEnd"

    def transcript(self) -> Path:
        return self.home / ".cursor" / "projects" / "agent-transcripts" / f"{self.session}.jsonl"

    def write(self, role: str, text: str) -> None:
        self._append({"role": role, "message": {"content": [{"type": "text", "text": text}]}})

    def event(self, name: str, **fields: Any) -> dict[str, Any]:
        return super().event(
            name, conversation_id=self.session, cursor_version="2.0", workspace_roots=[], **fields
        )

    def commands(self, event: str) -> list[dict[str, Any]]:
        configured = self._parsed(self.hooks_file)
        assert configured["version"] == 1
        found: list[dict[str, Any]] = configured["hooks"].get(event, [])
        return found

    def context(self, printed: str, event: str) -> str:
        assert event[0].islower()
        return str(json.loads(printed)["additional_context"])


class VsCode(FakeAgent):
    hooks_file = ".copilot/hooks/pgrecall.json"
    servers_file = ".config/Code/User/mcp.json"
    servers_key = "servers"
    at_start = "SessionStart"
    at_end = None

    def transcript(self) -> Path:
        return self.home / "workspaceStorage" / "transcripts" / f"{self.session}.jsonl"

    def write(self, role: str, text: str) -> None:
        if not self.transcript().exists():
            self._append({"type": "session.start", "data": {"sessionId": self.session}, "timestamp": _now()})
        self._append(
            {
                "type": f"{role}.message",
                "data": {"content": text},
                "id": str(uuid.uuid4()),
                "timestamp": _now(),
            }
        )

    def commands(self, event: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self._parsed(self.hooks_file)["hooks"].get(event, [])
        return found


class Gemini(FakeAgent):
    hooks_file = servers_file = ".gemini/settings.json"
    before_prompt = "BeforeAgent"
    after_turn = "AfterAgent"
    before_compaction = "PreCompress"

    def transcript(self) -> Path:
        return self.home / ".gemini" / "tmp" / "chats" / f"session-{self.session}.json"

    def write(self, role: str, text: str) -> None:
        file = self.transcript()
        file.parent.mkdir(parents=True, exist_ok=True)
        whole: dict[str, Any] = {"sessionId": self.session, "messages": []}
        whole = json.loads(file.read_text()) if file.exists() else whole
        kind = "user" if role == "user" else "gemini"
        whole["messages"].append(
            {"id": str(uuid.uuid4()), "timestamp": _now(), "type": kind, "content": text}
        )
        file.write_text(json.dumps(whole))


FAKES: dict[str, type[FakeAgent]] = {
    "claude-code": ClaudeCode,
    "codex": Codex,
    "cursor": Cursor,
    "gemini": Gemini,
    "vscode": VsCode,
}


def main() -> None:
    """Answer a prompt with the memories that the agent was told."""
    agent, _, prompt = sys.argv[1:4]
    told = FAKES[agent](Path(os.environ["HOME"])).talk(prompt)
    print("\n".join(re.findall(r"<memory[^>]*>(.*)</memory>", told)) or "I know nothing of that.")


if __name__ == "__main__":
    main()
