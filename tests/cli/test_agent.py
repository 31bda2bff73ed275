"""`pgrecall agent`: what each agent's configuration is afterwards, and that it is as before after that."""

from __future__ import annotations

import json
import os
import shlex
import stat
import tomllib
from codecs import BOM_UTF8
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from pgrecall.cli.agent import _LONGEST_NAMESPACE
from pgrecall.cli.hook import Agent
from pgrecall.contrib.agents import AGENTS
from pgrecall.contrib.agents.setup import Change, apply
from pgrecall.errors import PgrecallError

if TYPE_CHECKING:
    from collections.abc import Callable

    from support.command import Outcome

# Where each agent's documentation has its MCP servers, and its hooks by what happens.
FILES = {
    "claude-code": {".claude.json": ".mcp.json", ".claude/settings.json": ".claude/settings.json"},
    "codex": {".codex/config.toml": ".codex/config.toml", ".codex/hooks.json": ".codex/hooks.json"},
    "cursor": {".cursor/mcp.json": ".cursor/mcp.json", ".cursor/hooks.json": ".cursor/hooks.json"},
    "gemini": {".gemini/settings.json": ".gemini/settings.json"},
    "vscode": {
        ".config/Code/User/mcp.json": ".vscode/mcp.json",
        ".copilot/hooks/pgrecall.json": ".github/hooks/pgrecall.json",
    },
}
SERVERS = {"codex": "mcp_servers", "vscode": "servers"}
EVENTS = {
    "claude-code": {
        "UserPromptSubmit": "recall",
        "Stop": "capture",
        "PreCompact": "capture",
        "SessionEnd": "capture",
    },
    "codex": {"UserPromptSubmit": "recall", "Stop": "capture", "PreCompact": "capture"},
    "cursor": {"sessionStart": "recall", "stop": "capture", "preCompact": "capture", "sessionEnd": "capture"},
    "gemini": {
        "BeforeAgent": "recall",
        "AfterAgent": "capture",
        "PreCompress": "capture",
        "SessionEnd": "capture",
    },
    "vscode": {"SessionStart": "recall", "Stop": "capture", "PreCompact": "capture"},
}
# What users have: other servers and hooks, comments, odd blanks.
THEIRS = {
    ".json": '{\n\t"mcpServers": { "other": {"command": "x"} },\n\t"hooks": {"Stop": [{"hooks": []}], "stop": []},\n\t"numStartups": 12,\n\t"text": "é"\n}',
    ".toml": 'model = "gpt-5"   # best\n\n[mcp_servers.other]\ncommand = "x"\n',
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for variable in ("XDG_STATE_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(variable, raising=False)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    return folder


def tree(folder: Path) -> dict[str, bytes | None]:
    """All that is in a folder but what pgrecall keeps there."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if ".local" not in path.parts
    }


def parsed(file: Path) -> Any:
    text = file.read_text()
    return tomllib.loads(text) if file.suffix == ".toml" else json.loads(text)


def configuration(agent: str, folder: Path, *, project: bool = False) -> dict[str, Any]:
    """All that the files of an agent say."""
    found: dict[str, Any] = {}
    for of_user, of_project in FILES[agent].items():
        found |= parsed(folder / (of_project if project else of_user))
    return found


def commands(agent: str, hooks: dict[str, Any]) -> dict[str, list[str]]:
    """The commands of each event, as the agent reads them."""
    found: dict[str, list[str]] = {}
    for event, entries in hooks.items():
        inner = (
            entries if agent in {"cursor", "vscode"} else [one for entry in entries for one in entry["hooks"]]
        )
        found[event] = [one["command"] for one in inner]
        assert all(one.get("type", "command") == "command" for one in inner)
    return found


def test_the_agents_are_those_of_the_hooks() -> None:
    assert set(AGENTS) == {one.value for one in Agent} == set(FILES)


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("project", [False, True])
def test_an_agent_is_set_up_from_nothing_and_left_as_it_was(
    agent: str, project: bool, cli: Callable[..., Outcome], home: Path
) -> None:
    options = ("--project",) if project else ()
    folder = Path.cwd() if project else home
    done = cli("agent", "install", agent, "--yes", "-n", "my work", *options)
    assert done.code == 0, done.err
    found = configuration(agent, folder, project=project)
    server = found[SERVERS.get(agent, "mcpServers")]["pgrecall"]
    assert server["args"][-4:] == ["mcp", "--create-namespace", "--namespace", "my work"]
    assert "PGRECALL" not in json.dumps(found)
    called = commands(agent, found["hooks"])
    assert list(called) == list(EVENTS[agent])
    for event, what in EVENTS[agent].items():
        (command,) = called[event]
        words = shlex.split(command)
        end = ["hook", "recall"] if what == "recall" else ["hook", "capture", agent]
        assert words[-len(end) - 2 :] == [*end, "--namespace", "my work"]
        assert words[: -len(end) - 2][0] == server["command"]
        assert (words[0] == "pgrecall") is project
    if agent == "cursor":
        assert found["version"] == 1
    before = tree(folder)
    again = cli("agent", "install", agent, "--yes", "-n", "my work", *options)
    assert (again.code, "is set up" in again.out, tree(folder) == before) == (0, True, True)
    assert cli("agent", "uninstall", agent, "--yes", *options).code == 0
    assert tree(folder) == {}
    assert "not set up" in cli("agent", "uninstall", agent, "--yes", *options).out


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_byte_order_mark_stays(
    agent: str, is_edited: bool, cli: Callable[..., Outcome], home: Path
) -> None:
    """Editors of Windows write it."""
    for name in FILES[agent]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(THEIRS[Path(name).suffix], encoding="utf-8-sig")
    before = tree(home)
    assert cli("agent", "install", agent, "--yes").code == 0
    for name in FILES[agent]:
        assert (home / name).read_bytes().count(BOM_UTF8) == 1
        assert (home / name).read_bytes().startswith(BOM_UTF8)
        if is_edited:
            (home / name).write_bytes((home / name).read_bytes() + b"\n")
    assert cli("agent", "uninstall", agent, "--yes").code == 0
    found = tree(home)
    assert set(found) == set(before)
    if not is_edited:
        assert found == before
    assert all((home / name).read_bytes().startswith(BOM_UTF8) for name in FILES[agent])


@pytest.mark.parametrize("agent", AGENTS)
def test_what_was_there_stays_and_comes_back_byte_by_byte(
    agent: str, cli: Callable[..., Outcome], home: Path
) -> None:
    for name in FILES[agent]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(THEIRS[Path(name).suffix].encode())
        (home / name).chmod(0o640)
    before = tree(home)
    assert cli("agent", "install", agent, "--yes").code == 0
    for name in FILES[agent]:
        theirs, now = parsed_text(THEIRS[Path(name).suffix], name), parsed(home / name)
        assert now != theirs
        assert {
            key: now[key] for key in ("numStartups", "text", "model") if key in theirs
        }.items() <= theirs.items()
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o640
    # Another namespace takes the place of the first one.
    assert cli("agent", "install", agent, "--yes", "-n", "other").code == 0
    assert "".join((home / name).read_text() for name in FILES[agent]).count("--create-namespace") == 1
    assert cli("agent", "uninstall", agent, "--yes").code == 0
    assert tree(home) == before
    assert stat.S_IMODE((home / next(iter(FILES[agent]))).stat().st_mode) == 0o640


def parsed_text(text: str, name: str) -> Any:
    return tomllib.loads(text) if name.endswith(".toml") else json.loads(text)


@pytest.mark.parametrize("agent", AGENTS)
def test_of_a_file_that_was_changed_since_only_our_entries_go(
    agent: str, cli: Callable[..., Outcome], home: Path
) -> None:
    for name in FILES[agent]:
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(THEIRS[Path(name).suffix])
    cli("agent", "install", agent, "--yes")
    for name in FILES[agent]:
        file = home / name
        if file.suffix == ".toml":
            file.write_text(file.read_text() + "\n[profiles.fast]\nmodel = 'mini'\n")
        else:
            # As an agent writes its own file anew, with other settings.
            file.write_text(json.dumps(json.loads(file.read_text()) | {"numStartups": 13}))
    done = cli("agent", "uninstall", agent, "--yes")
    assert done.code == 0, done.err
    assert done.err.count("only the entries of pgrecall are gone") == len(FILES[agent])
    for name in FILES[agent]:
        suffix = Path(name).suffix
        more = {"profiles": {"fast": {"model": "mini"}}} if suffix == ".toml" else {"numStartups": 13}
        now = parsed(home / name)
        now.pop("version", None)
        assert now == parsed_text(THEIRS[suffix], name) | more


@pytest.mark.parametrize("agent", [one for one in AGENTS if one not in {"cursor", "vscode"}])
def test_a_hook_that_the_user_put_beside_ours_stays(
    agent: str, cli: Callable[..., Outcome], home: Path
) -> None:
    cli("agent", "install", agent, "--yes")
    (name,) = (one for one in FILES[agent] if one.endswith(("settings.json", "hooks.json")))
    mine = {"type": "command", "command": "mine"}
    settings = parsed(home / name)
    (event, groups), *_ = settings["hooks"].items()
    groups[0]["hooks"].append(mine)
    (home / name).write_text(json.dumps(settings))
    # Another namespace takes the place of the first one.
    assert cli("agent", "install", agent, "--yes", "-n", "other").code == 0
    assert mine in [one for group in parsed(home / name)["hooks"][event] for one in group["hooks"]]
    assert cli("agent", "uninstall", agent, "--yes").code == 0
    assert parsed(home / name) == {"hooks": {event: [{"hooks": [mine]}]}}


def test_nothing_is_changed_unless_somebody_agrees(cli: Callable[..., Outcome], home: Path) -> None:
    shown = cli("agent", "install", "claude-code", "--print")
    assert "hook recall" in shown.out
    assert tree(home) == {}
    refused = cli("agent", "install", "claude-code")
    assert (refused.code, "--yes" in refused.err, tree(home)) == (1, True, {})
    cli("agent", "install", "claude-code", "--yes")
    before = tree(home)
    assert "-" in cli("agent", "uninstall", "claude-code", "--print").out
    assert cli("agent", "uninstall", "claude-code").code == 1
    assert tree(home) == before


@pytest.mark.parametrize(
    ("agent", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"hooks": {"Stop": "x"}}'),
        ("claude-code", ".claude/settings.json", "{broken"),
        ("claude-code", ".claude.json", '{"mcpServers": {"pgrecall": {"command": "mine"}}}'),
        ("codex", ".codex/config.toml", "mcp_servers = {}"),
        ("codex", ".codex/config.toml", "broken ="),
        ("cursor", ".cursor/mcp.json", "[]"),
    ],
)
def test_a_file_that_cannot_be_changed_is_left_and_the_user_told_what_to_put_in(
    agent: str, name: str, text: str, cli: Callable[..., Outcome], home: Path
) -> None:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(text)
    before = tree(home)
    done = cli("agent", "install", agent, "--yes")
    assert done.code == 1
    assert "is left as it is" in done.err
    assert "put this into it yourself" in done.err
    assert "pgrecall" in done.err.partition("yourself")[2]
    assert tree(home) == before


@pytest.mark.parametrize("name", ["", " ", "\t", "work\n", "a\nb", "a\x00b", "a\x1b[31m", "x" * 201])
def test_a_name_that_no_namespace_can_have_is_refused(
    name: str, cli: Callable[..., Outcome], home: Path
) -> None:
    done = cli("agent", "install", "codex", "--yes", "-n", name)
    assert done.code == 1
    assert "1 to 200 visible characters" in done.err
    assert "hint: " in done.err
    assert tree(home) == {}


def test_a_name_may_be_as_long_as_the_database_allows(conn: psycopg.Connection[Any]) -> None:
    longest = "x" * _LONGEST_NAMESPACE
    conn.execute("SELECT pgrecall.create_namespace(%s)", [longest])
    with pytest.raises(psycopg.errors.InvalidParameterValue):
        conn.execute("SELECT pgrecall.create_namespace(%s)", [f"{longest}x"])


def test_numbers_that_are_none_are_no_hindrance(cli: Callable[..., Outcome], home: Path) -> None:
    (home / ".codex").mkdir()
    file = home / ".codex" / "config.toml"
    file.write_text("limit = nan\n")
    assert cli("agent", "install", "codex", "--yes").code == 0
    file.write_text(file.read_text() + "\n[more]\nlimit = nan\n")
    assert cli("agent", "uninstall", "codex", "--yes").code == 0
    assert file.read_text() == "limit = nan\n\n[more]\nlimit = nan\n"


def put(path: Path, kind: str) -> None:
    """Put something where a file belongs."""
    match kind:
        case "loop":
            path.symlink_to(path)
        case "pipe":
            os.mkfifo(path)
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("/dev/zero")


@pytest.mark.parametrize("agent", ["claude-code", "codex"])
@pytest.mark.parametrize("kind", ["loop", "pipe", "folder", "device"])
def test_what_is_no_file_is_refused_at_once(
    agent: str, kind: str, cli: Callable[..., Outcome], home: Path
) -> None:
    first, second = (home / name for name in FILES[agent])
    second.parent.mkdir(exist_ok=True)
    put(second, kind)
    done = cli("agent", "install", agent, "--yes")
    assert done.code == 1
    assert second.name in done.err or kind == "device"
    assert "hint: " in done.err
    assert not first.exists()
    # One that took the place of ours since keeps nobody from undoing the rest.
    second.rmdir() if kind == "folder" else second.unlink()
    assert cli("agent", "install", agent, "--yes").code == 0
    second.unlink()
    put(second, kind)
    done = cli("agent", "uninstall", agent, "--yes")
    assert (done.code, first.exists(), "hint: " in done.err) == (1, False, True)


@pytest.mark.parametrize("agent", [one for one in AGENTS if len(FILES[one]) > 1])
@pytest.mark.parametrize("broken", [0, 1])
def test_a_broken_file_keeps_nobody_from_undoing_the_rest(
    agent: str, broken: int, cli: Callable[..., Outcome], home: Path
) -> None:
    cli("agent", "install", agent, "--yes")
    files = [home / name for name in FILES[agent]]
    good = files.pop(1 - broken)
    text = files[0].read_text()
    files[0].write_text(text + "}{")
    printed = cli("agent", "uninstall", agent, "--print")
    assert (printed.code, str(files[0]) in printed.err, good.exists()) == (1, True, True)
    done = cli("agent", "uninstall", agent, "--yes")
    assert done.code == 1
    assert f"error: {files[0]} is left as it is" in done.err
    assert "hint: " in done.err
    assert not good.exists()
    assert files[0].read_text() == text + "}{"
    # Mended, the rest can be undone too.
    files[0].write_text(text)
    assert cli("agent", "uninstall", agent, "--yes").code == 0
    assert tree(home) == {}


def test_a_file_that_cannot_be_written_keeps_nobody_from_undoing_the_rest(
    cli: Callable[..., Outcome], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("agent", "install", "claude-code", "--yes")
    unlink = Path.unlink

    def refuse(path: Path, *, missing_ok: bool = False) -> None:
        if path.name == "settings.json":
            raise PermissionError(13, "Permission denied")
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", refuse)
    done = cli("agent", "uninstall", "claude-code", "--yes")
    assert (done.code, "cannot write" in done.err) == (1, True)
    assert not (home / ".claude.json").exists()


def test_what_the_user_had_put_in_stays(cli: Callable[..., Outcome], home: Path) -> None:
    cli("agent", "install", "claude-code", "--yes")
    file = home / ".claude.json"
    text = file.read_text()
    cli("agent", "uninstall", "claude-code", "--yes")
    file.write_text(text)
    cli("agent", "install", "claude-code", "--yes")
    cli("agent", "uninstall", "claude-code", "--yes")
    assert file.read_text() == text


def test_links_folders_and_variables_are_followed(
    cli: Callable[..., Outcome], home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    (tmp_path / "claude").mkdir()
    (tmp_path / "claude" / "settings.json").symlink_to(real)
    cli("agent", "install", "claude-code", "--yes")
    assert "hooks" in json.loads(real.read_text())
    assert (tmp_path / "claude" / "settings.json").is_symlink()
    assert not (home / ".claude").exists()
    cli("agent", "uninstall", "claude-code", "--yes")
    assert real.read_text() == "{}"


def test_no_password_is_written_and_the_user_told_what_the_agent_needs(
    cli: Callable[..., Outcome], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGRECALL_DSN", "postgresql://me:hunter2@db.example.org/app")
    done = cli("agent", "install", "gemini", "--yes")
    assert "PGRECALL_DSN is not written there" in done.err
    everywhere = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"hunter2" not in everywhere
    assert "hunter2" not in done.out + done.err


def test_what_is_kept_is_for_the_user_alone(cli: Callable[..., Outcome], home: Path) -> None:
    cli("agent", "install", "cursor", "--yes")
    kept = home / ".local" / "state" / "pgrecall" / "agents"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept.iterdir()} == {0o600}
    next(kept.iterdir()).write_text("tea")
    assert "hint: " in cli("agent", "uninstall", "cursor", "--yes").err


def test_a_file_that_changes_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"new": 1}')
    with pytest.raises(PgrecallError, match="has just changed"):
        apply([Change(file, "{}", '{"ours": 1}', False, None)])
    assert file.read_text() == '{"new": 1}'
    assert {path.name for path in tmp_path.iterdir()} == {"home", "project", "settings.json"}
