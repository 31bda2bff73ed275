"""What the extraction finds, against names and times labelled by hand; the labels' rules are in README.md.

`python -m benchmarks extraction --help`.
"""

from benchmarks.quality.extraction.command import add_to

__all__ = ["add_to"]
