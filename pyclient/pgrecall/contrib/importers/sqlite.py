"""The SQLite file of the older memory service."""

from __future__ import annotations

import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PgrecallError

from .older import DERIVED, found_columns, memory_row
from .rows import MAX_ROW_BYTES, Rejected, Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["sqlite_source"]


@contextmanager
def sqlite_source(file: Path, *, table: str = "memories", most: float = 1.0) -> Iterator[Source]:
    """Open a file, for reading only, and keep it as it is now until the end.

    Args:
        file: The file; a service may go on writing to it.
        table: The table of memories.
        most: The importance of the most important ones.

    Raises:
        InvalidInput: It has no such table, or the table lacks what makes a memory.
        PgrecallError: It is not there, or no SQLite file.
    """
    if not file.is_file():
        raise PgrecallError(f"there is no file {file}", hint="Check the path.")
    try:
        with closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            # A text that is not UTF-8 would end the reading, where it should cost its own row.
            connection.text_factory = bytes
            connection.execute("BEGIN")
            quoted = '"' + table.replace('"', '""') + '"'
            kinds = {
                name.decode(): kind.decode().upper()
                for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({quoted})")
            }
            if not kinds:
                raise InvalidInput(
                    f"there is no table {table!r}", hint="Name the table of memories: --table."
                )
            (total,) = connection.execute(f"SELECT count(*) FROM {quoted}").fetchone()
            columns = [name for name, kind in kinds.items() if kind != "BLOB"]
            yield Source(
                "sqlite",
                found_columns(columns, [name for name, kind in kinds.items() if kind == "BLOB"]),
                total,
                lambda: _rows(connection, quoted, columns, most),
            )
    except sqlite3.Error as error:
        raise PgrecallError(
            f"cannot read {file}: {type(error).__name__}", hint="Is it a SQLite file, whole and readable?"
        ) from error


def _rows(
    connection: sqlite3.Connection, table: str, columns: list[str], most: float
) -> Iterator[Row | Rejected]:
    wanted = [column for column in columns if column not in DERIVED]
    names = ", ".join('"' + column.replace('"', '""') + '"' for column in wanted)
    id = wanted.index("id")
    for number, values in enumerate(connection.execute(f"SELECT {names} FROM {table} ORDER BY id"), 1):
        place = f"id {values[id]}" if isinstance(values[id], int) else f"row {number}"
        try:
            record = {column: _text(column, value) for column, value in zip(wanted, values, strict=True)}
            if sum(len(value) for value in values if isinstance(value, bytes)) > MAX_ROW_BYTES:
                raise InvalidInput(f"it has more than {MAX_ROW_BYTES} bytes")
            yield memory_row(place, record, most)
        except PgrecallError as error:
            yield Rejected(place, error.message)


def _text(column: str, value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{column} is not UTF-8 at byte {error.start + 1}") from None
