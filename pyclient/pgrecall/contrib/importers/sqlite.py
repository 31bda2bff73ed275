"""The SQLite file of the older memory service."""

from __future__ import annotations

import os
import re
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import open_regular

from .fields import highest
from .older import DERIVED, found_columns, memory_row
from .rows import MAX_ROW_BYTES, Rejected, Row, Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["sqlite_source"]

_LONGEST = 64 * 2**20
"""The longest row that SQLite loads; one of more than MAX_ROW_BYTES is rejected."""


@contextmanager
def sqlite_source(file: Path, *, table: str = "memories", most: float = 1.0) -> Iterator[Source]:
    """Open a file, for reading only, and keep it as it is now until the end.

    Args:
        file: The file; a service may go on writing to it.
        table: The table of memories.
        most: The importance of the most important ones.

    Raises:
        InvalidInput: It has no such table, or the table lacks what makes a memory. A view or a virtual table
            is no table: reading one runs what the author of the file wrote.
        PgrecallError: It is not there, or no SQLite file.
    """
    most = highest(most)
    with open_regular(file) as opened:
        size = os.fstat(opened.fileno()).st_size
    try:
        with closing(
            sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, isolation_level=None)
        ) as connection:
            # A text that is not UTF-8 would end the reading, where it should cost its own row.
            connection.text_factory = bytes
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA cell_size_check = ON")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            connection.execute("BEGIN")
            _check_table(connection, table)
            quoted = '"' + table.replace('"', '""') + '"'
            kinds = {
                name.decode(): kind.decode().upper()
                for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({quoted})")
            }
            wal = file.resolve().with_name(f"{file.resolve().name}-wal")
            limit = size + (wal.stat().st_size if wal.is_file() else 0)
            (total,) = connection.execute(
                f"SELECT count(*) FROM (SELECT 1 FROM {quoted} LIMIT ?)", (limit + 1,)
            ).fetchone()
            # Pages of a broken file can lead to each other.
            if total > limit:
                raise InvalidInput(
                    f"{file} is broken: it has more rows than bytes", hint="Check it: PRAGMA integrity_check."
                )
            columns = [name for name, kind in kinds.items() if kind != "BLOB"]
            yield Source(
                "sqlite",
                found_columns(columns, [name for name, kind in kinds.items() if kind == "BLOB"]),
                total,
                lambda: _rows(connection, quoted, columns, most),
            )
    except sqlite3.Error as error:
        raise PgrecallError(
            f"cannot read {file}: {_reason(error)}", hint="Is it a SQLite file, whole and readable?"
        ) from error


def _check_table(connection: sqlite3.Connection, table: str) -> None:
    found = connection.execute(
        "SELECT type, sql FROM sqlite_schema WHERE name = ? COLLATE NOCASE AND type IN ('table', 'view')",
        (table,),
    ).fetchone()
    if found is None:
        raise InvalidInput(f"there is no table {table!r}", hint="Name the table of memories: --table.")
    kind, definition = (part.decode(errors="replace") if isinstance(part, bytes) else "" for part in found)
    if kind != "table" or re.match(r"\s*CREATE\s+VIRTUAL\b", definition, re.IGNORECASE):
        raise InvalidInput(
            f"{table!r} is a view or a virtual table, which is not read",
            hint=f"Copy it into a table: CREATE TABLE copied AS SELECT * FROM {table}.",
        )


def _reason(error: sqlite3.Error) -> str:
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    return f"a value is longer than {_LONGEST} bytes" if name == "SQLITE_TOOBIG" else name


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
