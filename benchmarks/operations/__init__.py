"""What an operator has to know: sizes, HNSW's settings, and whether to partition.

`python -m benchmarks sizing|ef-search|partitioning --help`.
"""

from benchmarks.operations.command import add_to

__all__ = ["add_to"]
