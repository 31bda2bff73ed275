"""How fast recall is: synthetic memories, every leg, filters, clients, baselines.

`python -m benchmarks speed --help`.
"""

from benchmarks.speed.command import add_to

__all__ = ["add_to"]
