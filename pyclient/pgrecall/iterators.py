"""Arguments that may be iterators, for calls that read them more than once."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["readable_again", "readable_twice"]


def readable_again(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options for several calls: of an iterator, the second would get an empty list."""
    return {name: readable_twice(one) for name, one in options.items()}


def readable_twice(value: object) -> Any:
    """Return a value, or a tuple in place of an iterator."""
    return tuple(value) if isinstance(value, Iterable) and not isinstance(value, Collection) else value
