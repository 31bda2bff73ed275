"""The transcripts of coding agents: one file for each session."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from pgrecall.files import open_regular
from pgrecall.jsonl.lines import MAX_LINE_BYTES, json_object

from .conversation import Conversation, Turns
from .records import field_of, items_of, records, text_of, time_of, without

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pgrecall.contrib.importers.rows import Rejected

__all__ = ["READERS", "claude_code", "codex", "copilot", "cursor", "gemini"]

# What a program writes in the name of the user.
_NOT_SAID = (
    "<command-", "<local-command-", "<bash-", "Caveat: The messages below", "[Request interrupted",
    "<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions",
    "<permissions instructions>", "<turn_aborted>", "<user_shell_command>", "<skill>", "<task-notification>",
)  # fmt: skip
_PUT_IN = ("system-reminder", "user-prompt-submit-hook", "memories", "ide_selection", "ide_opened_file")
# What Codex and Gemini put beside it are files, which anybody may have written.
_BEFORE_REQUEST = ("# Context from my IDE setup:", "## My request for Codex:")
_AFTER_REQUEST = "--- Content from referenced files ---"


def claude_code(file: Path, reject: Callable[[Rejected], None]) -> Conversation:
    """Read a session of Claude Code: a line for each block of a message, and others for its own use."""
    turns = Turns()
    titles: dict[str, str] = {}
    lines: set[str] = set()
    for place, line in records(file, reject):
        kind, content, uuid = line.get("type"), field_of(line, "message", "content"), line.get("uuid")
        is_repeated = isinstance(uuid, str) and uuid in lines
        if isinstance(uuid, str):
            lines.add(uuid)
        if turns.project is None and isinstance(line.get("cwd"), str):
            turns.project = PurePath(line["cwd"])
        _title(line, titles, lines)
        if (
            kind not in ("user", "assistant")
            or is_repeated
            or any(line.get(flag) for flag in ("isMeta", "isSidechain", "isCompactSummary"))
        ):
            turns.skipped += 1
            continue
        said_at = time_of(line.get("timestamp"))
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match field_of(block, "type"):
                case "text" if kind == "user":
                    turns.say(place, "user", _said(text_of(block)), said_at)
                case "text":
                    turns.say(place, "assistant", text_of(block), said_at)
                case "tool_use":
                    turns.call(place, str(block.get("id")), str(block.get("name")), block.get("input"))
                case "tool_result":
                    turns.output(str(block.get("tool_use_id")), text_of(block.get("content"), "text"))
                case _:
                    turns.skipped += 1
    title = titles.get("custom-title") or titles.get("ai-title") or titles.get("summary")
    return _conversation(file.stem, title, turns)


def _title(line: dict[str, Any], titles: dict[str, str], lines: set[str]) -> None:
    kind = line.get("type")
    key = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}.get(str(kind))
    # A file also has summaries of other sessions, which name no line of it.
    if key and isinstance(line.get(key), str) and (kind != "summary" or str(line.get("leafUuid")) in lines):
        titles[str(kind)] = line[key]


def codex(file: Path, reject: Callable[[Rejected], None]) -> Conversation:
    """Read a session of Codex: its items, which older versions wrote without an envelope."""
    turns = Turns()
    id = file.stem
    for place, line in records(file, reject):
        item = line.get("payload", line)
        kind = line.get("type")
        if kind == "session_meta" and isinstance(item, dict):
            id = str(item.get("id") or id)
            turns.project = PurePath(str(item["cwd"])) if item.get("cwd") else None
        elif kind in ("event_msg", "turn_context", "compacted") or not isinstance(item, dict):
            # Events repeat what the items say.
            turns.skipped += 1
        else:
            _codex_item(turns, place, item, line.get("timestamp"))
    return _conversation(id, None, turns)


def _codex_item(turns: Turns, place: str, item: dict[str, Any], time: Any) -> None:
    call = str(item.get("call_id") or item.get("id"))
    match item.get("type"), item.get("role"):
        case "message", "user":
            turns.say(place, "user", _said(text_of(item.get("content"))), time_of(time))
        case "message", "assistant":
            turns.say(place, "assistant", text_of(item.get("content")), time_of(time))
        case (("function_call" | "custom_tool_call"), _):
            arguments = item.get("arguments", item.get("input"))
            turns.call(place, call, str(item.get("name")), arguments)
        case "local_shell_call", _:
            turns.call(place, call, "shell", item.get("action"))
        case (("function_call_output" | "custom_tool_call_output"), _):
            turns.output(call, _codex_output(item.get("output")))
        case _:
            turns.skipped += 1


def _codex_output(output: Any) -> str:
    """Return what a command printed; some versions put that into JSON."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            inner = field_of(json.loads(output), "output")
        except (ValueError, RecursionError):
            inner = None
        output = inner if isinstance(inner, str) else output
    return text_of(field_of(output, "content") or output)


