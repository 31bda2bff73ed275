"""What was done to the configuration of agents, so that it can be undone."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from pgrecall.errors import PgrecallError
from pgrecall.files import atomic_file

from .adapter import Entry

__all__ = ["Record", "all_records", "digest", "drop_record", "read_record", "write_record"]


@dataclass(frozen=True, slots=True)
class Record:
    """What was done to a file.

    Attributes:
        agent: For which agent.
        project: For which project; None: for this user.
        path: The file.
        before: Its text before that, kept to be put back; None: it did not exist.
        after: The digest of what was written.
        entries: What was added.
        folders: Folders that were made for it, the outermost first.
    """

    agent: str
    project: str | None
    path: Path
    before: str | None = field(repr=False)
    after: str
    entries: tuple[Entry, ...]
    folders: tuple[str, ...] = ()


def digest(text: str) -> str:
    """Return the digest of a text."""
    return sha256(text.encode()).hexdigest()


def _folder() -> Path:
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "pgrecall" / "agents"


def _file(path: Path) -> Path:
    return _folder() / f"{digest(str(path))[:16]}.json"


def read_record(path: Path) -> Record | None:
    """Return the record of a file; None if nothing was done to it."""
    return _read(_file(path))


def all_records() -> tuple[list[Record], list[PgrecallError]]:
    """Return all records, and why some cannot be read."""
    found, faults = [], []
    for file in sorted(_folder().glob("*.json")):
        try:
            record = _read(file)
        except PgrecallError as error:
            faults.append(error)
        else:
            found += [] if record is None else [record]
    return found, faults


def _read(file: Path) -> Record | None:
    try:
        kept: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        entries = tuple(
            Entry(tuple(one["path"]), one["key"], one["value"], one["is_shared"]) for one in kept["entries"]
        )
        return Record(
            kept["agent"],
            kept["project"],
            Path(kept["path"]),
            kept["before"],
            kept["after"],
            entries,
            tuple(kept["folders"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PgrecallError(
            f"what was done to the configuration cannot be read from {file}",
            hint="Take the entries of pgrecall out by hand, and delete that file.",
        ) from error


def write_record(record: Record) -> None:
    """Keep a record. It holds a whole file of configuration, so nobody else may read it."""
    folder = _folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    kept = {
        "agent": record.agent,
        "project": record.project,
        "path": str(record.path),
        "before": record.before,
        "after": record.after,
        "entries": [
            {"path": one.path, "key": one.key, "value": one.value, "is_shared": one.is_shared}
            for one in record.entries
        ],
        "folders": record.folders,
    }
    with atomic_file(_file(record.path), 0o600) as out:
        out.write(json.dumps(kept, indent=1).encode())


def drop_record(path: Path) -> None:
    """Forget what was done to a file."""
    _file(path).unlink(missing_ok=True)
