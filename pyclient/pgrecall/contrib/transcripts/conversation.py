"""A conversation as every reader gives it, and what its messages are made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Literal

from .tools import call_note, output_note

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import PurePath
    from typing import Any

__all__ = ["Conversation", "Message", "Role", "Turns"]

Role = Literal["user", "assistant"]

_MOST_NOTES = 20
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said.

    Attributes:
        place: Where it is, for a report.
        role: Who said it.
        text: What was said, below what the assistant did before that.
        said_at: When; None if nobody knows.
    """

    place: str
    role: Role
    text: str = field(repr=False)
    said_at: datetime | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, up to where its source has it.

    Attributes:
        id: What tells it from all others; it becomes the session.
        title: Its title there.
        project: The folder that it was about.
        messages: In the order in which they were said.
        skipped: How many lines or messages of the source were passed over, as nothing of them is kept.
    """

    id: str
    title: str | None
    project: str | None
    messages: tuple[Message, ...]
    skipped: int = 0


class Turns:
    """Makes messages out of what a transcript says, in its order.

    What tools did is told at the head of what the assistant says next, or alone if the user speaks first: by
    then it is complete, so that a message never changes once it is there.

    Args:
        project: The folder below which files are named by their relative path.
        started_at: When the conversation began, for messages without a time.
    """

    def __init__(self, project: PurePath | None = None, started_at: datetime | None = None) -> None:
        self.project = project
        self.skipped = 0
        self._messages: list[Message] = []
        self._at = started_at
        # The notes on calls of tools, by the ids of the calls.
        self._notes: dict[str, str] = {}
        self._wants_output: dict[str, bool] = {}
        self._called = ""

    def say(self, place: str, role: Role, text: str, said_at: datetime | None) -> None:
        """Add what somebody said."""
        if not text.strip():
            self.skipped += 1
            return
        if role == "user" and self._notes:
            self._add(self._called, "assistant", self._take_notes(), None)
        notes = self._take_notes()
        self._add(place, role, f"{notes}\n{text.strip()}" if notes else text.strip(), said_at)

    def call(self, place: str, id: str, name: str, arguments: Any) -> None:
        """Add a call of a tool."""
        note = call_note(name, arguments, self.project)
        if note is None:
            self.skipped += 1
            return
        self._called = place
        self._notes[id] = note.text
        self._wants_output[id] = note.wants_output

    def output(self, id: str, text: str) -> None:
        """Add what a tool answered."""
        if not self._wants_output.pop(id, False):
            self.skipped += 1
            return
        self._notes[id] += output_note(text)

    def messages(self) -> tuple[Message, ...]:
        """Return what has been said; calls after which nobody has spoken yet are left out."""
        return tuple(self._messages)

    def _add(self, place: str, role: Role, text: str, said_at: datetime | None) -> None:
        if said_at is None and self._at is not None:
            # A time of its own, the same each time, so that two equal messages are two.
            said_at = self._at + _MOMENT
        self._at = said_at if said_at is not None else self._at
        self._messages.append(Message(place, role, text, said_at))

    def _take_notes(self) -> str:
        notes = list(self._notes.values())
        left_out = len(notes) - _MOST_NOTES
        if left_out > 0:
            notes = [f"[{left_out} more calls of tools]", *notes[left_out:]]
        self._notes.clear()
        self._wants_output.clear()
        return "\n".join(notes)
