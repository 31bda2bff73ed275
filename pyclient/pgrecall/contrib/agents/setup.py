"""Plans what to change in the configuration of an agent, and changes it."""

from __future__ import annotations

import contextlib
import json
import stat
from codecs import BOM_UTF8
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput, PgrecallError
from pgrecall.files import atomic_file, open_regular

from .json_edits import add_to_json, merged, remove_from_json
from .jsonc import parse
from .records import Record, all_records, digest, drop_record, read_record, write_record
from .toml_edits import add_to_toml, parse_toml, remove_from_toml, toml_table
from .values import same

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .adapter import Adapter, Entry

__all__ = ["Change", "apply", "planned_install", "planned_uninstall"]

_MODE = 0o644


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a file.

    Attributes:
        path: The file, links followed.
        before: Its text; None: it does not exist.
        after: Its text then; None: it will not exist.
        was_edited: Whether others have changed the file since it was set up, so that only our entries go.
        record: What is kept of the change; None: nothing any more.
    """

    path: Path
    before: str | None = field(repr=False)
    after: str | None = field(repr=False)
    was_edited: bool
    record: Record | None


def planned_install(agent: str, adapter: Adapter, project: Path | None) -> list[Change]:
    """Return the changes that set an agent up; none if it is.

    Raises:
        InvalidInput: A file cannot be changed without touching what is the user's; the hint is what to
            put into it.
        PgrecallError: A file cannot be read.
    """
    changes = []
    for named, entries in adapter.files:
        path = _followed(named)
        before = _text(path)
        record = read_record(path)
        base, was_edited = (before, False) if record is None else _without_ours(record, before)
        text, added = base or "", []
        for entry in entries:
            changed = _with(path, text, entry)
            added += [entry] if changed != text else []
            text = changed
        if text != (before or ""):
            _check(path, base, text, added)
            kept = Record(
                agent, None if project is None else str(project), path, base, digest(text), tuple(added)
            )
            if record is not None:
                kept = replace(kept, folders=record.folders)
            changes.append(Change(path, before, text, was_edited, kept))
    return changes


def planned_uninstall(agent: str, project: Path | None) -> tuple[list[Change], list[PgrecallError]]:
    """Return the changes that undo what was set up, none if nothing was, and why files are left as they are.

    One file that cannot be read, or in which our entries cannot be found, keeps nobody from undoing the rest.
    """
    changes = []
    records, faults = all_records()
    for record in records:
        if record.agent == agent and record.project == (None if project is None else str(project)):
            try:
                before = _text(record.path)
                after, was_edited = _without_ours(record, before)
            except PgrecallError as error:
                faults.append(error)
                continue
            changes.append(Change(record.path, before, after, was_edited, None))
    return sorted(changes, key=lambda change: change.path), faults


def apply(changes: Sequence[Change]) -> None:
    """Change the files. What is kept of a change is kept before it.

    Raises:
        PgrecallError: A file has changed since the plan was made, or cannot be written.
    """
    # Asked before any is made: files in one folder each remember it, and the last of them takes it away.
    missing = {folder for change in changes for folder in change.path.parents if not folder.exists()}
    made_before: list[str] = []
    for change in changes:
        path = change.path
        if _text(path) != change.before:
            raise PgrecallError(f"{path} has just changed", hint="Call the command again.")
        try:
            if change.record is not None and change.after is not None:
                made = [str(folder) for folder in reversed(path.parents) if folder in missing]
                path.parent.mkdir(parents=True, exist_ok=True)
                write_record(replace(change.record, folders=(*change.record.folders, *made)))
                _write(path, change.after)
                continue
            if change.after is None:
                path.unlink(missing_ok=True)
                record = read_record(path)
                made_before += [] if record is None else record.folders
            elif change.after != change.before:
                _write(path, change.after)
            drop_record(path)
        except OSError as error:
            raise PgrecallError(
                f"cannot write {path}: {error.strerror}", hint="Check its permissions."
            ) from error
    for folder in sorted(made_before, key=len, reverse=True):
        with contextlib.suppress(OSError):  # somebody has put something into it
            Path(folder).rmdir()


def _write(path: Path, text: str) -> None:
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else _MODE
    encoding = "utf-8-sig" if _begins_with_mark(path) else "utf-8"
    with atomic_file(path, mode) as out:
        out.write(text.encode(encoding))


def _begins_with_mark(path: Path) -> bool:
    """Return whether a file begins with a byte order mark, as editors of Windows write it."""
    try:
        with open_regular(path) as file:
            return file.peek(len(BOM_UTF8)).startswith(BOM_UTF8)
    except PgrecallError:
        return False


def _followed(path: Path) -> Path:
    """Return where a link leads."""
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        # Python before 3.13 has an error of its own for links that lead in a circle.
        raise PgrecallError(f"{path} is a link that leads nowhere", hint="Delete it or mend it.") from error


def _text(path: Path) -> str | None:
    try:
        # A pipe would keep the command waiting.
        if not stat.S_ISREG(path.stat().st_mode):
            raise PgrecallError(f"{path} is not a regular file", hint="Move it away, or put a file there.")
        with open_regular(path) as file:
            return file.read().decode("utf-8-sig")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise PgrecallError(f"{path} is not UTF-8", hint="Convert it.") from None
    except OSError as error:
        raise PgrecallError(
            f"cannot read {path}: {error.strerror}", hint="Check the path and its permissions."
        ) from error


def _with(path: Path, text: str, entry: Entry) -> str:
    is_toml = path.suffix == ".toml"
    try:
        return add_to_toml(text, entry) if is_toml else add_to_json(text, entry)
    except InvalidInput as error:
        paste = toml_table(entry) if is_toml else json.dumps(merged({}, entry), ensure_ascii=False)
        raise InvalidInput(
            f"{path} is left as it is: {error.message}",
            hint=f"Change it, or put this into it yourself: {paste}",
        ) from error


def _value(path: Path, text: str) -> Any:
    return parse_toml(text) if path.suffix == ".toml" else parse(text).value


def _check(path: Path, before: str | None, after: str, added: Sequence[Entry]) -> None:
    """Refuse a text that says anything else than before, besides what was added."""
    expected = reduce(merged, added, _value(path, before or ""))
    if not same(_value(path, after), expected):
        raise PgrecallError(
            f"{path} is left as it is: pgrecall cannot change it", hint="Use --print, and put it in yourself."
        )


def _without_ours(record: Record, text: str | None) -> tuple[str | None, bool]:
    """Return the text as it was, or without our entries if others have changed it, and which of both."""
    if text is None or digest(text) == record.after:
        return (None if text is None else record.before), False
    path = record.path
    was: Any = _value(path, record.before or "")

    def was_there(keys: Sequence[str]) -> bool:
        found = was
        for key in keys:
            if not isinstance(found, dict) or key not in found:
                return False
            found = found[key]
        return True

    try:
        for entry in reversed(record.entries):
            if not entry.is_shared:
                text = (
                    remove_from_toml(text, entry)
                    if path.suffix == ".toml"
                    else remove_from_json(text, entry, was_there=was_there)
                )
    except InvalidInput as error:
        raise PgrecallError(
            f"{path} is left as it is: {error.message}", hint="Take the entries of pgrecall out by hand."
        ) from error
    shared = {entry.key for entry in record.entries if entry.is_shared}
    is_empty = not set(_value(path, text)) - shared
    return (None if record.before is None and is_empty else text), True
