"""Memories as they are stored, their history, and what holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from .rows import Row

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from pgrecall.options import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMemory(Row):
    """One memory with all its fields, as `get` and `list` return it.

    Attributes:
        id: The memory's id in the database.
        namespace: Its namespace.
        external_id: The caller's own id.
        title: Its short name.
        content: Its text.
        category: Its kind.
        tags: Its labels.
        expanded_keywords: Additional words to find it by.
        metadata: Its JSON object.
        importance: 0 to 1.
        speaker: Who said it.
        session: The conversation or document it belongs to.
        position: Its order within the session.
        source: Where it comes from.
        language: The text-search configuration of its words.
        is_sensitive: True if it is never embedded.
        occurred_at: When it happened.
        created_at: When it was first recorded.
        updated_at: When it was last changed.
        valid_from: Start of the validity of the fact.
        valid_to: End of the validity of the fact.
        expires_at: From then on it is never returned.
        superseded_by: The memory that replaced it.
        superseded_at: When that was recorded.
        forgotten_at: When it was forgotten; None: it is not.
        is_expired: True if `expires_at` has come.
        is_embedded: True if it has an embedding of the active model.
        origin: Where it comes from: 'user', 'agent', 'import', 'tool' or 'web'.
    """

    id: int
    namespace: str
    external_id: str | None
    title: str | None
    content: str
    category: str | None
    tags: tuple[str, ...]
    expanded_keywords: tuple[str, ...]
    metadata: Mapping[str, Any]
    importance: float
    speaker: str | None
    session: str | None
    position: int | None
    source: str | None
    language: str
    is_sensitive: bool
    occurred_at: datetime | None
    created_at: datetime
    updated_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    superseded_by: int | None
    superseded_at: datetime | None
    forgotten_at: datetime | None
    is_expired: bool
    is_embedded: bool
    origin: Origin

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Self:
        """Make a memory from a row of pgrecall.stored_memories."""
        values = {**row, "position": row["session_position"]}
        values |= {name: tuple(row[name]) for name in ("tags", "expanded_keywords")}
        return cls.of(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredMessage(Row):
    """One message of a conversation, as `remember_messages` stored it.

    Attributes:
        place: Its place in the messages, from 1.
        id: Its memory.
        is_new: False if it had been stored before.
    """

    place: int
    id: int
    is_new: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session(Row):
    """A conversation or document.

    Attributes:
        session: Its name.
        memories: Number of its memories.
        first_at: The time of the first.
        last_at: The time of the last.
        speakers: Who speaks in it, in alphabetical order.
    """

    session: str
    memories: int
    first_at: datetime
    last_at: datetime
    speakers: tuple[str, ...]


Action = Literal["remember", "update", "supersede", "unsupersede", "forget", "expire", "restore"]
"""What happened to a memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChange(Row):
    """One version of a memory.

    Attributes:
        memory_id: The memory that changed: the one asked for, its predecessor or its successor.
        action: What happened.
        changed_at: When.
        role: The database role that did it; None for 'remember'.
        curation: The number of the decision, for `curation.undo`, if curation did it.
        content: The text after the change.
        before: The changed fields with their old values; None for 'remember'.
        after: The changed fields with their new values.
    """

    memory_id: int
    action: Action
    changed_at: datetime
    role: str | None
    curation: int | None
    content: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace(Row):
    """A namespace that the role may read.

    Attributes:
        name: Its name.
        access: 'read', or 'write', which includes it.
        language: The text-search configuration of its queries.
    """

    name: str
    access: Literal["read", "write"]
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention(Row):
    """How long the memories of a namespace are kept.

    Attributes:
        namespace: The namespace.
        category: Only this category; None: all without a rule of their own.
        keep: How long, from `created_at`.
        action: What happens then: 'forget' or 'erase'.
        due: Number of memories that are older.
    """

    namespace: str
    category: str | None
    keep: timedelta
    action: Literal["forget", "erase"]
    due: int


SecretsPolicy = Literal["refuse", "redact", "sensitive", "allow"]
"""What is done with a memory that holds a secret."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets(Row):
    """What a namespace does with secrets, and what was found.

    Attributes:
        namespace: The namespace.
        policy: What is done with a memory that holds a secret.
        in_messages: The same for messages of conversations.
        found: Number of memories in which a secret was found, by its kind.
    """

    namespace: str
    policy: SecretsPolicy
    in_messages: SecretsPolicy
    found: dict[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretsScan(Row):
    """What a scan for secrets of the stored memories found and did. It has no texts.

    Attributes:
        scanned: Number of memories that were read.
        redacted: Of these, rewritten with markers, in their text or history.
        marked: Of these, made sensitive.
        found: Number of memories that hold a secret, by its kind.
    """

    scanned: int
    redacted: int
    marked: int
    found: dict[str, int]
