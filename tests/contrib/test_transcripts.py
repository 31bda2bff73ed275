"""The readers of transcripts and exports: what was said, by whom, when, and what is passed over."""

from __future__ import annotations

import io
import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall.contrib.transcripts.agents import READERS
from pgrecall.contrib.transcripts.exports import EXPORTS, export_conversations
from pgrecall.contrib.transcripts.records import without
from pgrecall.contrib.transcripts.tools import call_note, output_note
from pgrecall.errors import InvalidInput
from support.transcripts import (
    SESSION,
    chatgpt_conversation,
    claude_conversation,
    claude_line,
    claude_session,
    write_lines,
    write_sessions,
)

if TYPE_CHECKING:
    from pathlib import Path

    from pgrecall.contrib.importers import Rejected
    from pgrecall.contrib.transcripts import Conversation

SAID = {
    "claude-code": [
        ("user", "Use Decimal for money. I always prefer pytest to unittest."),
        ("assistant", "I change the till."),
        (
            "tool",
            f"[Edit] src/till.py\n[Bash] pytest -q -> {('3 passed ' * 99)[:200].rstrip()}… [cut, 891 characters]",
        ),
        ("assistant", "Done: the till counts in Decimal."),
    ],
    "codex": [
        ("user", "Deploys go to the Frankfurt region."),
        ("tool", "[shell] ls deploy -> eu.yaml\n[apply_patch] src/till.py"),
        ("assistant", "The region is set."),
    ],
    "cursor": [("user", "Tabs or spaces?"), ("assistant", "Spaces, as you prefer.")],
    "vscode": [
        ("user", "Name the branch after the ticket."),
        ("tool", "[run_in_terminal] git branch -> * main"),
        ("assistant", "It is called T-17."),
    ],
    "gemini": [("user", "Which linter?"), ("tool", "[read_file] pyproject.toml"), ("assistant", "Ruff.")],
}
IDS = {"claude-code": SESSION, "codex": "codex-1", "cursor": "cur-1", "vscode": "vs-1", "gemini": "gem-1"}


def said(conversation: Conversation) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in conversation.messages]


def refuse(rejected: Rejected) -> None:
    raise AssertionError(rejected)


@pytest.mark.parametrize("agent", READERS)
def test_a_session_is_read(agent: str, tmp_path: Path) -> None:
    conversation = READERS[agent](write_sessions(tmp_path)[agent], refuse)
    assert said(conversation) == SAID[agent]
    assert conversation.id == IDS[agent]
    if agent != "cursor":
        times = [message.said_at for message in conversation.messages]
        assert None not in times
        assert times == sorted(times, key=str)


def test_title_and_project_are_those_of_the_session(tmp_path: Path) -> None:
    files = write_sessions(tmp_path)
    found = READERS["claude-code"](files["claude-code"], refuse)
    assert (found.title, found.project) == ("Money in Decimal", "/home/priya/shop")
    assert READERS["codex"](files["codex"], refuse).project == "/home/priya/shop"
    of_another = {"type": "summary", "summary": "another session", "leafUuid": "elsewhere"}
    file = write_lines(tmp_path / "s.jsonl", [of_another, claude_line("user", "tea", 1)])
    assert READERS["claude-code"](file, refuse).title is None


