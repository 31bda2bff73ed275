"""A conversation as every reader gives it, and what its messages are made of."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Literal

from .tools import CallNote, call_note, output_note

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import PurePath
    from typing import Any

    from .tools import NoteOrigin

__all__ = ["Conversation", "Message", "Role", "Turns"]

Role = Literal["user", "assistant", "tool"]

_MOST_NOTES = 20
_MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Message:
    """What somebody said.

    Attributes:
        place: Where it is, for a report.
        role: Who said it.
        text: What was said.
        said_at: When; None if nobody knows.
        origin: Where the words come from, if the role does not say that.
    """

    place: str
    role: Role
    text: str = field(repr=False)
    said_at: datetime | None
    origin: NoteOrigin | None = None


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

    What tools did is told by messages of their own, before what is said next: by then it is complete, so a
    message never changes once it is there. It is no part of what the assistant says, because a page that was
    fetched, or the name of a file, would then be trusted like the assistant.

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
        self._notes: dict[str, CallNote] = {}
        self._called = ""

    def say(self, place: str, role: Role, text: str, said_at: datetime | None) -> None:
        """Add what somebody said."""
        if not text.strip():
            self.skipped += 1
            return
        for origin, notes in groupby(self._take_notes(), lambda note: note.origin):
            told_at = said_at if self._at is None else None
            self._add(self._called, "tool", "\n".join(note.text for note in notes), told_at, origin)
        self._add(place, role, text.strip(), said_at)

    def call(self, place: str, id: str, name: str, arguments: Any) -> None:
        """Add a call of a tool."""
        note = call_note(name, arguments, self.project)
        if note is None:
            self.skipped += 1
            return
        self._called = place
        self._notes[id] = note

    def output(self, id: str, text: str) -> None:
        """Add what a tool answered."""
        note = self._notes.get(id)
        if note is None or not note.wants_output:
            self.skipped += 1
            return
        self._notes[id] = replace(note, text=note.text + output_note(text), wants_output=False)

    def messages(self) -> tuple[Message, ...]:
        """Return what has been said; calls after which nobody has spoken yet are left out."""
        return tuple(self._messages)

    def _add(
        self,
        place: str,
        role: Role,
        text: str,
        said_at: datetime | None,
        origin: NoteOrigin | None = None,
    ) -> None:
        if said_at is None and self._at is not None:
            # A time of its own, the same each time, so that two equal messages are two.
            said_at = self._at + _MOMENT
        self._at = said_at if said_at is not None else self._at
        self._messages.append(Message(place, role, text, said_at, origin))

    def _take_notes(self) -> list[CallNote]:
        notes = list(self._notes.values())
        left_out = len(notes) - _MOST_NOTES
        if left_out > 0:
            more = CallNote(f"[{left_out} more calls of tools]", False, notes[left_out].origin)
            notes = [more, *notes[left_out:]]
        self._notes.clear()
        return notes
