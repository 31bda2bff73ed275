"""Where sql/ and migrations/ live, and the hash that tells one bundle of code from another.

A wheel carries both folders inside the package; in a checkout they are at its root.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["SqlFile", "bundle_hash", "folder", "sql_files"]


@dataclass(frozen=True, slots=True)
class SqlFile:
    """One file of sql/: `name` is its path inside the folder, `text` its SQL."""

    name: str
    text: str


def folder(name: str) -> Path:
    """Return the folder `sql` or `migrations` of this installation."""
    packaged = Path(__file__).parent / "_bundle" / name
    return packaged if packaged.is_dir() else Path(__file__).parents[2] / name


@cache
def sql_files() -> tuple[SqlFile, ...]:
    """Return the files of sql/ in the order of its manifest, the order they are installed in."""
    base = folder("sql")
    lines = (base / "manifest.txt").read_text(encoding="utf-8").splitlines()
    names = [line for line in (line.split("#")[0].strip() for line in lines) if line]
    return tuple(SqlFile(name, (base / name).read_text(encoding="utf-8")) for name in names)


@cache
def bundle_hash() -> str:
    """Return the SHA-256 (hex) over names and texts of the bundle; the database stores the one it has."""
    digest = hashlib.sha256()
    for file in sql_files():
        digest.update(f"{file.name}\0{file.text}\0".encode())
    return digest.hexdigest()
