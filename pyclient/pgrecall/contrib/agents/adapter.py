"""What is written into the configuration of an agent, from its file in `adapters/`."""

from __future__ import annotations

import os
import shlex
import sys
import tomllib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

__all__ = ["AGENTS", "Adapter", "Entry", "adapter"]

AGENTS = ("claude-code", "codex", "cursor", "gemini", "vscode")
"""The agents that can be set up."""


@dataclass(frozen=True, slots=True)
class Entry:
    """Something that a file of configuration is to have.

    Attributes:
        path: The keys of what it is in.
        key: Its key there; None: it is an item of a list.
        value: What it is.
        is_shared: Whether one that is there already does too, and stays when ours go.
    """

    path: tuple[str, ...]
    key: str | None
    value: Any
    is_shared: bool


@dataclass(frozen=True, slots=True)
class Adapter:
    """An agent and what its files are to have.

    Attributes:
        title: Its name.
        note: What the user has to do after that.
        files: The files with their entries.
    """

    title: str
    note: str
    files: tuple[tuple[Path, tuple[Entry, ...]], ...]


def adapter(agent: str, *, project: Path | None, program: list[str], options: list[str]) -> Adapter:
    """Return the adapter of an agent.

    Args:
        agent: One of `AGENTS`.
        project: The folder of a project; None: everything of this user.
        program: How `pgrecall` is called, in words.
        options: What follows each command, in words.
    """
    data = tomllib.loads(files(__package__).joinpath("adapters", f"{agent}.toml").read_text(encoding="utf-8"))
    variable, _, default = data.get("folder", "").partition(":")
    folder = os.environ.get(variable) or default
    first, *rest = program
    found = []
    for file in data["files"]:
        if project is not None:
            path = project / file["project"]
        else:
            named = file.get("mac", file["user"]) if sys.platform == "darwin" else file["user"]
            path = Path(named.replace("{folder}", folder)).expanduser()
        entries = tuple(
            Entry(
                tuple(one["path"]),
                one.get("key"),
                _filled(one["value"], first, rest, options),
                one.get("shared", False),
            )
            for one in file["add"]
        )
        found.append((path, entries))
    return Adapter(data["title"], data["note"], tuple(found))


def _filled(value: Any, program: str, rest: list[str], options: list[str]) -> Any:
    """Put program and options into a value: as words of a list, or into the text of a command."""
    if isinstance(value, dict):
        return {key: _filled(inner, program, rest, options) for key, inner in value.items()}
    if isinstance(value, list):
        if "{options}" not in value:
            return [_filled(inner, program, rest, options) for inner in value]
        return [*rest, *(word for inner in value for word in (options if inner == "{options}" else [inner]))]
    if not isinstance(value, str):
        return value
    command = value.replace("{program}", program)
    if "{command}" in command:
        words = "".join(f" {shlex.quote(word)}" for word in options)
        command = command.replace("{command}", shlex.join([program, *rest])).replace("{options}", words)
    return command
