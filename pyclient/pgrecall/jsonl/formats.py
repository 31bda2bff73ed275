"""Turns other files into JSON Lines: a JSON array, or a table with a header (CSV, TSV)."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

__all__ = ["FileFormat", "array_lines", "guess_format", "table_lines"]

FileFormat = Literal["jsonl", "json", "csv", "tsv"]

_LISTS = frozenset({"tags", "expanded_keywords"})
_JSON = _LISTS | {"importance", "position", "metadata"}
_YES = frozenset({"true", "t", "yes", "y", "1"})
_NO = frozenset({"false", "f", "no", "n", "0"})
_LONGEST_FIELD = 1 << 24


def guess_format(name: str, beginning: bytes) -> FileFormat:
    """Tell the format of a file from its name, else from its first bytes."""
    suffix = name.rpartition(".")[2].lower()
    if suffix in {"csv", "tsv"}:
        return "csv" if suffix == "csv" else "tsv"
    return "json" if beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") else "jsonl"


def array_lines(file: BinaryIO) -> Generator[bytes]:
    """Yield the elements of a JSON array as lines. The array is read whole.

    Raises:
        InvalidInput: It is no JSON array.
    """
    try:
        elements = json.loads(file.read().decode("utf-8-sig"))
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "it is not UTF-8"
        raise InvalidInput(f"the file is no JSON array: {reason}", hint=_EXPECTED) from None
    if not isinstance(elements, list):
        raise InvalidInput("the file is no JSON array", hint=_EXPECTED)
    for element in elements:
        yield _line(element)


def table_lines(file: BinaryIO, delimiter: str, columns: Mapping[str, str]) -> Generator[bytes]:
    """Yield the rows of a table as lines; the first row has the names of the columns.

    A cell of tags or expanded_keywords is a JSON array, or words separated by semicolons; one of metadata is
    a JSON object. An empty cell is absent.

    Args:
        file: UTF-8.
        delimiter: What separates the cells.
        columns: The fields of columns that are called otherwise.

    Raises:
        InvalidInput: A column of `columns` is missing, or no column is the content.
    """
    csv.field_size_limit(_LONGEST_FIELD)
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        rows = csv.reader(text, delimiter=delimiter)
        fields = _fields([name.strip() for name in next(rows, [])], columns)
        yield b"\n"  # so that a line's number is that in the file
        for row in rows:
            if len(row) > len(fields):
                yield b"too many cells\n"
                continue
            given = {
                name: _value(name, cell) for name, cell in zip(fields, row, strict=False) if cell.strip()
            }
            yield _line(given) if given else b"\n"
    except UnicodeDecodeError:
        raise InvalidInput("the file is not UTF-8", hint="Convert it: iconv -t utf-8.") from None
    except csv.Error as error:
        raise InvalidInput(f"the file is no table: {error}", hint=_EXPECTED) from None
    finally:
        text.detach()


_EXPECTED = "import reads JSON Lines, a JSON array of objects, or CSV with a header; --format says which."


def _fields(names: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    for column in columns:
        if column not in names:
            raise InvalidInput(f"there is no column {column!r}", hint=f"The columns are {', '.join(names)}.")
    fields = [columns.get(name, name) for name in names]
    if "content" not in fields:
        raise InvalidInput(
            "no column is the content of the memories",
            hint=f"Name it: --map COLUMN=content. The columns are {', '.join(names)}.",
        )
    return fields


def _value(name: str, cell: str) -> Any:
    """Return what a cell holds; one that cannot be read stays text, which the import then refuses."""
    text = cell.strip()
    if name in _LISTS and not text.startswith("["):
        return [word.strip() for word in text.split(";") if word.strip()]
    if name == "is_sensitive":
        return True if text.lower() in _YES else False if text.lower() in _NO else text
    if name in _JSON:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return cell


def _line(element: object) -> bytes:
    return json.dumps(element, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
