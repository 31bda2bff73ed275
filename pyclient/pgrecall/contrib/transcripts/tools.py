"""What an agent did, a line for each call of a tool: files by name alone, output cut and marked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Literal

__all__ = ["CallNote", "NoteOrigin", "call_note", "output_note"]

NoteOrigin = Literal["tool", "web"]

_LONGEST_CALL = 200
_LONGEST_OUTPUT = 200
_LONGEST_SCANNED = 100_000
_MOST_FILES = 20

_OURS = re.compile(
    r"(?:^|_)pgrecall(?:_|$)|^memory_(?:store|recall|update|supersede|forget|feedback|timeline)"
)
"""Tools of this memory: what they return is stored already."""

_WEB = re.compile(r"web|fetch|brows|http|(?:^|_)(?:url|search_engine)", re.IGNORECASE)
"""Tools that read what anybody may have written; others are no more than tools."""

_FILES = ("file_path", "notebook_path", "filePath", "absolute_path", "target_file", "path")
_SAID = ("command", "cmd", "query", "pattern", "url", "description", "prompt")
_PATCHED = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: (.+)$|^\+\+\+ (?:b/)?(\S+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CallNote:
    """A call of a tool.

    Attributes:
        text: What was called, on what.
        wants_output: Whether the beginning of the answer is kept too; not that of files, named here.
        origin: Where it comes from.
    """

    text: str
    wants_output: bool
    origin: NoteOrigin


def call_note(name: str, arguments: Any, project: PurePath | None) -> CallNote | None:
    """Tell of a call; None if nothing is to be told of it.

    Args:
        name: The tool.
        arguments: An object, that as JSON, or a text.
        project: The folder that files are named below.
    """
    if _OURS.search(name):
        return None
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            arguments = {"command": arguments}
    if not isinstance(arguments, dict):
        arguments = {}
    said = next((text for key in _SAID if (text := _text(arguments.get(key)))), "")
    patch = said if "*** Begin Patch" in said else _text(arguments.get("input"))
    files = _patched(patch) or [_text(arguments.get(key)) for key in _FILES]
    origin: NoteOrigin = "web" if _WEB.search(name) or _text(arguments.get("url")) else "tool"
    named = " ".join(_named(file, project) for file in files if file)
    if named and not (said and patch != said):
        return CallNote(f"[{_line(name, _LONGEST_CALL)}] {_line(named, _LONGEST_CALL)}", False, origin)
    return CallNote(f"[{_line(name, _LONGEST_CALL)}] {_line(said, _LONGEST_CALL)}".rstrip(), True, origin)


def output_note(text: str) -> str:
    """Tell the beginning of an answer, and how long it was if that is not all of it."""
    return f" -> {_line(text, _LONGEST_OUTPUT)}" if text.strip() else ""


def _line(text: str, longest: int) -> str:
    line = " ".join(text[:_LONGEST_SCANNED].split())
    if len(line) <= longest and len(text) <= _LONGEST_SCANNED:
        return line
    return f"{line[:longest].rstrip()}… [cut, {len(text)} characters]"


def _text(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        # What a shell is given to run: bash -lc "…".
        return value[-1] if len(value) == 3 and value[1] in {"-c", "-lc"} else " ".join(value)
    return value if isinstance(value, str) else ""


def _patched(text: str) -> list[str]:
    found = [first or second for first, second in _PATCHED.findall(text[:_LONGEST_SCANNED])]
    return list(dict.fromkeys(found))[:_MOST_FILES]


def _named(file: str, project: PurePath | None) -> str:
    path = PurePath(file)
    return str(path.relative_to(project)) if project is not None and path.is_relative_to(project) else file