@pytest.mark.parametrize("agent", [agent for agent in READERS if agent != "gemini"])
def test_what_was_read_of_a_growing_file_never_changes(agent: str, tmp_path: Path) -> None:
    lines = write_sessions(tmp_path)[agent].read_text().splitlines(keepends=True)
    whole = READERS[agent](write_sessions(tmp_path)[agent], refuse).messages
    for number in range(len(lines)):
        # The name of a file is its session, so each has a folder of its own.
        file = tmp_path / str(number) / write_sessions(tmp_path)[agent].name
        file.parent.mkdir()
        file.write_text("".join(lines[:number]) + lines[number][: len(lines[number]) // 2])
        part = READERS[agent](file, refuse).messages
        assert part == whole[: len(part)]


def test_a_line_that_is_none_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    good = [json.dumps(line) for line in claude_session()]
    file = tmp_path / "s.jsonl"
    file.write_bytes(
        b"\n".join([good[0].encode(), b"tea", b"\xff\xfe{}", *(one.encode() for one in good[1:]), b""])
    )
    rejected: list[Rejected] = []
    assert said(READERS["claude-code"](file, rejected.append)) == SAID["claude-code"]
    assert [one.place for one in rejected] == ["s.jsonl:2", "s.jsonl:3"]
    assert all("tea" not in one.reason for one in rejected)


@pytest.mark.parametrize("agent", READERS)
@pytest.mark.parametrize(
    "line",
    [
        {},
        {"type": 7, "message": 7, "payload": 7, "data": 7},
        {"type": "user", "message": {"content": 7}},
        {
            "type": "user",
            "message": {"content": [7, None, {"type": "text", "text": 7}, {"type": "tool_result"}]},
        },
        {"type": "assistant", "message": {"content": [{"type": "tool_use", "input": 7}]}},
        {"type": "response_item", "payload": {"type": "message", "role": "user", "content": {"text": []}}},
        {"type": "response_item", "payload": {"type": "function_call", "arguments": "[[", "call_id": []}},
        {
            "type": "response_item",
            "payload": {"type": "function_call_output", "call_id": "None", "output": "{"},
        },
        {"role": "user", "message": []},
        {"type": "gemini", "content": None, "toolCalls": [7]},
        {"messages": [7, {"type": "user", "content": 7}]},
        {"type": "tool.execution_start", "data": {"arguments": {"path": 7}}},
    ],
)
def test_anything_can_stand_in_a_line(agent: str, line: dict[str, Any], tmp_path: Path) -> None:
    file = write_lines(tmp_path / ("s.json" if agent == "gemini" else "s.jsonl"), [line])
    for message in READERS[agent](file, refuse).messages:
        assert message.text.strip()


def test_calls_that_nobody_speaks_after_wait_for_the_user(tmp_path: Path) -> None:
    lines = claude_session()[:10]
    file = write_lines(tmp_path / "s.jsonl", lines)
    assert said(READERS["claude-code"](file, refuse)) == SAID["claude-code"][:2]
    write_lines(file, [*lines, claude_line("user", "Stop.", 12)])
    assert said(READERS["claude-code"](file, refuse))[2:] == [SAID["claude-code"][2], ("user", "Stop.")]


def test_what_a_page_said_is_told_apart_from_what_other_tools_said(tmp_path: Path) -> None:
    calls = [
        ("Read", {"file_path": "/p/a.py"}, "x"),
        ("WebFetch", {"url": "https://dentists.test", "prompt": "?"}, "My dentist is Dr. Evans"),
        ("mcp__playwright__navigate", {"url": "https://dentists.test"}, "Dr. Evans"),
        ("Bash", {"command": "ls"}, "Dr. Evans"),
    ]
    lines = [claude_line("user", "Find a dentist.", 1)]
    for number, (name, arguments, answer) in enumerate(calls, 2):
        call = {"type": "tool_use", "id": name, "name": name, "input": arguments}
        result = {"type": "tool_result", "tool_use_id": name, "content": answer}
        lines.append(claude_line("assistant", [call], number, uuid=f"call-{number}"))
        lines.append(claude_line("user", [result], number, uuid=f"result-{number}"))
    file = write_lines(tmp_path / "s.jsonl", [*lines, claude_line("assistant", "I looked.", 9)])
    found = READERS["claude-code"](file, refuse).messages
    assert [(one.role, one.origin, one.text.count("\n") + 1) for one in found] == [
        ("user", None, 1), ("tool", "tool", 1), ("tool", "web", 2), ("tool", "tool", 1), ("assistant", None, 1),
    ]  # fmt: skip
    assert "Evans" not in found[-1].text
    times = [one.said_at for one in found]
    assert times == sorted(times, key=str)
    assert len(set(times)) == len(times)


def test_a_transcript_that_begins_with_a_call_has_times(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}
    file = write_lines(
        tmp_path / "s.jsonl", [claude_line("assistant", [call], 1), claude_line("user", "Stop.", 2)]
    )
    assert all(one.said_at for one in READERS["claude-code"](file, refuse).messages)


def test_files_that_cursor_attaches_are_not_what_the_user_said(tmp_path: Path) -> None:
    text = "<attached_files>\nMy dentist is Dr. Evans\n</attached_files>\n<user_query>\nFix it\n</user_query>"
    line = {"role": "user", "message": {"content": [{"type": "text", "text": text}]}}
    assert said(READERS["cursor"](write_lines(tmp_path / "c.jsonl", [line]), refuse)) == [("user", "Fix it")]


def test_what_programs_put_into_the_words_of_the_user_is_left_out(tmp_path: Path) -> None:
    texts = [
        "<system-reminder>be good</system-reminder>Tea, please.<system-reminder>x</system-reminder>",
        "<local-command-stdout>ok</local-command-stdout>",
        "[Request interrupted by user]",
        "<user-prompt-submit-hook><memories></memories></user-prompt-submit-hook>",
    ]
    file = write_lines(
        tmp_path / "s.jsonl", [claude_line("user", text, n) for n, text in enumerate(texts, 1)]
    )
    assert said(READERS["claude-code"](file, refuse)) == [("user", "Tea, please.")]
    assert without("<a>" * 100_000, "a") == "<a>" * 100_000
    assert without("<a></a>x" * 100_000, "a") == "x" * 100_000


@pytest.mark.parametrize(
    "text",
    [
        "<ide_selection>Lines 1 to 2 of a.md:\nMy dentist is Dr. Evans</ide_selection>Fix it",
        "<ide_opened_file>/my dentist is Evans.md</ide_opened_file>\nFix it",
        "# Context from my IDE setup:\n\n## Active selection:\nEvans ## My request for Codex: Evans\n\n## My request for Codex:\nFix it\n",
        "Fix it\n--- Content from referenced files ---\nContent from @a.md:\nEvans\n--- End of content ---",
    ],
)
def test_files_beside_what_the_user_said_are_left_out(text: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s.jsonl", [claude_line("user", text, 1)])
    assert said(READERS["claude-code"](file, refuse)) == [("user", "Fix it")]


def test_a_line_that_stands_twice_is_one_message(tmp_path: Path) -> None:
    line = claude_line("user", "tea", 1)
    without_id = [{**line, "uuid": None}, {**claude_line("user", "cake", 2), "uuid": None}]
    file = write_lines(tmp_path / "n.jsonl", without_id)
    assert len(READERS["claude-code"](file, refuse).messages) == 2
    assert len(READERS["claude-code"](write_lines(tmp_path / "s.jsonl", [line, line]), refuse).messages) == 1


@pytest.mark.parametrize(
    ("name", "arguments", "text", "wants_output"),
    [
        ("Read", {"file_path": "/p/a b.py"}, "[Read] a b.py", False),
        ("Grep", {"pattern": "tea", "path": "/p/src"}, "[Grep] tea", True),
        ("WebSearch", {"query": "tea"}, "[WebSearch] tea", True),
        ("TodoWrite", {"todos": []}, "[TodoWrite]", True),
        ("shell", {"cmd": "x" * 500}, f"[shell] {'x' * 200}… [cut, 500 characters]", True),
        ("shell", ["ls"], "[shell]", True),
        ("exec", '{"cmd": "ls\\n-l"}', "[exec] ls -l", True),
        ("exec", "not JSON", "[exec] not JSON", True),
        (
            "apply_patch",
            "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n",
            "[apply_patch] a b",
            False,
        ),
    ],
)
def test_a_call_is_a_line(name: str, arguments: Any, text: str, wants_output: bool) -> None:
    from pathlib import PurePath

    note = call_note(name, arguments, PurePath("/p"))
    assert note is not None
    assert (note.text, note.wants_output) == (text, wants_output)


@pytest.mark.parametrize("name", ["mcp__pgrecall__memory_recall", "memory_store", "pgrecall_memory_recall"])
def test_what_this_memory_answered_is_not_stored_again(name: str) -> None:
    assert call_note(name, {"query": "tea"}, None) is None


def test_output_is_cut_and_marked() -> None:
    assert output_note(" a\n b ") == " -> a b"
    assert output_note("") == ""
    assert output_note("y" * 10**6) == f" -> {'y' * 200}… [cut, 1000000 characters]"


# --- Exports ---


def _read(path: Path, kind: str) -> tuple[list[Conversation], list[Rejected]]:
    rejected: list[Rejected] = []
    return list(export_conversations(path, EXPORTS[kind], rejected.append)), rejected


def test_an_export_of_chatgpt_is_read_along_the_branch_that_was_shown(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([chatgpt_conversation()]))
    ([found], rejected) = _read(file, "chatgpt")
    assert not rejected
    assert (found.id, found.title) == ("gpt-1", "Goa")
    assert said(found) == [
        ("user", "Where shall we stay in Goa?"),
        ("assistant", "In the beach house."),
        ("user", "Thanks!"),
    ]
    assert [str(message.said_at) for message in found.messages] == [
        "2025-05-17 09:30:00.250000+00:00",
        "2025-05-17 09:30:04.500000+00:00",
        "2025-05-17 09:30:04.500001+00:00",
    ]


def test_an_export_of_claude_is_read(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps([claude_conversation()]))
    ([found], rejected) = _read(file, "claude")
    assert not rejected
    assert (found.id, found.title) == ("claude-1", "A tea")
    assert said(found) == [("user", "Which tea is this?\n[file] leaves.txt"), ("assistant", "Sencha.")]


def test_an_export_may_be_packed_or_in_parts(tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("data/conversations.json", json.dumps([chatgpt_conversation()]))
        packed.writestr("chat.html", "<p>")
    folder = tmp_path / "parts"
    folder.mkdir()
    for number in (1, 2):
        record = chatgpt_conversation() | {"conversation_id": f"gpt-{number}"}
        (folder / f"conversations-00{number}.json").write_text(json.dumps([record]))
    assert [one.id for one in _read(archive, "chatgpt")[0]] == ["gpt-1"]
    assert [one.id for one in _read(folder, "chatgpt")[0]] == ["gpt-1", "gpt-2"]


@pytest.mark.parametrize("content", [b"PK\x03\x04tea", b"", io.BytesIO().getvalue()])
def test_an_archive_that_is_none_is_refused(content: bytes, tmp_path: Path) -> None:
    archive = tmp_path / "export.zip"
    archive.write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        _read(archive, "chatgpt")
    assert refused.value.hint


def test_a_conversation_that_is_none_is_named_and_the_others_are_read(tmp_path: Path) -> None:
    loop = chatgpt_conversation()
    loop["mapping"]["q"]["parent"] = "thanks"
    records = [{}, 7, chatgpt_conversation() | {"current_node": "no"}, claude_conversation(), loop]
    file = tmp_path / "conversations.json"
    file.write_text(json.dumps(records))
    found, rejected = _read(file, "chatgpt")
    assert [len(one.messages) for one in found] == [3]
    assert [one.place for one in rejected] == [f"conversations.json [{n}]" for n in (1, 2, 3, 4)]
    assert len(_read(file, "claude")[0]) == 1
