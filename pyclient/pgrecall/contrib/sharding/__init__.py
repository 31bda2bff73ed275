"""Namespaces spread over several databases, behind a router with the same functions (PL/Proxy).

A shard is an ordinary pgrecall database. The router holds no memory: its functions have the signatures of a
shard's, find the shard of a namespace and run there. docs/sharding.md says how it is set up.
"""

from __future__ import annotations

from .moving import MoveReport, move
from .router import Placement, Shard, add, check, init, placements, shards

__all__ = ["MoveReport", "Placement", "Shard", "add", "check", "init", "move", "placements", "shards"]
