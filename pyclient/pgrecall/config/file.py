"""The settings file: TOML in the user's config folder, or at the path in ``PGRECALL_CONFIG``.

The current folder is never searched. A settings file names the server that memories are sent to, so a file in
a cloned repository could send them to a foreign server.

Every error is `InvalidInput` with file and line. No error quotes a value, because one value is the connection
string.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

CONNECTION = ("dsn", "data_dir", "namespace", "model", "pg_bindir", "prepare", "embed_wait")
"""The keys outside [settings], which configure the client."""

_PATHS = ("data_dir", "pg_bindir")
_SWITCHES = ("prepare",)
_NUMBERS = ("embed_wait",)
_TABLE = "settings"
_POSITION = re.compile(r"^(?P<reason>.*) \(at line (?P<line>\d+), column \d+\)$", re.DOTALL)


@dataclass(frozen=True, slots=True)
class FileSetting:
    """A database setting in the file.

    Attributes:
        value: The value in the format of PostgreSQL's SET.
        place: The file and, if known, the line.
    """

    value: str
    place: str


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """The contents of the settings file.

    Attributes:
        path: Its path, whether it exists or not.
        connection: The keys outside [settings], without empty texts.
        settings: The table [settings], by short name; only the database knows which names are valid.
    """

    path: Path
    connection: Mapping[str, str] = field(default_factory=dict, repr=False)
    settings: Mapping[str, FileSetting] = field(default_factory=dict)


def read() -> SettingsFile:
    """Read the settings file. Without one there are no settings.

    Raises:
        InvalidInput: PGRECALL_CONFIG names a missing file, or the file cannot be read, is not TOML, or has an
            invalid key or value.
    """
    named = os.environ.get("PGRECALL_CONFIG")
    path = Path(named).expanduser() if named else _default_path()
    try:
        raw = path.read_bytes()
    except OSError as error:
        if not named and _is_absent(path, error):
            return SettingsFile(path)
        raise InvalidInput(
            f"the settings file {path} cannot be read: {error.strerror}",
            hint="Its path comes from PGRECALL_CONFIG: correct or unset the variable."
            if named
            else "Check its permissions.",
        ) from None
    return _parsed(path, raw)


def closest_match_hint(name: str, names: Iterable[str]) -> str:
    """Return a sentence with the names most similar to an unknown one; empty if none is similar."""
    found = get_close_matches(name.lower().removeprefix("pgrecall."), sorted(names), n=3)
    return f"Did you mean {' or '.join(found)}?" if found else ""


def _default_path() -> Path:
    from platformdirs import user_config_path

    return user_config_path("pgrecall") / "config.toml"


def _is_absent(path: Path, error: OSError) -> bool:
    """Tell whether the file is absent. A file in a folder that this user cannot access counts as absent."""
    return isinstance(error, FileNotFoundError | NotADirectoryError) or not os.access(path.parent, os.X_OK)


def _parsed(path: Path, raw: bytes) -> SettingsFile:
    try:
        text = raw.decode("utf-8-sig")
        content = tomllib.loads(text)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _refused(f"{path}, line {line}", "not UTF-8", "Save it as UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        found = _POSITION.match(str(error))
        place, reason = (f"{path}, line {found['line']}", found["reason"]) if found else (path, str(error))
        raise _refused(place, f"not TOML: {reason}", "Texts need quotes: dsn = 'host=…'.") from None
    table = content.pop(_TABLE, {})
    if not isinstance(table, dict):
        raise _refused(_place(path, text, _TABLE), f"{_TABLE} must be a table", f"Write [{_TABLE}].")
    return SettingsFile(
        path,
        {name: value for name, value in _connection(path, text, content) if value},
        {name: setting for name, setting in _settings(path, text, table) if setting.value},
    )


def _connection(path: Path, text: str, content: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for name, value in content.items():
        place = _place(path, text, name)
        if name not in CONNECTION:
            raise _refused(
                place,
                f"there is no setting {name!r} outside [{_TABLE}]",
                closest_match_hint(name, CONNECTION)
                or f"Valid names are {', '.join(CONNECTION)}; settings of the database go below [{_TABLE}].",
            )
        if isinstance(value, bool) and name in _SWITCHES:
            value = "on" if value else "off"
        elif isinstance(value, int | float) and name in _NUMBERS:
            value = str(value)
        if not isinstance(value, str):
            raise _refused(place, f"{name} must be text", "Put it in quotes.")
        if value and name in _PATHS:
            value = str(path.parent / Path(value).expanduser())
        yield name, value


def _settings(path: Path, text: str, table: Mapping[str, Any]) -> Iterable[tuple[str, FileSetting]]:
    for name, value in table.items():
        place = _place(path, text, name, _TABLE)
        if isinstance(value, bool):
            value = "on" if value else "off"
        elif isinstance(value, float):
            value = f"{Decimal(repr(value)):f}"  # 0.00001, because SET does not accept 1e-05
        elif not isinstance(value, str | int):
            raise _refused(
                place,
                f"{name} must be text, a number, true or false",
                "Give settings by their short names: rrf_k = 60.",
            )
        yield name, FileSetting(str(value), place)


def _place(path: Path, text: str, name: str, table: str = "") -> str:
    """Return the place of a key. tomllib does not report it; this finds the usual spellings."""
    key = rf"""["']?{re.escape(name)}["']?\s*"""
    header = re.compile(r"\s*\[+\s*(.+?)\s*\]")
    assigned = re.compile(rf"\s*{key}[.=]")
    from_outside = re.compile(rf"\s*{table}\s*(?:\.\s*|=.*[{{,]\s*){key}[.=]") if table else None
    here = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = header.match(line)
        if found:
            here = found[1]
        if (
            (found and here == (f"{table}.{name}" if table else name))
            or (not found and here == table and assigned.match(line))
            or (not here and from_outside and from_outside.match(line))
        ):
            return f"{path}, line {number}"
    return str(path)


def _refused(place: str | Path, reason: str, hint: str) -> InvalidInput:
    return InvalidInput(f"{place}: {reason}", hint=hint)
