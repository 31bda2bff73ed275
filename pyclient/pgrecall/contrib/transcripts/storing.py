"""Conversations into memories, each message once, however often a transcript is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pgrecall.arguments import checked_arguments
from pgrecall.contrib.importers.rows import Rejected
from pgrecall.errors import PgrecallError, TooLarge
from pgrecall.jsonl.bisect import REFUSALS, bisect
from pgrecall.new_memories import MAX_CONTENT_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from pgrecall._sync.client import Client

    from .conversation import Conversation, Message

    _Packed = tuple[Message, dict[str, Any]]

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

    A message that the server refuses is rejected, and its neighbours are stored. If some messages have no
    time, the whole conversation is rejected.

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
    counts = {"stored": 0, "present": 0, "rejected": len(conversation.messages) - len(good)}
    to: dict[str, Any] = {"namespace": namespace, "create_namespace": True, "metadata": metadata}

    def store(batch: Sequence[_Packed]) -> None:
        answers = client.remember_messages([packed for _, packed in batch], conversation.id, **to)
        new = sum(answer.is_new for answer in answers)
        counts["stored"] += new
        counts["present"] += len(answers) - new

    def refuse(one: _Packed, refusal: PgrecallError) -> None:
        counts["rejected"] += 1
        reject(Rejected(f"{conversation.id} {one[0].place}", refusal.message))

    if good and namespace is not None:
        # One that cannot be made is no message's fault: this raises the server's reason.
        client.admin.create_namespace(namespace)
    if all(message.said_at is not None for message, _ in good):
        for batch in _batches(good):
            bisect(batch, store, refuse)
    elif good:
        # Messages without times are told apart by their place alone, so they stay together.
        try:
            store(good)
        except REFUSALS as refusal:
            counts["rejected"] += len(good)
            reject(Rejected(conversation.id, refusal.message))
    return StoredTurns(**counts)


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


def _batches(messages: list[_Packed]) -> Iterator[list[_Packed]]:
    batch: list[_Packed] = []
    size = 0
    for one in messages:
        if len(batch) == _BATCH_MESSAGES or size >= _BATCH_CHARACTERS:
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += len(one[1]["content"])
    if batch:
        yield batch
