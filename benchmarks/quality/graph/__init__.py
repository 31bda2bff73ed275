"""What the concept graph brings to recall, and whether a plainer or a heavier walk would bring more.

`python -m benchmarks graph --help`.
"""

from benchmarks.quality.graph.command import add_to

__all__ = ["add_to"]
