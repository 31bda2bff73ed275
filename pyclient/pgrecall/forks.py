"""Locks for processes that fork."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING
from weakref import WeakSet

if TYPE_CHECKING:
    from typing import Self

__all__ = ["ProcessLock"]

_locks: WeakSet[ProcessLock] = WeakSet()


class ProcessLock:
    """A lock between the threads of a process; in a forked process it is free.

    A fork copies only the thread that forks. A lock that another one held would be held for good.
    """

    def __init__(self) -> None:
        self._renew()
        _locks.add(self)

    def _renew(self) -> None:
        self._lock = threading.Lock()

    def acquire(self, timeout: float = -1) -> bool:
        """Take the lock.

        Args:
            timeout: Seconds to wait for it; -1 waits as long as it takes.

        Returns:
            Whether it was taken.
        """
        return self._lock.acquire(timeout=timeout)

    def release(self) -> None:
        """Give the lock back."""
        self._lock.release()

    def __enter__(self) -> Self:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _after_fork() -> None:
    for lock in _locks:
        lock._renew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
