"""How postings are best kept: ingest, size and query time of several layouts, on the same memories.

`python -m benchmarks layouts --help`.
"""

from benchmarks.layouts.command import add_to

__all__ = ["add_to"]
