"""What curation by rules decides about pairs of memories that were labelled by hand.

`python -m benchmarks curation --help`.
"""

from benchmarks.quality.curation.command import add_to

__all__ = ["add_to"]
