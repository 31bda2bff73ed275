"""mem0's `Memory` and `AsyncMemory` over pgrecall: a script written for mem0 changes one import.

Users, agents and runs become metadata of memories in one namespace. They are filters, not a boundary of
security: give each user a namespace of its own where that matters.
"""

from ._async.memory import AsyncMemory
from ._sync.memory import Memory

__all__ = ["AsyncMemory", "Memory"]
