"""Secrets in texts: precision and recall of the scan, and what it costs a memory.

`python -m benchmarks secrets --help`.
"""

from .command import add_to

__all__ = ["add_to"]
