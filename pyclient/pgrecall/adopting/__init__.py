"""Moving in: memories of other programs into pgrecall, as often as wanted.

Each module opens one kind of source; `adopt` stores its rows. A row is known again by its external id, and by
a fingerprint in its memory's metadata: a second run brings what is new and what has changed, and so does a
run after one that was killed.
"""

from .rows import ORIGIN, Rejected, Row, Source
from .running import AdoptReport, Verification, adopt, verify

__all__ = ["ORIGIN", "AdoptReport", "Rejected", "Row", "Source", "Verification", "adopt", "verify"]
