"""Turns other files into JSON Lines: a JSON array, or a table with a header (CSV, TSV)."""

from __future__ import annotations

import csv
import io
import json
import re
from itertools import chain
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from pgrecall.errors import InvalidInput, TooLarge
from pgrecall.formatting import counted

from .encodings import NOT_UTF8
from .lines import MAX_LINE_BYTES
from .load import FIELDS, Line

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

__all__ = ["FileFormat", "array_lines", "guess_format", "is_separator", "table_lines"]

FileFormat = Literal["jsonl", "json", "csv", "tsv"]

_LISTS = frozenset({"tags", "expanded_keywords"})
_JSON = _LISTS | {"importance", "position", "metadata"}
_YES = frozenset({"true", "t", "yes", "y", "1"})
_NO = frozenset({"false", "f", "no", "n", "0"})
_LONGEST_ROW = 1 << 24
_CHUNK = 2**16
_SEPARATORS = (",", ";", "\t", "|")
_EXPECTED = "import reads JSON Lines, a JSON array of objects, or CSV with a header; --format says which."
_OUTSIDE = re.compile(rb'["\[\]{},]')
_INSIDE = re.compile(rb'["\\]')


def guess_format(name: str, beginning: bytes) -> FileFormat:
    """Tell the format of a file from its name, else from its first bytes."""
    suffix = name.rpartition(".")[2].lower()
    if suffix in {"csv", "tsv"}:
        return "csv" if suffix == "csv" else "tsv"
    return "json" if beginning.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[") else "jsonl"


def array_lines(file: BinaryIO, most: int = MAX_LINE_BYTES) -> Generator[Line]:
    """Yield the elements of a JSON array as lines, with the numbers of the elements.

    One element at a time is in memory; of one that is too long, the beginning.

    Args:
        file: UTF-8.
        most: The longest element, in bytes.

    Raises:
        InvalidInput: It is no JSON array, or does not end; elements before that have been yielded.
    """
    number = depth = 0
    element = bytearray()
    is_text = is_escaped = False
    while chunk := file.read(_CHUNK):
        start = place = 0
        if depth == 0:
            opening = chunk.lstrip(b"\xef\xbb\xbf \t\r\n" if number == 0 else b" \t\r\n")
            if not opening:
                continue
            if number or not opening.startswith(b"["):
                break
            start = place = len(chunk) - len(opening) + 1
            number = depth = 1
        while depth:
            if is_escaped:
                is_escaped = False
                place += 1
            found = (_INSIDE if is_text else _OUTSIDE).search(chunk, place)
            if found is None:
                break
            place, token = found.end(), found.group()
            if token == b"\\":
                # What is escaped may be in the next chunk.
                if place == len(chunk):
                    is_escaped = True
                    break
                place += 1
            elif token == b'"':
                is_text = not is_text
            elif token in b"[{":
                depth += 1
            elif token in b"]}":
                depth -= 1
            if (token == b"," and depth == 1) or depth == 0:
                element += chunk[start : place - 1][: most + 1 - len(element)]
                start = place
                if depth or number > 1 or element.strip():
                    yield _element(number, bytes(element), most)
                number += 1
                element.clear()
        if depth == 0:
            if chunk[place:].strip():
                break
            continue
        element += chunk[start:][: most + 1 - len(element)]
    else:
        if depth:
            raise InvalidInput(f"the file is no JSON array: it ends inside element {number}", hint=_EXPECTED)
        if number:
            return
    raise InvalidInput(
        "the file is no JSON array" + (": something follows it" if number else _whether_utf8(chunk)),
        hint=_EXPECTED,
    )


def _whether_utf8(beginning: bytes) -> str:
    try:
        beginning.decode()
    except UnicodeDecodeError:
        return ": it is not UTF-8"
    return ""


def _element(number: int, raw: bytes, most: int) -> Line:
    if len(raw) > most:
        return Line(number, b"", TooLarge(f"it has more than {most} bytes"))
    if not raw.strip():
        return Line(number, b"", InvalidInput("not JSON: there is nothing between two commas"))
    return Line(number, raw, None)


def table_lines(
    file: BinaryIO, delimiter: str | None, columns: Mapping[str, str], *, usual: str = ","
) -> Generator[Line]:
    """Yield the rows of a table as lines, with their numbers in the file; the first row names the columns.

    The name of a field may be written in capitals. A cell of tags or expanded_keywords is a JSON array, or
    words separated by semicolons; one of metadata is a JSON object. An empty cell is absent.

    Args:
        file: UTF-8.
        delimiter: What separates the cells; None: what makes a column of the header the content, or what a
            first line such as `sep=;` says.
        columns: The fields of columns that are called otherwise.
        usual: The separator that is tried first.

    Raises:
        InvalidInput: A column of `columns` is missing, no column is the content, two have one name, a first
            line `sep=` names no separator, or quotes are not closed; rows before that have been yielded.
    """
    # Before anything is read: Python's own limit is lower, and of the whole process.
    csv.field_size_limit(_LONGEST_ROW)
    reading = _Lines(file)
    lines = iter(reading)
    start = 1
    try:
        first = next(lines, "")
        if (named := re.fullmatch(r"sep=([^\r\n]?)\s*", first, re.IGNORECASE)) is not None:
            if delimiter is None and not is_separator(named[1]):
                raise InvalidInput(f"line 1: {first.strip()} names no separator", hint=_NAMED)
            delimiter = delimiter or named[1]
            first = next(lines, "")
        start = reading.number
        delimiter = delimiter or _separator(first, columns, usual)
        rows = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
        fields = _fields(next(rows, []), columns)
        start = reading.number + 1
        for row in rows:
            yield _row(start, row, fields)
            start = reading.number + 1
            reading.size = 0
    except csv.Error as error:
        raise InvalidInput(f"line {start}: {_broken(str(error))}", hint=_QUOTES) from None
    finally:
        reading.detach()


_NAMED = "Write a first line such as sep=; or pass --delimiter, which goes before it."
_QUOTES = "A quote inside a quoted cell is written twice. Lines before this one may have been imported."


def _broken(reason: str) -> str:
    if "unexpected end" in reason or "field larger" in reason:
        return "a quote is opened and never closed"
    if "expected after" in reason:
        return "a quote is closed inside a cell"
    return f"it is no row of a table: {reason}"


class _Lines:
    """The lines of a table, bounded: what cannot be decoded is kept for the row, and a row has an end.

    Attributes:
        number: The number of the last line.
        size: Characters since it was set to 0.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._text = io.TextIOWrapper(file, encoding="utf-8-sig", errors="surrogateescape", newline="")
        self.number = 0
        self.size = 0

    def __iter__(self) -> Iterator[str]:
        while line := self._text.readline(_LONGEST_ROW + 1):
            self.number += 1
            self.size += len(line)
            if self.size > _LONGEST_ROW:
                raise TooLarge(
                    f"line {self.number}: a row has more than {_LONGEST_ROW} characters",
                    hint="Is a quote never closed?",
                )
            yield line

    def detach(self) -> None:
        self._text.detach()


def is_separator(text: str) -> bool:
    """Tell whether a text can separate cells: one character that means nothing else in a table."""
    return len(text) == 1 and text not in '"\r\n'


def _separator(header: str, columns: Mapping[str, str], usual: str) -> str:
    for one in (usual, *_SEPARATORS):
        names = next(csv.reader([header], delimiter=one), [])
        if "content" in (_field(name.strip(), columns) for name in names):
            return one
    return usual


def _field(name: str, columns: Mapping[str, str]) -> str:
    """Return the field of a column."""
    chosen = columns.get(name)
    if chosen is not None:
        return chosen
    return name.lower() if name.lower() in FIELDS else name


def _fields(header: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    if any("\udc80" <= character <= "\udcff" for name in header for character in name):
        raise InvalidInput("the file is not UTF-8", hint=NOT_UTF8)
    # A column without a name keeps its values.
    names = [name.strip() or f"column {place}" for place, name in enumerate(header, 1)]
    if not names:
        raise InvalidInput("the file is empty: no column is the content of the memories", hint=_EXPECTED)
    shown = f"The columns are {', '.join(names)}."
    for column in columns:
        if column not in names:
            raise InvalidInput(f"there is no column {column!r}", hint=shown)
    fields = [_field(name, columns) for name in names]
    for place, field in enumerate(fields):
        if field in fields[:place]:
            raise InvalidInput(
                f"columns {fields.index(field) + 1} and {place + 1} are both {field!r}",
                hint="Rename one of them, or name its field: --map COLUMN=FIELD.",
            )
    if "content" not in fields:
        raise InvalidInput(
            "no column is the content of the memories",
            hint=f"Name it: --map COLUMN=content. {shown} If these are several in one: --delimiter.",
        )
    return fields


def _row(number: int, row: Sequence[str], fields: Sequence[str]) -> Line:
    if any(cell.strip() for cell in row[len(fields) :]):
        width = counted(len(row), "cell")
        return Line(number, b"", InvalidInput(f"it has {width}; the header has {len(fields)}"))
    given = {name: _value(name, cell) for name, cell in zip(fields, row, strict=False) if cell.strip()}
    raw = b""
    if given:
        raw = json.dumps(given, ensure_ascii=False).encode("utf-8", "surrogateescape") + b"\n"
    return Line(number, raw, None)


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
        except (ValueError, RecursionError):
            return text
    return cell
