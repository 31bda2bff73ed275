"""Conversations into memories, each message once, however often a transcript is read."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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
_LONGEST_PROJECT = 4096
_LESS = (("agent", "project"), ("agent",))
"""What is left of the metadata of a message that the server refuses, one after the other."""


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

    A namespace that does not exist is made. The metadata name the agent, the title and the project, unless
    the server refuses them: a title may hold a secret. Nobody can say again what was said, so characters that
    PostgreSQL cannot store are replaced, and their message is kept.

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
        metadata["title"] = _storable(conversation.title)[:_LONGEST_TITLE]
    if conversation.project is not None:
        metadata["project"] = _storable(conversation.project)[:_LONGEST_PROJECT]
    session = _storable(conversation.id)
    good = []
    for message in conversation.messages:
        try:
            good.append((message, _packed(message)))
        except PgrecallError as error:
            reject(Rejected(f"{conversation.id} {message.place}", error.message))
    counts = {"stored": 0, "present": 0, "rejected": len(conversation.messages) - len(good)}
    to: dict[str, Any] = {"namespace": namespace, "create_namespace": True}

    def store(batch: Sequence[_Packed]) -> None:
        messages = [packed for _, packed in batch]
        answers = client.remember_messages(messages, session, metadata=metadata, **to)
        new = sum(answer.is_new for answer in answers)
        counts["stored"] += new
        counts["present"] += len(answers) - new

    def store_with_less(batch: Sequence[_Packed]) -> bool:
        """Store what was refused without the title, or without the project too, and go on like that."""
        whole = dict(metadata)
        for names in _LESS:
            less = {name: whole[name] for name in names if name in whole}
            if less != metadata:
                metadata.clear()
                metadata.update(less)
                with suppress(*REFUSALS):
                    store(batch)
                    return True
        metadata.update(whole)
        return False

    def refuse(one: _Packed, refusal: PgrecallError) -> None:
        if store_with_less([one]):
            return
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
            if not store_with_less(good):
                counts["rejected"] += len(good)
                reject(Rejected(conversation.id, refusal.message))
    return StoredTurns(**counts)


def _packed(message: Message) -> dict[str, Any]:
    text = _storable(message.text)
    if len(text.encode()) > MAX_CONTENT_BYTES:
        raise TooLarge(f"it has more than {MAX_CONTENT_BYTES} bytes")
    packed = {"role": message.role, "content": text}
    if message.origin is not None:
        packed["origin"] = message.origin
    if message.said_at is not None:
        packed["created_at"] = message.said_at.isoformat()
    return packed


def _storable(text: str) -> str:
    """Return a text without NUL, and with a replacement for half of a surrogate pair.

    A program that cuts a text after so many UTF-16 units, as JavaScript does, leaves half an emoji.
    """
    if text.isascii():
        return text.replace("\0", "")
    whole = text.replace("\0", "").encode("utf-16-le", "surrogatepass")
    return whole.decode("utf-16-le", "replace")


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
