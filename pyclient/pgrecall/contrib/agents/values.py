"""Compares what files of configuration say."""

from __future__ import annotations

from typing import Any

__all__ = ["same"]


def same(one: Any, other: Any) -> bool:
    """Return whether two values say the same: as `==` does, but nan is nan, and 1 is neither true nor 1.0."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(value, other[key]) for key, value in one.items())
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other) or (one != one and other != other)
