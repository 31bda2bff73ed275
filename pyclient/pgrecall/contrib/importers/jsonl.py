"""The older memory service's export: a JSON object a line."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular, refuse_compressed
from pgrecall.jsonl.lines import bounded_lines, json_object

from .fields import highest
from .older import memory_row
from .rows import MAX_ROW_BYTES, Rejected, Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["jsonl_source"]

_BOM = b"\xef\xbb\xbf"


@contextmanager
def jsonl_source(file: Path, *, most: float = 1.0) -> Iterator[Source]:
    """Open a file of JSON Lines.

    Args:
        file: The file.
        most: The importance of the most important ones.

    Raises:
        PgrecallError: It cannot be read.
    """
    most = highest(most)
    with open_regular(file) as lines:
        refuse_compressed(lines)
        yield Source(
            "jsonl",
            ("a line without is_sensitive is not sensitive; keys that are no field go to the metadata",),
            None,
            partial(_rows, lines, most),
        )


def _rows(lines: BinaryIO, most: float) -> Iterator[Row | Rejected]:
    lines.seek(0)
    for number, raw in enumerate(bounded_lines(lines, MAX_ROW_BYTES), 1):
        place = f"line {number}"
        if not raw.strip():
            continue
        try:
            if len(raw) > MAX_ROW_BYTES:
                raise InvalidInput(f"it has more than {MAX_ROW_BYTES} bytes")
            yield memory_row(place, json_object(raw.removeprefix(_BOM) if number == 1 else raw), most)
        except PgrecallError as error:
            yield Rejected(place, error.message)
