"""`pgrecall import claude-code | codex | chatgpt | claude`: each message once, with its session, role, time and title."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from pgrecall import Client
from pgrecall.contrib.transcripts import Conversation, Message, store_conversation
from pgrecall.contrib.transcripts.agents import READERS
from support.import_from import unlistable
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
    from collections.abc import Callable
    from pathlib import Path

    import psycopg

    from pgrecall.contrib.importers import Rejected
    from support.command import Outcome

MOMENT = datetime(2026, 5, 17, tzinfo=UTC)
STORED = """
    SELECT m.session, m.speaker, m.content, m.occurred_at AT TIME ZONE 'UTC', m.metadata
    FROM pgrecall.memories m ORDER BY m."position"
"""


def test_sessions_are_imported_once_with_all_that_is_known_of_them(
    cli: Callable[..., Outcome], conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    file = write_sessions(tmp_path)["claude-code"]
    done = cli("import", "claude-code", str(file.parent), "--namespace", "work")
    assert done.code == 0, done.err
    assert done.out == "1 conversation, 4 messages: 4 stored, 0 already there\n"
    rows = conn.execute(STORED).fetchall()
    assert [row[:2] for row in rows] == [(SESSION, one) for one in ("user", "assistant", "tool", "assistant")]
    assert str(rows[0][3]) == "2026-05-17 09:30:03.250000"
    assert rows[0][4] == {"agent": "claude-code", "title": "Money in Decimal", "project": "/home/priya/shop"}
    write_lines(file, [*claude_session(), claude_line("user", "Thanks!", 20)])
    done = cli("import", "claude-code", str(file), "--namespace", "work", "--json")
    assert json.loads(done.out) == {
        "conversations": 1, "messages": 5, "stored": 1, "present": 4, "rejected": 0, "skipped": 7,
    }  # fmt: skip


def test_a_folder_that_cannot_be_read_is_rejected(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    folder = write_sessions(tmp_path)["claude-code"].parent
    deepest = unlistable(folder)
    done = cli("import", "claude-code", str(folder), "--rejected", str(tmp_path / "rejected"))
    assert done.code == 1
    assert "1 rejected" in done.err
    assert "4 stored" in done.out
    told = json.loads((tmp_path / "rejected").read_text())
    assert told == {"place": str(deepest), "reason": "File name too long"}


def test_the_folders_of_this_user_are_the_default(
    cli: Callable[..., Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sessions(tmp_path / "projects")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "no"))
    assert "4 stored" in cli("import", "claude-code").out
    missing = cli("import", "codex")
    assert missing.code == 1
    assert "hint: " in missing.err


def test_codex_and_exports_are_imported(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    codex = write_sessions(tmp_path)["codex"]
    for kind, record in (("chatgpt", chatgpt_conversation()), ("claude", claude_conversation())):
        (tmp_path / f"{kind}.json").write_text(json.dumps([record]))
    for arguments, report in (
        (("codex", str(codex)), "1 conversation, 3 messages: 3 stored, 0 already there\n"),
        (
            ("chatgpt", str(tmp_path / "chatgpt.json")),
            "1 conversation, 3 messages: 3 stored, 0 already there\n",
        ),
        (
            ("claude", str(tmp_path / "claude.json")),
            "1 conversation, 2 messages: 2 stored, 0 already there\n",
        ),
    ):
        assert cli("import", *arguments).out == report
        again = cli("import", *arguments)
        assert (again.code, " 0 stored" in again.out) == (0, True)


def test_what_is_rejected_is_named(cli: Callable[..., Outcome], tmp_path: Path) -> None:
    lines = [
        claude_line("user", "tea\0", 1),
        claude_line("user", "x" * 300_000, 2),
        claude_line("user", "coffee", 3),
    ]
    file = write_lines(tmp_path / "s.jsonl", lines)
    file.write_text("no JSON\n" + file.read_text())
    out = tmp_path / "rejected.jsonl"
    done = cli("import", "claude-code", str(file), "--rejected", str(out))
    assert done.code == 1
    assert "1 conversation, 3 messages: 2 stored" in done.out
    places = [json.loads(line)["place"] for line in out.read_text().splitlines()]
    assert places == ["s.jsonl:1", "s s.jsonl:3"]


def test_what_the_server_refuses_is_named_and_the_import_goes_on(
    cli: Callable[..., Outcome], conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conn.execute("SELECT pgrecall.set_secrets('default', in_messages => 'refuse')")
    out = tmp_path / "rejected.jsonl"
    folder = tmp_path / "sessions"
    for session in ("a", "b"):
        texts = ("tea", f"push with {key}", "coffee")
        lines = [claude_line("user", text, n, sessionId=session) for n, text in enumerate(texts, 1)]
        write_lines(folder / f"{session}.jsonl", lines)
    done = cli("import", "claude-code", str(folder), "--rejected", str(out))
    assert done.code == 1
    assert done.out == "2 conversations, 6 messages: 4 stored, 0 already there\n"
    assert [json.loads(line)["place"] for line in out.read_text().splitlines()] == [
        "a a.jsonl:2", "b b.jsonl:2",
    ]  # fmt: skip
    assert key not in out.read_text()
    assert [row[2] for row in conn.execute(STORED)] == ["tea", "tea", "coffee", "coffee"]
    again = cli("import", "claude-code", str(folder), "--json")
    assert json.loads(again.out) == {
        "conversations": 2, "messages": 6, "stored": 0, "present": 4, "rejected": 2, "skipped": 0,
    }  # fmt: skip


HALF = "\ud83d"


@pytest.mark.parametrize("agent", ["claude-code", "cursor"])
def test_half_an_emoji_or_a_nul_costs_nothing(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path, agent: str
) -> None:
    """As JavaScript's slice() leaves them: the whole session was rejected for its title, at every capture."""
    conversation = Conversation(
        id=f"s{HALF}",
        title=f"Fix the \ud83d\ude80 rocket\0 {HALF}",
        project=f"/srv/{HALF}\0",
        messages=tuple(
            Message(str(place), "user", f"tea{HALF} {place}\0", MOMENT if agent == "claude-code" else None)
            for place in range(2)
        ),
    )
    with Client(dsn) as client:
        for stored in (2, 0):
            rejected: list[Rejected] = []
            done = store_conversation(client, conversation, agent=agent, reject=rejected.append)
            assert (done.stored, done.rejected, rejected) == (stored, 0, [])
        [first, _] = client.list(oldest_first=True)
    assert (first.session, first.content) == ("s\ufffd", "tea\ufffd 0")
    assert first.metadata == {
        "agent": agent, "title": "Fix the \N{ROCKET} rocket \ufffd", "project": "/srv/\ufffd",
    }  # fmt: skip


