"""Notes: what a conversation says that is worth keeping, by a language model, for those who opt in."""

from __future__ import annotations

from .job import NoteJob, notes_version
from .queue import NoteQueue

__all__ = ["NoteJob", "NoteQueue", "notes_version"]
