"""What a command of pgrecall did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def commands(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield every command that can be run, with its name."""
    below = getattr(command, "commands", {})
    for name, one in below.items():
        yield from commands(one, (*path, name))
    if path and (not below or command.invoke_without_command):
        yield " ".join(path), command


class Outcome:
    """What a command did."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err
