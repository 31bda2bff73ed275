"""The lines of a table, read by a process that has read no other table before."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest

from pgrecall.errors import InvalidInput
from pgrecall.jsonl.formats import table_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

# Above the limit of a cell that Python's csv begins with.
LONG = "x" * 131_073


@pytest.fixture(autouse=True)
def limit_of_a_new_process() -> Iterator[None]:
    before = csv.field_size_limit(131_072)
    yield
    csv.field_size_limit(before)


def read(text: str, delimiter: str | None = None, usual: str = ",") -> list[bytes]:
    return [line.raw for line in table_lines(io.BytesIO(text.encode()), delimiter, {}, usual=usual)]


@pytest.mark.parametrize(
    ("text", "usual"),
    [
        (f"{LONG}\n", ","),
        (f"{LONG}\n", "\t"),
        (f"a,{LONG}\n1,2\n", ","),
        (f"sep=;\na;{LONG}\n1;2\n", ","),
        (f'"{LONG}"\n', ","),
    ],
)
def test_a_long_first_line_without_the_content(text: str, usual: str) -> None:
    with pytest.raises(InvalidInput, match="no column is the content"):
        read(text, usual=usual)


def test_a_long_cell_of_the_first_line_is_no_error_of_python() -> None:
    with pytest.raises(InvalidInput, match="line 1: a quote is opened and never closed"):
        read(f'"{LONG}\n')
    with pytest.raises(InvalidInput, match="line 2: a quote is closed inside a cell"):
        read(f'sep=,\n"{LONG}"a,content\n')
    assert read(f"content,{LONG}\ntea,\n") == [b'{"content": "tea"}\n']


@pytest.mark.parametrize("first", ['sep="\n', "sep=\n", "sep=\r", "sep=\r\n", "SEP=\n", 'sep="\r\n'])
def test_a_first_line_that_names_no_separator(first: str) -> None:
    text = f"{first}id,content\n1,tea\n"
    with pytest.raises(InvalidInput, match=r"line 1: (?i:sep=).* names no separator") as caught:
        read(text)
    assert "--delimiter" in str(caught.value.hint)
    assert b"tea" in read(text, ",")[0]


@pytest.mark.parametrize("separator", [";", "\t", "|", " ", ",", "§", "'"])
def test_a_first_line_that_names_one(separator: str) -> None:
    assert b"tea" in read(f"sep={separator}\r\nid{separator}content\r\n1{separator}tea\r\n")[0]
