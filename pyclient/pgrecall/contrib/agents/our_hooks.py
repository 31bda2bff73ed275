"""Finds our hook in a list of hooks that others change too."""

from __future__ import annotations

import re
import shlex
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .jsonc import Node

__all__ = ["our_hook"]

_VARIABLE = re.compile(r"\w+=")
# What makes a command more than a call of one program; the user wrote that, and it may do anything.
_COMBINES = frozenset(";|&()\n`")


def our_hook(hooks: Node, value: Any) -> tuple[Node, int] | None:
    """Return where our hook stands: the list that it is in, and its number there; None if it is gone.

    It is known by its command: the one that was written, else a call of the same hook with other options.
    Agents keep hooks in groups. A group goes as a whole only if ours is all that it has.

    Args:
        hooks: The list.
        value: The hook, or the group with it, as it was written.
    """
    for is_ours in (_is_the_same, _calls_the_same):
        for number, member in enumerate(hooks.members):
            groups = [inner.node for inner in member.node.members if inner.key == "hooks"]
            for group in groups:
                for place, inner in enumerate(group.members):
                    if is_ours(inner.node.value, value):
                        return (hooks, number) if len(group.members) == 1 else (group, place)
            if not groups and is_ours(member.node.value, value):
                return hooks, number
    return None


def _is_the_same(one: Any, written: Any) -> bool:
    return _command(one) is not None and _command(one) == _command(written)


def _calls_the_same(one: Any, written: Any) -> bool:
    called = _hook_words(_command(written))
    return called is not None and _hook_words(_command(one)) == called


def _command(value: Any) -> str | None:
    """Return the command of a hook, or of the only one of a group."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("hooks"), list):
        return _command(value["hooks"][0]) if len(value["hooks"]) == 1 else None
    command = value.get("command")
    return command if isinstance(command, str) else None


def _hook_words(command: str | None) -> list[str] | None:
    """Return which hook a command calls: "recall", or "capture" and the agent; None: it does other things."""
    if command is None or "`" in command or "\n" in command:
        return None
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    if any(set(word) <= _COMBINES for word in words):
        return None
    while words and _VARIABLE.match(words[0]):
        del words[0]
    if words[1:3] == ["-m", "pgrecall"]:
        del words[:2]
    if len(words) < 3 or PurePath(words[0]).name != "pgrecall" or words[1] != "hook":
        return None
    match words[2]:
        case "recall":
            return words[2:3]
        case "capture":
            return words[2:4]
        case _:
            return None
