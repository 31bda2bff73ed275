"""Moving in: memories of other programs into pgrecall, as often as wanted.

Each module opens one kind of source; `import_from` stores its rows. A row is recognised by its external id, a
change of it by a fingerprint in its memory's metadata. So a second run imports what is new and what has
changed, and a run after one that was killed goes on.
"""

from .load import ImportFromReport, Verification, import_from, verify
from .rows import ORIGIN, Rejected, Row, Source

__all__ = ["ORIGIN", "ImportFromReport", "Rejected", "Row", "Source", "Verification", "import_from", "verify"]
