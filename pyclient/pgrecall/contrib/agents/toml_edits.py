"""Puts a table into the text of a TOML file and takes it out, and leaves all other characters alone."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any

from pgrecall.errors import InvalidInput

from .values import same

if TYPE_CHECKING:
    from .adapter import Entry

__all__ = ["add_to_toml", "parse_toml", "remove_from_toml", "toml_table"]

_NOT_OURS = re.compile(r"(?m)^[ \t]*(?:\[|#|\r?$)")
_EMPTY_LINE = re.compile(r"(\n)\r?\n\Z")


def add_to_toml(text: str, entry: Entry) -> str:
    """Return the text with a table at its end; as it is if that is there already.

    Raises:
        InvalidInput: It is not TOML, or something else is where the table belongs.
    """
    found = _at(parse_toml(text), entry)
    if found is not None:
        if found == entry.value:
            return text
        raise InvalidInput(f"there is another {'.'.join((*entry.path, str(entry.key)))}")
    break_ = "\r\n" if "\r\n" in text else "\n"
    before = text if not text or text.endswith("\n") else text + break_
    changed = before + (break_ if before.strip() else "") + toml_table(entry).replace("\n", break_)
    try:
        is_there = _at(tomllib.loads(changed), entry) == entry.value
    except tomllib.TOMLDecodeError:
        is_there = False
    if not is_there:
        raise InvalidInput(f"{'.'.join(entry.path)} is something else there")
    return changed


def remove_from_toml(text: str, entry: Entry) -> str:
    """Return the text without the table, whatever has become of it.

    Raises:
        InvalidInput: It is not TOML.
    """
    if _at(parse_toml(text), entry) is None:
        return text
    header = re.compile(rf"(?m)^\[{re.escape('.'.join((*entry.path, str(entry.key))))}\][^\n]*\n?")
    found = header.search(text)
    if found is None:
        raise InvalidInput("the table of pgrecall was rewritten")
    following = _NOT_OURS.search(text, found.end())
    end = len(text) if following is None else following.start()
    # The empty line before it is ours too.
    before = _EMPTY_LINE.sub(r"\1", text[: found.start()])
    changed = before + text[end:]
    expected = parse_toml(text)
    holder = expected
    for key in entry.path:
        holder = holder[key]
    del holder[str(entry.key)]
    if not same(_pruned(parse_toml(changed), entry), _pruned(expected, entry)):
        raise InvalidInput("the table of pgrecall was rewritten")
    return changed


def _pruned(record: dict[str, Any], entry: Entry) -> dict[str, Any]:
    """Leave out what our table alone was in."""
    first = entry.path[0]
    return {key: value for key, value in record.items() if key != first or value}


def toml_table(entry: Entry) -> str:
    """Write a table; its values are texts and lists of texts."""
    lines = [f"[{'.'.join((*entry.path, str(entry.key)))}]"]
    lines += [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in entry.value.items()]
    return "\n".join(lines) + "\n"


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a text.

    Raises:
        InvalidInput: It is not TOML.
    """
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InvalidInput(f"it is not TOML: {error}") from None


def _at(record: Any, entry: Entry) -> Any:
    for key in (*entry.path, entry.key):
        if not isinstance(record, dict) or key not in record:
            return None
        record = record[key]
    return record
