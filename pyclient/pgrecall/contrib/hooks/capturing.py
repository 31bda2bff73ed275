"""Stores what is new in the transcript of the session that called the hook."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgrecall.contrib.transcripts import StoredTurns, store_conversation
from pgrecall.contrib.transcripts.agents import READERS
from pgrecall.errors import PgrecallError

from .payload import text_at

if TYPE_CHECKING:
    from pgrecall._sync.client import Client
    from pgrecall.contrib.importers import Rejected

__all__ = ["capture"]


def capture(client: Client, agent: str, payload: dict[str, Any], *, namespace: str | None) -> StoredTurns:
    """Store the turns that are not here yet; the session is that of an import of the same transcript.

    Args:
        client: Where to.
        agent: Whose transcript it is.
        payload: What the agent told the hook.
        namespace: Where to; one that does not exist is made.

    Raises:
        PgrecallError: There is no such transcript, or nothing can be stored.
    """
    named = text_at(payload, "transcript_path", "transcriptPath")
    if named is None:
        raise PgrecallError("the agent named no transcript")
    rejected: list[Rejected] = []
    conversation = READERS[agent](Path(named).expanduser(), rejected.append)
    done = store_conversation(client, conversation, agent=agent, reject=rejected.append, namespace=namespace)
    return StoredTurns(done.stored, done.present, len(rejected))
