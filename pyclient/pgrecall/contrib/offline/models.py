"""What the offline client tells of its file, and of what it sent and fetched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from pgrecall.models import Row

if TYPE_CHECKING:
    from datetime import datetime

Kind = Literal["remember", "update", "supersede", "forget"]
"""What a queued write does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueuedWrite(Row):
    """A write that the server has not got yet, or has refused.

    Attributes:
        number: Its place in the queue.
        kind: What it does.
        memory_id: The memory; negative for one that the server has not stored.
        at: When it was done.
        reason: Why the server refused it; None if it was not refused.
        hint: What to do about that.
        sqlstate: Of its refusal; None if it was not the server's own.
    """

    number: int
    kind: Kind
    memory_id: int
    at: datetime
    reason: str | None
    hint: str | None
    sqlstate: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """A conflict that was settled: the memory was changed in the copy and on the server.

    Attributes:
        memory_id: The memory.
        winner: Which change was the later one: 'mine', of the copy, or 'theirs', of the server.
        kept: The memory that the other version became, superseded by the winner; None if it had no text.
    """

    memory_id: int
    winner: Literal["mine", "theirs"]
    kept: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """What became of a write that the server has taken.

    Attributes:
        conflict: The conflict that it was; None if it was none.
        to_fetch: The memory, if the copy does not have it as the server does; it is not in the copy then.
    """

    conflict: Settled | None
    to_fetch: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pushed:
    """What a push did.

    Attributes:
        sent: How many writes the server has taken.
        settled: The conflicts among them.
        refused: The writes it has refused; they stay in the file.
    """

    sent: int
    settled: tuple[Settled, ...]
    refused: tuple[QueuedWrite, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pulled:
    """What a pull did.

    Attributes:
        pushed: What was sent before.
        stored: How many memories were fetched.
        removed: How many have left the copy.
        is_purged: False if another process reads the file, so that what left it can still be in its pages;
            the next pull tries again.
    """

    pushed: Pushed
    stored: int
    removed: int
    is_purged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OfflineStatus(Row):
    """What a copy has.

    Attributes:
        path: The file.
        namespace: The namespace it is a copy of.
        memories: How many memories it has, those that are superseded too.
        queued: How many writes wait for the server.
        refused: How many it has refused.
        pulled_at: When the last pull ended; None if none did.
        include_sensitive: Whether sensitive memories are in it.
        is_purged: False if what left the copy can still be in the file's pages.
    """

    path: str
    namespace: str
    memories: int
    queued: int
    refused: int
    pulled_at: datetime | None
    include_sensitive: bool
    is_purged: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Source(Row):
    """Where a copy comes from: the columns of `pgrecall.sync_source()`.

    Attributes:
        name: The namespace.
        server: The cluster and the database.
        origin: The namespace itself, whatever database it has been restored into.
        language: The language of memories that name none.
    """

    name: str
    server: str
    origin: str
    language: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sending:
    """A queued write on its way.

    Attributes:
        number: Its place in the queue.
        write: It, as `pgrecall.sync_push()` takes it.
        transaction: The server's transaction that it was sent in before; None if it was not.
        changed: The memory that it changed then, and when.
    """

    number: int
    write: dict[str, Any]
    transaction: str | None
    changed: tuple[int, datetime] | None
