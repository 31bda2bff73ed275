"""Conversations into memories, each message once, however often a transcript is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import checked_arguments
from pgrecall.contrib.importers.rows import Rejected
from pgrecall.errors import PgrecallError, TooLarge
from pgrecall.new_memories import MAX_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pgrecall._sync.client import Client

    from .conversation import Conversation, Message

__all__ = ["StoredTurns", "store_conversation"]

_BATCH_MESSAGES = 500
_BATCH_CHARACTERS = 2 * 2**20
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class StoredTurns:
    """What became of the messages of a conversation.

    Attributes:
        stored: Those that are new.
        present: Those that were here.
        rejected: Those that cannot become memories.
    """

    stored: int
    present: int
    rejected: int


def store_conversation(
    client: Client,
    conversation: Conversation,
    *,
    agent: str,
    reject: Callable[[Rejected], None],
    namespace: str | None = None,
) -> StoredTurns:
    """Store the messages of a conversation that are not here yet; its id becomes the session.

    A namespace that does not exist is made. The metadata name the agent, the title and the project.

    Args:
        client: Where to.
        conversation: The conversation, whole.
        agent: What it was held with.
        reject: Told each message that cannot become a memory.
        namespace: Where to.

    Raises:
        ConnectionFailed: The connection was lost; also the other errors that are no message's fault.
    """
    metadata: dict[str, Any] = {"agent": agent}
    if conversation.title is not None:
        metadata["title"] = conversation.title[:_LONGEST_TITLE]
    if conversation.project is not None:
        metadata["project"] = conversation.project
    good = []
    for message in conversation.messages:
        try:
            good.append((message, _packed(message)))
        except PgrecallError as error:
            reject(Rejected(f"{conversation.id} {message.place}", error.message))
    stored = present = 0
    for batch in _batches(good):
        answers = client.remember_messages(
            batch, conversation.id, namespace=namespace, create_namespace=True, metadata=metadata
        )
        new = sum(answer.is_new for answer in answers)
        stored += new
        present += len(answers) - new
    return StoredTurns(stored, present, len(conversation.messages) - len(good))


def _packed(message: Message) -> dict[str, Any]:
    text = checked_arguments(content=message.text)["content"]
    if len(text.encode()) > MAX_CONTENT_BYTES:
        raise TooLarge(f"it has more than {MAX_CONTENT_BYTES} bytes")
    packed = {"role": message.role, "content": text}
    if message.origin is not None:
        packed["origin"] = message.origin
    if message.said_at is not None:
        packed["created_at"] = message.said_at.isoformat()
    return packed


def _batches(messages: list[tuple[Message, dict[str, Any]]]) -> Iterator[list[dict[str, Any]]]:
    """Yield batches; messages without times are told apart by their place alone, so they stay together."""
    can_split = all(message.said_at is not None for message, _ in messages)
    batch: list[dict[str, Any]] = []
    size = 0
    for _, packed in messages:
        if can_split and (len(batch) == _BATCH_MESSAGES or size >= _BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(packed)
        size += len(packed["content"])
    if batch:
        yield batch