def cursor(file: Path, reject: Callable[[Rejected], None]) -> Conversation:
    """Read a session of Cursor: what was said, without times."""
    turns = Turns()
    for place, line in records(file, reject):
        role, content = line.get("role"), field_of(line, "message", "content")
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            match role, field_of(block, "type"):
                case "user", "text":
                    turns.say(place, "user", _said(_asked(text_of(block))), None)
                case "assistant", "text":
                    turns.say(place, "assistant", text_of(block), None)
                case "assistant", "tool_use":
                    turns.call(place, place, str(block.get("name")), block.get("input"))
                case _:
                    turns.skipped += 1
    return _conversation(file.stem, None, turns)


def copilot(file: Path, reject: Callable[[Rejected], None]) -> Conversation:
    """Read a session of the agent in VS Code: a line for each event."""
    turns = Turns()
    id = file.stem
    for place, line in records(file, reject):
        data, time = line.get("data"), time_of(line.get("timestamp"))
        call = str(field_of(data, "toolCallId"))
        match line.get("type"):
            case "session.start":
                id = str(field_of(data, "sessionId") or id)
            case "user.message":
                turns.say(place, "user", text_of(field_of(data, "content")), time)
            case "assistant.message":
                turns.say(place, "assistant", text_of(field_of(data, "content")), time)
            case "tool.execution_start":
                turns.call(place, call, str(field_of(data, "toolName")), field_of(data, "arguments"))
            case "tool.execution_complete":
                turns.output(call, text_of(field_of(data, "result", "content")))
            case _:
                turns.skipped += 1
    return _conversation(id, None, turns)


def gemini(file: Path, reject: Callable[[Rejected], None]) -> Conversation:
    """Read a session of Gemini CLI: an object with its messages, or in newer versions a line for each."""
    turns = Turns()
    id = file.stem
    for place, line in _gemini_lines(file, reject):
        id = str(line.get("sessionId") or id)
        for message in line["messages"] if isinstance(line.get("messages"), list) else [line]:
            time = time_of(field_of(message, "timestamp"))
            match field_of(message, "type"):
                case "user":
                    turns.say(place, "user", _said(text_of(message.get("content"))), time)
                case "gemini":
                    turns.say(place, "assistant", text_of(message.get("content")), time)
                    for call in items_of(message, "toolCalls"):
                        name, arguments = field_of(call, "name"), field_of(call, "args")
                        turns.call(place, str(field_of(call, "id")), str(name), arguments)
                        turns.output(str(field_of(call, "id")), text_of(field_of(call, "resultDisplay")))
                case _:
                    turns.skipped += 1
    return _conversation(id, None, turns)


def _gemini_lines(file: Path, reject: Callable[[Rejected], None]) -> list[tuple[str, dict[str, Any]]]:
    if file.suffix == ".jsonl":
        # A message is written again with what its tools answered.
        found: dict[Any, tuple[str, dict[str, Any]]] = {}
        for place, line in records(file, reject):
            found[str(line.get("id", place))] = place, line
        return list(found.values())
    with open_regular(file) as whole:
        return [(file.name, json_object(whole.read(MAX_LINE_BYTES)))]


def _asked(text: str) -> str:
    """Return what the user typed into Cursor, without the files that it puts before that."""
    return text.rpartition("<user_query>")[2].partition("</user_query>")[0]


def _said(text: str) -> str:
    """Return what the user said, without what a program has put in; nothing if that is all of it."""
    for tag in _PUT_IN:
        text = without(text, tag)
    context, request = _BEFORE_REQUEST
    if text.lstrip().startswith(context):
        # The last one: the files before it may hold another.
        _, found, said = text.rpartition(request)
        text = said if found else ""
    text = text.partition(_AFTER_REQUEST)[0]
    return "" if text.lstrip().startswith(_NOT_SAID) else text


def _conversation(id: str, title: str | None, turns: Turns) -> Conversation:
    project = None if turns.project is None else str(turns.project)
    return Conversation(id, title, project, turns.messages(), turns.skipped)


READERS = {
    "claude-code": claude_code,
    "codex": codex,
    "cursor": cursor,
    "vscode": copilot,
    "gemini": gemini,
}
"""How the transcripts of each agent are read."""
