"""What an operator has to know: sizes and HNSW's settings.

`python -m benchmarks sizing|ef-search --help`.
"""

from benchmarks.operations.command import add_to

__all__ = ["add_to"]
