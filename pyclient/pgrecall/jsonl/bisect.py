"""Batches that the server may refuse: the one that is at fault is found, and its neighbours are stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pgrecall.errors import (
    Conflict,
    InvalidInput,
    NotFound,
    PgrecallError,
    TooLarge,
    UnknownLanguage,
    UnknownNamespace,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["REFUSALS", "bisect"]

REFUSALS = (Conflict, InvalidInput, NotFound, TooLarge, UnknownLanguage, UnknownNamespace)
"""What the server raises for the fault of one of a batch; any other error ends an import."""

Item = TypeVar("Item")


def bisect(
    batch: Sequence[Item],
    store: Callable[[Sequence[Item]], object],
    refuse: Callable[[Item, PgrecallError], None],
) -> None:
    """Store a batch; where it is refused, its halves, until what is refused stands alone.

    Args:
        batch: What to store; nothing is done for an empty one.
        store: Stores a part of it, in order: all, or as many as the error's `stored` has ids.
        refuse: Told what was refused, and why.
    """
    if not batch:
        return
    try:
        store(batch)
    except REFUSALS as refusal:
        rest = batch[len(refusal.stored) :]
        if len(rest) == 1:
            refuse(rest[0], refusal)
            return
        middle = len(rest) // 2
        bisect(rest[:middle], store, refuse)
        bisect(rest[middle:], store, refuse)