@pytest.mark.parametrize("said_at", [MOMENT, None], ids=["with times", "without"])
def test_a_title_with_a_secret_is_left_out(
    dsn: str, conn: psycopg.Connection[Any], said_at: datetime | None
) -> None:
    conn.execute("SELECT pgrecall.set_secrets('default', in_messages => 'refuse')")
    said = ["tea", "coffee", "milk"] if said_at is None else ["tea", "my password is tiger" + "4321", "milk"]
    messages = tuple(Message(str(place), "user", text, said_at) for place, text in enumerate(said))
    for title, project, kept in (
        ("the password is lion" + "1234", "/srv", {"agent": "cursor", "project": "/srv"}),
        ("Tea", "/srv/password: lion" + "1234", {"agent": "cursor"}),
        ("Tea", "/srv", {"agent": "cursor", "title": "Tea", "project": "/srv"}),
    ):
        session = Conversation(id=title + project, title=title, project=project, messages=messages)
        rejected: list[Rejected] = []
        with Client(dsn) as client:
            done = store_conversation(client, session, agent="cursor", reject=rejected.append)
            assert [one.place.split()[-1] for one in rejected] == ([] if said_at is None else ["1"])
            assert (done.stored, done.rejected) == (3 - len(rejected), len(rejected))
            found = client.list(sessions=[session.id])
            assert [one.metadata for one in found] == [kept] * done.stored


def test_a_session_without_times_is_rejected_whole(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    key = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conn.execute("SELECT pgrecall.set_secrets('default', in_messages => 'refuse')")
    for session, text in (("a", f"push with {key}"), ("b", "coffee")):
        lines = [
            {"role": "user", "message": {"content": [{"type": "text", "text": said}]}}
            for said in ("tea", text)
        ]
        write_lines(tmp_path / "agent-transcripts" / f"{session}.jsonl", lines)
    with Client(dsn) as client:
        for session, counts in (("a", (0, 0, 2)), ("b", (2, 0, 0))):
            rejected: list[Rejected] = []
            file = tmp_path / "agent-transcripts" / f"{session}.jsonl"
            conversation = READERS["cursor"](file, rejected.append)
            done = store_conversation(client, conversation, agent="cursor", reject=rejected.append)
            assert (done.stored, done.present, done.rejected) == counts
            assert [one.place for one in rejected] == ([conversation.id] if session == "a" else [])


def test_a_namespace_that_cannot_be_is_no_fault_of_a_message(
    cli: Callable[..., Outcome], tmp_path: Path
) -> None:
    file = write_sessions(tmp_path)["claude-code"]
    done = cli("import", "claude-code", str(file), "--namespace", "x" * 2000, "--json")
    assert done.code == 1
    assert "rejected" not in done.out + done.err
    assert "hint: " in done.err


def test_a_long_session_is_stored_in_batches_each_message_once(
    dsn: str, conn: psycopg.Connection[Any], tmp_path: Path
) -> None:
    lines = [
        claude_line(
            "user", f"fact {n % 7}", 1, timestamp=f"2026-05-17T{n // 60:02}:{n % 60:02}:00Z", uuid=str(n)
        )
        for n in range(1200)
    ]
    file = tmp_path / "long.jsonl"
    with Client(dsn) as client:
        for number, stored in ((700, 700), (1200, 500), (1200, 0)):
            conversation = READERS["claude-code"](write_lines(file, lines[:number]), lambda _: None)
            done = store_conversation(client, conversation, agent="claude-code", reject=lambda _: None)
            assert (done.stored, done.present) == (stored, number - stored)
    texts = [
        row[0] for row in conn.execute('SELECT m.content FROM pgrecall.memories m ORDER BY m."position"')
    ]
    assert texts == [f"fact {n % 7}" for n in range(1200)]


def test_a_session_without_times_is_stored_once(dsn: str, tmp_path: Path) -> None:
    lines = [
        {"role": role, "message": {"content": [{"type": "text", "text": text}]}}
        for role, text in (
            ("user", "yes"),
            ("assistant", "ok"),
            ("user", "yes"),
            ("assistant", "ok"),
            ("user", "no"),
        )
    ]
    with Client(dsn) as client:
        stored = []
        for number in (2, 3, 5, 5):
            conversation = READERS["cursor"](
                write_lines(tmp_path / "c.jsonl", lines[:number]), lambda _: None
            )
            done = store_conversation(client, conversation, agent="cursor", reject=lambda _: None)
            stored.append(done.stored)
    assert stored == [2, 1, 2, 0]
