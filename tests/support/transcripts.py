"""Transcripts and exports as the programs write them, after their documentation and what they were seen to write."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SESSION = "0b5a3a42-9a55-4f0e-8d3f-2f4b6f0c7d11"


def claude_line(kind: str, content: Any, number: int, **fields: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    return {
        "parentUuid": None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/home/priya/shop",
        "sessionId": SESSION,
        "version": "2.0.14",
        "type": kind,
        "message": {"role": kind, "content": content},
        "uuid": f"uuid-{number}",
        "timestamp": f"2026-05-17T09:30:{number:02}.250Z",
        **fields,
    }


def claude_session() -> list[dict[str, Any]]:
    """A session of Claude Code: a question, two tools, an answer, and lines that nobody said."""
    edit = {"file_path": "/home/priya/shop/src/till.py", "old_string": "float", "new_string": "Decimal"}
    return [
        {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}},
        claude_line("user", "<command-name>/clear</command-name>", 1),
        claude_line("user", "Caveat: ignore", 2, isMeta=True),
        claude_line("user", "Use Decimal for money. I always prefer pytest to unittest.", 3),
        claude_line("assistant", [{"type": "thinking", "thinking": "hm", "signature": "s"}], 4),
        claude_line("assistant", [{"type": "text", "text": "I change the till."}], 5),
        claude_line("assistant", [{"type": "tool_use", "id": "t1", "name": "Edit", "input": edit}], 6),
        claude_line("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "updated: secret"}], 7),
        claude_line(
            "assistant",
            [{"type": "tool_use", "id": "t2", "name": "Bash", "input": {"command": "pytest -q"}}],
            8,
        ),
        claude_line(
            "user",
            [
                {
                    "type": "tool_result",
                    "tool_use_id": "t2",
                    "content": [{"type": "text", "text": "3 passed " * 99}],
                }
            ],
            9,
        ),
        claude_line("assistant", "a subagent speaks", 10, isSidechain=True),
        claude_line("assistant", [{"type": "text", "text": "Done: the till counts in Decimal."}], 11),
        {"type": "ai-title", "aiTitle": "Money in Decimal", "sessionId": SESSION},
    ]


def codex_session() -> list[dict[str, Any]]:
    """A session of Codex."""

    def line(kind: str, payload: dict[str, Any], number: int) -> dict[str, Any]:
        return {"timestamp": f"2026-05-18T09:30:{number:02}.102Z", "type": kind, "payload": payload}

    def said(role: str, kind: str, text: str, number: int) -> dict[str, Any]:
        content = [{"type": kind, "text": text}]
        return line("response_item", {"type": "message", "role": role, "content": content}, number)

    patch = "*** Begin Patch\n*** Update File: src/till.py\n@@\n-float\n+Decimal\n*** End Patch"
    return [
        line("session_meta", {"id": "codex-1", "cwd": "/home/priya/shop", "cli_version": "0.65.0"}, 0),
        said("developer", "input_text", "You are Codex", 1),
        said("user", "input_text", "<environment_context>\n<cwd>/</cwd>\n</environment_context>", 2),
        said("user", "input_text", "Deploys go to the Frankfurt region.", 3),
        line("event_msg", {"type": "user_message", "message": "Deploys go to the Frankfurt region."}, 3),
        line("response_item", {"type": "reasoning", "summary": [], "encrypted_content": "x"}, 4),
        line(
            "response_item",
            {
                "type": "function_call",
                "name": "shell",
                "arguments": json.dumps({"command": ["bash", "-lc", "ls deploy"]}),
                "call_id": "c1",
            },
            5,
        ),
        line(
            "response_item",
            {
                "type": "function_call_output",
                "call_id": "c1",
                "output": json.dumps({"output": "eu.yaml\n", "metadata": {"exit_code": 0}}),
            },
            6,
        ),
        line(
            "response_item",
            {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "c2"},
            7,
        ),
        line("response_item", {"type": "custom_tool_call_output", "call_id": "c2", "output": "Success"}, 8),
        said("assistant", "output_text", "The region is set.", 9),
    ]


def cursor_session() -> list[dict[str, Any]]:
    """A session of Cursor."""
    return [
        {
            "role": "user",
            "message": {
                "content": [{"type": "text", "text": "<user_query>\nTabs or spaces?\n</user_query>"}]
            },
        },
        {"role": "assistant", "message": {"content": [{"type": "text", "text": "Spaces, as you prefer."}]}},
    ]


def copilot_session() -> list[dict[str, Any]]:
    """A session of the agent in VS Code."""
    events: list[tuple[str, dict[str, Any]]] = [
        ("session.start", {"sessionId": "vs-1", "version": 1, "producer": "copilot-agent"}),
        ("user.message", {"content": "Name the branch after the ticket.", "attachments": []}),
        ("assistant.turn_start", {"turnId": "0"}),
        (
            "tool.execution_start",
            {"toolCallId": "a", "toolName": "run_in_terminal", "arguments": {"command": "git branch"}},
        ),
        ("tool.execution_complete", {"toolCallId": "a", "success": True, "result": {"content": "* main"}}),
        ("assistant.message", {"messageId": "m", "content": "It is called T-17.", "toolRequests": []}),
    ]
    return [
        {
            "type": kind,
            "data": data,
            "id": f"e{n}",
            "timestamp": f"2026-05-19T09:30:{n:02}.000Z",
            "parentId": None,
        }
        for n, (kind, data) in enumerate(events)
    ]


def gemini_session() -> dict[str, Any]:
    """A session of Gemini CLI."""
    return {
        "sessionId": "gem-1",
        "projectHash": "a33c",
        "startTime": "2026-05-20T09:30:00.000Z",
        "lastUpdated": "2026-05-20T09:31:00.000Z",
        "messages": [
            {
                "id": "1",
                "timestamp": "2026-05-20T09:30:01.000Z",
                "type": "user",
                "content": [{"text": "Which linter?"}],
            },
            {
                "id": "2",
                "timestamp": "2026-05-20T09:30:02.000Z",
                "type": "info",
                "content": "update available",
            },
            {
                "id": "3",
                "timestamp": "2026-05-20T09:30:03.000Z",
                "type": "gemini",
                "content": "",
                "toolCalls": [
                    {
                        "id": "g",
                        "name": "read_file",
                        "args": {"file_path": "pyproject.toml"},
                        "resultDisplay": "x",
                    }
                ],
            },
            {"id": "4", "timestamp": "2026-05-20T09:30:04.000Z", "type": "gemini", "content": "Ruff."},
        ],
    }


def chatgpt_conversation() -> dict[str, Any]:
    """A conversation of ChatGPT whose first answer was regenerated."""

    def node(
        id: str, parent: str | None, role: str, text: str, time: float | None, **fields: Any
    ) -> dict[str, Any]:
        message = {
            "id": id,
            "author": {"role": role},
            "create_time": time,
            "content": {"content_type": "text", "parts": [text]},
            "recipient": "all",
            "metadata": {},
            **fields,
        }
        return {"id": id, "message": message, "parent": parent, "children": []}

    nodes = [
        {"id": "root", "message": None, "parent": None, "children": ["system"]},
        node("system", "root", "system", "", None),
        node("q", "system", "user", "Where shall we stay in Goa?", 1747474200.25),
        node("old", "q", "assistant", "In a tent.", 1747474201.0),
        node("search", "q", "assistant", "search('Goa')", 1747474202.0, recipient="web"),
        node("tool", "search", "tool", "results", 1747474203.0),
        node("new", "tool", "assistant", "In the beach house.", 1747474204.5),
        node("thanks", "new", "user", "Thanks!", None),
    ]
    return {
        "title": "Goa",
        "create_time": 1747474199.0,
        "mapping": {str(one["id"]): one for one in nodes},
        "current_node": "thanks",
        "conversation_id": "gpt-1",
    }


def claude_conversation() -> dict[str, Any]:
    """A conversation of Claude."""
    return {
        "uuid": "claude-1",
        "name": "A tea",
        "created_at": "2026-05-17T08:00:00.000000Z",
        "chat_messages": [
            {
                "uuid": "m1",
                "text": "Which tea is this?",
                "content": [{"type": "text", "text": "Which tea is this?"}],
                "sender": "human",
                "created_at": "2026-05-17T08:00:01.000000Z",
                "attachments": [{"file_name": "leaves.txt", "extracted_content": "long"}],
                "files": [],
            },
            {
                "uuid": "m2",
                "text": "",
                "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Sencha."}],
                "sender": "assistant",
                "created_at": "2026-05-17T08:00:02.000000Z",
            },
        ],
    }


def write_lines(file: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """Write JSON Lines."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def write_sessions(folder: Path) -> dict[str, Path]:
    """Write a session of each agent, and return where."""
    gemini = folder / "session-2026.json"
    gemini.parent.mkdir(parents=True, exist_ok=True)
    gemini.write_text(json.dumps(gemini_session()), encoding="utf-8")
    return {
        "claude-code": write_lines(folder / "-home-priya-shop" / f"{SESSION}.jsonl", claude_session()),
        "codex": write_lines(folder / "2026" / "rollout-2026-05-18T09-30-00-codex-1.jsonl", codex_session()),
        "cursor": write_lines(folder / "agent-transcripts" / "cur-1.jsonl", cursor_session()),
        "vscode": write_lines(folder / "transcripts" / "vs-1.jsonl", copilot_session()),
        "gemini": gemini,
    }
