"""What a router of shards costs, and how long a namespace takes to move.

`python -m benchmarks sharding --help`.
"""

from benchmarks.operations.sharding.command import add_to

__all__ = ["add_to"]
