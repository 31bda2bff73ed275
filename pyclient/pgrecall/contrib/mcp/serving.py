"""What a server is started with."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Serving"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What the agents of one server may do.

    Attributes:
        namespaces: Those that calls read, all at once or the one that a call names. What is stored goes to
            the first, unless the call names another of them. Empty: the client's.
        any_namespace: True lets each call name a namespace; memories of all of them may be changed then.
        create_namespace: True makes a namespace at the first memory that is stored in it.
        read_only: True offers no tool that writes.
        include_sensitive: True returns sensitive memories as well.
    """

    namespaces: tuple[str, ...] = ()
    any_namespace: bool = False
    create_namespace: bool = False
    read_only: bool = False
    include_sensitive: bool = False

    @property
    def lets_choose(self) -> bool:
        """Whether a call may name a namespace."""
        return self.any_namespace or len(self.namespaces) > 1
