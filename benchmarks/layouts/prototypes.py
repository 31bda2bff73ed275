"""The layouts that are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["BASELINE", "LAYOUTS", "PIVOT", "Layout", "search", "statement"]

PIVOT = 24
"""The length that counts as ordinary in every layout (`sql/common.sql`): that of the synthetic memories."""

_CANDIDATES = b"    -- candidates\n"
_SQL = Path(__file__).parent / "sql"
_COMMON = {"lexical_k1": "1.2", "lexical_b": "0.75", "lexical_length_pivot": str(PIVOT)}
_FIELDS = {f"field_weight_{label}": "1" for label in "abcd"}


@dataclass(frozen=True, slots=True)
class Layout:
    """One way to keep postings.

    Attributes:
        name: As it stands in the results.
        title: What it is.
        search: The file of the query, in `sql/`.
        tables: What it adds to the schema.
        files: What makes it, in `sql/`, on top of the migrated schema without its own postings.
        settle: Does what is left to be done in the background, for as long as it returns more than 0.
        settings: pgrecall's settings.
    """

    name: str
    title: str
    search: str
    tables: Sequence[str] = ()
    files: Sequence[str] = ()
    settle: str | None = None
    settings: Sequence[tuple[str, str]] | None = None

    @property
    def own(self) -> bool:
        """Whether this is pgrecall's own way."""
        return self.settings is not None


BASELINE = Layout("baseline", "no postings; ts_rank over any of the words", "search_baseline")
LAYOUTS = (
    BASELINE,
    Layout(
        "rows",
        "one row a posting, written at once",
        "search_rows",
        tables=("layouts.postings", "layouts.lexicon"),
        files=("common", "rows", "triggers", "counts"),
    ),
    Layout(
        "blocks",
        "up to 128 postings a row, written at once",
        "search_blocks",
        tables=("layouts.blocks", "layouts.removed", "layouts.settled", "layouts.lexicon"),
        files=("common", "blocks", "triggers", "counts"),
        settle="CALL layouts.settle()",
    ),
    Layout(
        "pending",
        "one row a posting, behind a list of what is not posted yet",
        "search_pending",
        tables=("layouts.postings", "layouts.waiting", "layouts.lexicon"),
        files=("common", "pending", "triggers"),
        settle="CALL layouts.settle()",
    ),
    Layout(
        "pgrecall",
        "up to 128 postings a row, behind a list of what is not posted yet",
        "search_pgrecall",
        tables=("pgrecall.postings", "pgrecall.unposted", "pgrecall.lexicon"),
        settle="SELECT pgrecall.fold_postings(1)",
        settings=tuple({**_COMMON, **_FIELDS}.items()),
    ),
)


@cache
def search(layout: Layout) -> bytes:
    """Return the query of a layout, a prototype's own part in the place that they have in common."""
    own = statement(layout.search)
    if not layout.files:
        return own
    frame = statement("search_prototype")
    assert frame.count(_CANDIDATES) == 1  # noqa: S101
    return frame.replace(_CANDIDATES, own)


@cache
def statement(name: str) -> bytes:
    """Return a file of `sql/`."""
    return (_SQL / f"{name}.sql").read_bytes()
