"""Locates sql/ and migrations/, and computes the hash of the SQL code.

A wheel has both folders inside the package, a checkout has them at its root.
"""

from __future__ import annotations

import hashlib
import itertools
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pgrecall.config.conninfo import database_name
from pgrecall.errors import SchemaMismatch

__all__ = [
    "SqlFile",
    "bundle_hash",
    "folder",
    "header",
    "installed_files",
    "made_object",
    "not_migrated",
    "spoken_contract",
    "sql_files",
    "verify",
    "verify_bundle",
    "with_comment",
]

_PLPYTHON = "plpython/"
_OBJECT = re.compile(
    r"^CREATE OR REPLACE (FUNCTION|PROCEDURE|VIEW) ((?:_?pgrecall|public)\.\w+)\b", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file of sql/: `name` is its path inside the folder, `text` its SQL with its object's comment."""

    name: str
    text: str

    @property
    def needs_plpython(self) -> bool:
        """Whether it is installed only with plpython3u."""
        return self.name.startswith(_PLPYTHON)


def folder(name: str) -> Path:
    """Return the folder `sql` or `migrations` of this installation."""
    packaged = Path(__file__).parents[1] / "_bundle" / name
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / name


def made_object(text: str) -> tuple[str, str] | None:
    """Return the kind and the name of the function or view that a file makes; None if it makes none.

    Args:
        text: The SQL of the file. What the object's body quotes is further in.
    """
    found = _OBJECT.search(text)
    return None if found is None else (found[1], found[2])


def header(text: str) -> tuple[str, str]:
    """Return the first paragraph of a file's header in one line, and the rest of the header as it is written.

    Args:
        text: The SQL of the file.
    """
    lines = itertools.takewhile(lambda line: line.startswith("--"), text.splitlines())
    first, _, rest = "\n".join(line[2:].removeprefix(" ").rstrip() for line in lines).partition("\n\n")
    return " ".join(first.split("\n")), rest.strip("\n")


def with_comment(text: str) -> str:
    """Return the SQL of a file with its object's comment: the first paragraph of the header.

    The comment names no arguments, since no function is an overload of another. Where an older signature is
    still there, it is ambiguous, and so tells the installer to drop that one first.

    Args:
        text: The SQL of the file. Without a header or an object it stays as it is.
    """
    made = made_object(text)
    comment = header(text)[0].replace("'", "''")
    if made is None or not comment:
        return text
    kind, name = made
    return f"{text}\nCOMMENT ON {kind} {name} IS '{comment}';\n"


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """Return the files of sql/, with the comments of their objects, in the order they are installed in."""
    base = folder("sql")
    lines = (base / "manifest.txt").read_text(encoding="utf-8").splitlines()
    names = [line for line in (line.split("#")[0].strip() for line in lines) if line]
    return tuple(SqlFile(name, with_comment((base / name).read_text(encoding="utf-8"))) for name in names)


@cache
def installed_files(*, plpython: bool) -> tuple[SqlFile, ...]:
    """Return the files of an installation, in order.

    Args:
        plpython: True includes the plpython3u files, each replacing the plain file of the same name.
    """
    if not plpython:
        return tuple(file for file in sql_files() if not file.needs_plpython)
    names = {Path(file.name).name for file in sql_files() if file.needs_plpython}
    return tuple(file for file in sql_files() if file.needs_plpython or Path(file.name).name not in names)


@cache
def bundle_hash() -> str:
    """Return the SHA-256 (hex) over names and texts of the files; the database stores that of its code."""
    digest = hashlib.sha256()
    for file in sql_files():
        digest.update(f"{file.name}\0{file.text}\0".encode())
    return digest.hexdigest()


@cache
def spoken_contract() -> int:
    """Return the contract that clients and daemons of this package speak."""
    text = (folder("sql") / "core" / "status" / "contract.sql").read_text(encoding="utf-8")
    found = re.search(r"(\d+) AS newest", text)
    assert found is not None, "sql/core/status/contract.sql names no newest contract"  # noqa: S101
    return int(found[1])


def verify(oldest: int, newest: int) -> None:
    """Refuse a database that does not serve the contract of this package.

    Args:
        oldest: The oldest contract that `pgrecall.contract()` names.
        newest: The newest one.

    Raises:
        SchemaMismatch: The package's contract is not between them.
    """
    spoken = spoken_contract()
    if oldest <= spoken <= newest:
        return
    raise SchemaMismatch(
        f"this pgrecall speaks contract {spoken}, and the database serves {oldest} to {newest}",
        hint="Run `pgrecall migrate`: the database is older than this package."
        if spoken > newest
        else "Upgrade this package: the database is newer.",
    )


def verify_bundle(installed: str | None) -> None:
    """Compare the hash of the database's SQL code with the package's, for what uses more than the contract.

    Args:
        installed: The result of `pgrecall.bundle_hash()`.

    Raises:
        SchemaMismatch: They differ.
    """
    if installed is None:
        raise not_migrated()
    if installed != bundle_hash():
        raise SchemaMismatch(
            "the database has the functions of another version of pgrecall",
            hint="Run `pgrecall migrate` if this package is newer, otherwise upgrade the package; "
            "`pgrecall migrate --check` tells which.",
        )


def not_migrated(dsn: str | None = None, *, is_older: bool = False) -> SchemaMismatch:
    """Return the error for a database without pgrecall.

    Args:
        dsn: Its connection string; the error names the database, and no password.
        is_older: True if the schema is there, and the function that names the served contracts is not.
    """
    name = "the database" if dsn is None else database_name(dsn)
    if is_older:
        return SchemaMismatch(
            f"{name} does not tell which contracts it serves",
            hint="Run `pgrecall migrate`: the database is older than this package, or was downgraded.",
        )
    return SchemaMismatch(
        f"{name} has no pgrecall schema", hint="Run `pgrecall migrate` against it, or connect to another."
    )
